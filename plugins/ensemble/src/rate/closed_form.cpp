// SPDX-License-Identifier: Apache-2.0
// Times of the stages add up to the time of an image; doi:10.1109/SC.2018.00067 measured them.
#include "rate/closed_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plan/groups.hpp"

namespace omen::ensemble {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

double combined(double a, double b, double overlap) {
  return std::max(a, b) + (1 - overlap) * std::min(a, b);
}

double levels(double ranks) {
  return std::log2(std::max(ranks, 1.0));
}

// Images/s that the cores of a node preprocess together.
double node_rate(double cores, const RateConstants& constants) {
  const double used = std::max(cores, 1.0);
  return constants.core_rate * used / (1 + constants.sigma * (used - 1));
}

// A host below the cores that training itself needs slows the training down.
double fed_rate(double alone, const Setting& setting, double host_cores) {
  const double cores = setting.cores / setting.ranks_per_node;
  return cores < host_cores ? alone * cores / host_cores : alone;
}

// What the cores of a node allow where they also train: all work of an image, done by all of them.
double work_bound(const Setting& setting, const CpuConstants& cpu, double sharers) {
  if (cpu.train <= 0) return kUnbounded;
  const bool shares = setting.design != Design::kNone;
  const double work = cpu.prepare / (shares ? sharers : 1) +
                      (shares && setting.design != Design::kSharedMemory ? cpu.exchange : 0) +
                      cpu.train;
  return setting.cores / setting.ranks_per_node / work;
}

// The part of `setting` that a sharing group is.
Setting group_setting(const Setting& setting, double ranks) {
  Setting part = setting;
  part.ranks = ranks;
  part.preprocessors = std::min(setting.preprocessors, ranks);
  return part;
}

}  // namespace

double soft_min(double a, double b, double sharpness) {
  const double low = std::min(a, b), high = std::max(a, b);
  if (!(low > 0) || !std::isfinite(high)) return low;
  return low * std::pow(1 + std::pow(low / high, sharpness), -1 / sharpness);
}

double peak_rate(const Setting& setting, const RateConstants& constants, double overlap) {
  const double own = node_rate(setting.cores, constants) / setting.ranks_per_node;
  const double n = setting.ranks, p = std::clamp(setting.preprocessors, 1.0, n);
  const double bytes = setting.sample_bytes;
  switch (setting.design) {
    case Design::kNone:
      return own;
    case Design::kAllShared:
      return 1 / combined(1 / (n * own), (n - 1) / n * bytes / constants.gather_bw, overlap);
    case Design::kSingleBroadcast:
      return 1 / combined(1 / (p * own),
                          (p - 1) / p * bytes / constants.gather_bw +
                              levels(n - p + 1) * bytes / constants.broadcast_bw,
                          overlap);
    case Design::kMultiBroadcast:
      return 1 / combined(1 / (p * own), std::ceil(levels(n)) * bytes / constants.broadcast_bw,
                          overlap);
    case Design::kWastefulBroadcast:
      return 1 / combined(1 / own, levels(n) * bytes / constants.wasteful_bw, overlap);
    case Design::kSharedMemory:
      return node_rate(std::min(setting.cores, p), constants);
  }
  return own;
}

Forecast forecast(const Setting& setting, const RateConstants& constants, const CpuConstants& cpu,
                  double overlap) {
  Forecast result;
  result.peak = peak_rate(setting, constants, overlap);
  if (setting.train_rates.empty()) {
    result.paces.assign(1, {result.peak, kUnbounded, setting.ranks});
    result.rate = result.slowest = result.peak;
    return result;
  }
  std::vector<double> rates = setting.train_rates;
  std::sort(rates.begin(), rates.end());
  const bool shares = setting.design != Design::kNone;
  const auto groups = shares ? sharing_groups(rates, static_cast<std::size_t>(setting.groups))
                             : std::vector<RateGroup>{{0, rates.size()}};
  for (const RateGroup& group : groups) {
    // One model may stand for many: ranks are divided as the models are.
    const double size = setting.ranks * static_cast<double>(group.end - group.begin) /
                        static_cast<double>(rates.size());
    const double peak = peak_rate(shares ? group_setting(setting, std::max(size, 1.0)) : setting,
                                  constants, overlap);
    const double slowest = fed_rate(rates[group.begin], setting, cpu.host);
    const double bound = work_bound(setting, cpu, size);
    for (std::size_t i = group.begin; i < group.end; ++i) {
      const double own = setting.coupled ? slowest : fed_rate(rates[i], setting, cpu.host);
      result.paces.push_back(
          {std::min(soft_min(own, peak, constants.sharpness), bound), rates[i], size});
    }
  }
  double sum = 0, busy = 0;
  result.slowest = kUnbounded;
  for (const Pace& pace : result.paces) {
    sum += pace.rate;
    busy += pace.rate / pace.alone;
    result.slowest = std::min(result.slowest, pace.rate);
  }
  const auto count = static_cast<double>(result.paces.size());
  result.rate = sum / count;
  result.idle_share = std::clamp(1 - busy / count, 0.0, 1.0);
  return result;
}

CpuTerms cpu_terms(const Setting& setting, const Forecast& forecast) {
  CpuTerms terms;
  for (const Pace& pace : forecast.paces) {
    const double n = std::max(pace.sharers, 1.0);
    const double p = std::clamp(setting.preprocessors, 1.0, n);
    terms.host += std::isfinite(pace.alone) ? 1 / pace.rate : 0;
    terms.train += std::isfinite(pace.alone) ? 1 : 0;
    switch (setting.design) {
      case Design::kNone:
        terms.prepare += 1;
        break;
      case Design::kWastefulBroadcast:
        terms.prepare += p / n;
        terms.exchange += 1;
        break;
      case Design::kAllShared:
        terms.prepare += 1 / n;
        terms.exchange += (n - 1) / n;
        break;
      case Design::kSingleBroadcast:
      case Design::kMultiBroadcast:
        terms.prepare += 1 / n;
        terms.exchange += 1;
        break;
      case Design::kSharedMemory:
        terms.prepare += 1 / n;
        break;
    }
  }
  const auto count = static_cast<double>(forecast.paces.size());
  terms.prepare /= count;
  terms.host /= count;
  terms.exchange /= count;
  terms.train /= count;
  return terms;
}

double cpu_per_image(const CpuTerms& terms, const CpuConstants& constants) {
  return constants.prepare * terms.prepare + constants.host * terms.host +
         constants.exchange * terms.exchange + constants.train * terms.train;
}

PowerTerms power_terms(const Setting& setting, const Forecast& forecast,
                       const CpuConstants& constants) {
  PowerTerms terms;
  const double cores = forecast.rate * cpu_per_image(cpu_terms(setting, forecast), constants) *
                       setting.ranks_per_node;
  terms.busy_cores = std::min(cores, setting.cores);
  terms.busy_accelerators = (1 - forecast.idle_share) * setting.ranks_per_node;
  return terms;
}

double watts(const PowerTerms& terms, const PowerConstants& constants) {
  return constants.running * terms.running + constants.core * terms.busy_cores +
         constants.accelerator * terms.busy_accelerators;
}

}  // namespace omen::ensemble
