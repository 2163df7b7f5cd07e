// SPDX-License-Identifier: Apache-2.0
// GraphFrontend `power.nets`: networks as lists of layers, with the accelerator they run on.
#pragma once

#include <omen/plugin.hpp>

namespace omen::power {

struct NetsOptions {
  std::string hardware, mode = "prefill", weights = "file";
  std::int64_t batch = 0, sequence = 0, cached = 0;

  static auto spec() {
    using O = NetsOptions;
    return options(
        opt(&O::hardware, "hardware",
            "accelerator: a configuration of SCALE-Sim or a JSON object of parameters"),
        opt(&O::mode, "mode", "what a step of a config.json does")
            .choices("prefill", "decode", "infer"),
        opt(&O::batch, "batch", "images or sequences at once; 0: as the network says")
            .range(0, 65536),
        opt(&O::sequence, "sequence",
            "tokens of a prompt, and sizes that ONNX leaves open; 0: 1024, and 128 of ONNX")
            .range(0, 1e8),
        opt(&O::cached, "cached",
            "tokens of each sequence that are there already; 0 in decoding: those of sequence")
            .range(0, 1e8),
        opt(&O::weights, "weights", "precision of the weights of a model file in memory")
            .choices("file", "fp32", "bf16", "fp16", "fp8", "int8", "fp4"));
  }
};

class NetsFrontend final : public GraphFrontend {
 public:
  explicit NetsFrontend(NetsOptions options) : options_(std::move(options)) {}
  static int sniff(const char* path, std::string_view head);
  void lower(const char* path, const TablesOut& out, const Run& run) override;

 private:
  NetsOptions options_;
};

Component nets_component();

}  // namespace omen::power
