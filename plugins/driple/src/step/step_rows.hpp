// SPDX-License-Identifier: Apache-2.0
// Workloads of a dataset with their graphs, devices and what makes a job of a step.
#pragma once

#include <omen/dataset.hpp>
#include <optional>
#include <string>
#include <vector>

#include "step/device.hpp"
#include "step/divide.hpp"

namespace omen::driple {

struct StepRow {
  std::int64_t workload_id = 0;
  opgraph::Job job;  // of one rank, divided already
  std::optional<Device> device;
  std::string framework;
  std::string refusal;  // why there is no answer; empty: there is one
  double steps = 0;     // of the whole job; 0 where nobody said
  double seconds = 0;   // measured step; 0 where it is not known
  std::int32_t group = 0;
};

// Figures in columns come before the registry, which is asked for the name in column `gpu` where
// they are missing.
std::vector<StepRow> read_step_rows(const Dataset& in);

// Steps of a job: epochs over a number of samples, or a number of tokens; 0 where neither is said.
double steps_of(const opgraph::StepFacts& facts, double epochs, double samples, double tokens);

// Columns that may be absent: the fallback stands for what is missing.
std::vector<double> numbers_or(const Table& table, const std::string& name, double fallback);
std::vector<std::string> texts_or_empty(const Table& table, const std::string& name);

// Of a name that the registry knows.
std::optional<Device> registered_device(const std::string& name);

}  // namespace omen::driple
