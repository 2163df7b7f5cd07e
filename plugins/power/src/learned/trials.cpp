// SPDX-License-Identifier: Apache-2.0
// Draws sizes of networks, and trains them.
#include "learned/trials.hpp"

#include <ATen/core/Tensor.h>

#include <cmath>
#include <omen/learn/random.hpp>

namespace omen::power {
namespace {

constexpr int kLeastTrialWidth = 16, kMostTrialWidth = 192, kMostTrialDepth = 4;
constexpr std::uint64_t kSizeStream = 13;

}  // namespace

TrialResult run_trial(const LearnedRows& seen, const LearnedRows& held, NetworkKind kind,
                      const LearnedOptions& options, std::uint64_t seed, const Run& run) {
  // Another seed, and neither checkpoints nor figures nor curves of its own.
  omen_run own = *run.c();
  own.seed = seed;
  own.state_dir = own.output_dir = nullptr;
  own.metric = nullptr;
  own.progress = nullptr;
  const Run trial(&own);
  LearnedOptions asked = options;
  asked.calibration_nets = 0;
  const LearnedModel model = fit_model(seen, {}, kind, nullptr, asked, "trial", trial);
  TrialResult result;
  result.errors = mean_errors(ask(model, held, trial), held, measured_rows(held));
  for (const torch_kit::NamedTensor& entry : model.network->state().entries())
    result.weights += entry.tensor.numel();
  return result;
}

std::vector<LearnedOptions> drawn_sizes(const LearnedOptions& usual, int count,
                                        std::uint64_t seed) {
  learn::Random random(seed, kSizeStream);
  const auto width = [&] {
    const double span = std::log(double{kMostTrialWidth} / kLeastTrialWidth);
    const double drawn = kLeastTrialWidth * std::exp(span * random.uniform());
    return static_cast<int>(std::llround(drawn / 8)) * 8;
  };
  std::vector<LearnedOptions> made = {usual};
  while (static_cast<int>(made.size()) < count) {
    LearnedOptions next = usual;
    next.encoder = width();
    next.width = width();
    next.depth = 1 + static_cast<int>(random.below(kMostTrialDepth));
    made.push_back(next);
  }
  return made;
}

}  // namespace omen::power
