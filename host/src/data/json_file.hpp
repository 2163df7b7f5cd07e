// SPDX-License-Identifier: Apache-2.0
// JSON documents of datasets, recipes and tasks: complaints start with the file and the place.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace omen::host {

class JsonNode;

// Parses the file and hands its root over; whatever `read` throws gets the file's name in front.
void read_json_file(const std::filesystem::path& file,
                    const std::function<void(const JsonNode& root)>& read);
// Refuses members that nobody reads: a typing error must not be a silent default.
void expect_members(const JsonNode& node, const std::vector<std::string>& known);

}  // namespace omen::host
