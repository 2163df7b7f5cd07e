// SPDX-License-Identifier: Apache-2.0
// The blocks of a pass in order, wherever they were made: one stream for each rank and design.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "rate/design.hpp"
#include "stage/block_maker.hpp"
#include "transport/mpi.hpp"

namespace omen::ensemble {

class BlockStream {
 public:
  virtual ~BlockStream() = default;
  // The next block, valid until the following call; nullptr after the last. Throws what a stage or
  // the transport threw.
  virtual char* next() = 0;
  virtual std::vector<QueueFill> fill() const = 0;
};

// What all designs need to know of a pass.
struct StreamSetup {
  const ImageSource& images;
  const Pass& pass;
  const BlockShape& shape;
  const PreprocessingOptions& preprocessing;
  PreprocessingRecord& record;
  std::int64_t begin = 0;          // the first block that anybody needs
  std::int64_t preprocessors = 1;  // the first so many members of the group
  std::size_t queue = 4;           // blocks that may wait for the trainer
  std::int64_t first_number = 0;   // of block 0 of this pass, among all passes
};

std::unique_ptr<BlockStream> make_local_stream(const StreamSetup& setup);
// All-gather, or gather and one broadcast, or several broadcasts.
std::unique_ptr<BlockStream> make_message_stream(Design design, const StreamSetup& setup,
                                                 const Group& group);

class Ring;
enum class RingPace;
// Reads the ring in place, and fills it where this member is a preprocessor. At the fastest pace a
// block that was overwritten is made again.
std::unique_ptr<BlockStream> make_ring_stream(const StreamSetup& setup, const Group& group,
                                              const Ring& ring, std::size_t reader, RingPace pace);

}  // namespace omen::ensemble
