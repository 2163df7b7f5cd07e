// SPDX-License-Identifier: Apache-2.0
// `omen interference densify`: values at batch sizes that nobody measured, and how far to trust
// them.
#pragma once

#include <omen/plugin.hpp>

namespace omen::interference {

struct DensifyOptions {
  std::string column = "MGUP", group = "Model", batch = "BS", method = "linear", abscissa = "log2";
  std::string grid;
  double low = 0, high = 100;
  bool monotone = false, legacy_swap = false;

  static std::vector<Option<DensifyOptions>> spec();
};

class DensifyCommand final : public Command {
 public:
  explicit DensifyCommand(DensifyOptions options) : options_(std::move(options)) {}
  int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) override;

 private:
  DensifyOptions options_;
};

Component densify_component();

}  // namespace omen::interference
