// SPDX-License-Identifier: Apache-2.0
// Brute-force search, votes, and the choice of how many neighbours vote and how.
#include "omen/learn/knn.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "omen/learn/errors.hpp"
#include "omen/learn/parallel.hpp"
#include "omen/learn/random.hpp"

namespace omen::learn {
namespace {

constexpr std::array kNeighbourCounts = {1, 2, 3, 5, 8, 13, 21, 34};
constexpr int kDefaultNeighbours = 5;    // without folds to choose by
constexpr Index kMaxHeldOutRows = 4000;  // asked in cross-validation
constexpr Index kQueriesPerBlock = 64;   // between two looks at the cancel flag

struct Rule {
  int k;
  bool by_distance;
};

// Mean of the neighbours' values, or their class shares with one vote spread over all classes so
// that no class becomes impossible.
void vote(const Neighbours& near, const Vector& y, int classes, const Rule& rule,
          Eigen::Ref<Eigen::RowVectorXd> answer) {
  const std::size_t count = std::min(near.rows.size(), static_cast<std::size_t>(rule.k));
  const bool exact = rule.by_distance && count > 0 && near.distances[0] == 0;
  const double unit = classes == 0 ? 0.0 : 1.0 / classes;
  answer.setConstant(unit);
  double total = classes == 0 ? 0.0 : 1.0;
  // Weights are relative to the nearest one, so that one vote keeps its meaning.
  for (std::size_t i = 0; i < count; ++i) {
    const double distance = near.distances[i];
    double weight = 1;
    if (exact)
      weight = distance == 0 ? 1 : 0;
    else if (rule.by_distance)
      weight = near.distances[0] / distance;
    const double value = y[near.rows[i]];
    if (classes == 0)
      answer[0] += weight * value;
    else
      answer[static_cast<Index>(value)] += weight;
    total += weight;
  }
  answer /= total;
}

std::vector<Rule> rules_of(const KnnOptions& options) {
  std::vector<int> counts(kNeighbourCounts.begin(), kNeighbourCounts.end());
  if (options.k > 0) counts = {options.k};
  std::vector<Rule> rules;
  for (const int k : counts) {
    if (options.weights != KnnOptions::Weights::kDistance) rules.push_back({k, false});
    if (options.weights != KnnOptions::Weights::kUniform) rules.push_back({k, true});
  }
  return rules;
}

std::vector<Index> sorted_choice(Index rows, Index limit, std::uint64_t seed) {
  std::vector<Index> chosen = Random(seed).permutation(rows);
  if (rows > limit) chosen.resize(static_cast<std::size_t>(limit));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// Calls `body(row)` for every row on several threads, with looks at the cancel flag in between.
void for_each_row(Index rows, const Context& context, const std::function<void(Index)>& body) {
  const Index stride = kQueriesPerBlock * static_cast<Index>(std::max(context.threads, 1U));
  for (Index first = 0; first < rows; first += stride) {
    context.step(static_cast<double>(first) / static_cast<double>(rows), "knn");
    const Index end = std::min(rows, first + stride);
    const auto blocks =
        static_cast<std::size_t>((end - first + kQueriesPerBlock - 1) / kQueriesPerBlock);
    for_each_job(blocks, context.threads, [&](std::size_t block) {
      const Index begin = first + static_cast<Index>(block) * kQueriesPerBlock;
      for (Index row = begin; row < std::min(end, begin + kQueriesPerBlock); ++row) body(row);
    });
  }
}

std::vector<bool> unknown_rows(const Vector& y) {
  std::vector<bool> unknown(static_cast<std::size_t>(y.size()));
  for (Index row = 0; row < y.size(); ++row) {
    unknown[static_cast<std::size_t>(row)] = !std::isfinite(y[row]);
  }
  return unknown;
}

std::string describe(const Rule& rule) {
  return "k " + std::to_string(rule.k) + (rule.by_distance ? ", weighted by distance" : "");
}

// What every rule says of the rows `asked`, from neighbours outside their fold.
std::vector<Matrix> ask_all(const Sample& sample, const Head& head, const std::vector<Rule>& rules,
                            const std::vector<Index>& asked, const Context& context) {
  std::vector<std::vector<bool>> same_fold(static_cast<std::size_t>(sample.folds.count));
  for (std::size_t fold = 0; fold < same_fold.size(); ++fold) {
    for (const int of_row : sample.folds.of_row) {
      same_fold[fold].push_back(of_row == static_cast<int>(fold));
    }
  }
  std::size_t most = 0;
  for (const Rule& rule : rules) most = std::max(most, static_cast<std::size_t>(rule.k));
  const auto count = static_cast<Index>(asked.size());
  std::vector<Matrix> answers(rules.size(), Matrix(count, head.outputs()));
  for_each_row(count, context, [&](Index i) {
    const Index row = asked[static_cast<std::size_t>(i)];
    const auto fold = static_cast<std::size_t>(sample.folds.of_row[static_cast<std::size_t>(row)]);
    const Neighbours near = nearest(sample.x, sample.x.row(row), most, same_fold[fold]);
    for (std::size_t r = 0; r < rules.size(); ++r) {
      vote(near, sample.y, head.classes, rules[r], answers[r].row(i));
    }
  });
  return answers;
}

}  // namespace

Neighbours nearest(const Matrix& training, const Eigen::Ref<const Eigen::RowVectorXd>& query,
                   std::size_t k, const std::vector<bool>& skip) {
  std::vector<std::pair<double, Index>> all;
  all.reserve(static_cast<std::size_t>(training.rows()));
  for (Index row = 0; row < training.rows(); ++row) {
    if (!skip.empty() && skip[static_cast<std::size_t>(row)]) continue;
    all.emplace_back((training.row(row) - query).squaredNorm(), row);
  }
  const std::size_t count = std::min(k, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  Neighbours near;
  for (std::size_t i = 0; i < count; ++i) {
    near.distances.push_back(std::sqrt(all[i].first));
    near.rows.push_back(all[i].second);
  }
  return near;
}

std::vector<HeadReport> KnnLearner::fit(const Matrix& x, const std::vector<Head>& heads,
                                        const Folds& folds, const Context& context) {
  const std::vector<Index> kept = sorted_choice(x.rows(), options_.max_rows, context.seed);
  x_ = take_rows(x, kept);
  heads_.clear();
  std::vector<HeadReport> reports;
  for (const Head& head : heads) {
    const Head sampled{take_rows(head.y, kept), head.classes};
    HeadReport report =
        fit_head(x_, sampled, folds.subset(kept), context.part(reports.size(), heads.size()));
    Matrix held_out = Matrix::Constant(x.rows(), head.outputs(), kUnknown);
    put_rows(report.held_out, kept, held_out);
    report.held_out = std::move(held_out);
    reports.push_back(std::move(report));
  }
  return reports;
}

HeadReport KnnLearner::fit_head(const Matrix& x, const Head& head, const Folds& folds,
                                const Context& context) {
  const Sample sample(x, head, folds);
  const std::vector<Rule> rules = rules_of(options_);
  if (sample.folds.count == 0) {
    const Rule rule = options_.k > 0 ? rules.front() : Rule{kDefaultNeighbours, false};
    heads_.push_back({head.y, head.classes, rule.k, rule.by_distance});
    return sample.report(Matrix(0, head.outputs()), head, describe(rule));
  }
  const std::vector<Index> asked = sorted_choice(sample.x.rows(), kMaxHeldOutRows, context.seed);
  const std::vector<Matrix> held_out = ask_all(sample, head, rules, asked, context);
  const Vector truth = take_rows(sample.y, asked);
  std::size_t best = 0;
  double best_loss = std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < rules.size(); ++r) {
    const double loss = mean_loss(held_out[r], truth, head.classes);
    if (loss < best_loss) {
      best = r;
      best_loss = loss;
    }
  }
  heads_.push_back({head.y, head.classes, rules[best].k, rules[best].by_distance});
  HeadReport report = sample.report(Matrix(0, head.outputs()), head, describe(rules[best]));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Index row = sample.rows[static_cast<std::size_t>(asked[i])];
    report.held_out.row(row) = held_out[best].row(static_cast<Index>(i));
  }
  report.loss = best_loss;
  return report;
}

std::vector<Matrix> KnnLearner::predict(const Matrix& x, const Context& context) const {
  std::vector<Matrix> predictions;
  for (const FittedHead& head : heads_) {
    Matrix answer(x.rows(), head.classes == 0 ? 1 : head.classes);
    const std::vector<bool> skip = unknown_rows(head.y);
    const Context own = context.part(predictions.size(), heads_.size());
    for_each_row(x.rows(), own, [&](Index row) {
      const Neighbours near = nearest(x_, x.row(row), static_cast<std::size_t>(head.k), skip);
      vote(near, head.y, head.classes, {head.k, head.by_distance}, answer.row(row));
    });
    predictions.push_back(std::move(answer));
  }
  return predictions;
}

void KnnLearner::save(StateWriter& out) const {
  out.put_matrix("knn.x", x_);
  std::vector<std::int64_t> rules;
  Matrix y(static_cast<Index>(heads_.size()), x_.rows());
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    rules.insert(rules.end(), {heads_[i].k, heads_[i].by_distance ? 1 : 0});
    y.row(static_cast<Index>(i)) = heads_[i].y.transpose();
  }
  out.put_integers("knn.rules", rules);
  out.put_matrix("knn.y", y);
}

void KnnLearner::load(const StateReader& in, const Shape& shape) {
  x_ = in.matrix("knn.x", -1, shape.features);
  const std::vector<std::int64_t> rules = in.integers("knn.rules");
  const Matrix y = in.matrix("knn.y", static_cast<Index>(shape.classes.size()), x_.rows());
  bool sound = rules.size() == 2 * shape.classes.size();
  heads_.clear();
  for (std::size_t i = 0; sound && i < shape.classes.size(); ++i) {
    FittedHead head{y.row(static_cast<Index>(i)).transpose(), shape.classes[i],
                    static_cast<int>(rules[2 * i]), rules[2 * i + 1] != 0};
    const auto votes = [&](double value) {
      return head.classes == 0 || std::isnan(value) || (value >= 0 && value < head.classes);
    };
    sound = head.k >= 1 && std::all_of(head.y.begin(), head.y.end(), votes) &&
            std::any_of(head.y.begin(), head.y.end(), [](double v) { return std::isfinite(v); });
    heads_.push_back(std::move(head));
  }
  if (!sound) throw_bad_data("the model's neighbours are damaged", "train the model again");
}

}  // namespace omen::learn
