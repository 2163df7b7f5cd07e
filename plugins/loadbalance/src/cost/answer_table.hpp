// SPDX-License-Identifier: Apache-2.0
// Answers as the table of predictions, and the share curve as a figure.
#pragma once

#include "cost/cost_model.hpp"
#include "cost/this_machine.hpp"

namespace omen::loadbalance::cost {

struct AnswerColumns {
  bool times = true, intervals = true;
  double level = 0.9;     // of the intervals
  double least_gain = 0;  // a split that gains less is not worth its trouble
  ThisMachine here;
};

// share, share_class, device, [t_cpu_ms, t_gpu_ms, gain, plan, reason, machine], status. Times have
// the digits that they are worth, and the shorter one is that of `device`. `gain` is the speed-up
// of the best split over the better single device, 1 where none may be made; `plan` is "split",
// "CPU only", "GPU only", or "not divisible" or "not judged", for which `reason` says why;
// `machine` names the devices that the row speaks for.
Table answer_table(const KernelRows& rows, const std::vector<CostRow>& answers,
                   const AnswerColumns& columns);

// Time over the share of the CPU, for each of the first few kernels that may be divided; needs
// times.
void put_share_curves(const Run& run, const KernelRows& rows, const std::vector<CostRow>& answers);

}  // namespace omen::loadbalance::cost
