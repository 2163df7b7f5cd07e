// SPDX-License-Identifier: Apache-2.0
// The data end as near to the second page as their alignment allows; the rest is filled with a
// mark.
#include "opencl/guarded_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {
constexpr std::size_t kAlignment = 128;  // what drivers ask of memory that they use in place
constexpr unsigned char kMark = 0xA5;
// Kernels that take a row for an element go far: address space costs nothing where there is enough.
constexpr std::size_t kWideGuard = std::size_t{16} << 30;

void* reserve(std::size_t bytes) {
  void* made =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return made == MAP_FAILED ? nullptr : made;
}
}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes, const std::string& what) : bytes_(bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t room = (bytes + page - 1) / page * page;
  void* made = nullptr;
  std::size_t guard = 0;
  for (const std::size_t wanted : {kWideGuard, page}) {
    guard = wanted;
    mapped_ = room + 2 * guard;
    if ((made = reserve(mapped_))) break;
  }
  if (!made || ::mprotect(static_cast<char*>(made) + guard, room, PROT_READ | PROT_WRITE) != 0) {
    if (made) ::munmap(made, mapped_);
    throw Error(OMEN_OUT_OF_MEMORY, "no memory for a buffer of " + std::to_string(bytes) + " bytes",
                "choose a smaller --global or --input-size");
  }
  mapping_ = static_cast<unsigned char*>(made);
  begin_ = mapping_ + guard;
  end_ = begin_ + room;
  data_ = end_ - (bytes + kAlignment - 1) / kAlignment * kAlignment;
  std::memset(begin_, kMark, static_cast<std::size_t>(data_ - begin_));
  std::memset(data_ + bytes_, kMark, static_cast<std::size_t>(end_ - data_) - bytes_);
  range_ = std::make_unique<GuardedRange>(mapping_, mapping_ + mapped_, data_, what);
}

GuardedMemory::~GuardedMemory() {
  range_.reset();
  ::munmap(mapping_, mapped_);
}

bool GuardedMemory::intact() const {
  const auto marked = [](unsigned char byte) { return byte == kMark; };
  return std::all_of(begin_, data_, marked) && std::all_of(data_ + bytes_, end_, marked);
}

}  // namespace omen::loadbalance
