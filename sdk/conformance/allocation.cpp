// SPDX-License-Identifier: Apache-2.0
// Makes chosen allocations of one library fail by rewriting the entries of its relocation table.
#include "allocation.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <string_view>
#include <utility>

namespace omen::conformance {
namespace {

std::atomic<std::uint64_t> seen{0}, failing{0};

// Where the file of an address is loaded, and its name without directories.
struct Place {
  const void* base = nullptr;
  std::string_view file;
};

Place place_of(const void* code) noexcept {
  Dl_info info;
  if (dladdr(code, &info) == 0) return {};
  const std::string_view path = info.dli_fname;
  return {info.dli_fbase, path.substr(path.rfind('/') + 1)};
}

// Threads of the library itself end in these, and what escapes there is its own fault.
bool starts_threads(std::string_view file) noexcept {
  for (const char* name : {"libc.so", "libstdc++.so", "libgomp.so"})
    if (file.starts_with(name)) return true;
  return false;
}

// True where another library called the code that allocates: whether an error finds its way through
// the frames of that library (LibTorch releases nodes in destructors) is not up to the plugin.
bool called_by_another_library() noexcept {
  void* frames[256];
  const int depth = backtrace(frames, 256);
  const void* host = place_of(reinterpret_cast<const void*>(&starts_threads)).base;
  const void* library = nullptr;
  for (int i = 0; i < depth; ++i) {
    const Place place = place_of(frames[i]);
    if (!library && place.base != host) library = place.base;
    if (!library || place.base == library || starts_threads(place.file)) continue;
    return place.base != host;
  }
  return false;
}

// The wanted allocation, or the first one after it whose failure the library itself has to answer.
bool fails_now() noexcept {
  const std::uint64_t target = failing.load(std::memory_order_relaxed);
  const std::uint64_t number = seen.fetch_add(1, std::memory_order_relaxed) + 1;
  if (target == 0 || number < target || called_by_another_library()) return false;
  return failing.exchange(0) != 0;
}

void* failing_malloc(std::size_t size) {
  if (!fails_now()) return std::malloc(size);
  errno = ENOMEM;
  return nullptr;
}
void* failing_calloc(std::size_t count, std::size_t size) {
  if (!fails_now()) return std::calloc(count, size);
  errno = ENOMEM;
  return nullptr;
}
void* failing_realloc(void* block, std::size_t size) {
  if (!fails_now()) return std::realloc(block, size);
  errno = ENOMEM;
  return nullptr;
}
void* failing_new(std::size_t size) {
  if (fails_now()) throw std::bad_alloc();
  return ::operator new(size);
}
void* failing_new_array(std::size_t size) {
  if (fails_now()) throw std::bad_alloc();
  return ::operator new[](size);
}
void* failing_new_nothrow(std::size_t size, const std::nothrow_t&) noexcept {
  return fails_now() ? nullptr : ::operator new(size, std::nothrow);
}
void* failing_new_array_nothrow(std::size_t size, const std::nothrow_t&) noexcept {
  return fails_now() ? nullptr : ::operator new[](size, std::nothrow);
}
void* failing_new_aligned(std::size_t size, std::align_val_t alignment) {
  if (fails_now()) throw std::bad_alloc();
  return ::operator new(size, alignment);
}

template <class Function>
std::uintptr_t address(Function function) {
  return reinterpret_cast<std::uintptr_t>(function);
}

std::uintptr_t replacement(std::string_view symbol) {
  static const std::pair<std::string_view, std::uintptr_t> kTable[] = {
      {"malloc", address(failing_malloc)},
      {"calloc", address(failing_calloc)},
      {"realloc", address(failing_realloc)},
      {"_Znwm", address(failing_new)},
      {"_Znam", address(failing_new_array)},
      {"_ZnwmRKSt9nothrow_t", address(failing_new_nothrow)},
      {"_ZnamRKSt9nothrow_t", address(failing_new_array_nothrow)},
      {"_ZnwmSt11align_val_t", address(failing_new_aligned)}};
  for (const auto& [name, function] : kTable)
    if (name == symbol) return function;
  return 0;
}

// The relocation tables of one loaded library.
struct Dynamic {
  const Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  const Elf64_Rela* tables[2] = {nullptr, nullptr};
  std::size_t sizes[2] = {0, 0};
};

Dynamic read_dynamic(const dl_phdr_info& info) {
  Dynamic dynamic;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry =
        reinterpret_cast<const Elf64_Dyn*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      const auto pointer = entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) dynamic.symbols = reinterpret_cast<const Elf64_Sym*>(pointer);
      if (entry->d_tag == DT_STRTAB) dynamic.strings = reinterpret_cast<const char*>(pointer);
      if (entry->d_tag == DT_RELA) dynamic.tables[0] = reinterpret_cast<const Elf64_Rela*>(pointer);
      if (entry->d_tag == DT_RELASZ) dynamic.sizes[0] = entry->d_un.d_val;
      if (entry->d_tag == DT_JMPREL)
        dynamic.tables[1] = reinterpret_cast<const Elf64_Rela*>(pointer);
      if (entry->d_tag == DT_PLTRELSZ) dynamic.sizes[1] = entry->d_un.d_val;
    }
  }
  return dynamic;
}

bool overwrite(std::uintptr_t slot, std::uintptr_t value) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* start = reinterpret_cast<void*>(slot & ~(page - 1));
  const std::size_t size = slot + sizeof value - (slot & ~(page - 1));
  if (mprotect(start, size, PROT_READ | PROT_WRITE) != 0) return false;
  std::memcpy(reinterpret_cast<void*>(slot), &value, sizeof value);
  return true;
}

int redirect(const dl_phdr_info& info) {
  const Dynamic dynamic = read_dynamic(info);
  if (!dynamic.symbols || !dynamic.strings) return 0;
  int found = 0;
  for (int t = 0; t < 2; ++t)
    for (std::size_t i = 0; dynamic.tables[t] && i < dynamic.sizes[t] / sizeof(Elf64_Rela); ++i) {
      const Elf64_Rela& relocation = dynamic.tables[t][i];
      const auto type = ELF64_R_TYPE(relocation.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) continue;
      const Elf64_Sym& symbol = dynamic.symbols[ELF64_R_SYM(relocation.r_info)];
      const std::uintptr_t function = replacement(dynamic.strings + symbol.st_name);
      if (function && overwrite(info.dlpi_addr + relocation.r_offset, function)) ++found;
    }
  return found;
}

}  // namespace

int redirect_allocations(const std::string& library_path) {
  struct Search {
    std::filesystem::path wanted;
    int found = 0;
  } search{std::filesystem::canonical(library_path)};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        std::error_code failed;
        if (info->dlpi_name && *info->dlpi_name &&
            std::filesystem::equivalent(info->dlpi_name, s.wanted, failed) && !failed)
          s.found += redirect(*info);
        return 0;
      },
      &search);
  return search.found;
}

void fail_allocation(std::uint64_t number) noexcept {
  seen = 0;
  failing = number;
}

std::uint64_t allocations_seen() noexcept {
  return seen.load();
}

}  // namespace omen::conformance
