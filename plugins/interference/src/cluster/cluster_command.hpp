// SPDX-License-Identifier: Apache-2.0
// `omen interference cluster`: groups of jobs, how many there are, and which job is in none.
#pragma once

#include <omen/plugin.hpp>

namespace omen::interference {

struct ClusterOptions {
  std::string columns = "MGUP,MGMAP,MaGTSAMP";
  int k = 0, least_k = 1, most_k = 10, restarts = 50;
  bool scale = false;

  static auto spec() {
    using O = ClusterOptions;
    return options(opt(&O::columns, "columns", "numbers that jobs are grouped by"),
                   opt(&O::k, "k", "clusters; 0: where the distortion bends most").range(0, 1000),
                   opt(&O::least_k, "least_k", "fewest clusters tried").range(1, 1000),
                   opt(&O::most_k, "most_k", "most clusters tried").range(1, 1000),
                   opt(&O::restarts, "restarts", "starts of k-means").range(1, 10000),
                   opt(&O::scale, "scale", "give every column unit deviation first"));
  }
};

class ClusterCommand final : public Command {
 public:
  explicit ClusterCommand(ClusterOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  ClusterOptions options_;
};

Component cluster_component();

}  // namespace omen::interference
