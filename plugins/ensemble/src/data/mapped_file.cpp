// SPDX-License-Identifier: Apache-2.0
// mmap with errors that name the file.
#include "data/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <omen/descriptor.hpp>
#include <omen/error.hpp>
#include <utility>

namespace omen::ensemble {
namespace {

[[noreturn]] void mapping_failed(const std::filesystem::path& path) {
  throw Error(errno == ENOENT ? OMEN_NOT_FOUND : OMEN_IO,
              "cannot read '" + path.string() + "': " + std::strerror(errno));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (!file.open() || ::fstat(file.get(), &facts) != 0) mapping_failed(path);
  const auto size = static_cast<std::size_t>(facts.st_size);
  if (size == 0) return;
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (at == MAP_FAILED) mapping_failed(path);
  bytes_ = {static_cast<const std::uint8_t*>(at), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
}

}  // namespace omen::ensemble
