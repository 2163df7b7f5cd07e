// SPDX-License-Identifier: Apache-2.0
// Lists what a shared library exports, without opening it.
#ifndef OMEN_HOST_ELF_EXPORTS_HPP
#define OMEN_HOST_ELF_EXPORTS_HPP

#include <filesystem>
#include <string>
#include <vector>

namespace omen::host {

// Defined global and weak symbols of the dynamic symbol table, in file order. Boost's library_info
// reads the static table instead, which strip removes. OMEN_INVALID_DATA where the file is no
// 64-bit ELF shared library of this machine.
std::vector<std::string> exported_symbols(const std::filesystem::path& library);

}  // namespace omen::host

#endif  // OMEN_HOST_ELF_EXPORTS_HPP
