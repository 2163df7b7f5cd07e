// SPDX-License-Identifier: Apache-2.0
// Rooflines of the passes, and what a power cap makes of them.
#include "llm/analytic.hpp"

#include <algorithm>
#include <cmath>

namespace omen::power {
namespace {

constexpr double kMicro = 1e-6;
constexpr double kActivationBytes = 2;
constexpr double kUsableMemory = 0.9;
// Watts bend towards the rated power instead of breaking off there.
constexpr double kPowerBend = 8;
// Slowdown under a cap: 1 + factor * q^exponent, q what dynamic power lacks; the factors lie in the
// range that was fitted to training on four GPUs, larger where arithmetic bounds.
constexpr double kCapExponent = 1.3, kCapCompute = 0.55, kCapMemory = 0.3;

// Bytes of the weights that a pass over `tokens` reads: each token wakes some of the experts.
double weights_read(const Serving& s, double tokens) {
  const ModelShape& m = s.model;
  if (!m.has_experts()) return m.parameters * s.weight_bytes;
  const double part = m.experts_per_token / m.experts;
  const double in_experts = (m.parameters - m.active) / (1 - part);
  const double woken = 1 - std::pow(1 - part, tokens);
  return (m.parameters - in_experts + in_experts * woken) * s.weight_bytes;
}

double roofline(double a, double b, double sharpness) {
  const double most = std::max(a, b);
  if (!(most > 0)) return 0;
  return most *
         std::pow(std::pow(a / most, sharpness) + std::pow(b / most, sharpness), 1 / sharpness);
}

// Seconds of the sums over GPUs that follow attention and feed-forward part of `tokens`.
double exchange_s(const Serving& s, const Efficiency& e, double tokens) {
  if (s.gpus <= 1) return 0;
  const double bytes =
      4 * s.model.layers * tokens * s.model.hidden * kActivationBytes * (s.gpus - 1) / s.gpus;
  const double wire = s.gpu.link > 0 ? bytes / (s.gpu.link / 2) : 0;
  return wire + std::log2(s.gpus) * e.exchange_us * kMicro * s.model.layers;
}

Pass prefill_of(const Serving& s, const Efficiency& e, double at_once) {
  const double flops = s.gpu.flops * s.gpus, bandwidth = s.gpu.bandwidth * s.gpus;
  const double tokens = at_once * s.input;
  const double cache = s.model.cache_bytes * s.cache_scale;
  Pass pass;
  const double linear = 2 * s.model.active * tokens;
  const double square = 2 * s.model.layers * s.model.hidden * s.input * tokens;
  pass.flops = linear + square;
  pass.weight_bytes = weights_read(s, tokens);
  pass.cache_bytes = 2 * tokens * cache;
  pass.compute_s = pass.flops / flops / e.compute;
  pass.memory_s = (pass.weight_bytes + pass.cache_bytes) / bandwidth / e.memory;
  pass.overhead_s = e.prefill_us * kMicro * s.model.layers + exchange_s(s, e, tokens);
  pass.seconds = roofline(linear / flops / e.compute, pass.memory_s, e.sharpness) +
                 square / flops / e.compute + pass.overhead_s;
  return pass;
}

Pass step_of(const Serving& s, const Efficiency& e, double at_once) {
  const double flops = s.gpu.flops * s.gpus, bandwidth = s.gpu.bandwidth * s.gpus;
  const double context = s.input + s.output / 2;
  Pass pass;
  const double linear = 2 * s.model.active * at_once;
  const double looking = 4 * s.model.layers * s.model.hidden * context * at_once;
  pass.flops = linear + looking;
  pass.weight_bytes = weights_read(s, at_once);
  pass.cache_bytes = at_once * context * s.model.cache_bytes * s.cache_scale;
  const double linear_s = linear / flops / e.compute, looking_s = looking / flops / e.attention;
  const double weights_s = pass.weight_bytes / bandwidth / e.memory,
               cache_s = pass.cache_bytes / bandwidth / e.memory;
  pass.compute_s = linear_s + looking_s;
  pass.memory_s = weights_s + cache_s;
  pass.overhead_s = e.step_us * kMicro * s.model.layers + exchange_s(s, e, at_once) +
                    e.sequence_us * kMicro * at_once;
  pass.seconds = roofline(linear_s, weights_s, e.sharpness) +
                 roofline(looking_s, cache_s, e.sharpness) + pass.overhead_s;
  return pass;
}

struct Limited {
  double watts = 0, stretch = 1;
};

// A pass under the cap draws the cap and takes longer, the more so where arithmetic bounds it.
Limited limited_by(const Serving& s, const Pass& pass, double watts) {
  const double limit = std::min(s.cap > 0 ? s.cap : s.gpu.tdp, s.gpu.tdp);
  if (watts <= limit) return {watts, 1};
  const double floor = s.gpu.idle;
  const double lacking = (watts - floor) / std::max(limit - floor, 0.02 * s.gpu.tdp) - 1;
  const double both = std::max(pass.compute_s + pass.memory_s, 1e-12);
  const double factor = kCapMemory + (kCapCompute - kCapMemory) * pass.compute_s / both;
  return {limit, 1 + factor * std::pow(lacking, kCapExponent)};
}

PhaseCost phase_of(const Serving& s, const Pass& pass, double count, const PowerShape& shape,
                   const Corrections& fix, double& stretch) {
  PhaseCost cost;
  cost.bound = bound_of(pass);
  const double seconds = pass.seconds * fix.time;
  const double free_watts = std::min(watts_of(s, pass, pass.seconds, shape) * fix.power, s.gpu.tdp);
  const Limited limited = limited_by(s, pass, std::max(free_watts, s.gpu.idle));
  stretch = limited.stretch;
  cost.watts = limited.watts;
  cost.seconds = count * seconds * limited.stretch;
  cost.joules = cost.watts * cost.seconds * s.gpus;
  return cost;
}

}  // namespace

double sequences_that_fit(const Serving& s) {
  const double room = kUsableMemory * s.gpus * s.gpu.memory - s.model.parameters * s.weight_bytes;
  const double each = s.model.cache_bytes * s.cache_scale * (s.input + s.output);
  return each > 0 ? room / each : room > 0 ? 1e9 : 0;
}

const char* bound_name(Bound bound) {
  static constexpr const char* kNames[] = {"compute", "memory", "overhead"};
  return kNames[static_cast<int>(bound)];
}

Bound bound_of(const Pass& pass) {
  if (pass.overhead_s >= std::max(pass.compute_s, pass.memory_s)) return Bound::kOverhead;
  return pass.compute_s >= pass.memory_s ? Bound::kCompute : Bound::kMemory;
}

double Forecast::joules_per_token(const Serving& serving) const {
  return joules / (serving.batch * std::max(serving.output, 1.0));
}

double Forecast::tokens_per_s(const Serving& serving) const {
  return serving.batch * serving.output / seconds;
}

Passes passes_of(const Serving& s, const Efficiency& e) {
  Passes passes;
  passes.waves = std::max(1.0, s.batch / std::max(sequences_that_fit(s), 1.0));
  passes.at_once = s.batch / passes.waves;
  // Requests of continuous batching are prefilled one by one, between the steps of the others.
  passes.prefill = prefill_of(s, e, s.batching == Batching::kContinuous ? 1 : passes.at_once);
  passes.step = step_of(s, e, passes.at_once);
  return passes;
}

double watts_of(const Serving& s, const Pass& pass, double seconds, const PowerShape& shape) {
  const double flops = s.gpu.flops * s.gpus, bandwidth = s.gpu.bandwidth * s.gpus;
  const double busy = shape.compute * pass.flops / flops +
                      shape.weights * pass.weight_bytes / bandwidth +
                      shape.cache * pass.cache_bytes / bandwidth;
  const double part = shape.base + shape.factor * busy / seconds;
  const double bent = part / std::pow(1 + std::pow(part, kPowerBend), 1 / kPowerBend);
  return s.gpu.idle + (s.gpu.tdp - s.gpu.idle) * bent;
}

Forecast forecast_of(const Serving& s, const Efficiency& e, const PowerShape& shape,
                     const Corrections& fix) {
  const Passes passes = passes_of(s, e);
  const bool continuous = s.batching == Batching::kContinuous;
  Forecast f;
  double prefill_stretch = 1, step_stretch = 1;
  const double prefills = continuous ? s.batch : passes.waves;
  const double steps = passes.waves * s.output;
  f.prefill = phase_of(s, passes.prefill, prefills, shape, fix, prefill_stretch);
  f.decode = phase_of(s, passes.step, steps, shape, fix, step_stretch);
  f.at_once = passes.at_once;
  f.seconds = f.prefill.seconds + f.decode.seconds;
  f.joules = f.prefill.joules + f.decode.joules;
  f.watts = f.joules / f.seconds / s.gpus;
  f.stretch =
      f.seconds / (fix.time * (prefills * passes.prefill.seconds + steps * passes.step.seconds));
  f.capped = prefill_stretch > 1 || step_stretch > 1;
  f.first_s = passes.prefill.seconds * fix.time * prefill_stretch;
  const double alone = passes.step.seconds * fix.time * step_stretch;
  // Each token of a request also waits for the prefills that fall between two steps.
  f.token_s = continuous && s.output > 0 ? alone + passes.at_once / s.output * f.first_s : alone;
  return f;
}

}  // namespace omen::power
