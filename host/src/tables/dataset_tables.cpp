// SPDX-License-Identifier: Apache-2.0
// Table plumbing between files and components; rows are copied only where their order or number
// changes.
#include "dataset_tables.hpp"

#include <algorithm>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "omen/container.hpp"
#include "tables/narrowed.hpp"
#include "tables/table_io.hpp"
#include "text/number_text.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

using Ids = std::vector<std::int64_t>;

bool is_id(std::string_view name, std::string_view id) {
  return name == id || (name.starts_with(id) && name.substr(id.size()).starts_with("."));
}

// Any integer column as 64-bit values.
Ids ids_of(const Table& table, std::size_t column) {
  if (table.type(column) == Type::kInt64) {
    const auto values = table.column<std::int64_t>(column);
    return Ids(values.begin(), values.end());
  }
  if (!is_number(table.type(column)))
    throw Error(OMEN_INVALID_DATA, "column '" + std::string(table.name(column)) + "' holds " +
                                       type_name(table.type(column)) + ", not whole numbers");
  Ids ids;
  for (const double value : table.numbers(column)) ids.push_back(static_cast<std::int64_t>(value));
  return ids;
}

Ids ids_of(const Table& table, const std::string& name) {
  return ids_of(table, table.index(name));
}

// The table with an edited schema, which may point into `texts`.
template <class Edit>
Table with_schema(const Table& table, std::vector<std::string> texts, Edit&& edit) {
  struct Edited {
    ArrowSchema inner{};
    std::vector<std::string> texts;
  };
  auto held = std::make_unique<Edited>();
  held->texts = std::move(texts);
  ArrowArray array{};
  table.export_array(&array);
  table.export_schema(&held->inner);
  edit(held->inner, std::as_const(held->texts));
  ArrowSchema schema = held->inner;
  schema.private_data = held.release();
  schema.release = [](ArrowSchema* s) {
    const std::unique_ptr<Edited> own(static_cast<Edited*>(s->private_data));
    own->inner.release(&own->inner);
    s->release = nullptr;
  };
  return Table::import(&schema, &array);
}

Ids counting(std::int64_t count) {
  Ids ids(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) ids[static_cast<std::size_t>(i)] = i;
  return ids;
}

// Every graph that the workloads refer to: graph_id, graph_id.0, ..., or workload_id itself.
std::unordered_set<std::int64_t> graphs_of(const Table& workloads) {
  std::unordered_set<std::int64_t> graphs;
  bool named = false;
  for (std::size_t c = 0; c < workloads.columns(); ++c) {
    if (!is_id(workloads.name(c), "graph_id")) continue;
    named = true;
    for (const std::int64_t id : ids_of(workloads, c)) graphs.insert(id);
  }
  if (!named)
    for (const std::int64_t id : ids_of(workloads, "workload_id")) graphs.insert(id);
  return graphs;
}

Table keep_rows_with(const Table& table, const std::string& column,
                     const std::unordered_set<std::int64_t>& wanted) {
  const Ids ids = ids_of(table, column);
  Ids rows;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (wanted.count(ids[i])) rows.push_back(static_cast<std::int64_t>(i));
  return rows.size() == ids.size() ? table : take(table, rows);
}

Table shift_ids(Table table, std::string_view id, std::int64_t by) {
  if (by == 0) return table;
  for (std::size_t c = 0; c < table.columns(); ++c) {
    if (!is_id(table.name(c), id)) continue;
    Ids ids = ids_of(table, c);
    for (std::int64_t& value : ids) value += by;
    table = with_values(table, std::string(table.name(c)), std::move(ids));
  }
  return table;
}

std::int64_t next_id(const Tables& tables, std::string_view id) {
  std::int64_t next = 0;
  for (const auto& [name, table] : tables)
    for (std::size_t c = 0; c < table.columns(); ++c)
      if (is_id(table.name(c), id))
        for (const std::int64_t value : ids_of(table, c)) next = std::max(next, value + 1);
  return next;
}

// Graphs get ids of their own, so that two datasets can be joined without their graphs getting
// mixed up.
Tables with_graph_ids(Tables tables) {
  const auto at = tables.find("workloads");
  if (at == tables.end() || !tables.count("nodes")) return tables;
  const Table& workloads = at->second;
  for (std::size_t c = 0; c < workloads.columns(); ++c)
    if (is_id(workloads.name(c), "graph_id")) return tables;
  at->second = with_values(workloads, "graph_id", ids_of(workloads, "workload_id"));
  return tables;
}

}  // namespace

std::vector<std::string> column_texts(const Table& table, std::size_t column) {
  std::vector<std::string> texts(static_cast<std::size_t>(table.rows()));
  const Type type = table.type(column);
  if (is_list(type))
    throw Error(OMEN_INVALID_DATA,
                "column '" + std::string(table.name(column)) + "' holds lists, which have no text");
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    if (table.is_null(column, row)) continue;
    std::string& text = texts[static_cast<std::size_t>(row)];
    if (is_text(type))
      text = table.strings(column)[row];
    else if (type == Type::kBool)
      text = table.boolean(column, row) ? "true" : "false";
    else
      omen::detail::visit_number(
          type, [&](auto zero) { append_number(text, table.column<decltype(zero)>(column)[row]); });
  }
  return texts;
}

Table category_column(const std::string& name, const std::vector<std::string>& values,
                      Metadata metadata) {
  TableBuilder builder;
  builder.add_categories(name, values, std::move(metadata));
  return builder.finish();
}

bool is_table_file(const fs::path& path) {
  const std::string suffix = path.extension().string();
  for (const char* known : {".csv", ".tsv", ".jsonl", ".ndjson", ".omt"})
    if (suffix == known) return true;
  return false;
}

Tables read_dataset(const fs::path& path) {
  if (path.extension() != ".omt") return {{"workloads", read_table(path)}};
  const container::Reader reader = container::Reader::open(path);
  Tables tables;
  for (const std::string& name : container::table_names(reader))
    tables[name] = container::get_table(reader, name);
  if (tables.empty())
    throw Error(OMEN_INVALID_DATA, path.string() + " holds no table",
                "Write one with: omen graph FILE -o graphs.omt");
  return tables;
}

Tables read_json_lines(std::istream& in, const std::string& name) {
  return {{"workloads", stream_json_lines(in, name).read_all()}};
}

void write_dataset(const fs::path& path, const Tables& tables) {
  container::Writer writer;
  for (const auto& [name, table] : tables) container::put_table(writer, name, table);
  writer.write(path);
}

Tables one_row(const TextPairs& features) {
  std::string header, row;
  for (const auto& [name, value] : features) {
    std::string quoted;
    for (const char c : value) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    const bool quote = value.find_first_of(",\"\n") != std::string::npos;
    header += (header.empty() ? "" : ",") + name;
    row += (&name == &features.front().first ? "" : ",") + (quote ? "\"" + quoted + "\"" : value);
  }
  std::istringstream csv(header + "\n" + row + "\n");
  return {{"workloads", stream_csv(csv, "the command line").read_all()}};
}

Table with_column(const Table& table, const Table& column_of, std::size_t column) {
  TableBuilder builder;
  for (const auto& [key, value] : table.metadata()) builder.metadata(key, value);
  bool replaced = false;
  for (std::size_t c = 0; c < table.columns(); ++c) {
    const bool same = table.name(c) == column_of.name(column);
    builder.add_column(same ? column_of : table, same ? column : c);
    replaced |= same;
  }
  if (!replaced) builder.add_column(column_of, column);
  return builder.finish();
}

Table rename_columns(const Table& table, const TextPairs& renames) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < table.columns(); ++c) {
    const std::string name(table.name(c));
    const auto at = std::find_if(renames.begin(), renames.end(),
                                 [&](const auto& pair) { return pair.first == name; });
    names.push_back(at == renames.end() ? name : at->second);
  }
  return with_schema(table, std::move(names), [](ArrowSchema& schema, const auto& texts) {
    for (std::size_t c = 0; c < texts.size(); ++c) schema.children[c]->name = texts[c].c_str();
  });
}

Table with_metadata(const Table& table, std::size_t column, const Metadata& metadata) {
  return with_schema(table, {omen::detail::encode_metadata(metadata)},
                     [column](ArrowSchema& schema, const auto& texts) {
                       schema.children[column]->metadata = texts[0].data();
                     });
}

// By place: to look each column up by its name would take the square of their number.
Table without_columns(const Table& table, const std::vector<std::string>& names) {
  std::vector<std::size_t> kept;
  for (std::size_t c = 0; c < table.columns(); ++c)
    if (std::find(names.begin(), names.end(), table.name(c)) == names.end()) kept.push_back(c);
  auto schema = std::make_unique<Narrowed<ArrowSchema>>();
  auto array = std::make_unique<Narrowed<ArrowArray>>();
  table.export_schema(&schema->inner);
  table.export_array(&array->inner);
  ArrowSchema columns = Narrowed<ArrowSchema>::make(std::move(schema), kept);
  ArrowArray rows = Narrowed<ArrowArray>::make(std::move(array), kept);
  return Table::import(&columns, &rows);
}

void complete_workloads(Tables& tables, const std::string& group_column) {
  const auto at = tables.find("workloads");
  if (at == tables.end())
    throw Error(OMEN_INVALID_DATA, "there is no table 'workloads' in the input");
  Table& workloads = at->second;
  if (!workloads.has("workload_id"))
    workloads = with_values(workloads, "workload_id", counting(workloads.rows()));
  else if (workloads.type(workloads.index("workload_id")) != Type::kInt64)
    workloads = with_values(workloads, "workload_id", ids_of(workloads, "workload_id"));
  if (!group_column.empty()) {
    const std::vector<std::string> groups = column_texts(workloads, workloads.index(group_column));
    workloads = with_column(without_columns(workloads, {group_column}),
                            category_column("group", groups), 0);
  } else if (!workloads.has("group")) {
    std::vector<std::string> own;
    for (std::int64_t row = 0; row < workloads.rows(); ++row) own.push_back(std::to_string(row));
    workloads = with_column(workloads, category_column("group", own), 0);
  } else if (workloads.type(workloads.index("group")) != Type::kDictionary) {
    const std::vector<std::string> groups = column_texts(workloads, workloads.index("group"));
    workloads = with_column(workloads, category_column("group", groups), 0);
  }
}

TargetSpec parse_target(const std::string& text) {
  TargetSpec target;
  const std::size_t first = text.find(':'),
                    second = first == text.npos ? text.npos : text.find(':', first + 1);
  target.name = text.substr(0, first);
  if (first != text.npos) target.unit = text.substr(first + 1, second - first - 1);
  const auto direction =
      second == text.npos ? Direction::kLower : from_word<Direction>(text.substr(second + 1));
  if (target.name.empty() || !direction)
    throw Error(OMEN_INVALID_ARGUMENT, "target '" + text + "' is not NAME[:UNIT[:lower|higher]]",
                "write for example --target time_ms:ms:lower");
  target.direction = *direction;
  return target;
}

std::optional<std::int64_t> row_of_slip(const Table& table, const TargetSpec& target) {
  const std::size_t column = table.index(target.name);
  if (target.unit.empty() || target.unit == "1" || !is_text(table.type(column))) return {};
  const StringColumn texts = table.strings(target.name);
  double value = 0;
  for (std::int64_t row = 0; row < texts.size(); ++row)
    if (!texts.is_null(row) && !texts[row].empty() &&
        parse_number(texts[row], value) != NumberText::kNumber)
      return row;
  return {};
}

std::int64_t split_targets(Tables& tables, const std::vector<TargetSpec>& targets) {
  const Table& workloads = tables.at("workloads");
  std::vector<std::string> names;
  for (const TargetSpec& target : targets) names.push_back(target.name);
  Ids measured;
  for (std::int64_t row = 0; row < workloads.rows(); ++row)
    if (std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return !workloads.is_null(workloads.index(name), row);
        }))
      measured.push_back(row);
  const auto dropped = workloads.rows() - static_cast<std::int64_t>(measured.size());
  if (dropped > 0) tables = keep_workloads(tables, measured);

  Table& kept = tables.at("workloads");
  TableBuilder builder;
  builder.add_column(kept, kept.index("workload_id"));
  for (const TargetSpec& target : targets) {
    const std::size_t column = kept.index(target.name);
    const Metadata metadata{{"omen.unit", target.unit},
                            {"omen.direction", word_of(target.direction)}};
    const bool is_class = is_text(kept.type(column)) || kept.type(column) == Type::kBool;
    if (is_class)
      builder.add_categories(target.name, column_texts(kept, column), metadata);
    else
      builder.add(target.name, kept.numbers(column), metadata);
    std::vector<bool> present;
    for (std::int64_t row = 0; row < kept.rows(); ++row)
      present.push_back(!kept.is_null(column, row));
    if (std::find(present.begin(), present.end(), false) != present.end()) builder.valid(present);
  }
  tables["targets"] = builder.finish();
  kept = without_columns(kept, names);
  return dropped;
}

Tables keep_workloads(const Tables& tables, const std::vector<std::int64_t>& rows) {
  Tables kept;
  const Table workloads = take(tables.at("workloads"), rows);
  const Ids ids = ids_of(workloads, "workload_id");
  const std::unordered_set<std::int64_t> wanted(ids.begin(), ids.end());
  const std::unordered_set<std::int64_t> graphs = graphs_of(workloads);
  for (const auto& [name, table] : tables) {
    if (name == "workloads")
      kept[name] = workloads;
    else if (table.has("workload_id"))
      kept[name] = keep_rows_with(table, "workload_id", wanted);
    else if (table.has("graph_id"))
      kept[name] = keep_rows_with(table, "graph_id", graphs);
    else
      kept[name] = table;
  }
  return kept;
}

std::vector<std::size_t> shuffled_order(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  std::mt19937_64 random(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

Split split_by_group(const Tables& tables, double share, std::uint64_t seed) {
  const Table& workloads = tables.at("workloads");
  const StringColumn group = workloads.strings("group");
  std::vector<std::string> names;
  std::unordered_map<std::string, std::size_t> index;
  std::vector<std::size_t> group_of;
  for (std::int64_t row = 0; row < workloads.rows(); ++row) {
    const auto [at, fresh] = index.try_emplace(std::string(group[row]), names.size());
    if (fresh) names.push_back(at->first);
    group_of.push_back(at->second);
  }
  constexpr std::size_t kFewestGroups = 5;
  Split split;
  split.train_groups = names.size();
  if (names.size() < kFewestGroups) {
    split.train = tables;
    return split;
  }
  split.valid_groups =
      std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(names.size())));
  split.train_groups -= split.valid_groups;
  const std::vector<std::size_t> order = shuffled_order(names.size(), seed);
  const std::set<std::size_t> held(order.begin(),
                                   order.begin() + static_cast<std::ptrdiff_t>(split.valid_groups));
  Ids train, valid;
  for (std::size_t row = 0; row < group_of.size(); ++row)
    (held.count(group_of[row]) ? valid : train).push_back(static_cast<std::int64_t>(row));
  split.train = keep_workloads(tables, train);
  split.valid = keep_workloads(tables, valid);
  return split;
}

bool same_columns(const Tables& a, const Tables& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, table] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second.columns() != table.columns()) return false;
    for (std::size_t c = 0; c < table.columns(); ++c)
      if (table.name(c) != other->second.name(c) || table.type(c) != other->second.type(c) ||
          table.list_size(c) != other->second.list_size(c))
        return false;
  }
  return true;
}

Tables merge(const std::vector<Tables>& parts) {
  if (parts.size() == 1) return parts[0];
  std::map<std::string, std::vector<Table>> pieces;
  std::int64_t workload_shift = 0, graph_shift = 0;
  for (const Tables& part : parts) {
    const Tables tables = with_graph_ids(part);
    for (const auto& [name, table] : tables)
      pieces[name].push_back(
          shift_ids(shift_ids(table, "workload_id", workload_shift), "graph_id", graph_shift));
    workload_shift += next_id(tables, "workload_id");
    graph_shift += next_id(tables, "graph_id");
  }
  Tables merged;
  for (const auto& [name, tables] : pieces) merged[name] = concat(tables);
  return merged;
}

Table complete_candidates(const Table& given, const Table& workloads) {
  Table candidates = given;
  if (!candidates.has("workload_id")) {
    const Ids ids = ids_of(workloads, "workload_id");
    Ids rows, owner;
    std::vector<std::int32_t> number;
    for (const std::int64_t id : ids)
      for (std::int64_t row = 0; row < given.rows(); ++row) {
        rows.push_back(row);
        owner.push_back(id);
        number.push_back(static_cast<std::int32_t>(row));
      }
    candidates = with_values(take(given, rows), "workload_id", std::move(owner));
    if (!candidates.has("candidate_id"))
      candidates = with_values(candidates, "candidate_id", std::move(number));
  } else if (candidates.type(candidates.index("workload_id")) != Type::kInt64) {
    candidates = with_values(candidates, "workload_id", ids_of(candidates, "workload_id"));
  }
  std::vector<std::int32_t> number;
  if (candidates.has("candidate_id")) {
    for (const std::int64_t id : ids_of(candidates, "candidate_id"))
      number.push_back(static_cast<std::int32_t>(id));
  } else {
    std::unordered_map<std::int64_t, std::int32_t> next;
    for (const std::int64_t id : ids_of(candidates, "workload_id")) number.push_back(next[id]++);
  }
  return with_values(candidates, "candidate_id", std::move(number));
}

Tables expand_candidates(const Tables& tables, const Table& candidates) {
  const Tables graphs = with_graph_ids(tables);
  const Table& workloads = graphs.at("workloads");
  const Ids ids = ids_of(workloads, "workload_id");
  std::unordered_map<std::int64_t, std::int64_t> row_of;
  for (std::size_t row = 0; row < ids.size(); ++row)
    row_of[ids[row]] = static_cast<std::int64_t>(row);
  Ids rows;
  for (const std::int64_t id : ids_of(candidates, "workload_id")) {
    const auto at = row_of.find(id);
    if (at == row_of.end())
      throw Error(OMEN_INVALID_DATA,
                  "candidates name workload " + std::to_string(id) + ", which is not in the input");
    rows.push_back(at->second);
  }
  Table pairs = take(workloads, rows);
  for (std::size_t c = 0; c < candidates.columns(); ++c) {
    const std::string_view name = candidates.name(c);
    if (name != "workload_id" && name != "candidate_id" && name != "name")
      pairs = with_column(pairs, candidates, c);
  }
  Tables expanded = graphs;
  expanded["workloads"] = with_values(pairs, "workload_id", counting(pairs.rows()));
  return expanded;
}

Table collapse_candidates(const Table& predictions, const Table& candidates) {
  const Ids pairs = ids_of(predictions, "workload_id");
  const Ids workload = ids_of(candidates, "workload_id");
  const Ids candidate = ids_of(candidates, "candidate_id");
  Ids owner;
  std::vector<std::int32_t> number;
  for (const std::int64_t pair : pairs) {
    if (pair < 0 || pair >= candidates.rows())
      throw Error(OMEN_INTERNAL, "plugin misbehaving: a prediction names workload " +
                                     std::to_string(pair) + ", which it was not given");
    owner.push_back(workload[static_cast<std::size_t>(pair)]);
    number.push_back(static_cast<std::int32_t>(candidate[static_cast<std::size_t>(pair)]));
  }
  return with_values(with_values(predictions, "workload_id", std::move(owner)), "candidate_id",
                     std::move(number));
}

}  // namespace omen::host
