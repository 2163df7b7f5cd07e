// SPDX-License-Identifier: Apache-2.0
// Image networks by name, with the shapes that tf_cnn_benchmarks gives them.
#ifndef OMEN_OPGRAPH_ZOO_HPP
#define OMEN_OPGRAPH_ZOO_HPP

#include <string>
#include <vector>

#include "omen/opgraph/training.hpp"

namespace omen::opgraph {

struct ZooRun {
  Mode mode = Mode::train;  // or infer
  std::int64_t batch = 32;
  std::int64_t image_size = 0;  // 0: that of the network
  std::int64_t classes = 1000;
  Precision precision = Precision::fp32;
  Optimizer optimizer = Optimizer::sgd;
  bool weight_decay = true;  // squares of the weights in the loss, as the benchmarks train
};

// The profiled networks come first, then the others.
std::vector<std::string> zoo_names();
std::vector<std::string> profiled_names();
// Pixels of a side that the network takes.
std::int64_t zoo_image_size(const std::string& name);

// OMEN_NOT_FOUND for other names, OMEN_INVALID_ARGUMENT where the image is too small.
Job zoo_job(const std::string& name, const ZooRun& run);

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_ZOO_HPP
