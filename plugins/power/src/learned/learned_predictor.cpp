// SPDX-License-Identifier: Apache-2.0
// Options, tables in and tables out, and the file.
#include "learned/learned_predictor.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <omen/learn/artifact_state.hpp>
#include <omen/learn/errors.hpp>

#include "learned/fitting.hpp"
#include "learned/layer_columns.hpp"
#include "nets/block_features.hpp"

namespace omen::power {
namespace {

constexpr const char* kComponentKey = "power.component";
constexpr double kUsualLevel = 0.9;
// Rows outside of training get intervals wider by this factor.
constexpr double kWiderOutside = 3;

bool lies_outside(const std::vector<float>& low, const std::vector<float>& high,
                  const std::vector<float>& values) {
  constexpr float kSlack = 1e-4F;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t c = i % low.size();
    if (values[i] < low[c] - kSlack || values[i] > high[c] + kSlack) return true;
  }
  return false;
}

struct Answer {
  const char *name, *unit;
  std::vector<double> value, low, high;
  void add(double log_value, double half_width) {
    value.push_back(std::exp(log_value));
    low.push_back(std::exp(log_value - half_width));
    high.push_back(std::exp(log_value + half_width));
  }
};

std::vector<float> flattened(const std::vector<std::vector<float>>& lists) {
  std::vector<float> flat;
  for (const std::vector<float>& list : lists) {
    flat.push_back(static_cast<float>(list.size()));
    flat.insert(flat.end(), list.begin(), list.end());
  }
  return flat;
}

std::vector<std::vector<float>> unflattened(const std::vector<float>& flat, std::size_t count) {
  std::vector<std::vector<float>> lists;
  std::size_t at = 0;
  while (at < flat.size()) {
    const float size = flat[at++];
    if (!(size >= 0) || static_cast<double>(size) > static_cast<double>(flat.size() - at))
      learn::throw_bad_data("the model holds broken knots", "Train it again.");
    const auto length = static_cast<std::size_t>(size);
    lists.emplace_back(flat.begin() + static_cast<std::ptrdiff_t>(at),
                       flat.begin() + static_cast<std::ptrdiff_t>(at + length));
    at += length;
  }
  if (lists.size() != count)
    learn::throw_bad_data("the model holds too few knots", "Train it again.");
  return lists;
}

// Columns such as `latency_s.slope.rows` and `latency_s.slope.dataflow.ws`: how the logarithm of a
// cost follows that of a parameter, or a word that takes the place of none.
void add_slopes(TableBuilder& table, const CostSlopes& slopes, const std::vector<bool>& answered) {
  const std::vector<std::string> inputs = hardware_input_names();
  for (std::size_t c = 0; c < kCosts; ++c)
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      // The network reads binary logarithms of numbers.
      const double unit = i < hardware_numbers() ? 1 / std::log(2.0) : 1;
      std::vector<float> values;
      for (const std::vector<float>& row : slopes)
        values.push_back(row.empty() ? 0 : static_cast<float>(unit * row[c * inputs.size() + i]));
      table.add(std::string(kCostNames[c]) + ".slope." + inputs[i], std::move(values))
          .valid(answered);
    }
}

const std::string kWeightPrefix = "network.";

void load_weights(const torch_kit::StateDict& state, const ArtifactReader& in) {
  const c10::NoGradGuard guard;
  for (const torch_kit::NamedTensor& entry : state.entries()) {
    const at::Tensor kept = torch_kit::get_tensor(in, kWeightPrefix + entry.name);
    if (kept.sizes() != entry.tensor.sizes())
      learn::throw_bad_data("the model's " + entry.name + " has another shape", "Train it again.");
    entry.tensor.copy_(kept);
  }
}

}  // namespace

std::vector<Option<LearnedOptions>> LearnedOptions::spec() {
  using O = LearnedOptions;
  return options(
      opt(&O::epochs, "epochs", "passes over the rows; 0 measures the intervals of --from anew")
          .range(0, 10000),
      opt(&O::encoder, "encoder", "width of the encoders of blocks and accelerators")
          .range(4, 2048),
      opt(&O::width, "width", "width of what a block and an accelerator meet in").range(4, 2048),
      opt(&O::depth, "depth", "hidden layers behind the first one of where they meet").range(1, 16),
      opt(&O::batch_nets, "batch_nets", "nets in one step").range(1, 4096),
      opt(&O::chunk_rows, "chunk_rows", "accelerators of a net in one step, at most")
          .range(1, 4096),
      opt(&O::calibration_nets, "calibration_nets",
          "nets that are held back to measure intervals on, at most a fifth")
          .range(0, 100000),
      opt(&O::rate, "rate", "learning rate at the start; it falls along a cosine").range(1e-7, 1),
      opt(&O::decay, "decay", "decay of the weights").range(0, 1).advanced(),
      opt(&O::loss, "loss", "relative errors with bounded outliers, or squared watts and seconds")
          .choices("huber", "squared"),
      opt(&O::outputs, "outputs",
          "errors of both powers and of their sum count, or of the sum alone")
          .choices("pair", "single"),
      opt(&O::slopes, "slopes",
          "answer also how each cost follows each parameter, in percent for a percent"));
}

void LearnedPredictor::fit(const Dataset& train, const Dataset& valid, const Run& run) {
  LearnedRows rows = read_learned_rows(train), judged;
  read_costs(train, rows);
  if (valid && valid.has("targets")) {
    judged = read_learned_rows(valid);
    read_costs(valid, judged);
  }
  model_ = std::make_unique<LearnedModel>(fit_model(rows, judged, kind_,
                                                    model_ ? std::move(model_->network) : nullptr,
                                                    options_, train.task_hash(), run));
}

TableStream LearnedPredictor::predict(const Dataset& in, const Run& run) {
  const LearnedModel& model = learn::require_model(model_, id_);
  const LearnedRows rows = read_learned_rows(in);
  CostSlopes slopes;
  const std::vector<std::vector<double>> said =
      ask(model, rows, run, options_.slopes ? &slopes : nullptr);
  const double level = run.interval_level() > 0 ? run.interval_level() : kUsualLevel;
  Answer answers[] = {{"p_core_w", "W", {}, {}, {}},
                      {"p_bw_w", "W", {}, {}, {}},
                      {"latency_s", "s", {}, {}, {}},
                      {"power_w", "W", {}, {}, {}},
                      {"energy_j", "J", {}, {}, {}}};
  std::vector<std::int64_t> id;
  std::vector<bool> answered;
  std::vector<std::string> status;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const LearnedRow& row = rows.rows[i];
    id.push_back(row.workload_id);
    answered.push_back(row.refusal.empty());
    const bool outside = row.refusal.empty() &&
                         (lies_outside(model.low, model.high, row.hardware) ||
                          lies_outside(model.block_low, model.block_high,
                                       rows.nets[static_cast<std::size_t>(row.net)].features));
    status.push_back(!row.refusal.empty() ? row.refusal : outside ? "extrapolating" : "ok");
    const double factor = outside ? kWiderOutside : 1;
    double half[kCosts] = {};
    if (row.refusal.empty()) {
      const double own[kCosts] = {said[0][i], said[1][i], said[2][i]};
      const learn::Vector inputs =
          scale_inputs(row, rows.nets[static_cast<std::size_t>(row.net)], own);
      for (std::size_t c = 0; c < kCosts; ++c)
        half[c] = factor * model.scales[c].half_width(level, inputs);
    }
    for (std::size_t c = 0; c < kCosts; ++c) answers[c].add(said[c][i], half[c]);
    const double power = std::log(std::exp(said[0][i]) + std::exp(said[1][i]));
    answers[3].add(power, std::max(half[0], half[1]));
    answers[4].add(power + said[2][i], std::max(half[0], half[1]) + half[2]);
  }
  TableBuilder table;
  table.add("workload_id", std::move(id));
  for (Answer& answer : answers) {
    const Metadata notes = {{"omen.unit", answer.unit},
                            {"omen.method", std::string("estimated:") + id_}};
    const std::string name = answer.name;
    table.add(name, std::move(answer.value), notes).valid(answered);
    table.add(name + ".lo", std::move(answer.low), notes).valid(answered);
    table.add(name + ".hi", std::move(answer.high), notes).valid(answered);
  }
  if (options_.slopes) add_slopes(table, slopes, answered);
  return table.add_strings("status", status).finish();
}

void LearnedPredictor::observe(const Dataset& measured, const Run& run) {
  learn::require_model(model_, id_);
  LearnedModel& model = *model_;
  LearnedRows rows = read_learned_rows(measured);
  read_costs(measured, rows);
  const std::vector<std::vector<double>> said = ask(model, rows, run);
  std::vector<double> next = model.offsets;
  for (std::size_t c = 0; c < kCosts; ++c) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      const double miss = rows.rows[i].cost[c] - said[c][i];
      if (!std::isfinite(miss)) continue;
      sum += miss;
      ++count;
    }
    // One measurement moves the answer half way; many move it all the way.
    if (count > 0) next[c] += sum / (count + 1);
  }
  model.offsets = next;
}

void LearnedPredictor::save(ArtifactWriter& out) const {
  const LearnedModel& model = learn::require_model(model_, id_);
  out.put_meta(kComponentKey, id_);
  const NetworkShape& shape = model.network->shape();
  out.put("shape",
          std::vector<double>{static_cast<double>(shape.encoder), static_cast<double>(shape.width),
                              static_cast<double>(shape.depth)});
  out.put("block_knots", flattened(model.network->knots().block));
  out.put("hardware_knots", flattened(model.network->knots().hardware));
  out.put("low", model.low);
  out.put("high", model.high);
  out.put("block_low", model.block_low);
  out.put("block_high", model.block_high);
  out.put("offsets", model.offsets);
  learn::ArtifactState state(out);
  for (std::size_t c = 0; c < kCosts; ++c)
    model.scales[c].save(state, std::string("misses_") + kCostNames[c]);
  for (const torch_kit::NamedTensor& entry : model.network->state().entries())
    torch_kit::put_tensor(out, kWeightPrefix + entry.name, entry.tensor.detach().to(at::kHalf));
}

void LearnedPredictor::load(const ArtifactReader& in) {
  learn::require_component(in.meta(kComponentKey), id_);
  auto next = std::make_unique<LearnedModel>();
  std::vector<double> shape = in.get<double>("shape");
  if (shape.size() == 2) shape.push_back(1);  // without a depth there is one hidden layer
  const auto lies_within = [](double value, double most) { return value >= 1 && value <= most; };
  if (shape.size() != 3 || !lies_within(shape[0], 4096) || !lies_within(shape[1], 4096) ||
      !lies_within(shape[2], 16))
    learn::throw_bad_data("the model has no shape", "Train it again.");
  Knots knots{unflattened(in.get<float>("block_knots"), kBlockFeatures),
              unflattened(in.get<float>("hardware_knots"), hardware_width())};
  next->network = std::make_unique<PowerNetwork>(
      NetworkShape{kind_, static_cast<std::int64_t>(shape[0]), static_cast<std::int64_t>(shape[1]),
                   static_cast<std::int64_t>(shape[2])},
      std::move(knots), 0);
  load_weights(next->network->state(), in);
  next->low = in.get<float>("low");
  next->high = in.get<float>("high");
  next->block_low = in.get<float>("block_low");
  next->block_high = in.get<float>("block_high");
  next->offsets = in.get<double>("offsets");
  if (next->low.size() != hardware_width() || next->high.size() != hardware_width() ||
      next->block_low.size() != kBlockFeatures || next->block_high.size() != kBlockFeatures ||
      next->offsets.size() != kCosts)
    learn::throw_bad_data("the model holds another number of inputs", "Train it again.");
  next->scales.resize(kCosts);
  const learn::ArtifactSource source(in);
  for (std::size_t c = 0; c < kCosts; ++c)
    next->scales[c].load(source, std::string("misses_") + kCostNames[c]);
  model_ = std::move(next);
}

SeqPredictor::SeqPredictor(LearnedOptions options)
    : LearnedPredictor("power.seq", NetworkKind::additive, std::move(options)) {}
FlatPredictor::FlatPredictor(LearnedOptions options)
    : LearnedPredictor("power.flat", NetworkKind::flat, std::move(options)) {}

namespace {

template <class Made>
Component described(const char* id, const char* summary) {
  return reads_layers(predictor<Made, LearnedOptions>(id, summary))
      .writes("p_core_w:W:lower", "p_bw_w:W:lower", "latency_s:s:lower", "power_w:W:lower",
              "energy_j:J:lower")
      .caps(OMEN_CAP_SEEDED_REPEATABLE | OMEN_CAP_UNCERTAINTY | OMEN_CAP_WARM_START);
}

}  // namespace

Component reads_layers(Component made) {
  return std::move(made).reads(
      "nodes@pw-blocks/1", "nodes.cin", "nodes.cout", "nodes.h", "nodes.w", "nodes.kh", "nodes.kw",
      "nodes.stride_h", "nodes.stride_w", "nodes.groups", "nodes.ho", "nodes.wo",
      "workloads.rows:optional", "workloads.cols:optional", "workloads.dataflow:optional",
      "workloads.rf_b:optional", "workloads.ifmap_kb:optional", "workloads.weight_kb:optional",
      "workloads.ofmap_kb:optional", "workloads.bw_gbps:optional", "workloads.dram:optional",
      "workloads.freq_mhz:optional", "workloads.vdd:optional", "workloads.node_nm:optional",
      "workloads.bits_w:optional", "workloads.bits_a:optional", "workloads.bits_psum:optional",
      "workloads.batch:optional", "workloads.zero_gate:optional");
}

Component seq_component() {
  return described<SeqPredictor>("power.seq",
                                 "power and latency as sums over blocks, learned from a corpus");
}

Component flat_component() {
  return described<FlatPredictor>("power.flat",
                                  "power and latency from one vector for the whole network");
}

}  // namespace omen::power
