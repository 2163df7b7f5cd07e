// SPDX-License-Identifier: Apache-2.0
// Waits are futexes on one counter, which the kernel matches across processes by its page.
#include "transport/ring.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <omen/descriptor.hpp>
#include <omen/error.hpp>
#include <string>
#include <utility>

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;

// A reader in another language does not wake us; this is how often we look ourselves.
constexpr long kLongestSleepNs = 50'000'000;
constexpr std::uint32_t kMostSlots = 1 << 16;

std::size_t blocks_offset(std::uint32_t slots) {
  const std::size_t end = kRingSlotsOffset + slots * sizeof(RingSlot);
  return (end + 4095) / 4096 * 4096;
}

[[noreturn]] void ring_failed(const fs::path& path, const std::string& what) {
  throw Error(errno == ENOENT ? OMEN_NOT_FOUND : OMEN_IO,
              what + " '" + path.string() + "': " + std::strerror(errno),
              errno == ENOSPC ? "Use fewer slots or smaller batches, or another directory." : "");
}

void* map_ring(int file, std::size_t size) {
  return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

bool is_gone(std::uint32_t process) {
  if (::kill(static_cast<pid_t>(process), 0) != 0) return errno == ESRCH;
  // Dead, but nobody asked how it ended: the state stands behind the name in brackets.
  std::ifstream in("/proc/" + std::to_string(process) + "/stat");
  std::string facts;
  std::getline(in, facts);
  const std::size_t name_end = facts.rfind(") ");
  return name_end != std::string::npos &&
         (facts[name_end + 2] == 'Z' || facts[name_end + 2] == 'X');
}

}  // namespace

fs::path Ring::default_directory() {
  std::error_code none;
  return fs::is_directory("/dev/shm", none) ? fs::path("/dev/shm") : fs::temp_directory_path();
}

Ring::Ring(void* at, std::size_t size) : at_(at), size_(size) {
  const RingHead& h = head();
  shape_ = {h.block_samples, h.channels, h.side};
}
Ring::Ring(Ring&& other) noexcept
    : at_(std::exchange(other.at_, nullptr)), size_(other.size_), shape_(other.shape_) {}
Ring::~Ring() {
  if (at_) ::munmap(at_, size_);
}

Ring Ring::create(const fs::path& path, const BlockShape& shape, std::uint32_t slots,
                  std::int64_t epoch_blocks, std::int64_t classes) {
  // Of a name that nobody can guess, because others may write to this directory, too.
  std::string temporary = path.string() + ".XXXXXX";
  const Descriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.open()) ring_failed(path, "cannot create the ring");
  const std::size_t size = blocks_offset(slots) + slots * shape.bytes();
  // Memory that is not there would end the process at its first use instead.
  if (const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(size)); error != 0) {
    ::unlink(temporary.c_str());
    errno = error;
    ring_failed(path, "no room for a ring of " + std::to_string(size >> 20) + " MiB in");
  }
  void* at = map_ring(file.get(), size);
  if (at == MAP_FAILED) ring_failed(path, "cannot map the ring");
  auto* head = static_cast<RingHead*>(at);
  std::memcpy(head->magic, kRingMagic, sizeof kRingMagic);
  head->head_bytes = sizeof(RingHead);
  head->slots = slots;
  head->block_samples = shape.samples;
  head->channels = shape.channels;
  head->side = shape.side;
  head->classes = classes;
  head->block_bytes = shape.bytes();
  head->pixels_offset = shape.pixels_offset();
  head->blocks_offset = blocks_offset(slots);
  head->epoch_blocks = epoch_blocks;
  head->process = static_cast<std::uint32_t>(::getpid());
  if (::rename(temporary.c_str(), path.c_str()) != 0) ring_failed(path, "cannot name the ring");
  return {at, size};
}

Ring Ring::open(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  struct stat facts {};
  if (!file.open() || ::fstat(file.get(), &facts) != 0) ring_failed(path, "cannot open the ring");
  const auto size = static_cast<std::size_t>(facts.st_size);
  void* at = size > kRingSlotsOffset ? map_ring(file.get(), size) : MAP_FAILED;
  if (at == MAP_FAILED) throw Error(OMEN_INVALID_DATA, "'" + path.string() + "' is no ring");
  const auto* head = static_cast<const RingHead*>(at);
  const bool is_ring = std::memcmp(head->magic, kRingMagic, sizeof kRingMagic) == 0 &&
                       head->slots > 0 && head->slots <= kMostSlots &&
                       head->blocks_offset == blocks_offset(head->slots) &&
                       size >= head->blocks_offset &&
                       (size - head->blocks_offset) / head->slots >= head->block_bytes;
  if (!is_ring) {
    ::munmap(at, size);
    throw Error(OMEN_INVALID_DATA, "'" + path.string() + "' is no ring of this version");
  }
  return {at, size};
}

RingReader& Ring::reader(std::size_t number) const {
  return reinterpret_cast<RingReader*>(static_cast<char*>(at_) + kRingReadersOffset)[number];
}
RingSlot& Ring::slot(std::int64_t block) const {
  auto* slots = reinterpret_cast<RingSlot*>(static_cast<char*>(at_) + kRingSlotsOffset);
  return slots[block % head().slots];
}
char* Ring::memory(std::int64_t block) const {
  const auto number = static_cast<std::size_t>(block) % head().slots;
  return static_cast<char*>(at_) + head().blocks_offset + number * head().block_bytes;
}

void Ring::announce() const {
  head().changed.fetch_add(1);
  ::syscall(SYS_futex, &head().changed, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}
void Ring::sleep(std::uint32_t seen) const {
  const timespec most{0, kLongestSleepNs};
  ::syscall(SYS_futex, &head().changed, FUTEX_WAIT, seen, &most, nullptr, 0);
}

// The block at which the readers stand that count for this pace.
std::int64_t Ring::bound(RingPace pace) const {
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = -1;
  for (std::size_t i = 0; i < kRingReaders; ++i) {
    const RingReader& one = reader(i);
    if (one.state.load() != static_cast<std::uint32_t>(ReaderState::kActive)) continue;
    lowest = std::min(lowest, one.cursor.load());
    highest = std::max(highest, one.cursor.load());
  }
  if (highest < 0) return std::numeric_limits<std::int64_t>::max();
  return pace == RingPace::kSlowest ? lowest : highest;
}

char* Ring::claim(std::int64_t block, RingPace pace, const std::function<bool()>& stop) const {
  while (true) {
    const std::uint32_t seen = head().changed.load();
    const std::int64_t at = bound(pace);
    if (at > block - static_cast<std::int64_t>(head().slots)) break;
    if (stop()) return nullptr;
    sleep(seen);
  }
  slot(block).holds.store(0);
  return memory(block);
}

void Ring::publish(std::int64_t block) const {
  slot(block).holds.store(block + 1);
  std::int64_t next = head().next_block.load();
  // Several writers publish; the lowest missing block moves on over all that are there.
  while (slot(next).holds.load() == next + 1)
    if (head().next_block.compare_exchange_weak(next, next + 1)) ++next;
  announce();
}

void Ring::close() const {
  head().closed.store(1);
  announce();
}

bool Ring::is_orphan() const {
  return is_gone(head().process);
}

void Ring::drop_dead_readers() const {
  for (std::size_t i = 0; i < kRingReaders; ++i) {
    RingReader& one = reader(i);
    const auto state = static_cast<ReaderState>(one.state.load());
    const bool waits = state == ReaderState::kActive || state == ReaderState::kJoining;
    if (waits && is_gone(one.process)) leave(i);
  }
}

std::size_t Ring::join(std::int64_t cursor, ReaderState state) const {
  for (std::size_t i = 0; i < kRingReaders; ++i) {
    RingReader& one = reader(i);
    std::uint32_t known = one.state.load();
    const bool usable = known == static_cast<std::uint32_t>(ReaderState::kFree) ||
                        known == static_cast<std::uint32_t>(ReaderState::kGone);
    // Not seen by writers before its cursor is right.
    if (!usable || !one.state.compare_exchange_strong(known, ~0u)) continue;
    one.process = static_cast<std::uint32_t>(::getpid());
    one.cursor.store(cursor);
    one.state.store(static_cast<std::uint32_t>(state));
    announce();
    return i;
  }
  throw Error(OMEN_UNAVAILABLE,
              "the ring has " + std::to_string(kRingReaders) + " readers, which is all it can have",
              "End one of them.");
}

bool Ring::holds(std::int64_t block) const {
  return slot(block).holds.load() == block + 1;
}

Ring::Found Ring::await(std::int64_t block, const std::function<bool()>& stop) const {
  while (true) {
    const std::uint32_t seen = head().changed.load();
    const std::int64_t held = slot(block).holds.load();
    if (held == block + 1) return Found::kReady;
    if (held > block + 1) return Found::kOverwritten;
    // A slot that is being written belongs to a later block once this one was published.
    if (held == 0 && head().next_block.load() > block) return Found::kOverwritten;
    if (head().closed.load() || stop()) return Found::kEnd;
    sleep(seen);
  }
}

void Ring::advance(std::size_t number, std::int64_t cursor) const {
  reader(number).cursor.store(cursor);
  announce();
}
void Ring::leave(std::size_t number) const {
  reader(number).state.store(static_cast<std::uint32_t>(ReaderState::kGone));
  announce();
}

}  // namespace omen::ensemble
