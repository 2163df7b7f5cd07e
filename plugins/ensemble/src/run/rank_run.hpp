// SPDX-License-Identifier: Apache-2.0
// One rank of a run, from its start under the launcher to its last file.
#pragma once

#include <filesystem>
#include <functional>

namespace omen::ensemble {

// Reads job.json of the directory; throws what ended this rank. `cancelled` is asked now and then.
void run_rank(const std::filesystem::path& directory, const std::function<bool()>& cancelled);

}  // namespace omen::ensemble
