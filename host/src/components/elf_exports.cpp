// SPDX-License-Identifier: Apache-2.0
// Reads the dynamic symbol table of an ELF file with every offset checked.
#include "components/elf_exports.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "omen/error.hpp"

namespace omen::host {
namespace {

#if defined(__x86_64__)
constexpr auto kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr auto kMachine = EM_AARCH64;
#endif

class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path) : name_(path.string()) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (fd >= 0 && ::fstat(fd, &info) == 0 && info.st_size > 0) {
      size_ = static_cast<std::size_t>(info.st_size);
      data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0) ::close(fd);
    if (data_ == MAP_FAILED) throw Error(OMEN_IO, "cannot read " + name_);
  }
  ~MappedFile() { ::munmap(data_, size_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // A copy, because nothing promises alignment.
  template <class T>
  T at(std::size_t offset) const {
    if (offset > size_ || size_ - offset < sizeof(T)) fail("ends too early");
    T value;
    std::memcpy(&value, static_cast<const char*>(data_) + offset, sizeof value);
    return value;
  }
  std::string_view bytes(std::size_t offset, std::size_t size) const {
    if (offset > size_ || size_ - offset < size) fail("ends too early");
    return {static_cast<const char*>(data_) + offset, size};
  }
  [[noreturn]] void fail(const char* what) const {
    throw Error(OMEN_INVALID_DATA, name_ + " is not a shared library for this machine: it " + what,
                "Build the plugin for this platform.");
  }

 private:
  std::string name_;
  void* data_ = MAP_FAILED;
  std::size_t size_ = 0;
};

}  // namespace

std::vector<std::string> exported_symbols(const std::filesystem::path& library) {
  const MappedFile file(library);
  const auto header = file.at<Elf64_Ehdr>(0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) file.fail("has no ELF header");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachine ||
      header.e_type != ET_DYN)
    file.fail("is for another machine");
  const auto section = [&](std::size_t index) {
    return file.at<Elf64_Shdr>(header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  std::vector<std::string> exported;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr symbols = section(i);
    if (symbols.sh_type != SHT_DYNSYM) continue;
    const Elf64_Shdr names = section(symbols.sh_link);
    const std::string_view text = file.bytes(names.sh_offset, names.sh_size);
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = file.at<Elf64_Sym>(symbols.sh_offset + at);
      const auto binding = ELF64_ST_BIND(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF || binding == STB_LOCAL || symbol.st_name >= text.size())
        continue;
      const std::string_view name = text.substr(symbol.st_name);
      exported.emplace_back(name.substr(0, name.find('\0')));
    }
  }
  return exported;
}

}  // namespace omen::host
