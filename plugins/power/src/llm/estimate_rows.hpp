// SPDX-License-Identifier: Apache-2.0
// The options that an estimate compares, and what power.llm says of each.
#pragma once

#include <omen/plugin.hpp>
#include <string>
#include <vector>

#include "llm/config_frontend.hpp"
#include "llm/estimate_command.hpp"

namespace omen::power {

// One way to serve the model.
struct Choice {
  std::string name, gpu, precision;
  double gpus = 1, batch = 1, input = 0, cap = 0;
};
std::vector<Choice> choices_of(const EstimateOptions& options, const std::string& precision);

// What is said of a choice; nothing but `status` where there is no answer.
struct Estimate {
  Choice choice;
  double token_j = 0, token_j_low = 0, token_j_high = 0;
  double joules = 0, low = 0, high = 0;  // of the batch, and their interval
  double watts = 0, seconds = 0, token_ms = 0, first_s = 0, tokens_per_s = 0, at_once = 0;
  double prefill_w = 0, decode_w = 0, prefill_j = 0, decode_j = 0;
  std::string bound, status, refused;  // refused: which limit it does not keep

  bool answered() const { return token_j > 0; }
};
std::vector<Estimate> ask_all(const Run& run, const EstimateOptions& options,
                              const ConfiguredModel& model, const std::vector<Choice>& choices);

}  // namespace omen::power
