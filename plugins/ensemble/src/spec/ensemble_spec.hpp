// SPDX-License-Identifier: Apache-2.0
// The JSON description of an ensemble, the machine it trains on and how it shares its data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/schedule.hpp"
#include "rate/design.hpp"

namespace omen::ensemble {

struct SpecModel {
  std::string name;
  std::vector<double> rates;  // images/s on 1, 2, ... accelerators; at least one
  std::optional<double> epochs;
};

struct EnsembleSpec {
  std::string name;
  double images = 0, sample_bytes = 0;  // of an epoch; of one preprocessed image
  std::int64_t nodes = 1, cores_per_node = 1, accelerators_per_node = 1;
  Design design = Design::kAllShared;
  std::int64_t preprocessors = 1, groups = 1, batch = 32, queue_batches = 10;
  bool coupled = true;
  StopCosts costs;
  std::vector<SpecModel> models;  // one entry for each copy

  std::int64_t accelerators() const { return nodes * accelerators_per_node; }
  // Models that can train at once.
  std::int64_t ranks() const;
  bool knows_epochs() const;
};

// OMEN_INVALID_DATA names the place where the text is not as plugins/ensemble/README.md says;
// `source` is the name of the file.
EnsembleSpec parse_spec(const std::string& text, const std::string& source);
EnsembleSpec read_spec(const std::string& path);

// The models as planners see them; where epochs are not known, each trains for one.
std::vector<PlannedModel> planned_models(const EnsembleSpec& spec);

}  // namespace omen::ensemble
