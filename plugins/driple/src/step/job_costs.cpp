// SPDX-License-Identifier: Apache-2.0
// Sums over the operations of a step.
#include "step/job_costs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace omen::driple {
namespace {

using opgraph::Op;
using opgraph::OpClass;
using opgraph::Phase;

Part part_of(const Op& op, Family family) {
  if (family == Family::collective) return Part::communication;
  if (op.phase == Phase::update) return Part::update;
  if (family == Family::convolution)
    return takes_winograd(op) ? Part::conv_winograd : Part::conv_direct;
  switch (family) {
    case Family::product32:
      return Part::product;
    case Family::product16:
    case Family::product8:
      return Part::narrow_product;
    case Family::prefill:
    case Family::decode:
      return Part::attention;
    default:
      return Part::traffic;
  }
}

Phase phase_of_op(const Op& op, Family family) {
  return family == Family::collective ? Phase::communication : op.phase;
}

// Gradients of data-parallel ranks are summed while earlier layers still run backwards.
constexpr double kHiddenShare = 0.7;

// Share of the bandwidth that passes over memory reach without their launches.
constexpr double kCapturedUse = 0.75;

double log1(double value) {
  return std::log(std::max(value, 1e-12));
}

}  // namespace

double JobCosts::total() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

void JobCosts::add(const JobCosts& other, double times) {
  const double mine = total(), theirs = times * other.total();
  const double share = mine + theirs > 0 ? theirs / (mine + theirs) : 0;
  for (std::size_t part = 0; part < kPartCount; ++part)
    seconds[part] += times * other.seconds[part];
  for (std::size_t p = 0; p < phase.size(); ++p) phase[p] += times * other.phase[p];
  bound += times * other.bound;
  kernels += times * other.kernels;
  captured += times * other.captured;
  passes += times * other.passes;
  beyond = (1 - share) * beyond + share * other.beyond;
  intensity = (1 - share) * intensity + share * other.intensity;
}

JobCosts job_costs(const opgraph::Job& job, const Device& device, const OperatorModel& operators) {
  const std::vector<Op>& ops = job.graph.ops;
  const std::vector<double> each = operators.seconds(ops, device);
  const opgraph::StepFacts& facts = job.facts;
  JobCosts costs;
  costs.beyond = operators.beyond(ops, device, each);
  // Every micro-batch runs the graph, and the stages of a pipeline wait for the first and last.
  costs.repeats = std::max(facts.micro_batches, 1.0) + std::max(facts.pipeline_ranks, 1.0) - 1;
  const bool served = facts.mode == opgraph::Mode::prefill || facts.mode == opgraph::Mode::decode;
  costs.passes = served ? 1 : 0;
  double flops = 0, bytes = 0, gradients = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::optional<Family> family = family_of(ops[i]);
    if (!family) continue;
    const bool once = ops[i].phase == Phase::update;
    const double times = once ? 1 : costs.repeats;
    const double bound = bound_of(ops[i], device).seconds();
    // Libraries choose among algorithms that no table has; the model of jobs learns their pace. The
    // tables of traffic were measured with launches, which servers do not pay.
    double own = each[i];
    if (*family == Family::convolution) own = bound;
    if (*family == Family::traffic && served) own = std::min(own, bound / kCapturedUse);
    const double seconds = times * own;
    costs.bound += times * bound;
    (served ? costs.captured : costs.kernels) += times * ops[i].kernels;
    flops += ops[i].flops, bytes += ops[i].bytes_read + ops[i].bytes_written;
    if (*family == Family::collective && once) {
      gradients += seconds;
      continue;
    }
    costs.seconds[static_cast<std::size_t>(part_of(ops[i], *family))] += seconds;
    costs.phase[static_cast<std::size_t>(phase_of_op(ops[i], *family))] += seconds;
  }
  const double backward = costs.phase[static_cast<std::size_t>(Phase::backward)];
  const double shown =
      std::max(gradients - kHiddenShare * backward, (1 - kHiddenShare) * gradients);
  costs.seconds[static_cast<std::size_t>(Part::communication)] += shown;
  costs.phase[static_cast<std::size_t>(Phase::communication)] += shown;
  costs.intensity = flops / std::max(bytes, 1.0);
  return costs;
}

std::array<double, kJobFeatures> job_features(const JobCosts& costs) {
  const double total = std::max(costs.total(), 1e-9);
  const double kernels = std::max(costs.kernels + costs.captured, 1.0);
  std::array<double, kJobFeatures> f{};
  f[0] = 0.6 * log1(1e6 * total / kernels);
  for (std::size_t part = 0; part < kPartCount; ++part)
    f[1 + part] = 3.5 * costs.seconds[part] / total;
  f[9] = 0.6 * log1(costs.intensity);
  f[10] = 0.35 * log1(kernels);
  f[11] = costs.passes > 0 ? 3 : 0;
  return f;
}

std::array<double, kDeviceFeatures> device_features(const Device& device) {
  return {log1(device.fp32), log1(device.bandwidth), log1(device.multiprocessors),
          log1(device.half / device.fp32)};
}

double power_feature(const Device& device) {
  constexpr double kEnough = 250;  // W
  return std::log(device.power > 0 ? std::min(device.power, kEnough) : kEnough);
}

}  // namespace omen::driple
