// SPDX-License-Identifier: Apache-2.0
// What an image costs that `serve-data` would publish.
#pragma once

#include <functional>
#include <string>

#include "stage/block_maker.hpp"

namespace omen::ensemble {

// CPU seconds of this process for each of at most `most` images; `step` may throw.
double preprocessing_cpu_s(const std::string& data, const BlockShape& shape,
                           const PreprocessingOptions& options, std::int64_t most,
                           const std::function<void(double)>& step);

}  // namespace omen::ensemble
