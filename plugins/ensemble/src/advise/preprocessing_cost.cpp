// SPDX-License-Identifier: Apache-2.0
// Fills one block again and again, as a server does whose readers keep up.
#include "advise/preprocessing_cost.hpp"

#include <algorithm>

#include "data/epoch_order.hpp"
#include "data/image_source.hpp"

namespace omen::ensemble {

double preprocessing_cpu_s(const std::string& data, const BlockShape& shape,
                           const PreprocessingOptions& options, std::int64_t most,
                           const std::function<void(double)>& step) {
  const auto images = open_images(data);
  Pass pass{0, true, shape.samples,
            epoch_order(split_samples(images->size(), 0, options.seed).train, options.seed, 0)};
  pass.samples.resize(
      std::min(pass.samples.size(), static_cast<std::size_t>(std::max<std::int64_t>(1, most))));
  PreprocessingRecord record;
  BoundedQueue<char*> free(2);
  const BlockMemory memory[2] = {make_block_memory(shape), make_block_memory(shape)};
  for (const BlockMemory& one : memory) free.push(one.get());
  const double begin = process_cpu_seconds();
  {
    BlockMaker maker(
        *images, pass, shape, options, {0, 1, pass.blocks()},
        [&free](std::int64_t) { return free.pop().value_or(nullptr); }, record);
    try {
      for (std::int64_t done = 0; char* block = maker.next();) {
        step(static_cast<double>(++done) / static_cast<double>(pass.blocks()));
        free.push(block);
      }
    } catch (...) {
      free.abandon();
      throw;
    }
  }
  return (process_cpu_seconds() - begin) / static_cast<double>(pass.samples.size());
}

}  // namespace omen::ensemble
