// SPDX-License-Identifier: Apache-2.0
// Reads symbols and the dynamic section of a shared library, every offset checked.
#include "elf_file.hpp"

#include <elf.h>

#include <cstring>
#include <fstream>

#include "omen/error.hpp"

namespace omen::conformance {
namespace {

class Image {
 public:
  explicit Image(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error(OMEN_IO, "cannot read " + path.string());
    bytes_.resize(std::filesystem::file_size(path));
    in.read(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
    if (!in) throw Error(OMEN_IO, "cannot read " + path.string());
  }
  template <class T>
  T at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) bad();
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::string text(std::uint64_t offset) const {
    const auto end = bytes_.find('\0', offset);
    if (offset >= bytes_.size() || end == std::string::npos) bad();
    return bytes_.substr(offset, end - offset);
  }
  [[noreturn]] static void bad() {
    throw Error(OMEN_INVALID_DATA, "library is no 64-bit ELF shared object, or is damaged");
  }

 private:
  std::string bytes_;
};

void read_symbols(const Image& image, const Elf64_Shdr& symbols, const Elf64_Shdr& strings,
                  ElfFacts& facts) {
  for (std::uint64_t i = 1; i < symbols.sh_size / sizeof(Elf64_Sym); ++i) {
    const auto symbol = image.at<Elf64_Sym>(symbols.sh_offset + i * sizeof(Elf64_Sym));
    const unsigned binding = ELF64_ST_BIND(symbol.st_info);
    const unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    if (symbol.st_shndx == SHN_UNDEF || binding == STB_LOCAL) continue;
    if (visibility == STV_HIDDEN || visibility == STV_INTERNAL) continue;
    // The name of a version in the export script, not something to call.
    if (symbol.st_shndx == SHN_ABS && symbol.st_size == 0) continue;
    const std::string name = image.text(strings.sh_offset + symbol.st_name);
    if (binding == STB_GNU_UNIQUE) facts.unique.push_back(name);
    facts.exports.push_back(name);
  }
}

void split_path(const std::string& list, std::vector<std::string>& out) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(':', begin), list.size());
    if (end > begin) out.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
}

void read_dynamic(const Image& image, const Elf64_Shdr& dynamic, const Elf64_Shdr& strings,
                  ElfFacts& facts) {
  for (std::uint64_t i = 0; i < dynamic.sh_size / sizeof(Elf64_Dyn); ++i) {
    const auto entry = image.at<Elf64_Dyn>(dynamic.sh_offset + i * sizeof(Elf64_Dyn));
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_TEXTREL) facts.text_relocations = true;
    if (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_TEXTREL)) facts.text_relocations = true;
    if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH)
      split_path(image.text(strings.sh_offset + entry.d_un.d_val), facts.runpath);
  }
}

}  // namespace

ElfFacts read_elf(const std::filesystem::path& library) {
  const Image image(library);
  const auto header = image.at<Elf64_Ehdr>(0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN ||
      header.e_shentsize != sizeof(Elf64_Shdr))
    Image::bad();
  const auto section = [&](std::uint64_t index) {
    if (index >= header.e_shnum) Image::bad();
    return image.at<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  ElfFacts facts;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr one = section(i);
    if (one.sh_type == SHT_DYNSYM) read_symbols(image, one, section(one.sh_link), facts);
    if (one.sh_type == SHT_DYNAMIC) read_dynamic(image, one, section(one.sh_link), facts);
  }
  return facts;
}

}  // namespace omen::conformance
