// SPDX-License-Identifier: Apache-2.0
// Finds near-duplicates by digest and cuts new folds around them.
#include "compare/leaks.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "components/withheld.hpp"
#include "omen/container.hpp"

namespace omen::host {
namespace {

using Rows = std::vector<std::int64_t>;

bool is_key_column(std::string_view name) {
  for (const char* key : {"workload_id", "group", "name", "graph_id", "node_id", "candidate_id"})
    if (name == key) return true;
  return name.starts_with("graph_id.");
}

std::string cell(const Table& table, std::size_t column, std::int64_t row) {
  if (table.is_null(column, row)) return "null";
  if (is_text(table.type(column))) return std::string(table.strings(column)[row]);
  return {};
}

// Every column as text: numbers to six digits, lists element by element.
std::vector<std::string> row_texts(const Table& table, const std::vector<std::size_t>& columns) {
  std::vector<std::string> texts(static_cast<std::size_t>(table.rows()));
  const auto append = [&](std::int64_t row, double value) {
    char number[32];
    std::snprintf(number, sizeof number, "%.6g|", value);
    texts[static_cast<std::size_t>(row)] += number;
  };
  for (const std::size_t c : columns) {
    if (is_number(table.type(c))) {
      const std::vector<double> values = table.numbers(c);
      for (std::int64_t row = 0; row < table.rows(); ++row)
        append(row, values[static_cast<std::size_t>(row)]);
    } else if (is_text(table.type(c))) {
      for (std::int64_t row = 0; row < table.rows(); ++row)
        texts[static_cast<std::size_t>(row)] += cell(table, c, row) + "|";
    } else if (table.type(c) == Type::kFloatList) {
      const auto lists = table.list<float>(c);
      for (std::int64_t row = 0; row < table.rows(); ++row)
        for (std::int64_t i = 0; i < lists.width(); ++i)
          append(row, static_cast<double>(lists[row][i]));
    } else {
      const auto lists = table.list<std::int32_t>(c);
      for (std::int64_t row = 0; row < table.rows(); ++row)
        for (std::int64_t i = 0; i < lists.width(); ++i) append(row, lists[row][i]);
    }
  }
  return texts;
}

// Digest of each graph: its nodes in order with all their columns, then its edges.
std::unordered_map<std::int64_t, std::string> graph_digests(const Tables& tables) {
  std::unordered_map<std::int64_t, std::string> content;
  for (const char* name : {"nodes", "edges"}) {
    const auto at = tables.find(name);
    if (at == tables.end()) continue;
    const Table& table = at->second;
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < table.columns(); ++c)
      if (!is_key_column(table.name(c))) columns.push_back(c);
    const std::vector<double> graph = table.numbers("graph_id");
    const std::vector<std::string> texts = row_texts(table, columns);
    for (std::size_t row = 0; row < texts.size(); ++row)
      content[static_cast<std::int64_t>(graph[row])] += name[0] + texts[row] + "\n";
  }
  for (auto& [graph, text] : content) text = container::sha256(text.data(), text.size());
  return content;
}

std::vector<std::string> graph_keys(const Tables& tables) {
  const Table& workloads = tables.at("workloads");
  const auto digests = graph_digests(tables);
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < workloads.columns(); ++c)
    if (workloads.name(c) == "graph_id" || workloads.name(c).starts_with("graph_id."))
      columns.push_back(c);
  if (columns.empty()) columns.push_back(workloads.index("workload_id"));
  std::vector<std::string> keys(static_cast<std::size_t>(workloads.rows()));
  for (const std::size_t c : columns) {
    const std::vector<double> graph = workloads.numbers(c);
    for (std::size_t row = 0; row < keys.size(); ++row) {
      const auto digest = digests.find(static_cast<std::int64_t>(graph[row]));
      keys[row] += digest == digests.end() ? "row " + std::to_string(row) : digest->second;
    }
  }
  return keys;
}

// Sets of rows that must stay on one side.
class Clusters {
 public:
  explicit Clusters(std::size_t rows) : parent_(rows) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t root(std::size_t row) {
    while (parent_[row] != row) row = parent_[row] = parent_[parent_[row]];
    return row;
  }
  void join_equal(const std::vector<std::string>& texts) {
    std::unordered_map<std::string, std::size_t> first;
    for (std::size_t row = 0; row < texts.size(); ++row)
      parent_[root(row)] = root(first.try_emplace(texts[row], row).first->second);
  }

 private:
  std::vector<std::size_t> parent_;
};

// Largest cluster to the fold with the fewest rows; equal ones by their first row.
std::vector<Rows> deal(Clusters& clusters, std::size_t rows, std::size_t folds) {
  std::map<std::size_t, Rows> members;
  for (std::size_t row = 0; row < rows; ++row)
    members[clusters.root(row)].push_back(static_cast<std::int64_t>(row));
  std::vector<Rows> order;
  for (auto& [root, all] : members) order.push_back(std::move(all));
  std::sort(order.begin(), order.end(), [](const Rows& a, const Rows& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.front() < b.front();
  });
  std::vector<Rows> tests(std::min(folds, order.size()));
  for (const Rows& cluster : order) {
    Rows& smallest =
        *std::min_element(tests.begin(), tests.end(),
                          [](const Rows& a, const Rows& b) { return a.size() < b.size(); });
    smallest.insert(smallest.end(), cluster.begin(), cluster.end());
  }
  for (Rows& test : tests) std::sort(test.begin(), test.end());
  return tests;
}

std::unordered_set<std::string> keys_of(const Rows& rows, const std::vector<std::string>& keys) {
  std::unordered_set<std::string> found;
  for (const std::int64_t row : rows) found.insert(keys[static_cast<std::size_t>(row)]);
  return found;
}

std::vector<Fold> without_leaking_rows(const std::vector<Fold>& folds,
                                       const std::vector<std::string>& keys) {
  std::vector<Fold> cleaned;
  for (Fold fold : folds) {
    const auto tested = keys_of(fold.test, keys);
    for (Rows* rows : {&fold.train, &fold.valid, &fold.observe})
      std::erase_if(*rows, [&](std::int64_t row) {
        return tested.count(keys[static_cast<std::size_t>(row)]) > 0;
      });
    if (!fold.train.empty()) cleaned.push_back(std::move(fold));
  }
  return cleaned;
}

// What the task's own split holds together; where the column is not among the inputs, the fold in
// which a row is tested, which holds together at least as much.
std::vector<std::string> split_groups(const Task& task, const Tables& tables,
                                      const std::vector<Fold>& folds) {
  const Table& workloads = tables.at("workloads");
  std::string column = task.split.column.empty() ? task.group : task.split.column;
  if (column == task.group && !workloads.has(column)) column = "group";
  if (workloads.has(column)) return column_texts(workloads, workloads.index(column));
  std::vector<std::string> fold_of(static_cast<std::size_t>(workloads.rows()));
  for (std::size_t row = 0; row < fold_of.size(); ++row)
    fold_of[row] = "row " + std::to_string(row);
  for (const Fold& fold : folds)
    for (const std::int64_t row : fold.test)
      fold_of[static_cast<std::size_t>(row)] = "fold " + fold.name;
  return fold_of;
}

}  // namespace

std::vector<std::string> duplicate_keys(const Tables& tables) {
  if (tables.count("nodes")) return graph_keys(tables);
  const Table& workloads = tables.at("workloads");
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < workloads.columns(); ++c)
    if (!is_key_column(workloads.name(c))) columns.push_back(c);
  if (!columns.empty()) return row_texts(workloads, columns);
  std::vector<std::string> own;  // nothing to compare: every row is its own
  for (std::int64_t row = 0; row < workloads.rows(); ++row) own.push_back(std::to_string(row));
  return own;
}

std::int64_t leaking_rows(const std::vector<Fold>& folds, const std::vector<std::string>& keys) {
  std::set<std::int64_t> leaking;
  for (const Fold& fold : folds) {
    auto trained = keys_of(fold.train, keys);
    trained.merge(keys_of(fold.valid, keys));
    trained.merge(keys_of(fold.observe, keys));
    for (const std::int64_t row : fold.test)
      if (trained.count(keys[static_cast<std::size_t>(row)])) leaking.insert(row);
  }
  return static_cast<std::int64_t>(leaking.size());
}

std::vector<Fold> grouped_folds(const Task& task, const Tables& tables,
                                const std::vector<Fold>& folds,
                                const std::vector<std::string>& keys) {
  std::vector<Fold> once = folds;
  std::erase_if(once, [](const Fold& fold) { return fold.repeat != 0; });
  if (task.split.kind == SplitKind::kFixed || lists_roles(task.split.kind))
    return without_leaking_rows(once, keys);
  Clusters clusters(keys.size());
  clusters.join_equal(keys);
  if (task.split.kind != SplitKind::kKFold) clusters.join_equal(split_groups(task, tables, once));
  const std::vector<Rows> tests = deal(clusters, keys.size(), once.size());
  if (tests.size() < once.size()) return without_leaking_rows(once, keys);
  std::vector<Fold> grouped;
  for (std::size_t f = 0; f < tests.size(); ++f) {
    Fold fold;
    fold.name = std::to_string(f);
    fold.test = tests[f];
    for (std::size_t other = 0; other < tests.size(); ++other)
      if (other != f) fold.train.insert(fold.train.end(), tests[other].begin(), tests[other].end());
    std::sort(fold.train.begin(), fold.train.end());
    grouped.push_back(std::move(fold));
  }
  return grouped;
}

void shuffle_labels(Tables& tables, std::uint64_t seed) {
  for (auto& [name, table] : tables) {
    if (!is_withheld(name)) continue;
    const std::vector<std::size_t> order =
        shuffled_order(static_cast<std::size_t>(table.rows()), seed);
    const Table drawn = take(table, Rows(order.begin(), order.end()));
    TableBuilder builder;
    for (const auto& [key, value] : table.metadata()) builder.metadata(key, value);
    for (std::size_t c = 0; c < table.columns(); ++c)
      builder.add_column(is_key_column(table.name(c)) ? table : drawn, c);
    table = builder.finish();
  }
}

}  // namespace omen::host
