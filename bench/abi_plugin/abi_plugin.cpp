// SPDX-License-Identifier: Apache-2.0
// A predictor that does next to nothing, so that what the boundary costs can be seen.
#include "omen/plugin.hpp"
#include "work.hpp"

namespace {

struct Options {
  int wasted_copies = 0;
  static auto spec() {
    return omen::options(
        omen::opt(&Options::wasted_copies, "wasted_copies", "copies of the input made for nothing")
            .range(0, 1'000'000));
  }
};

class Linear final : public omen::Predictor {
 public:
  explicit Linear(Options options) : options_(options) {}
  void fit(const omen::Dataset&, const omen::Dataset&, const omen::Run&) override {}
  void save(omen::ArtifactWriter& out) const override { out.put<double>("nothing", {0}); }
  void load(const omen::ArtifactReader&) override {}

  omen::TableStream predict(const omen::Dataset& in, const omen::Run&) override {
    using namespace omen::bench;
    omen::Table workloads = in.table("workloads");
    for (int i = 0; i < options_.wasted_copies; ++i) workloads = omen::concat({workloads});
    const auto rows = static_cast<std::size_t>(workloads.rows());
    std::array<const double*, kFeatures> features{};
    for (std::size_t f = 0; f < kFeatures; ++f)
      features[f] = workloads.column<double>(kFeatureNames[f]).data();
    std::array<std::vector<double>, kTargets> targets;
    std::array<double*, kTargets> out{};
    for (std::size_t t = 0; t < kTargets; ++t)
      out[t] = (targets[t] = std::vector<double>(rows)).data();
    predict_rows(features, workloads.rows(), out);

    omen::TableBuilder answer;
    answer.add_column(workloads, workloads.index("workload_id"));
    for (std::size_t t = 0; t < kTargets; ++t) answer.add(kTargetNames[t], std::move(targets[t]));
    return answer.add_dictionary("status", std::vector<std::int32_t>(rows), {"ok"}).finish();
  }

 private:
  Options options_;
};

}  // namespace

OMEN_PLUGIN("abibench", "0.1.0", "Apache-2.0",
            omen::predictor<Linear, Options>("abibench.linear",
                                             "three linear forms of eight columns")
                .reads("workloads.*")
                .writes("time_ms:ms:lower", "energy_j:J:lower", "memory_mb:MB:lower"))
