// SPDX-License-Identifier: Apache-2.0
// ONNX models as op graphs.
#ifndef OMEN_ONNX_READ_ONNX_HPP
#define OMEN_ONNX_READ_ONNX_HPP

#include <omen/opgraph/training.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omen::onnxgraph {

struct OnnxRun {
  opgraph::Mode mode = opgraph::Mode::infer;    // or train: gradients are derived
  std::int64_t batch = 1;                       // for first sizes that the file leaves open
  std::int64_t sequence = 128;                  // for other sizes that it leaves open
  std::optional<opgraph::Precision> precision;  // that of the weights where it is absent
  opgraph::Optimizer optimizer = opgraph::Optimizer::sgd;
};

struct OnnxJob {
  opgraph::Job job;
  std::vector<std::string> warnings;
};

// Weights may lie in a file that is not there. An operation or a shape that is not known is a
// warning. OMEN_INVALID_DATA for what is no ONNX model.
OnnxJob read_onnx(std::string_view bytes, const std::string& name, const OnnxRun& run);

}  // namespace omen::onnxgraph

#endif  // OMEN_ONNX_READ_ONNX_HPP
