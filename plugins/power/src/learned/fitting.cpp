// SPDX-License-Identifier: Apache-2.0
// Steps of some nets on some accelerators each.
#include "learned/fitting.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <omen/error.hpp>
#include <omen/learn/random.hpp>
#include <set>
#include <sstream>

#include "learned/training_plots.hpp"
#include "nets/block_features.hpp"
#include "omen/torch/training.hpp"

namespace omen::power {
namespace {

constexpr double kHuberDelta = 0.03;
constexpr std::int64_t kPlotsOfTraining = 10;

// One net with some of its rows.
struct Chunk {
  std::int32_t net = 0;
  std::vector<std::size_t> rows;
};

std::vector<Chunk> chunks_of(const LearnedRows& rows, const std::vector<std::size_t>& of_rows,
                             std::size_t most) {
  std::map<std::int32_t, std::vector<std::size_t>> by_net;
  for (const std::size_t row : of_rows) by_net[rows.rows[row].net].push_back(row);
  std::vector<Chunk> chunks;
  for (const auto& [net, own] : by_net) {
    const std::size_t parts = (own.size() + most - 1) / most;
    for (std::size_t part = 0; part < parts; ++part) {
      Chunk chunk{net, {}};
      for (std::size_t i = part; i < own.size(); i += parts) chunk.rows.push_back(own[i]);
      chunks.push_back(std::move(chunk));
    }
  }
  return chunks;
}

at::Tensor hardware_of_rows(const LearnedRows& rows, const std::vector<std::size_t>& chosen) {
  const auto width = static_cast<std::int64_t>(hardware_width());
  at::Tensor made = at::empty({static_cast<std::int64_t>(chosen.size()), width}, at::kFloat);
  float* at = made.data_ptr<float>();
  for (const std::size_t row : chosen)
    at = std::copy(rows.rows[row].hardware.begin(), rows.rows[row].hardware.end(), at);
  return made;
}

at::Tensor costs_of_rows(const LearnedRows& rows, const std::vector<std::size_t>& chosen) {
  at::Tensor made = at::empty(
      {static_cast<std::int64_t>(chosen.size()), static_cast<std::int64_t>(kCosts)}, at::kFloat);
  float* at = made.data_ptr<float>();
  for (const std::size_t row : chosen)
    for (const double cost : rows.rows[row].cost) *at++ = static_cast<float>(cost);
  return made;
}

at::Tensor log_sum(const at::Tensor& costs) {
  return at::logaddexp(costs.select(1, 0), costs.select(1, 1));
}

// The original knew one output, and a pair with squared errors; both stay for comparison.
at::Tensor loss_of(const at::Tensor& said, const at::Tensor& wanted,
                   const LearnedOptions& options) {
  const auto error = [&](const at::Tensor& a, const at::Tensor& b) {
    if (options.loss == "squared") return at::mse_loss(a.exp(), b.exp());
    return at::huber_loss(a, b, at::Reduction::Mean, kHuberDelta);
  };
  const at::Tensor both =
      error(log_sum(said), log_sum(wanted)) + error(said.select(1, 2), wanted.select(1, 2));
  if (options.outputs == "single") return both;
  return both + error(said.select(1, 0), wanted.select(1, 0)) +
         error(said.select(1, 1), wanted.select(1, 1));
}

struct Split {
  std::vector<std::size_t> fit, calibrate;
};

// Whole nets, by group, are held back; never more than a fifth of them.
Split split_rows(const LearnedRows& rows, const LearnedOptions& options, std::uint64_t seed) {
  std::set<std::string> groups;
  for (const LearnedRow& row : rows.rows)
    if (measured(row)) groups.insert(row.group);
  std::vector<std::string> order(groups.begin(), groups.end());
  learn::Random random(seed, 7);
  std::vector<std::string> shuffled;
  for (const std::ptrdiff_t at : random.permutation(static_cast<std::ptrdiff_t>(order.size())))
    shuffled.push_back(order[static_cast<std::size_t>(at)]);
  const std::size_t held =
      std::min(static_cast<std::size_t>(options.calibration_nets), shuffled.size() / 5);
  const std::set<std::string> apart(shuffled.begin(),
                                    shuffled.begin() + static_cast<std::ptrdiff_t>(held));
  Split split;
  for (std::size_t i = 0; i < rows.rows.size(); ++i)
    if (measured(rows.rows[i]))
      (apart.count(rows.rows[i].group) ? split.calibrate : split.fit).push_back(i);
  if (split.fit.empty())
    throw Error(OMEN_INVALID_DATA, "no row has layers, a legal accelerator and all three costs",
                "p_core_w, p_bw_w and latency_s must be above 0.");
  return split;
}

void note_ranges(LearnedModel& model, const LearnedRows& rows,
                 const std::vector<std::size_t>& of_rows) {
  constexpr float kFar = std::numeric_limits<float>::max();
  model.low.assign(hardware_width(), kFar);
  model.high.assign(hardware_width(), -kFar);
  model.block_low.assign(kBlockFeatures, kFar);
  model.block_high.assign(kBlockFeatures, -kFar);
  for (const std::size_t row : of_rows) {
    const LearnedRow& one = rows.rows[row];
    for (std::size_t c = 0; c < one.hardware.size(); ++c) {
      model.low[c] = std::min(model.low[c], one.hardware[c]);
      model.high[c] = std::max(model.high[c], one.hardware[c]);
    }
    const LearnedNet& net = rows.nets[static_cast<std::size_t>(one.net)];
    for (std::size_t i = 0; i < net.features.size(); ++i) {
      const std::size_t c = i % kBlockFeatures;
      model.block_low[c] = std::min(model.block_low[c], net.features[i]);
      model.block_high[c] = std::max(model.block_high[c], net.features[i]);
    }
  }
}

std::unique_ptr<PowerNetwork> new_network(const LearnedRows& train,
                                          const std::vector<std::size_t>& of_rows, NetworkKind kind,
                                          const LearnedOptions& options, const Run& run) {
  auto made = std::make_unique<PowerNetwork>(
      NetworkShape{kind, options.encoder, options.width, options.depth},
      choose_knots(train, of_rows), run.seed());
  std::vector<double> mean(kCosts, 0);
  double layers = 0;
  const auto count = static_cast<double>(of_rows.size());
  for (const std::size_t row : of_rows) {
    for (std::size_t c = 0; c < kCosts; ++c) mean[c] += train.rows[row].cost[c] / count;
    const LearnedNet& net = train.nets[static_cast<std::size_t>(train.rows[row].net)];
    layers += static_cast<double>(net.layers()) / count;
  }
  made->centre(mean, layers);
  return made;
}

void measure_misses(LearnedModel& model, const LearnedRows& rows, const Split& split,
                    const Run& run) {
  const std::vector<std::vector<double>> said = ask(model, rows, run);
  const auto misses = [&](const std::vector<std::size_t>& of_rows, std::size_t cost) {
    Misses made;
    for (const std::size_t row : of_rows) {
      const LearnedRow& one = rows.rows[row];
      const double answers[kCosts] = {said[0][row], said[1][row], said[2][row]};
      made.inputs.push_back(
          scale_inputs(one, rows.nets[static_cast<std::size_t>(one.net)], answers));
      made.miss.push_back(std::abs(said[cost][row] - one.cost[cost]));
    }
    return made;
  };
  // Too few nets to hold any back: what was learnt from then bounds the error from below.
  const std::vector<std::size_t>& judged = split.calibrate.empty() ? split.fit : split.calibrate;
  model.scales.resize(kCosts);
  for (std::size_t c = 0; c < kCosts; ++c)
    model.scales[c].fit(misses(split.fit, c), misses(judged, c));
}

void train_network(PowerNetwork& network, const LearnedRows& rows, const std::vector<Chunk>& chunks,
                   const LearnedRows& valid, const LearnedOptions& options, const std::string& task,
                   const LearnedModel& model, const Run& run) {
  torch_kit::TrainingTask job;
  job.state = network.state();
  job.items = static_cast<std::int64_t>(chunks.size());
  std::vector<BlockTensors> nets;
  nets.reserve(rows.nets.size());
  for (const LearnedNet& net : rows.nets) nets.push_back(block_tensors(net));
  job.loss = [&](const std::vector<std::int64_t>& items) {
    std::vector<at::Tensor> said, wanted;
    for (const std::int64_t item : items) {
      const Chunk& chunk = chunks[static_cast<std::size_t>(item)];
      said.push_back(network.forward(nets[static_cast<std::size_t>(chunk.net)],
                                     hardware_of_rows(rows, chunk.rows)));
      wanted.push_back(costs_of_rows(rows, chunk.rows));
    }
    return loss_of(at::cat(said, 0), at::cat(wanted, 0), options);
  };
  const std::vector<std::size_t> judged = measured_rows(valid);
  // Figures are renewed while it trains.
  std::int64_t epoch = 0;
  const std::int64_t between = std::max<std::int64_t>(1, options.epochs / kPlotsOfTraining);
  if (!judged.empty())
    job.validate = [&] {
      const std::vector<std::vector<double>> said = ask(model, valid, run);
      if (++epoch % between == 0) plot_answers(run, said, valid, judged);
      const CostErrors errors = mean_errors(said, valid, judged);
      return (errors[0] + errors[1] + errors[2]) / static_cast<double>(kCosts);
    };
  torch_kit::TrainingOptions how;
  torch_kit::apply(run, how);
  how.max_epochs = options.epochs;
  how.batch_items = options.batch_nets;
  how.adam.learning_rate = options.rate;
  how.adam.weight_decay = options.decay;
  how.adam.decoupled_decay = true;
  how.schedule = torch_kit::Schedule::kCosine;
  how.clip_norm = 1;
  how.warmup_epochs = 1;
  how.patience = 0;
  std::ostringstream text;
  text << task << ' ' << options.width << ' ' << options.encoder << ' ' << options.depth << ' '
       << options.loss << ' ' << options.outputs << ' ' << options.chunk_rows << ' '
       << options.calibration_nets;
  how.fingerprint = text.str();
  torch_kit::train(job, how, torch_kit::hooks_of(run));
}

// The weights stay as they are; only the way to the accelerators is differentiated.
void differentiate(const at::Tensor& costs, const at::Tensor& hardware,
                   const std::vector<std::size_t>& of_rows, CostSlopes& slopes) {
  for (std::int64_t c = 0; c < costs.size(1); ++c) {
    const at::Tensor slope =
        torch::autograd::grad({costs.select(1, c).sum()}, {hardware}, {}, true)[0].contiguous();
    const float* at = slope.data_ptr<float>();
    for (const std::size_t row : of_rows) {
      slopes[row].insert(slopes[row].end(), at, at + slope.size(1));
      at += slope.size(1);
    }
  }
}

}  // namespace

std::vector<std::vector<double>> ask(const LearnedModel& model, const LearnedRows& rows,
                                     const Run& run, CostSlopes* slopes) {
  constexpr std::size_t kTogether = 256;
  const c10::AutoGradMode guard(slopes != nullptr);
  if (slopes) slopes->assign(rows.rows.size(), {});
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < rows.rows.size(); ++i)
    if (rows.rows[i].refusal.empty() && rows.rows[i].net >= 0) all.push_back(i);
  std::vector<std::vector<double>> said(
      kCosts, std::vector<double>(rows.rows.size(), std::numeric_limits<double>::quiet_NaN()));
  for (const Chunk& chunk : chunks_of(rows, all, kTogether)) {
    if (run.cancelled()) throw Error(OMEN_CANCELLED, "predict was cancelled");
    const at::Tensor hardware = hardware_of_rows(rows, chunk.rows).set_requires_grad(!!slopes);
    const at::Tensor costs =
        model.network
            ->forward(block_tensors(rows.nets[static_cast<std::size_t>(chunk.net)]), hardware)
            .contiguous();
    if (slopes) differentiate(costs, hardware, chunk.rows, *slopes);
    const float* at = costs.data_ptr<float>();
    for (const std::size_t row : chunk.rows)
      for (std::size_t c = 0; c < kCosts; ++c)
        said[c][row] = static_cast<double>(*at++) + model.offsets[c];
  }
  return said;
}

CostErrors mean_errors(const std::vector<std::vector<double>>& said, const LearnedRows& rows,
                       const std::vector<std::size_t>& chosen) {
  CostErrors errors{};
  for (std::size_t c = 0; c < kCosts; ++c) {
    for (const std::size_t row : chosen)
      errors[c] += std::abs(std::expm1(said[c][row] - rows.rows[row].cost[c]));
    errors[c] /= static_cast<double>(std::max<std::size_t>(1, chosen.size()));
  }
  return errors;
}

LearnedModel fit_model(const LearnedRows& train, const LearnedRows& valid, NetworkKind kind,
                       std::unique_ptr<PowerNetwork> start, const LearnedOptions& options,
                       const std::string& task, const Run& run) {
  const Split split = split_rows(train, options, run.seed());
  LearnedModel model;
  model.offsets.assign(kCosts, 0);
  note_ranges(model, train, split.fit);
  model.network = start ? std::move(start) : new_network(train, split.fit, kind, options, run);
  const std::vector<Chunk> chunks =
      chunks_of(train, split.fit, static_cast<std::size_t>(options.chunk_rows));
  if (options.epochs > 0)
    train_network(*model.network, train, chunks, valid, options, task, model, run);
  model.network->round_to_half();
  if (const std::vector<std::size_t> judged = measured_rows(valid); !judged.empty())
    plot_answers(run, ask(model, valid, run), valid, judged);
  measure_misses(model, train, split, run);
  return model;
}

}  // namespace omen::power
