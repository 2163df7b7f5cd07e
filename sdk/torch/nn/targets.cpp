// SPDX-License-Identifier: Apache-2.0
// Scales and losses of targets, and their way into tables and artifacts.
#include "omen/torch/nn/targets.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

#include "omen/torch/nn/saving.hpp"

namespace omen::torch_kit::nn {
namespace {

constexpr double kWideRatio = 100;  // numbers that span more than this are learnt as logarithms

at::Tensor number_loss(const at::Tensor& out, const at::Tensor& truth, bool absolute) {
  const at::Tensor known = at::isfinite(truth);
  const at::Tensor error = at::where(known, out - truth, at::zeros_like(out));
  return (absolute ? error.abs() : error.pow(2)).sum() / known.sum().clamp_min(1);
}

at::Tensor class_loss(const at::Tensor& out, const at::Tensor& truth) {
  const at::Tensor known = at::isfinite(truth);
  const at::Tensor code = at::where(known, truth, at::zeros_like(truth) - 1).to(at::kLong);
  const at::Tensor sum =
      at::cross_entropy_loss(out, code, {}, /*reduction=sum*/ 2, /*ignore_index=*/-1);
  return sum / known.sum().clamp_min(1);
}

std::vector<double> column_values(const at::Tensor& column) {
  const at::Tensor values = column.to(at::kDouble).contiguous();
  return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

void add_number(TableBuilder& table, const Target& target, const at::Tensor& output,
                const std::vector<bool>& present) {
  std::vector<double> values = column_values(output);
  for (double& value : values) value = target.value(value);
  table.add(target.name, std::move(values), target.metadata).valid(present);
}

void add_class(TableBuilder& table, const Target& target, const at::Tensor& outputs,
               const std::vector<bool>& present) {
  const at::Tensor best = outputs.argmax(1).contiguous();
  const std::int64_t* code = best.const_data_ptr<std::int64_t>();
  std::vector<std::int32_t> codes;
  for (std::size_t row = 0; row < present.size(); ++row)
    codes.push_back(present[row] ? static_cast<std::int32_t>(code[row]) : 0);
  table.add_dictionary(target.name, std::move(codes), target.classes, target.metadata)
      .valid(present);
  const at::Tensor probability = outputs.softmax(1);
  for (std::size_t c = 0; c < target.classes.size(); ++c)
    table
        .add(target.name + ".p." + target.classes[c],
             column_values(probability.select(1, static_cast<std::int64_t>(c))))
        .valid(present);
}

}  // namespace

double Target::standardised(double value) const {
  return ((logarithm ? std::log(value) : value) - mean) / scale;
}

double Target::value(double output) const {
  const double learnt = mean + scale * output;
  return std::clamp(logarithm ? std::exp(learnt) : learnt, least, largest);
}

std::int64_t outputs_of(const std::vector<Target>& targets) {
  std::int64_t sum = 0;
  for (const Target& target : targets) sum += target.outputs();
  return sum;
}

void measure(Target& target, const std::vector<double>& values) {
  std::vector<double> known;
  for (const double value : values)
    if (std::isfinite(value)) known.push_back(value);
  if (!target.classes.empty() || known.empty()) return;
  const auto [low, high] = std::minmax_element(known.begin(), known.end());
  const bool open = std::isinf(target.least) && std::isinf(target.largest);
  target.logarithm = open && *low > 0 && *high / *low > kWideRatio;
  double sum = 0, squares = 0;
  for (const double given : known) {
    const double value = target.logarithm ? std::log(given) : given;
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(known.size());
  target.mean = sum / count;
  const double variance = squares / count - target.mean * target.mean;
  target.scale = variance > 1e-12 ? std::sqrt(variance) : 1;
}

at::Tensor target_loss(const std::vector<Target>& targets, const at::Tensor& outputs,
                       const std::vector<at::Tensor>& truth, const LossOptions& options) {
  at::Tensor total = at::zeros({});
  std::int64_t column = 0;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const std::int64_t width = targets[t].outputs();
    const at::Tensor mine = outputs.narrow(1, column, width);
    total = total + (targets[t].classes.empty()
                         ? number_loss(mine.squeeze(1), truth[t], options.absolute)
                         : class_loss(mine, truth[t]) * options.class_weight);
    column += width;
  }
  return total;
}

void add_answers(TableBuilder& table, const std::vector<Target>& targets, const at::Tensor& outputs,
                 const std::vector<bool>& present) {
  std::int64_t column = 0;
  for (const Target& target : targets) {
    const at::Tensor mine = outputs.narrow(1, column, target.outputs());
    if (target.classes.empty())
      add_number(table, target, mine.squeeze(1), present);
    else
      add_class(table, target, mine, present);
    column += target.outputs();
  }
}

void save_target(const Target& target, const std::string& prefix, ArtifactWriter& out) {
  out.put_meta(prefix + "name", target.name);
  put_number(out, prefix + "mean", target.mean);
  put_number(out, prefix + "scale", target.scale);
  out.put_meta(prefix + "logarithm", target.logarithm ? "1" : "0");
  put_lines(out, prefix + "classes", target.classes);
  std::vector<std::string> pairs;
  for (const auto& [key, value] : target.metadata) {
    pairs.push_back(key);
    pairs.push_back(value);
  }
  put_lines(out, prefix + "metadata", pairs);
}

Target load_target(const std::string& prefix, const ArtifactReader& in) {
  Target target;
  target.name = in.meta(prefix + "name");
  target.mean = get_number(in, prefix + "mean");
  target.scale = get_number(in, prefix + "scale");
  target.logarithm = in.meta(prefix + "logarithm") == "1";
  target.classes = get_lines(in, prefix + "classes");
  const std::vector<std::string> pairs = get_lines(in, prefix + "metadata");
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
    target.metadata.emplace_back(pairs[i], pairs[i + 1]);
  return target;
}

}  // namespace omen::torch_kit::nn
