// SPDX-License-Identifier: Apache-2.0
// Networks that somebody else wrote, as TorchScript files.
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <exception>
#include <omen/error.hpp>
#include <string>

#include "train/network.hpp"

namespace omen::ensemble {
namespace {

// The interpreter tells the operator first, its source, what was wrong, and the frames of its
// stack.
std::string last_line(std::string text) {
  text.resize(std::min(text.size(), text.find("Exception raised from")));
  text.erase(text.find_last_not_of(" \t\n") + 1);
  return text.substr(text.find_last_of('\n') + 1);
}

class ScriptNetwork final : public Network {
 public:
  explicit ScriptNetwork(const std::string& path) : path_(path), module_(torch::jit::load(path)) {
    for (const auto& item : module_.named_parameters()) state_.add_parameter(item.name, item.value);
    for (const auto& item : module_.named_buffers()) state_.add_buffer(item.name, item.value);
  }
  at::Tensor forward(const at::Tensor& images, bool training) override {
    // The optimiser rewrites a graph after its first runs, so that a resumed training would round
    // in other places than one that was never ended.
    const torch::jit::GraphOptimizerEnabledGuard as_written(false);
    module_.train(training);
    try {
      return module_.forward({images}).toTensor();
    } catch (const std::exception& error) {
      throw Error(OMEN_INVALID_DATA,
                  "'" + path_ + "' fails on its images: " + last_line(error.what()),
                  "It must take [samples, channels, side, side] floats, see --channels and --size, "
                  "and return one score for each class.");
    }
  }

 private:
  const std::string path_;
  torch::jit::Module module_;
};

}  // namespace

std::unique_ptr<Network> open_torch_script(const std::string& path) {
  try {
    return std::make_unique<ScriptNetwork>(path);
  } catch (const c10::Error& error) {
    throw Error(OMEN_INVALID_DATA,
                "'" + path + "' cannot be opened as TorchScript: " + error.what_without_backtrace(),
                "Write it with torch.jit.script(model).save(path).");
  }
}

}  // namespace omen::ensemble
