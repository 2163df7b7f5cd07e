// SPDX-License-Identifier: Apache-2.0
// Workloads with the models of their graphs, as the planners need them.
#pragma once

#include <cstdint>
#include <map>
#include <omen/dataset.hpp>
#include <string>
#include <vector>

#include "plan/schedule.hpp"

namespace omen::ensemble {

struct PlannedWorkload {
  std::string name;
  double ranks = 1, ranks_per_node = 1, cores = 1, nodes = 1;
  double images = 1;
  Machine machine;  // accelerators 0: nobody said
  StopCosts costs;
  std::vector<std::string> model_names;
  std::vector<PlannedModel> models;  // empty where the graph has no trainers
  bool knows_epochs = true;          // else every model trains for one

  double most_epochs() const;
};

// By workload_id.
std::map<std::int64_t, PlannedWorkload> read_planned(const Dataset& in);

}  // namespace omen::ensemble
