// SPDX-License-Identifier: Apache-2.0
// LLVM IR, textual or bitcode, of the LLVM that this is compiled with and of older versions.
#pragma once

#include <string>
#include <string_view>

#include "llvm/ir_module.hpp"

namespace omen::loadbalance {

// Reads textual IR or bitcode, told apart by their first bytes; `path` names it in messages. Text
// that LLVM refuses is mended and tried again. OMEN_INVALID_DATA with file, line and what LLVM
// says where it does not parse, with a hint where another version of LLVM wrote it.
IrModule read_module(std::string_view bytes, const std::string& path);
IrModule read_module_file(const std::string& path);

// Text with opaque pointers, or with attributes that were invented after LLVM 14.
bool looks_newer(std::string_view text);

// True where the bytes begin as bitcode does.
bool is_bitcode(std::string_view bytes);

}  // namespace omen::loadbalance
