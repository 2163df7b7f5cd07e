// SPDX-License-Identifier: Apache-2.0
// The verb around run_rank().
#include "run/rank_command.hpp"

#include "run/rank_run.hpp"

namespace omen::ensemble {
namespace {

struct RankOptions {
  static std::vector<Option<RankOptions>> spec() { return {}; }
};

class RankCommand final : public Command {
 public:
  explicit RankCommand(const RankOptions&) {}
  int run(const std::vector<std::string>& args, const TablesOut&, const Run& run) override {
    if (args.size() != 1)
      throw Error(OMEN_INVALID_ARGUMENT, "rank needs the directory of a run",
                  "omen ensemble run starts ranks; start that.");
    run_rank(args[0], [&run] { return run.cancelled(); });
    return 0;
  }
};

}  // namespace

Component rank_component() {
  return command<RankCommand, RankOptions>("ensemble.rank",
                                           "one rank of a run, started by its launcher");
}

}  // namespace omen::ensemble
