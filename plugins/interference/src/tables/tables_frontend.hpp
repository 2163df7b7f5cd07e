// SPDX-License-Identifier: Apache-2.0
// GraphFrontend `interference.tables`: published co-runs as directed rows with partner columns.
#pragma once

#include <omen/plugin.hpp>

namespace omen::interference {

struct TablesOptions {
  std::string gpu;
  std::int64_t matrices = 0;

  static auto spec() {
    using O = TablesOptions;
    return options(opt(&O::gpu, "gpu", "of the Gavel pairs: k80, p100 or v100; empty: all"),
                   opt(&O::matrices, "matrices", "of MISO, evenly spread; 0: all").range(0, 1e9));
  }
};

class TablesFrontend final : public GraphFrontend {
 public:
  explicit TablesFrontend(TablesOptions options) : options_(std::move(options)) {}
  static int sniff(const char* path, std::string_view head);
  void lower(const char* path, const TablesOut& out, const Run& run) override;

 private:
  TablesOptions options_;
};

Component tables_component();

}  // namespace omen::interference
