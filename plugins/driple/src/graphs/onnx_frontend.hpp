// SPDX-License-Identifier: Apache-2.0
// driple.onnx: ONNX models as forward passes or training steps.
#pragma once

#include <omen/plugin.hpp>
#include <string>

namespace omen::driple {

struct OnnxOptions {
  std::int64_t batch = 1, sequence = 128;
  std::string mode = "infer", optimizer = "sgd", precision = "file";
  bool train = false;

  static auto spec() {
    using O = OnnxOptions;
    return options(
        opt(&O::mode, "mode", "a forward pass, or a training step with derived gradients")
            .choices("infer", "train"),
        opt(&O::train, "train", "short for mode train"),
        opt(&O::batch, "batch", "for first sizes that the file leaves open").range(1, 1 << 20),
        opt(&O::sequence, "sequence", "for other sizes that the file leaves open").range(1, 1e8),
        opt(&O::optimizer, "optimizer", "of training steps")
            .choices("sgd", "momentum", "adam", "none"),
        opt(&O::precision, "precision", "of weights and activations")
            .choices("file", "fp32", "tf32", "bf16", "fp16"));
  }
};

class OnnxFrontend final : public GraphFrontend {
 public:
  explicit OnnxFrontend(OnnxOptions options) : options_(std::move(options)) {}
  static int sniff(const char* path, std::string_view head);
  void lower(const char* path, const TablesOut& out, const Run& run) override;

 private:
  OnnxOptions options_;
};

inline auto onnx_component() {
  return frontend<OnnxFrontend, OnnxOptions>("driple.onnx", "ONNX models as op graphs")
      .reads(".onnx")
      .writes("workloads", "nodes@step/1", "edges")
      .caps(OMEN_CAP_BITWISE_REPEATABLE);
}

}  // namespace omen::driple
