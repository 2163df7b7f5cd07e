// SPDX-License-Identifier: Apache-2.0
// The parts of a shared library's dynamic section that the contract speaks of, read without opening
// it.
#ifndef OMEN_CONFORMANCE_ELF_FILE_HPP
#define OMEN_CONFORMANCE_ELF_FILE_HPP

#include <filesystem>
#include <string>
#include <vector>

namespace omen::conformance {

struct ElfFacts {
  std::vector<std::string> exports;  // defined, not local
  std::vector<std::string> unique;   // of binding STB_GNU_UNIQUE
  std::vector<std::string> runpath;  // entries of DT_RUNPATH and DT_RPATH
  bool text_relocations = false;
};

// Throws OMEN_INVALID_DATA where the file is no 64-bit little-endian shared library.
ElfFacts read_elf(const std::filesystem::path& library);

}  // namespace omen::conformance

#endif  // OMEN_CONFORMANCE_ELF_FILE_HPP
