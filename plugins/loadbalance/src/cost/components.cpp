// SPDX-License-Identifier: Apache-2.0
// The components with what they read and write.
#include "cost/components.hpp"

#include "cost/cost_predictor.hpp"
#include "cost/grewe_predictors.hpp"

namespace omen::loadbalance {
namespace {

constexpr std::uint64_t kRepeatable = OMEN_CAP_BITWISE_REPEATABLE | OMEN_CAP_SEEDED_REPEATABLE;

}  // namespace

Component cost_component() {
  return predictor<cost::CostPredictor, cost::CostPredictorOptions>(
             "loadbalance.cost", "times on CPU and GPU, and the share that ends both together")
      .reads("nodes@programl/1", "edges", "workloads.wgsize:optional",
             "workloads.input_size:optional", "workloads.cpu:optional", "workloads.gpu:optional",
             "workloads.comp:optional", "workloads.rational:optional", "workloads.mem:optional",
             "workloads.localmem:optional", "workloads.coalesced:optional",
             "workloads.global:optional", "workloads.local:optional",
             "workloads.divisible:optional")
      .writes("share:%", "t_cpu_ms:ms:lower", "t_gpu_ms:ms:lower", "gain:1:higher")
      .caps(kRepeatable | OMEN_CAP_UNCERTAINTY | OMEN_CAP_DEFAULT);
}

Component tree_component() {
  return predictor<cost::TreePredictor, cost::TreeOptions>(
             "loadbalance.tree", "one decision tree on Grewe's four ratios")
      .reads("workloads.comp", "workloads.mem", "workloads.localmem", "workloads.coalesced",
             "workloads.wgsize", "workloads.input_size")
      .writes("share:%")
      .caps(kRepeatable)
      .cite("doi:10.1109/CGO.2013.6494993");
}

Component linear_component() {
  return predictor<cost::LinearPredictor>("loadbalance.linear",
                                          "linear regression on Grewe's four ratios")
      .reads("workloads.comp", "workloads.mem", "workloads.localmem", "workloads.coalesced",
             "workloads.wgsize", "workloads.input_size")
      .writes("share:%")
      .caps(kRepeatable);
}

}  // namespace omen::loadbalance
