// SPDX-License-Identifier: Apache-2.0
// driple.zoo: image networks by their names, or the whole grid that was profiled.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

namespace omen::driple {

struct ZooOptions {
  std::int64_t batch = 32, image_size = 0, classes = 1000;
  std::string mode = "train", optimizer = "sgd", precision = "fp32";
  bool weight_decay = true, train = false;

  static auto spec() {
    using O = ZooOptions;
    return options(
        opt(&O::batch, "batch", "images of a step").range(1, 1 << 20),
        opt(&O::mode, "mode", "a training step or a forward pass").choices("train", "infer"),
        opt(&O::train, "train", "short for mode train"),
        opt(&O::optimizer, "optimizer", "of training steps")
            .choices("sgd", "momentum", "adam", "none"),
        opt(&O::precision, "precision", "of weights and activations")
            .choices("fp32", "tf32", "bf16", "fp16"),
        opt(&O::classes, "classes", "that the last layer tells apart").range(1, 1e6),
        opt(&O::image_size, "image_size", "pixels of a side; 0: those of the network")
            .range(0, 16384),
        opt(&O::weight_decay, "weight_decay", "squares of the weights are part of the loss"));
  }
};

// Without a name: every profiled network with batches 8 to 64, both optimizers and both datasets.
class ZooFrontend final : public GraphFrontend {
 public:
  explicit ZooFrontend(ZooOptions options) : options_(std::move(options)) {}
  static int sniff(const char* path, std::string_view head);
  static std::vector<std::string> names();
  void lower(const char* path, const TablesOut& out, const Run& run) override;

 private:
  ZooOptions options_;
};

}  // namespace omen::driple
