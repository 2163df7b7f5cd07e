// SPDX-License-Identifier: Apache-2.0
// Turns tables and artefacts that people have into dataset directories.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/dataset.hpp"

namespace omen::host {

// Tables from a front end, one input behind the other; without paths it generates its own.
Tables import_with(const std::string& component, const std::vector<std::string>& paths,
                   const TextPairs& options);

// Writes the tables as one file, seals the dataset and puts the directory in place in one step;
// what was there before is replaced.
DatasetInfo write_dataset_directory(DatasetInfo info, const Tables& tables,
                                    const std::filesystem::path& directory);

}  // namespace omen::host
