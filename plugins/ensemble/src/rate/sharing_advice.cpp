// SPDX-License-Identifier: Apache-2.0
// The two designs differ in who prepares an image, and at what cost.
#include "rate/sharing_advice.hpp"

#include <algorithm>

namespace omen::ensemble {
namespace {

struct OneDesign {
  double cpu_s = 0, per_s = 0;
};

OneDesign ask_design(Design design, double prepare_cpu_s, const CopyCosts& costs, double copies,
                     double cores) {
  Setting setting;
  setting.design = design;
  setting.ranks = setting.ranks_per_node = copies;
  setting.cores = cores;
  setting.sample_bytes = costs.sample_bytes;
  setting.train_rates = {1 / std::max(costs.train_wall_s, 1e-12)};
  RateConstants rates;
  rates.core_rate = 1 / std::max(prepare_cpu_s, 1e-12);
  rates.sigma = 0;
  rates.sharpness = 64;
  const CpuConstants cpu{prepare_cpu_s, 0, 0, costs.train_cpu_s};
  const Forecast said = forecast(setting, rates, cpu, 0);
  return {cpu_per_image(cpu_terms(setting, said), cpu), said.rate};
}

}  // namespace

CopyForecast forecast_copies(const CopyCosts& costs, double copies, double cores) {
  const OneDesign alone = ask_design(Design::kNone, costs.own_prepare_cpu_s, costs, copies, cores);
  const OneDesign shared =
      ask_design(Design::kSharedMemory, costs.served_prepare_cpu_s, costs, copies, cores);
  // A training that prepares a batch and then trains on it is never faster than it was.
  const double measured = 1 / std::max(costs.alone_wall_s, 1e-12);
  return {alone.cpu_s, shared.cpu_s, std::min(alone.per_s, measured), shared.per_s};
}

}  // namespace omen::ensemble
