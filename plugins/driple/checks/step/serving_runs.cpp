// SPDX-License-Identifier: Apache-2.0
// Reads the measured servers and builds the graphs of one of their ranks.
#include "serving_runs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <omen/opgraph/transformer.hpp>
#include <stdexcept>

#include "operator_tables.hpp"
#include "published_configs.hpp"
#include "step/memory.hpp"

namespace omen::driple::checks {
namespace {

using namespace opgraph;

const TransformerConfig& config_of(const std::string& shape) {
  static std::map<std::string, TransformerConfig> known;
  const auto at = known.find(shape);
  if (at != known.end()) return at->second;
  return known.emplace(shape, read_config(published_models::published(shape).json, shape))
      .first->second;
}

// Copies with other weights have the shape of their original.
std::string shape_named(const std::string& model) {
  static const std::vector<std::pair<std::string, std::string>> shapes = {
      {"Llama-3.1-8B", "llama-3-8b"},
      {"Llama-3.1-70B", "llama-3-70b"},
      {"DeepSeek", "deepseek-v3"},
      {"gpt-oss-120b", "gpt-oss-120b"},
      {"Kimi-K2", "kimi-k2"},
      {"Qwen3.5-397B", "qwen3.5-397b-a17b"},
      {"GLM-5", "glm-5"}};
  for (const auto& [part, shape] : shapes)
    if (model.find(part) != std::string::npos) return shape;
  throw std::runtime_error("no shape is known of " + model);
}

double number_or(const std::string& text, double fallback) {
  return text.empty() ? fallback : std::strtod(text.c_str(), nullptr);
}

// Narrow weights are unpacked where a device has no units for them.
void set_precision(const std::string& word, const Device& device, TransformerRun& run) {
  run.precision = Precision::bf16;
  run.matmul = Precision::bf16;
  if (word.empty() || word == "bf16") {
    run.weights = Precision::bf16;
    return;
  }
  run.weights = word == "fp8" ? Precision::fp8 : Precision::fp4;
  const bool units = word == "fp8" || (word == "fp4" && device.fp4 > device.fp8);
  if (units) run.matmul = run.weights;
  run.cache = Precision::fp8;
}

// What the weights leave for keys and values, in requests of a usual length.
double requests_that_fit(const Job& one, const Device& device) {
  const MemoryNeed need = memory_need(one);
  const double each = one.facts.cache_bytes;
  if (each <= 0) return 1e9;
  return std::floor((device.memory - (need.total() - each)) / each);
}

}  // namespace

std::vector<ServingRun> read_serving() {
  std::vector<ServingRun> runs;
  for_each_row(
      "operators/serving_e2e.csv.xz",
      {"system", "model", "precision", "isl", "osl", "concurrency", "tp_size", "attention_dp_size",
       "moe_tp_size", "moe_ep_size", "tpot_ms"},
      [&](const TextRow& r) {
        ServingRun run;
        run.system = r[0], run.shape = shape_named(r[1]);
        const TransformerConfig& config = config_of(run.shape);
        run.experts = config.experts.count > 0;
        const double tensor = number_or(r[6], 1), expert = number_or(r[9], 1);
        run.attention_ranks = number_or(r[7], 1);
        run.devices = std::max(tensor * run.attention_ranks, number_or(r[8], 1) * expert);
        run.prompt = number_or(r[3], 0), run.answer = number_or(r[4], 1);
        run.requests = number_or(r[5], 1);
        run.seconds = 1e-3 * number_or(r[10], 0);
        const Device device = device_named(run.system);
        TransformerRun step;
        set_precision(r[2], device, step);
        step.fused = true;
        // Heads are not divided further, and experts over all ranks where attention is repeated.
        const double heads = std::min(tensor, static_cast<double>(config.heads));
        const double experts = tensor < run.devices ? run.devices : expert;
        step.tensor_ranks = static_cast<std::int64_t>(heads);
        if (run.experts)
          step.expert_ranks = std::min(static_cast<std::int64_t>(experts), config.experts.count);
        step.mode = Mode::decode;
        step.cached = static_cast<std::int64_t>(run.prompt + run.answer / 2);
        step.batch = 1;
        const double mine = std::ceil(run.requests / run.attention_ranks);
        run.running = std::min(mine, requests_that_fit(transformer_job(config, step), device));
        step.batch = std::max<std::int64_t>(1, static_cast<std::int64_t>(run.running));
        run.decode = transformer_job(config, step);
        step.mode = Mode::prefill;
        step.batch = 1, step.cached = 0;
        step.prompt = static_cast<std::int64_t>(run.prompt);
        run.prefill = transformer_job(config, step);
        runs.push_back(std::move(run));
      });
  return runs;
}

JobRow serving_row(const ServingRun& run, const OperatorModel& operators) {
  JobRow row;
  row.device = device_named(run.system);
  row.costs = job_costs(run.decode, row.device, operators);
  row.costs.add(job_costs(run.prefill, row.device, operators),
                std::max(run.running, 1.0) / run.answer);
  row.seconds = run.seconds;
  return row;
}

}  // namespace omen::driple::checks
