// SPDX-License-Identifier: Apache-2.0
// Checks the document that XGBoost is about to trust, field by field.
#include "tree_check.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "omen/error.hpp"
#include "ubjson.hpp"

namespace omen::learn {
namespace {

constexpr double kNoParent = 2147483647;   // what XGBoost writes for the parent of a root
constexpr double kDeleted = 4294967295.0;  // split index of a node that was pruned
constexpr std::int64_t kMostClasses = 1 << 20;

[[noreturn]] void damaged(const std::string& what) {
  throw Error(OMEN_INVALID_DATA, "the model's trees are damaged: " + what,
              "Train the model again.");
}

void require(bool holds, const char* what) {
  if (!holds) damaged(what);
}

const UbjValue& member(const UbjValue& object, const char* key) {
  const UbjValue* found = object.find(key);
  if (!found) damaged(std::string(key) + " is missing");
  return *found;
}

const std::string& text_of(const UbjValue& object, const char* key) {
  const UbjValue& value = member(object, key);
  require(value.kind == UbjValue::Kind::kText, key);
  return value.text;
}

// Parameters are texts: a whole number without a sign.
std::int64_t count_of(const UbjValue& object, const char* key) {
  const std::string& text = text_of(object, key);
  std::int64_t count = -1;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || count < 0)
    damaged(std::string(key) + " is '" + text + "'");
  return count;
}

std::vector<double> numbers_of(const UbjValue& object, const char* key) {
  const UbjValue& value = member(object, key);
  if (value.kind == UbjValue::Kind::kNumbers) return value.numbers;
  require(value.kind == UbjValue::Kind::kList, key);
  std::vector<double> numbers;
  for (const UbjValue& element : value.list) {
    require(element.kind == UbjValue::Kind::kNumber, key);
    numbers.push_back(element.number);
  }
  return numbers;
}

bool is_empty(const UbjValue& value) {
  return value.numbers.empty() && value.list.empty() && value.text.empty();
}

struct TreeArrays {
  std::vector<double> left, right, parent, split;

  TreeArrays(const UbjValue& tree, std::size_t nodes)
      : left(sized(tree, "left_children", nodes)),
        right(sized(tree, "right_children", nodes)),
        parent(sized(tree, "parents", nodes)),
        split(sized(tree, "split_indices", nodes)) {
    sized(tree, "default_left", nodes);
    for (const char* key : {"split_conditions", "base_weights", "loss_changes", "sum_hessian"}) {
      const std::vector<double> values = sized(tree, key, nodes);
      if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
        damaged(std::string(key) + " has a number that is not finite");
    }
    const std::vector<double> types = sized(tree, "split_type", nodes);
    require(std::all_of(types.begin(), types.end(), [](double type) { return type == 0; }),
            "a split is not one of numbers");
    for (const char* key :
         {"categories", "categories_nodes", "categories_segments", "categories_sizes"})
      if (!is_empty(member(tree, key))) damaged(std::string(key) + " is not empty");
  }

 private:
  static std::vector<double> sized(const UbjValue& tree, const char* key, std::size_t nodes) {
    std::vector<double> values = numbers_of(tree, key);
    if (values.size() != nodes) damaged(std::string(key) + " has another length than the tree");
    return values;
  }
};

// Walks from the root: a node that is met twice would make a cycle or be shared.
void check_structure(const TreeArrays& tree, std::size_t deleted, double features) {
  const auto nodes = static_cast<double>(tree.left.size());
  std::vector<bool> met(tree.left.size());
  std::vector<std::size_t> pending{0};
  require(tree.parent[0] == kNoParent || tree.parent[0] == -1, "a root has a parent");
  met[0] = true;
  while (!pending.empty()) {
    const std::size_t node = pending.back();
    pending.pop_back();
    if (tree.left[node] == -1 && tree.right[node] == -1) continue;
    require(tree.split[node] >= 0 && tree.split[node] < features, "a split is at no feature");
    for (const double child : {tree.left[node], tree.right[node]}) {
      require(child > 0 && child < nodes, "a child is no node");
      const auto next = static_cast<std::size_t>(child);
      require(!met[next], "a node has two parents");
      require(tree.parent[next] == static_cast<double>(node), "a parent is another node");
      met[next] = true;
      pending.push_back(next);
    }
  }
  std::size_t left_out = 0;
  for (std::size_t node = 0; node < met.size(); ++node) {
    if (met[node]) continue;
    ++left_out;
    require(tree.split[node] == kDeleted || tree.split[node] == -1, "a node hangs in the air");
  }
  require(left_out == deleted, "the number of deleted nodes is wrong");
}

void check_tree(const UbjValue& tree, std::size_t index, Index features) {
  require(tree.kind == UbjValue::Kind::kObject, "a tree is no object");
  const UbjValue& id = member(tree, "id");
  require(id.kind == UbjValue::Kind::kNumber && id.number == static_cast<double>(index),
          "the trees are not in order");
  const UbjValue& parameters = member(tree, "tree_param");
  const std::int64_t nodes = count_of(parameters, "num_nodes");
  const UbjValue& left = member(tree, "left_children");
  require(nodes > 0 && nodes == static_cast<std::int64_t>(left.numbers.size() + left.list.size()),
          "num_nodes is another number than that of the nodes");
  require(count_of(parameters, "num_feature") == features, "a tree has other features");
  require(count_of(parameters, "size_leaf_vector") <= 1, "a leaf holds several numbers");
  check_structure(TreeArrays(tree, static_cast<std::size_t>(nodes)),
                  static_cast<std::size_t>(count_of(parameters, "num_deleted")),
                  static_cast<double>(features));
}

// Trees that answer for each class in turn, or for the one number.
std::int64_t check_learner(const UbjValue& learner, Index features) {
  const UbjValue& parameters = member(learner, "learner_model_param");
  if (const std::int64_t trained = count_of(parameters, "num_feature"); trained != features)
    throw Error(OMEN_INVALID_DATA,
                "the model's trees want " + std::to_string(trained) + " features, not " +
                    std::to_string(features),
                "Train the model again.");
  const std::int64_t classes = count_of(parameters, "num_class");
  require(classes <= kMostClasses, "there are too many classes");
  if (parameters.find("num_target"))
    require(count_of(parameters, "num_target") <= 1, "there are several targets");
  const std::string& base = text_of(parameters, "base_score");
  double score = 0;
  const auto parsed = std::from_chars(base.data(), base.data() + base.size(), score);
  require(
      parsed.ec == std::errc() && parsed.ptr == base.data() + base.size() && std::isfinite(score),
      "base_score is no number");
  const UbjValue& objective = member(learner, "objective");
  const std::string& name = text_of(objective, "name");
  if (name == "multi:softprob") {
    require(classes > 1 &&
                count_of(member(objective, "softmax_multiclass_param"), "num_class") == classes,
            "the number of classes differs");
    return classes;
  }
  require(name == "reg:squarederror" || name == "binary:logistic", "the objective is unknown");
  require(classes == 0, "there are classes");
  return 1;
}

void check_version(const UbjValue& root) {
  const std::vector<double> version = numbers_of(root, "version");
  require(version.size() == 3 &&
              std::all_of(version.begin(), version.end(), [](double v) { return v >= 0; }),
          "the version is unknown");
}

}  // namespace

void check_trees(const std::string& model, Index given_features) {
  const Index features = std::max<Index>(given_features, 1);
  const UbjValue root = parse_ubjson(model);
  require(root.kind == UbjValue::Kind::kObject, "they are no object");
  check_version(root);
  const UbjValue& learner = member(root, "learner");
  for (const char* key : {"feature_names", "feature_types"})
    if (!is_empty(member(learner, key))) damaged(std::string(key) + " is not empty");
  const std::int64_t outputs = check_learner(learner, features);
  const UbjValue& booster = member(learner, "gradient_booster");
  require(text_of(booster, "name") == "gbtree", "they are none of gbtree");
  const UbjValue& forest = member(booster, "model");
  const UbjValue& parameters = member(forest, "gbtree_model_param");
  require(count_of(parameters, "num_parallel_tree") == 1, "several trees are grown at once");
  require(count_of(parameters, "size_leaf_vector") <= 1, "a leaf holds several numbers");
  const UbjValue& trees = member(forest, "trees");
  require(trees.kind == UbjValue::Kind::kList, "trees");
  const auto count = static_cast<std::int64_t>(trees.list.size());
  require(count_of(parameters, "num_trees") == count && count % outputs == 0,
          "num_trees is another number than that of the trees");
  const std::vector<double> groups = numbers_of(forest, "tree_info");
  require(static_cast<std::int64_t>(groups.size()) == count, "tree_info has another length");
  for (const double group : groups)
    require(group >= 0 && group < static_cast<double>(outputs), "a tree answers for no output");
  for (std::size_t i = 0; i < trees.list.size(); ++i) check_tree(trees.list[i], i, features);
}

}  // namespace omen::learn
