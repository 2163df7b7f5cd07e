// SPDX-License-Identifier: Apache-2.0
// `omen interference work`: a load of known kind that marks its steps.
#pragma once

#include <omen/plugin.hpp>

#include "measure/load.hpp"

namespace omen::interference {

struct WorkOptions {
  double seconds = 60;

  static auto spec() {
    using O = WorkOptions;
    return options(opt(&O::seconds, "seconds", "to run at most").range(0.01, 1e6).unit("s"));
  }
};

// The loops and, where LibTorch is there, the networks.
const std::vector<LoadKind>& all_loads();

// A load by its name, with its batch size behind a colon where it is not the usual one, as in
// classify:32. OMEN_INVALID_ARGUMENT where there is no such load or it has no batch.
struct LoadChoice {
  const LoadKind* kind;
  int batch;
};
LoadChoice parse_load(const std::string& text);

class WorkCommand final : public Command {
 public:
  explicit WorkCommand(WorkOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  WorkOptions options_;
};

Component work_component();

}  // namespace omen::interference
