// SPDX-License-Identifier: Apache-2.0
// Rows as blocks of numbers: counters, words and the batch.
#include <algorithm>
#include <cmath>
#include <omen/learn/errors.hpp>

#include "solo/solo_model.hpp"

namespace omen::interference {
namespace {

using learn::Index;
using learn::Matrix;

constexpr double kWide = 8;      // largest over smallest from which a logarithm is taken
constexpr double kMargin = 0.5;  // deviations beyond what was seen that are still known ground
constexpr const char* kBetween = "\x1f";

void note(std::vector<std::string>& words, const std::string& word) {
  if (!word.empty() && std::find(words.begin(), words.end(), word) == words.end())
    words.push_back(word);
}

}  // namespace

double SoloEncoder::Number::at(double value) const {
  if (!std::isfinite(value) || !fits(value)) return 0;
  return (bent(value) - mean) / deviation;
}

bool SoloEncoder::Number::fits(double value) const {
  return bend == Bend::kNone || (bend == Bend::kRoot ? value >= 0 : value > 0);
}
double SoloEncoder::Number::bent(double value) const {
  switch (bend) {
    case Bend::kLogarithm:
      return std::log2(value);
    case Bend::kRoot:
      return std::sqrt(value);
    case Bend::kNone:
      break;
  }
  return value;
}

// Counters are amounts: a small one tells more by a point than a large one, and where there are
// zeros a root says so as a logarithm does elsewhere.
SoloEncoder::Number SoloEncoder::scale_of(std::vector<double> values, bool always_logarithmic) {
  values.erase(
      std::remove_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); }),
      values.end());
  Number how;
  if (values.empty()) return how;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least > 0 && (always_logarithmic || *most / *least > kWide))
    how.bend = Bend::kLogarithm;
  else if (*least >= 0)
    how.bend = Bend::kRoot;
  for (double& value : values) value = how.bent(value);
  const auto count = static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) how.mean += value / count;
  for (const double value : values) squares += (value - how.mean) * (value - how.mean) / count;
  if (squares > 0) how.deviation = std::sqrt(squares);
  for (const double value : values) {
    how.low = std::min(how.low, (value - how.mean) / how.deviation);
    how.high = std::max(how.high, (value - how.mean) / how.deviation);
  }
  return how;
}

void SoloEncoder::fit(const SoloRows& rows) {
  counters_.clear();
  for (Index c = 0; c < rows.counters.cols(); ++c) {
    const learn::Vector column = rows.counters.col(c);
    counters_.push_back(scale_of({column.data(), column.data() + column.size()}, false));
  }
  batch_ = scale_of(rows.batch, true);
  words_.assign(rows.texts.empty() ? 0 : rows.texts[0].size(), {});
  curves_.clear();
  for (std::size_t row = 0; row < rows.texts.size(); ++row) {
    for (std::size_t c = 0; c < words_.size(); ++c) note(words_[c], rows.texts[row][c]);
    curves_.push_back(rows.curve(row));
  }
  std::sort(curves_.begin(), curves_.end());
  curves_.erase(std::unique(curves_.begin(), curves_.end()), curves_.end());
}

std::vector<learn::GaussianProcess::BlockShape> SoloEncoder::layout() const {
  Index words = 0;
  for (const std::vector<std::string>& known : words_) words += static_cast<Index>(known.size());
  std::vector<learn::GaussianProcess::BlockShape> shapes = {
      {"counters", static_cast<Index>(counters_.size())}, {"words", words}, {"batch", 1}};
  for (std::size_t c = 0; c < counters_.size(); ++c)
    shapes.push_back({"counter" + std::to_string(c), 1});
  return shapes;
}

learn::Blocks SoloEncoder::blocks(const SoloRows& rows) const {
  const auto count = static_cast<Index>(rows.batch.size());
  learn::Blocks blocks;
  for (const learn::GaussianProcess::BlockShape& shape : layout())
    blocks.push_back({shape.name, Matrix::Zero(count, shape.columns)});
  Matrix &counters = blocks[0].values, &words = blocks[1].values, &batch = blocks[2].values;
  // Two rows that differ in one word are at distance 1, whatever the number of words.
  const double unit = std::sqrt(static_cast<double>(words.cols()) / 2);
  for (Index row = 0; row < count; ++row) {
    for (Index c = 0; c < counters.cols(); ++c)
      counters(row, c) = counters_[static_cast<std::size_t>(c)].at(rows.counters(row, c));
    Index first = 0;
    for (std::size_t c = 0; c < words_.size(); ++c) {
      const auto at = std::find(words_[c].begin(), words_[c].end(),
                                rows.texts[static_cast<std::size_t>(row)][c]);
      if (at != words_[c].end()) words(row, first + (at - words_[c].begin())) = unit;
      first += static_cast<Index>(words_[c].size());
    }
    batch(row, 0) = batch_.at(rows.batch[static_cast<std::size_t>(row)]);
  }
  for (Index c = 0; c < counters.cols(); ++c)
    blocks[static_cast<std::size_t>(c) + 3].values = counters.col(c);
  return blocks;
}

bool SoloEncoder::is_foreign(const SoloRows& rows, std::size_t row) const {
  if (!std::binary_search(curves_.begin(), curves_.end(), rows.curve(row))) return true;
  const auto outside = [](const Number& number, double value) {
    if (!std::isfinite(value)) return false;
    const double at = number.at(value);
    return !number.fits(value) || at < number.low - kMargin || at > number.high + kMargin;
  };
  for (std::size_t c = 0; c < counters_.size(); ++c)
    if (outside(counters_[c], rows.counters(static_cast<Index>(row), static_cast<Index>(c))))
      return true;
  return outside(batch_, rows.batch[row]);
}

void SoloEncoder::save(learn::StateWriter& out) const {
  Matrix scales(static_cast<Index>(counters_.size()) + 1, 5);
  for (Index c = 0; c < scales.rows(); ++c) {
    const Number& how = c + 1 < scales.rows() ? counters_[static_cast<std::size_t>(c)] : batch_;
    scales.row(c) << static_cast<int>(how.bend), how.mean, how.deviation, how.low, how.high;
  }
  out.put_matrix("solo.scales", scales);
  out.put_strings("solo.curves", curves_);
  std::vector<std::string> words;
  for (const std::vector<std::string>& known : words_) {
    words.insert(words.end(), known.begin(), known.end());
    words.emplace_back(kBetween);
  }
  out.put_strings("solo.words", words);
}

void SoloEncoder::load(const learn::StateReader& in, const SoloColumns& columns) {
  const Matrix scales =
      in.matrix("solo.scales", static_cast<Index>(columns.counters.size()) + 1, 5);
  const bool bends_known =
      (scales.col(0).array() == 0 || scales.col(0).array() == 1 || scales.col(0).array() == 2)
          .all();
  if (!scales.allFinite() || !bends_known || !(scales.col(2).minCoeff() > 0))
    learn::throw_bad_data("the model's scales are damaged", "Train the model again.");
  counters_.clear();
  for (Index c = 0; c < scales.rows(); ++c) {
    const Number how{static_cast<Bend>(scales(c, 0)), scales(c, 1), scales(c, 2), scales(c, 3),
                     scales(c, 4)};
    if (c + 1 < scales.rows())
      counters_.push_back(how);
    else
      batch_ = how;
  }
  curves_ = in.strings("solo.curves");
  std::sort(curves_.begin(), curves_.end());
  words_.assign(1, {});
  for (const std::string& word : in.strings("solo.words")) {
    if (word == kBetween)
      words_.emplace_back();
    else
      words_.back().push_back(word);
  }
  words_.pop_back();
  if (words_.size() != columns.texts.size())
    learn::throw_bad_data("the model's words are damaged", "Train the model again.");
}

}  // namespace omen::interference
