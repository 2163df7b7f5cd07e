// SPDX-License-Identifier: Apache-2.0
// Measured servers of current language models: time per answered token, with the work of a step.
#pragma once

#include <omen/opgraph/op_graph.hpp>
#include <string>
#include <vector>

#include "step/step_model.hpp"

namespace omen::driple::checks {

struct ServingRun {
  std::string system, shape;  // networks of one shape are one
  bool experts = false;
  double devices = 1, attention_ranks = 1;
  double prompt = 0, answer = 0, requests = 0;  // tokens of each and requests at once
  double running = 0;                           // requests whose cache fits; the others wait
  double seconds = 0;                           // per answered token of a request
  opgraph::Job decode, prefill;                 // one step of all running, one prompt
  // One machine, and every rank sees all requests.
  bool is_plain() const { return devices <= 8 && attention_ranks == 1; }
};
std::vector<ServingRun> read_serving();

// A step answers one token of every running request and reads the prompts of those that begin.
JobRow serving_row(const ServingRun& run, const OperatorModel& operators);

}  // namespace omen::driple::checks
