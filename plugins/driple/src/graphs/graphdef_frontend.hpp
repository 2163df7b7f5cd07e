// SPDX-License-Identifier: Apache-2.0
// driple.graphdef: TensorFlow GraphDefs, text and binary.
#pragma once

#include <omen/plugin.hpp>

namespace omen::driple {

struct GraphdefOptions {
  std::int64_t batch = 1;

  static auto spec() {
    using O = GraphdefOptions;
    return options(
        opt(&O::batch, "batch", "stands in for sizes that the file leaves open").range(1, 1 << 20));
  }
};

class GraphdefFrontend final : public GraphFrontend {
 public:
  explicit GraphdefFrontend(GraphdefOptions options) : options_(options) {}
  static int sniff(const char* path, std::string_view head);
  void lower(const char* path, const TablesOut& out, const Run& run) override;

 private:
  GraphdefOptions options_;
};

}  // namespace omen::driple
