// SPDX-License-Identifier: Apache-2.0
// Reads, writes and makes splits that list their rows.
#include "data/listed_split.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <unordered_map>

#include "components/registry.hpp"
#include "tables/table_io.hpp"

namespace omen::host {
namespace {

using Names = std::vector<std::string>;

[[noreturn]] void bad_list(const std::filesystem::path& file, const std::string& what,
                           const std::string& hint) {
  throw Error(OMEN_INVALID_DATA, file.string() + " " + what, hint);
}

Role role_of(const std::filesystem::path& file, const std::string& word, std::size_t line) {
  if (const auto role = from_word<Role>(word)) return *role;
  Names roles;
  for (const char* known : WordTable<Role>::kWords) roles.emplace_back(known);
  const auto near = near_names(word, roles);
  bad_list(file, "has role '" + word + "' in row " + std::to_string(line),
           near.empty() ? "Roles are train, valid, observe and test."
                        : "Did you mean '" + near[0] + "'?");
}

// By fold in order of first appearance, then by row: equal splits are equal files.
void put_in_order(ListedRows& rows) {
  std::map<std::string, std::size_t> place;
  for (const ListedRow& entry : rows) place.try_emplace(entry.fold, place.size());
  std::stable_sort(rows.begin(), rows.end(), [&](const ListedRow& a, const ListedRow& b) {
    const std::size_t first = place.at(a.fold), second = place.at(b.fold);
    return first != second ? first < second : a.row < b.row;
  });
}

void check_folds(const std::filesystem::path& file, const ListedRows& rows) {
  if (rows.empty()) bad_list(file, "lists no rows", "Write workload_id,fold,role.");
  for (const Fold& fold : listed_folds(rows))
    for (const Role role : {Role::kTrain, Role::kTest})
      if ((role == Role::kTrain ? fold.train : fold.test).empty())
        bad_list(
            file,
            "has no row marked '" + std::string(word_of(role)) + "' in fold '" + fold.name + "'",
            "Mark rows for both in every fold.");
}

// The values of both columns, in order of first appearance.
Names key_values(const Names& first, const Names& second) {
  Names values;
  std::set<std::string> seen;
  for (std::size_t row = 0; row < first.size(); ++row)
    for (const Names* column : {&first, &second}) {
      const std::string& value = (*column)[row];
      if (value.empty())
        throw Error(OMEN_INVALID_ARGUMENT, "the split has no key in row " + std::to_string(row),
                    "Fill it in, or split by other columns.");
      if (seen.insert(value).second) values.push_back(value);
    }
  return values;
}

std::optional<Role> part_of(int held, MixedRows mixed) {
  if (held == 0) return Role::kTrain;
  if (held == 2 || mixed == MixedRows::kTest) return Role::kTest;
  if (mixed == MixedRows::kObserve) return Role::kObserve;
  return std::nullopt;
}

void add_fold(ListedRows& rows, const std::string& name, const std::set<std::string>& held,
              const Names& first, const Names& second, MixedRows mixed) {
  bool trains = false, tests = false;
  for (std::size_t row = 0; row < first.size(); ++row) {
    const int keys = static_cast<int>(held.count(first[row]) + held.count(second[row]));
    const std::optional<Role> role = part_of(keys, mixed);
    if (!role) continue;
    trains |= *role == Role::kTrain;
    tests |= *role == Role::kTest;
    rows.push_back({static_cast<std::int64_t>(row), name, *role});
  }
  if (!trains || !tests)
    throw Error(OMEN_INVALID_ARGUMENT,
                "the split has no " + std::string(word_of(trains ? Role::kTest : Role::kTrain)) +
                    " rows in fold " + name,
                trains ? "Test mixed rows too, with --mixed test, or ask for fewer folds."
                       : "Ask for more folds, so that each holds out fewer keys.");
}

}  // namespace

ListedRows read_listed(const std::filesystem::path& file, const Table& workloads) {
  ReadOptions options;
  options.text_columns = {"fold", "role"};
  options.number_columns = {"workload_id"};
  const Table table = read_table(file, {}, options);
  std::unordered_map<std::int64_t, std::int64_t> row_of;
  const auto ids = workloads.column<std::int64_t>("workload_id");
  for (std::int64_t row = 0; row < ids.size(); ++row) row_of[ids[row]] = row;
  const std::vector<double> id = table.numbers("workload_id");
  const Names fold = column_texts(table, table.index("fold")),
              role = column_texts(table, table.index("role"));
  ListedRows rows;
  std::set<std::pair<std::string, std::int64_t>> seen;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const auto wanted = static_cast<std::int64_t>(id[i]);
    const auto at = row_of.find(wanted);
    if (at == row_of.end())
      bad_list(file,
               "lists workload " + std::to_string(wanted) +
                   ", which the data has not, or has without a target",
               "See the workload_id of each row in the dataset's workloads.");
    if (fold[i].empty()) bad_list(file, "has no fold in row " + std::to_string(i + 1), "Name it.");
    if (!seen.emplace(fold[i], wanted).second)
      bad_list(file,
               "lists workload " + std::to_string(wanted) + " twice in fold '" + fold[i] + "'",
               "Give it one role.");
    rows.push_back({at->second, fold[i], role_of(file, role[i], i + 1)});
  }
  check_folds(file, rows);
  put_in_order(rows);
  return rows;
}

std::string listed_text(const ListedRows& rows, const Table& workloads) {
  const auto ids = workloads.column<std::int64_t>("workload_id");
  std::vector<std::int64_t> id;
  Names fold, role;
  for (const ListedRow& entry : rows) {
    id.push_back(ids[entry.row]);
    fold.push_back(entry.fold);
    role.emplace_back(word_of(entry.role));
  }
  TableBuilder builder;
  builder.add("workload_id", id).add_categories("fold", fold).add_categories("role", role);
  std::ostringstream out;
  write_csv(out, builder.finish());
  return out.str();
}

std::vector<Fold> listed_folds(const ListedRows& rows) {
  std::vector<Fold> folds;
  std::map<std::string, std::size_t> place;
  for (const ListedRow& entry : rows) {
    const auto [at, fresh] = place.try_emplace(entry.fold, folds.size());
    if (fresh) folds.emplace_back().name = entry.fold;
    folds[at->second].rows_of(entry.role).push_back(entry.row);
  }
  return folds;
}

ListedRows pair_folds(const TaskSplit& split, const Names& first, const Names& second) {
  const Names values = key_values(first, second);
  if (split.folds < 2 || static_cast<std::size_t>(split.folds) > values.size())
    throw Error(OMEN_INVALID_ARGUMENT,
                "the split wants " + std::to_string(split.folds) + " folds of " +
                    std::to_string(values.size()) + " keys",
                "Ask for at least 2 folds and at most as many as there are keys.");
  ListedRows rows;
  for (int repeat = 0; repeat < split.repeats; ++repeat) {
    const auto order =
        shuffled_order(values.size(), split.seed + static_cast<std::uint64_t>(repeat));
    for (int fold = 0; fold < split.folds; ++fold) {
      std::set<std::string> held;
      for (std::size_t i = static_cast<std::size_t>(fold); i < order.size();
           i += static_cast<std::size_t>(split.folds))
        held.insert(values[order[i]]);
      add_fold(rows, fold_name(repeat, std::to_string(fold)), held, first, second, split.mixed);
    }
  }
  return rows;
}

}  // namespace omen::host
