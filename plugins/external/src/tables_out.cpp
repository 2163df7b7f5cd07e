// SPDX-License-Identifier: Apache-2.0
// Tables and task as a program finds them in its directory.
#include <charconv>
#include <nlohmann/json.hpp>
#include <omen/container.hpp>
#include <omen/join.hpp>
#include <omen/json_text.hpp>
#include <set>
#include <sstream>

#include "exchange.hpp"

namespace omen::external {
namespace {

using Json = nlohmann::json;

constexpr const char* kInputs[] = {"workloads",     "nodes",    "edges",
                                   "node_features", "counters", "candidates"};

bool is_key(std::string_view name) {
  static const std::set<std::string, std::less<>> keys = {"workload_id", "candidate_id", "node_id",
                                                          "graph_id",    "group",        "name"};
  return keys.count(name) > 0 || name.substr(0, 9) == "graph_id.";
}

bool has_nulls(const Table& table, std::size_t column) {
  for (std::int64_t row = 0; row < table.rows(); ++row)
    if (table.is_null(column, row)) return true;
  return false;
}

void add_labels(TableBuilder& out, const Table& table, std::size_t column) {
  const StringColumn labels = table.strings(column);
  std::vector<std::string> values;
  for (std::int64_t row = 0; row < labels.size(); ++row) values.emplace_back(labels[row]);
  out.add_categories(std::string(table.name(column)), values, table.metadata(column));
}

Table plain(const Table& table) {
  TableBuilder out;
  for (const auto& [key, value] : table.metadata()) out.metadata(key, value);
  for (std::size_t column = 0; column < table.columns(); ++column) {
    const Type type = table.type(column);
    if (is_text(type))
      add_labels(out, table, column);
    else if (type == Type::kBool || (is_number(type) && has_nulls(table, column)))
      out.add(std::string(table.name(column)), table.numbers(column), table.metadata(column));
    else
      out.add_column(table, column);
  }
  return out.finish();
}

std::vector<std::int64_t> integers(const Table& table, const char* column) {
  std::vector<std::int64_t> values;
  for (const double number : table.numbers(column))
    values.push_back(static_cast<std::int64_t>(number));
  return values;
}

// Rows of `targets` in the order of the rows that they belong to.
Table aligned(const Table& targets, const Tables& tables) {
  const auto candidates = tables.find("candidates");
  const bool by_candidate = candidates != tables.end() && targets.has("candidate_id");
  const Table& owners = by_candidate ? candidates->second : tables.at("workloads");
  using Key = std::pair<std::int64_t, std::int64_t>;
  const auto keys = [&](const Table& table) {
    const std::vector<std::int64_t> workload = integers(table, "workload_id");
    const std::vector<std::int64_t> part =
        by_candidate ? integers(table, "candidate_id") : std::vector<std::int64_t>(workload.size());
    std::vector<Key> all;
    for (std::size_t row = 0; row < workload.size(); ++row)
      all.emplace_back(workload[row], part[row]);
    return all;
  };
  const std::vector<Key> wanted = keys(owners), given = keys(targets);
  if (wanted == given) return targets;
  std::map<Key, std::int64_t> place;
  for (std::size_t row = 0; row < given.size(); ++row)
    place.emplace(given[row], static_cast<std::int64_t>(row));
  std::vector<std::int64_t> order;
  for (const Key& key : wanted) {
    const auto found = place.find(key);
    if (found == place.end())
      throw Error(OMEN_INVALID_DATA,
                  "workload " + std::to_string(key.first) + " has no row in targets",
                  "give every workload a row, with an empty value where it was not measured");
    order.push_back(found->second);
  }
  return take(targets, order);
}

void put_if_present(Tables& tables, const Dataset& dataset, const char* name) {
  if (dataset.has(name)) tables[name] = plain(dataset.table(name));
}

std::vector<std::string> labels(const Table& table, std::size_t column) {
  const StringColumn values = table.strings(column);
  std::vector<std::string> all;
  for (std::int64_t code = 0; code < values.value_count(); ++code)
    all.emplace_back(values.value(code));
  return all;
}

std::string list(const std::vector<std::string>& entries) {
  return "[" + join(entries) + "]";
}

std::string quoted_list(std::vector<std::string> texts) {
  for (std::string& text : texts) text = json_quote(text);
  return list(texts);
}

std::vector<std::string> features(const Table& workloads) {
  std::vector<std::string> names;
  for (std::size_t column = 0; column < workloads.columns(); ++column)
    if (is_number(workloads.type(column)) && !is_key(workloads.name(column)))
      names.emplace_back(workloads.name(column));
  return names;
}

std::string categories(const Tables& tables) {
  std::string all;
  for (const auto& [name, table] : tables)
    for (std::size_t column = 0; column < table.columns(); ++column)
      if (is_text(table.type(column)))
        all += (all.empty() ? "" : ",\n  ") +
               json_quote(name + "/" + std::string(table.name(column))) + ": " +
               quoted_list(labels(table, column));
  return "{" + all + "}";
}

std::string described(const Target& target) {
  std::string text = "{\"name\": " + json_quote(target.name) +
                     ", \"kind\": " + json_quote(target.is_class ? "class" : "number");
  for (const auto& [key, value] : target.metadata)
    if (key == "omen.unit" || key == "omen.direction")
      text += ", " + json_quote(key.substr(5)) + ": " + json_quote(value);
  if (target.is_class) text += ", \"classes\": " + quoted_list(target.classes);
  return text + "}";
}

// Strings behind each other, each with a NUL at its end, as text never has one inside.
class Strings {
 public:
  explicit Strings(std::string text = {}) : text_(std::move(text)) {}
  void put(const std::string& word) { text_.append(word).push_back('\0'); }
  void put(std::size_t count) { put(std::to_string(count)); }
  std::string take() {
    const std::size_t end = text_.find('\0', at_);
    if (end == std::string::npos) damaged();
    std::string word = text_.substr(at_, end - at_);
    at_ = end + 1;
    return word;
  }
  // A number of strings that follow.
  std::size_t take_count() {
    const std::string word = take();
    std::size_t count = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), count);
    if (parsed.ec != std::errc() || count > text_.size()) damaged();
    return count;
  }
  const std::string& text() const { return text_; }

 private:
  [[noreturn]] static void damaged() {
    throw Error(OMEN_INVALID_DATA, "the model's list of targets is damaged", "Train it again.");
  }
  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

Tables plain_tables(const Dataset& dataset, bool with_targets, const std::function<void()>& tick) {
  Tables tables;
  for (const char* name : kInputs) {
    tick();
    put_if_present(tables, dataset, name);
  }
  if (!tables.count("workloads")) tables["workloads"] = plain(dataset.table("workloads"));
  if (!with_targets) return tables;
  for (const char* name : {"targets", "node_targets"}) put_if_present(tables, dataset, name);
  if (const auto found = tables.find("targets"); found != tables.end())
    found->second = aligned(found->second, tables);
  return tables;
}

Learnt targets_of(const Tables& train) {
  Learnt learnt;
  const auto nodes = train.find("node_targets"), workloads = train.find("targets");
  learnt.per_node = nodes != train.end();
  if (nodes == train.end() && workloads == train.end())
    throw Error(OMEN_INVALID_DATA, "there are no targets to learn", "name them with --target");
  const Table& table = learnt.per_node ? nodes->second : workloads->second;
  for (std::size_t column = 0; column < table.columns(); ++column) {
    if (is_key(table.name(column)) || is_list(table.type(column))) continue;
    Target target{std::string(table.name(column)), table.metadata(column), false, {}};
    target.is_class = is_text(table.type(column));
    if (target.is_class) target.classes = labels(table, column);
    learnt.targets.push_back(std::move(target));
  }
  return learnt;
}

void write_tables(const std::filesystem::path& file, const Tables& tables) {
  container::Writer writer;
  for (const auto& [name, table] : tables) container::put_table(writer, name, table);
  writer.write(file);
}

Rows rows_due(const Tables& tables) {
  const auto candidates = tables.find("candidates");
  if (candidates == tables.end()) return {integers(tables.at("workloads"), "workload_id"), {}};
  const std::vector<std::int64_t> ids = integers(candidates->second, "candidate_id");
  return {integers(candidates->second, "workload_id"), {ids.begin(), ids.end()}};
}

void write_task(const std::filesystem::path& file, const char* verb, const Tables& tables,
                const Learnt& learnt, const Run& run, const std::string& task_json) {
  std::vector<std::string> targets;
  for (const Target& target : learnt.targets) targets.push_back(described(target));
  std::ostringstream text;
  text << "{\"format_version\": 1,\n \"verb\": " << json_quote(verb)
       << ",\n \"seed\": " << run.seed() << ",\n \"threads\": " << run.threads()
       << ",\n \"devices\": " << json_quote(run.devices())
       << ",\n \"interval_level\": " << run.interval_level()
       << ",\n \"rows\": " << rows_due(tables).workload.size()
       << ",\n \"per_node\": " << (learnt.per_node ? "true" : "false")
       << ",\n \"features\": " << quoted_list(features(tables.at("workloads")))
       << ",\n \"categories\": " << categories(tables) << ",\n \"targets\": " << list(targets)
       << ",\n \"task\": " << (Json::accept(task_json) ? task_json : "{}") << "}\n";
  // A stream swallows the exception of an allocation that failed.
  if (!text) throw std::bad_alloc();
  container::write_file(file, text.str());
}

std::string to_text(const Learnt& learnt) {
  Strings out;
  out.put(learnt.per_node ? std::size_t{1} : 0);
  out.put(learnt.targets.size());
  for (const Target& target : learnt.targets) {
    out.put(target.name);
    out.put(target.metadata.size());
    for (const auto& [key, value] : target.metadata) {
      out.put(key);
      out.put(value);
    }
    out.put(target.is_class ? std::size_t{1} : 0);
    out.put(target.classes.size());
    for (const std::string& label : target.classes) out.put(label);
  }
  return out.text();
}

Learnt learnt_from_text(const std::string& text) {
  Strings in(text);
  Learnt learnt;
  learnt.per_node = in.take_count() == 1;
  for (std::size_t targets = in.take_count(); targets > 0; --targets) {
    Target target;
    target.name = in.take();
    for (std::size_t pairs = in.take_count(); pairs > 0; --pairs) {
      std::string key = in.take();
      target.metadata.emplace_back(std::move(key), in.take());
    }
    target.is_class = in.take_count() == 1;
    for (std::size_t labels = in.take_count(); labels > 0; --labels)
      target.classes.push_back(in.take());
    learnt.targets.push_back(std::move(target));
  }
  return learnt;
}

}  // namespace omen::external
