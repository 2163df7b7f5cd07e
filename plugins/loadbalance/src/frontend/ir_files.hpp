// SPDX-License-Identifier: Apache-2.0
// Files of IR: their bytes, and how they are told from other files.
#pragma once

#include <string>
#include <string_view>

namespace omen::loadbalance {

// OMEN_IO for what is no readable file.
std::string read_file(const char* path);

bool looks_like_ir(std::string_view text);

// Forms that may quote a kernel without being one.
bool is_another_form(const std::string& suffix);

// Kernels of CUDA or HIP, which nothing here compiles.
bool is_cuda_or_hip(const std::string& path);

// A module of SPIR-V, in either order of its bytes.
bool is_spirv(std::string_view bytes);

}  // namespace omen::loadbalance
