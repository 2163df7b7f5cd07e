// SPDX-License-Identifier: Apache-2.0
// Grows a tree by the best threshold of every feature; ties go to the first.
#include "omen/learn/decision_tree.hpp"

#include <algorithm>
#include <cmath>

#include "omen/learn/errors.hpp"

namespace omen::learn {
namespace {

// Sums from which the impurity of a set of rows follows.
class Impurity {
 public:
  explicit Impurity(int classes) : counts_(static_cast<std::size_t>(std::max(classes, 1)), 0.0) {}

  void add(double y, double sign) {
    rows_ += sign;
    if (counts_.size() > 1) {
      counts_[static_cast<std::size_t>(y)] += sign;
    } else {
      sum_ += sign * y;
      squares_ += sign * y * y;
    }
  }
  // Entropy or variance, times the number of rows.
  double total() const {
    if (rows_ <= 0) return 0;
    if (counts_.size() == 1) return squares_ - sum_ * sum_ / rows_;
    double entropy = 0;
    for (const double count : counts_)
      if (count > 0) entropy -= count * std::log2(count / rows_);
    return entropy;
  }

 private:
  std::vector<double> counts_;
  double rows_ = 0, sum_ = 0, squares_ = 0;
};

struct Cut {
  int feature = -1;
  double threshold = 0, gain = 1e-9;
};

void try_feature(const Matrix& x, const Vector& y, const std::vector<Index>& rows, int feature,
                 int classes, int least, Cut& best) {
  std::vector<Index> order = rows;
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return x(a, feature) < x(b, feature); });
  Impurity below(classes), above(classes);
  for (const Index row : order) above.add(y[row], 1);
  const double all = above.total();
  const auto smallest = static_cast<std::size_t>(least);
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    below.add(y[order[i]], 1);
    above.add(y[order[i]], -1);
    const double here = x(order[i], feature), next = x(order[i + 1], feature);
    if (i + 1 < smallest || order.size() - i - 1 < smallest || !(here < next)) continue;
    const double gain = all - below.total() - above.total();
    if (gain > best.gain) best = {feature, here + (next - here) / 2, gain};
  }
}

}  // namespace

void DecisionTree::fit(const Matrix& x, const Vector& y, int classes,
                       const DecisionTreeOptions& options) {
  classes_ = classes;
  nodes_.clear();
  std::vector<Index> rows(static_cast<std::size_t>(x.rows()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Index>(i);
  grow(x, y, std::move(rows), options.depth, options);
}

int DecisionTree::grow(const Matrix& x, const Vector& y, std::vector<Index> rows, int depth,
                       const DecisionTreeOptions& options) {
  const auto number = static_cast<int>(nodes_.size());
  Node node;
  node.answer = Vector::Zero(outputs());
  for (const Index row : rows) {
    if (classes_ == 0)
      node.answer[0] += y[row];
    else
      node.answer[static_cast<Index>(y[row])] += 1;
  }
  node.answer /= static_cast<double>(std::max<std::size_t>(rows.size(), 1));
  nodes_.push_back(node);
  Cut cut;
  if (depth > 0)
    for (int feature = 0; feature < static_cast<int>(x.cols()); ++feature)
      try_feature(x, y, rows, feature, classes_, options.least_leaf, cut);
  if (cut.feature < 0) return number;
  std::vector<Index> below, above;
  for (const Index row : rows)
    (x(row, cut.feature) <= cut.threshold ? below : above).push_back(row);
  const int left = grow(x, y, std::move(below), depth - 1, options);
  const int right = grow(x, y, std::move(above), depth - 1, options);
  Node& kept = nodes_[static_cast<std::size_t>(number)];
  kept.feature = cut.feature;
  kept.threshold = cut.threshold;
  kept.below = left;
  kept.above = right;
  return number;
}

Vector DecisionTree::predict(const Vector& x) const {
  const Node* node = &nodes_.front();
  while (node->feature >= 0)
    node = &nodes_[static_cast<std::size_t>(x[node->feature] <= node->threshold ? node->below
                                                                                : node->above)];
  return node->answer;
}

std::size_t DecisionTree::leaves() const {
  return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(),
                                                [](const Node& node) { return node.feature < 0; }));
}

void DecisionTree::save(StateWriter& out, const std::string& name) const {
  std::vector<std::int64_t> links;
  std::vector<double> values;
  for (const Node& node : nodes_) {
    links.insert(links.end(), {node.feature, node.below, node.above});
    values.push_back(node.threshold);
    values.insert(values.end(), node.answer.data(), node.answer.data() + node.answer.size());
  }
  out.put_integers(name + ".links", links);
  out.put_numbers(name + ".values",
                  Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size())));
}

void DecisionTree::load(const StateReader& in, const std::string& name, Index features,
                        int classes) {
  classes_ = classes;
  const std::vector<std::int64_t> links = in.integers(name + ".links");
  const Vector values = in.numbers(name + ".values");
  const auto width = static_cast<std::size_t>(outputs()) + 1;
  const std::size_t count = links.size() / 3;
  const auto damaged = [&] {
    return Error(OMEN_INVALID_DATA, "the model's tree '" + name + "' is damaged",
                 "Train the model again.");
  };
  if (count == 0 || links.size() != 3 * count ||
      static_cast<std::size_t>(values.size()) != count * width)
    throw damaged();
  nodes_.assign(count, {});
  for (std::size_t i = 0; i < count; ++i) {
    Node& node = nodes_[i];
    // Children come behind their parents, so a damaged tree cannot send predict round in circles.
    const auto child = [&](std::int64_t at) {
      if (at <= static_cast<std::int64_t>(i) || at >= static_cast<std::int64_t>(count))
        throw damaged();
      return static_cast<int>(at);
    };
    node.answer = values.segment(static_cast<Index>(i * width + 1), outputs());
    if (links[3 * i] < 0) continue;
    if (links[3 * i] >= features) throw damaged();
    node.feature = static_cast<int>(links[3 * i]);
    node.threshold = values[static_cast<Index>(i * width)];
    node.below = child(links[3 * i + 1]);
    node.above = child(links[3 * i + 2]);
  }
}

}  // namespace omen::learn
