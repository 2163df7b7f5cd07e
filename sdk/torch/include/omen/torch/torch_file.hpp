// SPDX-License-Identifier: Apache-2.0
// Reads the tensors of a file that torch.save wrote, without running anything that stands in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "omen/torch/state_dict.hpp"

namespace omen::torch_kit {

// More numbers than any tensor that is read may have; larger ones are taken for damage.
inline constexpr std::int64_t kLargestTensor = std::int64_t{1} << 28;

// The float32 and int64 tensors of a state dictionary, or of the one under `model` or `state_dict`,
// by their names and in their order. OMEN_NOT_FOUND where there is no file, OMEN_INVALID_DATA with
// what is wrong for any other content.
std::vector<NamedTensor> read_torch_file(const std::string& path);

}  // namespace omen::torch_kit
