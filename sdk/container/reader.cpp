// SPDX-License-Identifier: Apache-2.0
// Maps a container and checks it as a whole before any byte is handed out.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "header_parser.hpp"
#include "omen/container.hpp"

namespace omen::container {
namespace {

constexpr std::size_t kPrefixBytes = 8;

[[noreturn]] void fail_io(const char* what, const std::filesystem::path& path, int code) {
  throw Error(OMEN_IO,
              std::string("cannot ") + what + " '" + path.string() + "': " + std::strerror(code),
              "Check the path and its permissions.");
}

[[noreturn]] void bad_file(const std::string& what) {
  throw Error(OMEN_INVALID_DATA, what);
}

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail_io("open", path, errno);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(fd_); }
  int get() const noexcept { return fd_; }

 private:
  int fd_;
};

std::shared_ptr<const void> map_file(const std::filesystem::path& path, std::size_t& size) {
  const Descriptor file(path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail_io("read", path, errno);
  if (!S_ISREG(info.st_mode)) fail_io("map", path, S_ISDIR(info.st_mode) ? EISDIR : EINVAL);
  size = static_cast<std::size_t>(info.st_size);
  if (size == 0) return nullptr;
  void* bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (bytes == MAP_FAILED) fail_io("map", path, errno);
  return {bytes, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); }};
}

// Format integers are little-endian whatever the machine is.
std::uint64_t read_prefix(const unsigned char* bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kPrefixBytes; ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
  return value;
}

// Puts entries into file order and proves that they tile the data part.
void check_layout(std::vector<Entry>& entries, std::uint64_t data_size) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t at = 0;
  const Entry* before = nullptr;
  for (const Entry& entry : entries) {
    if (entry.begin > at)
      bad_file("bytes " + std::to_string(at) + " to " + std::to_string(entry.begin) +
               " of the data, before tensor '" + entry.name + "', belong to no tensor");
    if (entry.begin < at)
      bad_file("tensors '" + before->name + "' and '" + entry.name + "' overlap");
    if (entry.end > data_size)
      bad_file("truncated: tensor '" + entry.name + "' ends at byte " + std::to_string(entry.end) +
               " of the data, the file has only " + std::to_string(data_size));
    at = entry.end;
    before = &entry;
  }
  if (at < data_size) bad_file(std::to_string(data_size - at) + " bytes follow the last tensor");
}

Header check(const unsigned char* bytes, std::size_t size, std::uint64_t& header_size) {
  if (size < kPrefixBytes)
    bad_file("truncated: " + std::to_string(size) + " bytes are too few for the header length");
  header_size = read_prefix(bytes);
  if (header_size > kMaxHeaderBytes)
    bad_file("header of " + std::to_string(header_size) + " bytes exceeds the limit of " +
             std::to_string(kMaxHeaderBytes));
  if (header_size > size - kPrefixBytes)
    bad_file("truncated: header of " + std::to_string(header_size) + " bytes, but only " +
             std::to_string(size - kPrefixBytes) + " follow");
  Header header = parse_header({reinterpret_cast<const char*>(bytes) + kPrefixBytes, header_size});
  check_layout(header.entries, size - kPrefixBytes - header_size);
  return header;
}

}  // namespace

Reader::Reader(std::string name, const void* bytes, std::size_t size,
               std::shared_ptr<const void> owner)
    : name_(std::move(name)), owner_(std::move(owner)) {
  std::uint64_t header_size = 0;
  Header header;
  try {
    header = check(static_cast<const unsigned char*>(bytes), size, header_size);
  } catch (const Error& error) {
    throw Error(error.code(), "'" + name_ + "' is not a valid container: " + error.what(),
                "The file is damaged or of another format; copy or make it again.");
  }
  metadata_ = std::move(header.metadata);
  entries_ = std::move(header.entries);
  data_ = static_cast<const char*>(bytes) + kPrefixBytes + header_size;
  data_size_ = size - kPrefixBytes - header_size;
  for (std::size_t i = 0; i < entries_.size(); ++i) index_.emplace(entries_[i].name, i);
}

Reader Reader::open(const std::filesystem::path& path) {
  std::size_t size = 0;
  std::shared_ptr<const void> mapping = map_file(path, size);
  const void* bytes = mapping.get();
  return Reader(path.string(), bytes, size, std::move(mapping));
}

Reader Reader::from_memory(const void* bytes, std::size_t size, std::shared_ptr<const void> owner) {
  return Reader("<memory>", bytes, size, std::move(owner));
}

const Entry* Reader::find(std::string_view name) const noexcept {
  const auto at = index_.find(name);
  return at == index_.end() ? nullptr : &entries_[at->second];
}

std::string Reader::digest() const {
  return sha256(data_, data_size_);
}

void Reader::verify_digest() const {
  const auto named = metadata_.find("omen.digest");
  if (named == metadata_.end()) return;
  if (const std::string actual = digest(); actual != named->second)
    throw Error(OMEN_INVALID_DATA,
                "'" + name_ + "' was changed: its data has sha256 " + actual +
                    ", its metadata says " + named->second,
                "The file is damaged; copy or make it again.");
}

const omen_source* Reader::source() const {
  source_.struct_size = sizeof source_;
  source_.data = const_cast<Reader*>(this);
  source_.get_meta = [](void* data, const char* key, const char** value, omen_error* error) {
    return detail::guard(error, [&] {
      const auto& metadata = static_cast<const Reader*>(data)->metadata_;
      const auto at = metadata.find(key);
      if (at == metadata.end())
        throw Error(OMEN_NOT_FOUND, "no metadata '" + std::string(key) + "'");
      *value = at->second.c_str();
    });
  };
  source_.get_tensor = [](void* data, const char* name, const char** dtype,
                          const std::int64_t** shape, std::size_t* rank, const void** bytes,
                          std::size_t* size, omen_error* error) {
    return detail::guard(error, [&] {
      const auto& self = *static_cast<const Reader*>(data);
      const Entry* entry = self.find(name);
      if (!entry)
        throw Error(OMEN_NOT_FOUND, "'" + self.name_ + "' has no tensor '" + name + "'",
                    "The model was made by another version; train it again.");
      *dtype = entry->dtype.c_str();
      *shape = entry->shape.data();
      *rank = entry->shape.size();
      *bytes = self.bytes(*entry);
      *size = entry->end - entry->begin;
    });
  };
  source_.tensor_name = [](void* data, std::size_t index) -> const char* {
    const auto& entries = static_cast<const Reader*>(data)->entries_;
    return index < entries.size() ? entries[index].name.c_str() : nullptr;
  };
  return &source_;
}

}  // namespace omen::container
