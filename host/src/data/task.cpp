// SPDX-License-Identifier: Apache-2.0
// Reads, checks, freezes and writes tasks.
#include "data/task.hpp"

#include <algorithm>
#include <sstream>

#include "components/registry.hpp"
#include "data/json_file.hpp"
#include "data/listed_split.hpp"
#include "data/split.hpp"
#include "data/task_tables.hpp"
#include "omen/container.hpp"
#include "tables/json_node.hpp"
#include "tables/table_io.hpp"
#include "text/json_writer.hpp"
#include "worker/machine.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

constexpr int kTaskVersion = 1;
using Names = std::vector<std::string>;

// ----------------------------------------------------------------------------------------- reading

// A member that must be one of these words.
template <class Enum>
Enum choice_of(const JsonNode& node, const char* key, std::initializer_list<Enum> allowed) {
  Names words;
  for (const Enum value : allowed) words.emplace_back(word_of(value));
  return *from_word<Enum>(node.choice(key, words));
}

Direction direction_of(const JsonNode& node) {
  return choice_of(node, "direction", {Direction::kLower, Direction::kHigher});
}

TaskTarget parse_target_node(const JsonNode& node) {
  expect_members(node, {"name", "unit", "direction", "kind", "loss"});
  TaskTarget target;
  target.name = node.text("name");
  target.unit = node.text_or("unit", "");
  target.direction = direction_of(node);
  target.kind = choice_of(node, "kind", {TargetKind::kNumber, TargetKind::kClass});
  target.loss =
      target.kind == TargetKind::kClass
          ? choice_of(node, "loss", {Loss::kZeroOne, Loss::kLogLoss})
          : choice_of(node, "loss", {Loss::kAbsolute, Loss::kSquared, Loss::kAbsolutePercent});
  return target;
}

TaskSplit parse_split(const JsonNode& node) {
  expect_members(node, {"kind", "folds", "repeats", "seed", "assignment", "column", "sha256",
                        "keys", "mixed"});
  TaskSplit split;
  split.kind = choice_of(node, "kind",
                         {SplitKind::kKFold, SplitKind::kGroupedKFold, SplitKind::kLeaveOneGroupOut,
                          SplitKind::kFixed, SplitKind::kListed, SplitKind::kGroupPair});
  split.folds = node.natural_or<int>("folds", 0);
  split.repeats = node.natural_or<int>("repeats", 1);
  split.seed = node.natural_or<std::uint64_t>("seed", 1);
  if (split.kind == SplitKind::kGroupedKFold)
    split.assignment =
        choice_of(node, "assignment", {Assignment::kShuffled, Assignment::kBalanced});
  split.column = node.text_or("column", "");
  split.sha256 = node.digest("sha256");
  split.keys = node.texts("keys");
  if (split.kind == SplitKind::kGroupPair)
    split.mixed =
        choice_of(node, "mixed", {MixedRows::kTest, MixedRows::kObserve, MixedRows::kDrop});
  return split;
}

TaskDecision parse_decision(const JsonNode& node) {
  expect_members(node, {"scorer", "cost_target", "direction", "default_candidate"});
  TaskDecision decision;
  decision.scorer = node.text_or("scorer", "");
  decision.cost_target = node.text("cost_target");
  decision.direction = direction_of(node);
  decision.default_candidate = node.text_or("default_candidate", "");
  return decision;
}

void parse_task(const JsonNode& root, Task& task) {
  expect_members(root, {"format_version", "name", "summary", "track", "dataset", "dataset_digest",
                        "inputs", "targets", "per_node", "group", "average", "estimate", "rope",
                        "threads_per_fold", "split", "decision", "hash"});
  if (root.natural<int>("format_version") != kTaskVersion)
    root.at("format_version").fail("is not 1", "Use an omen as new as the task.");
  task.name = root.text("name");
  check_data_name(task.name, "task");
  task.summary = root.text_or("summary", "");
  task.track = root.text_or("track", "");
  task.dataset = root.text("dataset");
  task.dataset_digest = root.digest("dataset_digest");
  task.inputs = root.texts("inputs");
  for (const JsonNode& item : root.items("targets"))
    task.targets.push_back(parse_target_node(item));
  task.per_node = root.flag("per_node");
  task.group = root.text_or("group", "group");
  task.average = choice_of(root, "average", {Average::kRow, Average::kGroup});
  if (root.has("estimate"))
    task.estimate = choice_of(root, "estimate", {TaskEstimate::kMedian, TaskEstimate::kMean});
  task.rope = root.number("rope");
  task.threads_per_fold = root.natural<unsigned>("threads_per_fold");
  task.split = parse_split(root.at("split"));
  if (root.has("decision")) task.decision = parse_decision(root.at("decision"));
  task.hash = root.digest("hash");
}

// What a draft may get wrong as well as a file.
void check_task(const Task& task) {
  const auto refuse = [](const std::string& what, const std::string& hint = {}) {
    throw Error(OMEN_INVALID_DATA, what, hint);
  };
  check_data_name(task.name, "task");
  if (task.inputs.empty()) refuse("the task has no inputs", "Name columns, or workloads.*");
  if (task.targets.empty()) refuse("the task has no targets", "Name at least one column.");
  for (std::size_t i = 0; i < task.targets.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (task.targets[i].name == task.targets[j].name)
        refuse("target '" + task.targets[i].name + "' stands twice in the task");
  if (!(task.rope >= 0 && task.rope < 1))
    refuse("field 'rope' is not between 0 and 1", "0.01 means 1 %.");
  if (task.threads_per_fold < 1) refuse("field 'threads_per_fold' is 0", "Give at least 1.");
  if (task.per_node && task.decision) refuse("a task per node cannot be a decision as well");
}

// The question in one canonical text: members sorted by name, no blanks.
std::string canonical(const Task& task) {
  nlohmann::json json;
  json["dataset_digest"] = task.dataset_digest;
  json["inputs"] = task.inputs;
  for (const TaskTarget& target : task.targets)
    json["targets"].push_back({{"name", target.name},
                               {"unit", target.unit},
                               {"direction", word_of(target.direction)},
                               {"kind", word_of(target.kind)},
                               {"loss", word_of(target.loss)}});
  json["per_node"] = task.per_node;
  json["group"] = task.group;
  json["average"] = word_of(task.average);
  json["estimate"] = word_of(task.estimate);
  json["rope"] = task.rope;
  json["threads_per_fold"] = task.threads_per_fold;
  json["split"] = {{"kind", word_of(task.split.kind)},
                   {"folds", task.split.folds},
                   {"repeats", task.split.repeats},
                   {"seed", task.split.seed},
                   {"assignment", word_of(task.split.assignment)},
                   {"column", task.split.column},
                   {"sha256", task.split.sha256}};
  if (task.split.kind == SplitKind::kGroupPair) {
    json["split"]["keys"] = task.split.keys;
    json["split"]["mixed"] = word_of(task.split.mixed);
  }
  if (task.decision)
    json["decision"] = {{"scorer", task.decision->scorer},
                        {"cost_target", task.decision->cost_target},
                        {"direction", word_of(task.decision->direction)},
                        {"default_candidate", task.decision->default_candidate}};
  return json.dump();
}

std::string hash_of(const Task& task) {
  const std::string text = canonical(task);
  return container::sha256(text.data(), text.size());
}

// ----------------------------------------------------------------------------------------- writing

void write_targets(JsonWriter& json, const Task& task) {
  json.key("targets").array();
  for (const TaskTarget& target : task.targets) {
    json.object().field("name", target.name).field("unit", target.unit);
    json.field("direction", word_of(target.direction)).field("kind", word_of(target.kind));
    json.field("loss", word_of(target.loss)).end();
  }
  json.end();
}

void write_split(JsonWriter& json, const TaskSplit& split) {
  json.key("split").object().field("kind", word_of(split.kind));
  if (split.folds > 0) json.field("folds", split.folds);
  json.field("repeats", split.repeats).field("seed", split.seed);
  if (split.assignment != Assignment::kNone) json.field("assignment", word_of(split.assignment));
  if (!split.column.empty()) json.field("column", split.column);
  if (split.kind == SplitKind::kGroupPair)
    json.strings("keys", split.keys).field("mixed", word_of(split.mixed));
  json.field("sha256", split.sha256).end();
}

std::string task_text(const Task& task) {
  JsonWriter json;
  json.object().field("format_version", kTaskVersion).field("name", task.name);
  json.field("summary", task.summary).field("track", task.track);
  json.field("dataset", task.dataset).field("dataset_digest", task.dataset_digest);
  json.strings("inputs", task.inputs);
  write_targets(json, task);
  if (task.per_node) json.field("per_node", true);
  json.field("group", task.group).field("average", word_of(task.average));
  if (task.estimate != TaskEstimate::kOpen) json.field("estimate", word_of(task.estimate));
  json.field("rope", task.rope).field("threads_per_fold", task.threads_per_fold);
  write_split(json, task.split);
  if (task.decision) {
    json.key("decision").object();
    if (!task.decision->scorer.empty()) json.field("scorer", task.decision->scorer);
    json.field("cost_target", task.decision->cost_target);
    json.field("direction", word_of(task.decision->direction));
    if (!task.decision->default_candidate.empty())
      json.field("default_candidate", task.decision->default_candidate);
    json.end();
  }
  return json.field("hash", task.hash).end().text();
}

std::string split_text(const Table& workloads, const std::vector<Names>& assigned) {
  TableBuilder builder;
  builder.add_column(workloads, workloads.index("workload_id"));
  for (std::size_t repeat = 0; repeat < assigned.size(); ++repeat)
    builder.add_categories(repeat == 0 ? "fold" : "fold.r" + std::to_string(repeat),
                           assigned[repeat]);
  std::ostringstream out;
  write_csv(out, builder.finish());
  return out.str();
}

// ---------------------------------------------------------------------------------------- together

std::vector<Names> assigned_folds(const Task& task) {
  ReadOptions options;
  for (int repeat = 0; repeat < task.split.repeats; ++repeat)
    options.text_columns.push_back(repeat == 0 ? "fold" : "fold.r" + std::to_string(repeat));
  const Table table = read_table(task.split_file(), {}, options);
  std::vector<Names> assigned;
  for (const std::string& column : options.text_columns)
    assigned.push_back(column_texts(table, table.index(column)));
  return assigned;
}

void check_split_rows(const Task& task, const Table& workloads) {
  if (lists_roles(task.split.kind)) {
    read_listed(task.split_file(), workloads);
    return;
  }
  const Table split = read_table(task.split_file());
  const auto have = split.numbers("workload_id");
  const auto ids = workloads.column<std::int64_t>("workload_id");
  const bool same = static_cast<std::int64_t>(have.size()) == ids.size() &&
                    std::equal(have.begin(), have.end(), ids.begin(), [](double a, std::int64_t b) {
                      return static_cast<std::int64_t>(a) == b;
                    });
  if (!same)
    throw Error(
        OMEN_INVALID_DATA,
        task.split_file().string() + " does not name the rows of dataset '" + task.dataset + "'",
        "Freeze the task again with: omen task new");
}

// The values of a column of the data in the rows that the task keeps.
Names split_labels(const std::string& column, const Tables& data, const Table& workloads) {
  const Table& full = data.at("workloads");
  if (!full.has(column)) {
    Names have;
    for (std::size_t c = 0; c < full.columns(); ++c) have.emplace_back(full.name(c));
    const auto near = near_names(column, have);
    throw Error(OMEN_INVALID_DATA, "split column '" + column + "' is no column of the data",
                near.empty() ? "" : "Did you mean '" + near[0] + "'?");
  }
  const Names all = column_texts(full, full.index(column));
  const auto ids = full.column<std::int64_t>("workload_id");
  const auto kept = workloads.column<std::int64_t>("workload_id");
  Names labels;
  for (std::int64_t row = 0, at = 0; row < kept.size(); ++row, ++at) {
    while (ids[at] != kept[row]) ++at;
    labels.push_back(all[static_cast<std::size_t>(at)]);
  }
  return labels;
}

std::string split_table(const TaskSplit& split, const Tables& data, const Table& workloads) {
  if (split.kind == SplitKind::kListed)
    return listed_text(read_listed(split.list, workloads), workloads);
  if (split.kind == SplitKind::kGroupPair) {
    if (split.keys.size() != 2)
      throw Error(OMEN_INVALID_ARGUMENT, "a group-pair split has two keys", "Name two columns.");
    return listed_text(pair_folds(split, split_labels(split.keys[0], data, workloads),
                                  split_labels(split.keys[1], data, workloads)),
                       workloads);
  }
  const bool labelled = split.kind != SplitKind::kKFold;
  return split_text(workloads,
                    assign_folds(split, static_cast<std::size_t>(workloads.rows()),
                                 labelled ? split_labels(split.column, data, workloads) : Names()));
}

}  // namespace

fs::path Task::split_file() const {
  return fs::path(file).replace_extension(".split.csv");
}

Task read_task(const fs::path& file) {
  Task task;
  task.file = file;
  read_json_file(file, [&](const JsonNode& root) {
    parse_task(root, task);
    check_task(task);
    if (hash_of(task) != task.hash)
      root.at("hash").fail("does not fit the task: it was edited after it was frozen",
                           "Undo the edit, or freeze a new task with: omen task new");
  });
  task.split.list = task.split_file();
  if (!fs::exists(task.split_file()))
    throw Error(OMEN_INVALID_DATA,
                file.string() + " has no split table " + task.split_file().filename().string() +
                    " beside it",
                "Copy both files together.");
  if (container::sha256_file(task.split_file()) != task.split.sha256)
    throw Error(OMEN_INVALID_DATA,
                task.split_file().string() + " was edited: its sha256 is not the frozen one",
                "Undo the edit, or freeze a new task with: omen task new");
  return task;
}

std::vector<Fold> task_folds(const Task& task, const Table& workloads) {
  if (lists_roles(task.split.kind)) return listed_folds(read_listed(task.split_file(), workloads));
  return folds_of(task.split, assigned_folds(task));
}

Tables load_task(const Task& task) {
  const DatasetInfo info = find_dataset(task.dataset, task.file.parent_path());
  if (info.digest != task.dataset_digest)
    throw Error(OMEN_INVALID_DATA,
                "dataset '" + task.dataset + "' in " + info.directory.string() + " has digest " +
                    info.digest.substr(0, 12) + "..., but task '" + task.name + "' was frozen on " +
                    task.dataset_digest.substr(0, 12) + "...",
                "Use the data that the task was made from, or freeze a new task: omen task new");
  verify_dataset(info);
  Tables shaped = shape_tables(task, load_dataset(info));
  check_split_rows(task, shaped.at("workloads"));
  return shaped;
}

std::string public_task_json(const Task& task) {
  JsonWriter json;
  json.object().strings("inputs", task.inputs);
  write_targets(json, task);
  return json.field("per_node", task.per_node).end().text();
}

Task freeze_task(Task draft, const fs::path& file) {
  draft.file = file;
  if (draft.split.column.empty() && draft.split.kind != SplitKind::kKFold &&
      draft.split.kind != SplitKind::kFixed && !lists_roles(draft.split.kind))
    draft.split.column = draft.group;
  const DatasetInfo info = find_dataset(draft.dataset, file.parent_path());
  verify_dataset(info);
  draft.dataset_digest = info.digest;
  const Tables data = load_dataset(info);
  complete_draft(draft, info, data);
  check_task(draft);
  const Tables shaped = shape_tables(draft, data);
  check_values(draft, shaped);
  const Table& workloads = shaped.at("workloads");
  const std::string table = split_table(draft.split, data, workloads);
  draft.split.sha256 = container::sha256(table.data(), table.size());
  draft.hash = hash_of(draft);
  container::write_file(draft.split_file(), table);
  container::write_file(file, task_text(draft));
  return draft;
}

std::vector<fs::path> installed_tasks() {
  std::vector<fs::path> files;
  std::error_code none;
  for (const fs::directory_entry& track : fs::directory_iterator(share_directory() / "tasks", none))
    for (const fs::directory_entry& item : fs::directory_iterator(track.path(), none))
      if (item.path().extension() == ".json") files.push_back(item.path());
  std::sort(files.begin(), files.end());
  return files;
}

fs::path find_task(const std::string& name) {
  if (fs::is_regular_file(name)) return name;
  Names known;
  for (const fs::path& file : installed_tasks()) {
    const std::string stem = file.stem(), full = file.parent_path().filename() / stem;
    if (name == stem || name == full) return file;
    known.push_back(stem);
    known.push_back(full);
  }
  const auto near = near_names(name, known);
  throw Error(OMEN_NOT_FOUND, "task '" + name + "' is neither a file nor an installed task",
              (near.empty() ? "looked in: " + (share_directory() / "tasks").string() + "; "
                            : "did you mean '" + near[0] + "'?  ") +
                  "see all with: omen task list");
}

}  // namespace omen::host
