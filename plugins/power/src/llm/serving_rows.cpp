// SPDX-License-Identifier: Apache-2.0
// Reads columns that may be absent, null or of another type.
#include "llm/serving_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <omen/join.hpp>
#include <omen/optional_columns.hpp>
#include <omen/registry.hpp>
#include <unordered_map>

namespace omen::power {
namespace {

constexpr Precision kPrecisions[] = {
    {"fp32", "fp32_flops", 4},
    {"bf16", "bf16_flops", 2},
    {"fp16", "fp16_flops", 2},
    {"fp8", "fp8_flops", 1},
    {"int8", "int8_ops", 1},
    {"int4", "fp16_flops", 0.5625},  // weights alone, with group scales
    {"fp4", "fp4_flops", 0.5625},
    {"mxfp4", "fp4_flops", 0.53125},
};
// Of GPUs whose idle power nobody stated; measured ones lie between a ninth and a seventh.
constexpr double kIdlePart = 0.12;

double figure_of(const std::string& gpu, const std::string& key, double otherwise) {
  const std::optional<devices::Figure> found = devices::figure(gpu, key);
  return found ? found->value : otherwise;
}

// A column of candidates, or where they have none that of their workloads.
class Number {
 public:
  Number(const Table& workloads, const Table& candidates, const char* name)
      : own_(workloads, name), chosen_(candidates, name) {}
  double at(std::int64_t workload, std::int64_t candidate, double otherwise) const {
    const double mine = own_.at(workload, otherwise);
    return candidate < 0 ? mine : chosen_.at(candidate, mine);
  }

 private:
  NumberColumn own_, chosen_;
};

class Text {
 public:
  Text(const Table& workloads, const Table& candidates, const char* name)
      : own_(workloads, name), chosen_(candidates, name) {}
  std::string at(std::int64_t workload, std::int64_t candidate) const {
    const std::string chosen = candidate < 0 ? std::string() : chosen_.at(candidate);
    return chosen.empty() ? own_.at(workload) : chosen;
  }

 private:
  TextColumn own_, chosen_;
};

struct ServingColumns {
  ServingColumns(const Table& w, const Table& c)
      : model(w, c, "model"),
        gpu(w, c, "gpu"),
        framework(w, c, "framework"),
        precision(w, c, "precision"),
        batching(w, c, "batching"),
        group(w, c, "group"),
        parameters(w, c, "parameters"),
        active(w, c, "active_parameters"),
        layers(w, c, "layers"),
        hidden(w, c, "hidden"),
        cache(w, c, "cache_bytes_per_token"),
        experts(w, c, "experts"),
        experts_per_token(w, c, "experts_per_token"),
        gpus(w, c, "gpus"),
        batch(w, c, "batch"),
        requests(w, c, "requests_per_s"),
        input(w, c, "input_tokens"),
        output(w, c, "output_tokens"),
        cap(w, c, "power_cap_w"),
        tdp(w, c, "tdp_w"),
        idle(w, c, "idle_w"),
        flops(w, c, "gpu_flops"),
        bandwidth(w, c, "gpu_bytes_per_s"),
        memory(w, c, "gpu_memory_bytes"),
        trust(w, c, "trust") {}
  Text model, gpu, framework, precision, batching, group;
  Number parameters, active, layers, hidden, cache, experts, experts_per_token, gpus, batch,
      requests, input, output, cap, tdp, idle, flops, bandwidth, memory, trust;
};

// Builds one row; a refusal is thrown as its text.
class RowMaker {
 public:
  explicit RowMaker(const ServingColumns& columns) : c_(columns) {}

  ServingRow make(std::int64_t w, std::int64_t k) {
    ServingRow row;
    try {
      row.serving.model = shape(w, k);
      fill(row, w, k);
      row.refusal = refusal(row);
    } catch (const Error& error) {
      row.refusal = error.what();
    }
    return row;
  }

 private:
  ModelShape shape(std::int64_t w, std::int64_t k) const {
    ModelShape m;
    const std::string name = c_.model.at(w, k);
    if (!name.empty()) m = published_shape(name).value_or(ModelShape{});
    m.parameters = c_.parameters.at(w, k, m.parameters);
    if (!(m.parameters > 0))
      throw Error(OMEN_INVALID_DATA, name.empty()
                                         ? "no model is described"
                                         : "the shape of model '" + name +
                                               "' is not known: give parameters, layers, hidden "
                                               "and cache_bytes_per_token");
    m.active = c_.active.at(w, k, m.active > 0 ? m.active : m.parameters);
    m.layers = c_.layers.at(w, k, m.layers);
    m.hidden = c_.hidden.at(w, k, m.hidden);
    m.cache_bytes = c_.cache.at(w, k, m.cache_bytes);
    m.experts = c_.experts.at(w, k, m.experts);
    m.experts_per_token = c_.experts_per_token.at(w, k, m.experts_per_token);
    return m;
  }

  Gpu gpu(std::int64_t w, std::int64_t k, const Precision& precision) {
    const std::string name = c_.gpu.at(w, k);
    Gpu gpu;
    gpu.name = name;
    if (const double flops = c_.flops.at(w, k, 0); flops > 0) {
      gpu.flops = flops;  // everything is told, so nothing is looked up
    } else {
      if (name.empty()) throw Error(OMEN_INVALID_DATA, "no GPU is named");
      const std::string key = name + "/" + precision.name;
      const auto known = gpus_.find(key);
      gpu = known != gpus_.end() ? known->second : gpus_[key] = find_gpu(name, precision);
    }
    gpu.bandwidth = c_.bandwidth.at(w, k, gpu.bandwidth);
    gpu.memory = c_.memory.at(w, k, gpu.memory);
    gpu.tdp = c_.tdp.at(w, k, gpu.tdp);
    gpu.idle = c_.idle.at(w, k, gpu.idle > 0 ? gpu.idle : kIdlePart * gpu.tdp);
    return gpu;
  }

  void fill(ServingRow& row, std::int64_t w, std::int64_t k) {
    Serving& s = row.serving;
    const std::string word = c_.precision.at(w, k);
    const Precision* precision = find_precision(word.empty() ? "bf16" : word);
    if (!precision)
      throw Error(OMEN_INVALID_DATA,
                  "precision '" + word + "' is none of " + join(precision_names()));
    s.gpu = gpu(w, k, *precision);
    s.weight_bytes = precision->bytes;
    s.framework = c_.framework.at(w, k);
    s.gpus = c_.gpus.at(w, k, 1);
    s.batch = c_.batch.at(w, k, 1);
    s.input = c_.input.at(w, k, 512);
    s.output = c_.output.at(w, k, 256);
    s.cap = c_.cap.at(w, k, 0);
    row.requests_per_s = c_.requests.at(w, k, 0);
    row.trust = std::clamp(c_.trust.at(w, k, 1), 0.0, 1.0);
    const std::string batching = c_.batching.at(w, k);
    if (!batching.empty() && batching != "static" && batching != "continuous")
      throw Error(OMEN_INVALID_DATA,
                  "batching '" + batching + "' is neither static nor continuous");
    if (batching == "continuous" || row.requests_per_s > 0) s.batching = Batching::kContinuous;
  }

  static std::string refusal(const ServingRow& row) {
    const Serving& s = row.serving;
    if (!(s.model.layers > 0 && s.model.hidden > 0)) return "layers and hidden are not above 0";
    if (!(s.model.active > 0 && s.model.active <= s.model.parameters))
      return "active_parameters lie outside of 0 to parameters";
    if (!(s.gpu.flops > 0 && s.gpu.bandwidth > 0 && s.gpu.memory > 0 && s.gpu.tdp > 0))
      return "a figure of the GPU is not above 0";
    if (!(s.gpu.idle >= 0 && s.gpu.idle < s.gpu.tdp)) return "idle_w is not below tdp_w";
    if (!(s.gpus >= 1 && s.batch > 0)) return "gpus or batch is below 1";
    if (!(s.input >= 0 && s.output >= 0 && s.input + s.output >= 1)) return "there are no tokens";
    if (s.cap < 0 || (s.cap > 0 && s.cap <= s.gpu.idle))
      return "power_cap_w is not above the idle power";
    const double fit = sequences_that_fit(s);
    if (fit < 1) {
      char text[160];
      std::snprintf(text, sizeof text, "does not fit: %.1f GB of weights on %.0f x %.0f GB",
                    s.model.parameters * s.weight_bytes / 1e9, s.gpus, s.gpu.memory / 1e9);
      return text;
    }
    return {};
  }

  const ServingColumns& c_;
  std::map<std::string, Gpu> gpus_;
};

}  // namespace

const Precision* find_precision(const std::string& name) {
  const auto* at = std::find_if(std::begin(kPrecisions), std::end(kPrecisions),
                                [&](const Precision& p) { return name == p.name; });
  return at == std::end(kPrecisions) ? nullptr : at;
}

std::vector<std::string> precision_names() {
  std::vector<std::string> names;
  for (const Precision& p : kPrecisions) names.emplace_back(p.name);
  return names;
}

Gpu find_gpu(const std::string& spelling, const Precision& precision) {
  Gpu gpu;
  gpu.name = devices::find(spelling);
  const double wide = figure_of(gpu.name, "bf16_flops", figure_of(gpu.name, "fp16_flops", 0));
  gpu.flops = figure_of(gpu.name, precision.rate, wide);
  gpu.bandwidth = figure_of(gpu.name, "bandwidth_bytes_per_s", 0);
  gpu.memory = figure_of(gpu.name, "memory_bytes", 0);
  gpu.link = figure_of(gpu.name, "interconnect_bytes_per_s",
                       2 * figure_of(gpu.name, "link_bytes_per_s", 0));
  gpu.tdp = figure_of(gpu.name, "tdp_w", 0);
  if (!(gpu.flops > 0 && gpu.bandwidth > 0 && gpu.memory > 0 && gpu.tdp > 0))
    throw Error(OMEN_INVALID_DATA,
                "rates, memory and power of " + gpu.name + " were not all published",
                "give gpu_flops, gpu_bytes_per_s, gpu_memory_bytes and tdp_w");
  gpu.idle = kIdlePart * gpu.tdp;
  return gpu;
}

std::vector<ServingRow> read_servings(const Dataset& in, const Run& run) {
  const Table workloads = in.table("workloads");
  const Table candidates = in.has("candidates") ? in.table("candidates") : Table();
  const ServingColumns columns(workloads, candidates);
  const NumberColumn id(workloads, "workload_id"), of(candidates, "workload_id"),
      candidate_id(candidates, "candidate_id");
  const TextColumn group(workloads, "group");
  std::map<std::string, std::int32_t> groups;
  RowMaker maker(columns);
  std::unordered_map<std::int64_t, std::int64_t> row_of;
  std::vector<ServingRow> rows;
  const auto add = [&](std::int64_t w, std::int64_t k) {
    if (rows.size() % 256 == 0) run.step(-1, "read");
    ServingRow row = maker.make(w, k);
    row.workload_id = static_cast<std::int64_t>(id.at(w, static_cast<double>(w)));
    if (k >= 0) row.candidate_id = static_cast<std::int32_t>(candidate_id.at(k, 0));
    row.group = groups.emplace(group.at(w), static_cast<std::int32_t>(groups.size())).first->second;
    rows.push_back(std::move(row));
  };
  for (std::int64_t w = 0; w < workloads.rows(); ++w)
    row_of[static_cast<std::int64_t>(id.at(w, static_cast<double>(w)))] = w;
  if (candidates.rows() == 0)
    for (std::int64_t w = 0; w < workloads.rows(); ++w) add(w, -1);
  for (std::int64_t k = 0; k < candidates.rows(); ++k) {
    const auto at = row_of.find(static_cast<std::int64_t>(of.at(k, 0)));
    if (at != row_of.end()) add(at->second, k);
  }
  return rows;
}

std::vector<MeasuredRun> read_measured_runs(const Dataset& in, const Run& run) {
  const Table targets = in.table("targets");
  const NumberColumn id(targets, "workload_id"), seconds(targets, "time_s"),
      watts(targets, "power_w");
  std::unordered_map<std::int64_t, std::int64_t> row_of;
  for (std::int64_t row = 0; row < targets.rows(); ++row)
    row_of[static_cast<std::int64_t>(id.at(row, static_cast<double>(row)))] = row;
  std::vector<MeasuredRun> runs;
  for (const ServingRow& row : read_servings(in, run)) {
    const auto at = row_of.find(row.workload_id);
    if (!row.refusal.empty() || at == row_of.end()) continue;
    runs.push_back(
        {row.serving, seconds.at(at->second), watts.at(at->second), row.trust, row.group});
  }
  return runs;
}

}  // namespace omen::power
