// SPDX-License-Identifier: Apache-2.0
// A ring of blocks in a memory-mapped file: written once, read in place by processes of the host.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "stage/block.hpp"

namespace omen::ensemble {

// The layout is public: the example reader in Python follows it. All numbers are little-endian; the
// three parts start at fixed offsets. Blocks are numbered through all epochs.
inline constexpr char kRingMagic[8] = {'O', 'M', 'E', 'N', 'R', 'N', 'G', '1'};
inline constexpr std::size_t kRingReaders = 64;
inline constexpr std::size_t kRingReadersOffset = 4096, kRingSlotsOffset = 8192;

enum class ReaderState : std::uint32_t { kFree = 0, kJoining = 1, kActive = 2, kGone = 3 };

struct RingHead {  // at offset 0
  char magic[8];
  std::uint32_t head_bytes, slots;
  std::int64_t block_samples, channels, side, classes;
  std::uint64_t block_bytes, pixels_offset, blocks_offset;  // pixels: inside of a block
  std::int64_t epoch_blocks;
  std::atomic<std::int64_t> next_block;  // the lowest one that was not published yet
  std::atomic<std::uint32_t> closed;     // 1: nothing more comes
  std::atomic<std::uint32_t> changed;    // grows with every change; waits sleep on it
  std::uint32_t process;                 // which made the ring
};
struct RingReader {  // kRingReaders of them, 64 bytes each, at kRingReadersOffset
  std::atomic<std::uint32_t> state;
  std::uint32_t process;
  std::atomic<std::int64_t> cursor;  // the block that it reads or waits for
  char reserved[48];
};
struct RingSlot {                   // one for each slot, 64 bytes each, at kRingSlotsOffset
  std::atomic<std::int64_t> holds;  // number of the block + 1; 0 while it is written
  char reserved[56];
};
static_assert(sizeof(RingReader) == 64 && sizeof(RingSlot) == 64);
static_assert(sizeof(RingHead) <= kRingReadersOffset);

// Who must have read a block before its slot is used again.
enum class RingPace { kSlowest, kFastest };

class Ring {
 public:
  // Where rings lie that no option names: in memory where the host has /dev/shm.
  static std::filesystem::path default_directory();
  // The file appears whole; OMEN_IO where there is no room for it.
  static Ring create(const std::filesystem::path& path, const BlockShape& shape,
                     std::uint32_t slots, std::int64_t epoch_blocks, std::int64_t classes);
  // OMEN_NOT_FOUND where there is none, OMEN_INVALID_DATA where it is no ring.
  static Ring open(const std::filesystem::path& path);
  ~Ring();
  Ring(Ring&& other) noexcept;
  Ring& operator=(Ring&&) = delete;

  const BlockShape& shape() const noexcept { return shape_; }
  RingHead& head() const noexcept { return *static_cast<RingHead*>(at_); }
  RingReader& reader(std::size_t number) const;

  // Writers. The slot of a block once its readers let go of it; nullptr once `stop` says so.
  char* claim(std::int64_t block, RingPace pace, const std::function<bool()>& stop) const;
  void publish(std::int64_t block) const;
  void close() const;
  // The process that made the ring died and left it behind.
  bool is_orphan() const;
  // Readers whose process is gone hold nobody up.
  void drop_dead_readers() const;

  // Readers. OMEN_UNAVAILABLE where all places are taken.
  std::size_t join(std::int64_t cursor, ReaderState state) const;
  enum class Found { kReady, kOverwritten, kEnd };
  // Sleeps until the block is there, was overwritten, or will not come.
  Found await(std::int64_t block, const std::function<bool()>& stop) const;
  // Whether the slot still holds the block; what was copied before is then whole.
  bool holds(std::int64_t block) const;
  char* memory(std::int64_t block) const;
  void advance(std::size_t reader, std::int64_t cursor) const;
  void leave(std::size_t reader) const;

 private:
  Ring(void* at, std::size_t size);
  RingSlot& slot(std::int64_t block) const;
  std::int64_t bound(RingPace pace) const;
  void announce() const;
  void sleep(std::uint32_t seen) const;

  void* at_;
  std::size_t size_;
  BlockShape shape_;
};

}  // namespace omen::ensemble
