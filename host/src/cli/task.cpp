// SPDX-License-Identifier: Apache-2.0
// `omen task`: freeze, show and check tasks.
#include "data/task.hpp"

#include <algorithm>
#include <set>

#include "cli/check_report.hpp"
#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/console.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "omen/join.hpp"
#include "omen/tables.h"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

struct TaskRequest {
  std::string action;
  std::vector<std::string> words;
  std::string output, dataset, name, track, summary, loss, group, column, estimate;
  std::string split = word_of(SplitKind::kGroupedKFold),
              assignment = word_of(Assignment::kBalanced), average = word_of(Average::kRow);
  std::string cost, cost_direction = word_of(Direction::kLower), scorer, default_candidate;
  std::vector<std::string> targets, inputs;
  int folds = 5, repeats = 1;
  unsigned threads_per_fold = 1;
  double rope = 0.01;
  bool per_node = false, force = false;
  std::string split_file, keys, mixed = word_of(MixedRows::kTest);
};

// The facts of a task and its data that people want to see.
struct Shape {
  std::int64_t workloads = 0;
  std::size_t groups = 0;
  std::vector<Fold> folds;
};

Shape shape_of(const Task& task) {
  const Tables tables = load_task(task);
  const Table& workloads = tables.at("workloads");
  const StringColumn group = workloads.strings("group");
  std::set<std::string_view> groups;
  for (std::int64_t row = 0; row < workloads.rows(); ++row) groups.insert(group[row]);
  return {workloads.rows(), groups.size(), task_folds(task, workloads)};
}

std::string split_words(const TaskSplit& split, std::size_t folds) {
  std::string text = word_of(split.kind);
  if (split.kind != SplitKind::kLeaveOneGroupOut) text += ", " + std::to_string(folds) + " folds";
  if (!split.column.empty()) text += " by " + split.column;
  if (split.kind == SplitKind::kGroupPair)
    text += " by " + split.keys.at(0) + " and " + split.keys.at(1) +
            ", mixed rows: " + word_of(split.mixed);
  if (split.assignment != Assignment::kNone) text += std::string(", ") + word_of(split.assignment);
  if (split.repeats > 1) text += ", " + std::to_string(split.repeats) + " repeats";
  if (split.kind == SplitKind::kKFold || split.kind == SplitKind::kGroupedKFold ||
      split.kind == SplitKind::kGroupPair)
    text += ", seed " + std::to_string(split.seed);
  return text;
}

void print_json(const Task& task, const Shape& shape) {
  JsonWriter json;
  json.object().field("format_version", 1).field("name", task.name).field("track", task.track);
  json.field("summary", task.summary).field("file", task.file.string()).field("hash", task.hash);
  json.field("dataset", task.dataset).field("dataset_digest", task.dataset_digest);
  json.field("workloads", shape.workloads).field("groups", shape.groups);
  json.strings("inputs", task.inputs).key("targets").array();
  for (const TaskTarget& target : task.targets)
    json.object()
        .field("name", target.name)
        .field("unit", target.unit)
        .field("direction", word_of(target.direction))
        .field("kind", word_of(target.kind))
        .field("loss", word_of(target.loss))
        .end();
  json.end().field("per_node", task.per_node).field("group", task.group);
  json.field("average", word_of(task.average))
      .field("estimate", word_of(task.estimate))
      .field("rope", task.rope);
  json.field("threads_per_fold", task.threads_per_fold);
  json.key("split")
      .object()
      .field("kind", word_of(task.split.kind))
      .field("column", task.split.column);
  json.field("assignment", word_of(task.split.assignment)).field("repeats", task.split.repeats);
  if (task.split.kind == SplitKind::kGroupPair)
    json.strings("keys", task.split.keys).field("mixed", word_of(task.split.mixed));
  json.field("seed", task.split.seed).key("folds").array();
  for (const Fold& fold : shape.folds)
    json.object()
        .field("name", fold.name)
        .field("train", fold.train.size())
        .field("valid", fold.valid.size())
        .field("observe", fold.observe.size())
        .field("test", fold.test.size())
        .end();
  json.end().end();
  if (task.decision) {
    json.key("decision").object().field("scorer", task.decision->scorer);
    json.field("cost_target", task.decision->cost_target);
    json.field("direction", word_of(task.decision->direction));
    json.field("default_candidate", task.decision->default_candidate).end();
  }
  print(json.end().text());
}

TextTable fold_table(const std::vector<Fold>& folds) {
  const bool observes = std::any_of(folds.begin(), folds.end(),
                                    [](const Fold& fold) { return !fold.observe.empty(); });
  std::vector<Heading> columns{{"fold"}, {"train", true}, {"valid", true}};
  if (observes) columns.push_back({"observe", true});
  columns.push_back({"test", true});
  TextTable table(columns);
  for (const Fold& fold : folds) {
    std::vector<Cell> cells{{fold.name, Style::kAccent},
                            std::to_string(fold.train.size()),
                            std::to_string(fold.valid.size())};
    if (observes) cells.push_back(std::to_string(fold.observe.size()));
    cells.push_back(std::to_string(fold.test.size()));
    table.add(cells);
  }
  return table;
}

void print_text(const Globals& globals, const Task& task, const Shape& shape) {
  std::string text =
      task.name + (task.track.empty() ? "" : " (" + task.track + ")") + ": " + task.summary + "\n";
  text += "  hash     " + task.hash + "\n  data     " + task.dataset + ", " +
          std::to_string(shape.workloads) + " workloads in " + std::to_string(shape.groups) +
          " groups by " + task.group + "\n";
  text += "  inputs   ";
  std::string inputs;
  for (const std::string& input : task.inputs) inputs += (inputs.empty() ? "" : ", ") + input;
  text += wrap(inputs, 100, 11) + "\n";
  for (const TaskTarget& target : task.targets)
    text += "  target   " + target.name + (target.unit.empty() ? "" : " in " + target.unit) + ", " +
            word_of(target.kind) + ", " + word_of(target.direction) + " is better, loss " +
            word_of(target.loss) + (task.per_node ? ", per node" : "") + "\n";
  if (task.decision)
    text += "  decision by " +
            (task.decision->scorer.empty() ? "predicted " + task.decision->cost_target
                                           : task.decision->scorer) +
            ", true cost " + task.decision->cost_target + ", " + word_of(task.decision->direction) +
            " is better" +
            (task.decision->default_candidate.empty()
                 ? ""
                 : ", otherwise " + task.decision->default_candidate) +
            "\n";
  text +=
      "  split    " +
      split_words(task.split, shape.folds.size() / static_cast<std::size_t>(task.split.repeats)) +
      "\n";
  text += std::string("  average  by ") + word_of(task.average) + "; equivalent within " +
          format_number(task.rope * 100) + " %; " + std::to_string(task.threads_per_fold) +
          (task.threads_per_fold == 1 ? " thread" : " threads") + " per fold\n";
  if (!globals.plain) print(text + "\n");
  print_table(globals, fold_table(shape.folds));
}

int show(const Globals& globals, const TaskRequest& request) {
  if (request.words.size() != 1) usage_error("omen task show takes one task");
  const Task task = read_task(find_task(request.words[0]));
  const Shape shape = shape_of(task);
  if (globals.json)
    print_json(task, shape);
  else
    print_text(globals, task, shape);
  return kOk;
}

std::string dataset_name(const Task& task) {
  return fs::path(task.dataset).filename().string();
}

std::string target_list(const Task& task) {
  return join(task.targets, ", ", [](const TaskTarget& target) { return target.name; });
}

void write_listed(JsonWriter& json, const Task& task) {
  json.object().field("name", task.name).field("track", task.track);
  json.field("summary", task.summary).field("file", task.file.string()).field("hash", task.hash);
  json.field("dataset", task.dataset).key("targets").array();
  for (const TaskTarget& target : task.targets) json.value(target.name);
  json.end().field("split", word_of(task.split.kind)).end();
}

// Tasks that came along; nothing of their data is read.
int list(const Globals& globals, const TaskRequest& request) {
  if (!request.words.empty())
    usage_error("omen task list takes no task",
                "show one with: omen task show " + request.words[0]);
  TextTable table({{"task"},
                   {"track"},
                   {"data", false, true},
                   {"predicts", false, true},
                   {"split"},
                   {"summary", false, true}});
  JsonWriter json;
  json.object().field("format_version", 1).key("tasks").array();
  for (const fs::path& file : installed_tasks()) {
    const Task task = read_task(file);
    write_listed(json, task);
    table.add({{task.name, Style::kAccent},
               task.track,
               dataset_name(task),
               target_list(task),
               word_of(task.split.kind),
               task.summary});
  }
  if (globals.json)
    print(json.end().end().text());
  else
    print_table(globals, table);
  return kOk;
}

// "time_ms:ms:lower=absolute-percent": a target with a loss of its own.
TaskTarget target_of(const std::string& text, Loss loss) {
  const std::size_t equals = text.find('=');
  const TargetSpec spec = parse_target(text.substr(0, equals));
  if (equals != std::string::npos) {
    const auto own = from_word<Loss>(text.substr(equals + 1));
    if (!own) usage_error("target '" + text + "' names an unknown loss", "see: omen task --help");
    loss = *own;
  }
  return {spec.name, spec.unit, spec.direction, TargetKind::kOpen, loss};
}

// A directory is named from here, and kept as the task will see it.
std::string dataset_for(const TaskRequest& request) {
  if (request.dataset.find('/') == std::string::npos && request.dataset[0] != '.')
    return request.dataset;
  const fs::path home = fs::absolute(request.output).parent_path();
  const std::string path =
      fs::absolute(request.dataset).lexically_normal().lexically_relative(home.lexically_normal());
  return path.starts_with(".") ? path : "./" + path;
}

// Every column of the workloads, and the graphs where there are any: a task without them would
// leave a model of graphs nothing to read.
std::vector<std::string> default_inputs(const DatasetInfo& info) {
  std::vector<std::string> inputs{"workloads.*"};
  for (const char* table : {OMEN_TABLE_NODES, OMEN_TABLE_EDGES, OMEN_TABLE_NODE_FEATURES})
    if (std::any_of(info.files.begin(), info.files.end(), [&](const DatasetFile& file) {
          return std::find(file.tables.begin(), file.tables.end(), table) != file.tables.end();
        }))
      inputs.emplace_back(table);
  return inputs;
}

TaskSplit split_of(const Globals& globals, const TaskRequest& request) {
  TaskSplit split;
  split.kind = *from_word<SplitKind>(request.split);
  split.folds = request.folds;
  split.repeats = request.repeats;
  split.seed = globals.seed;
  split.column = request.column;
  if (split.kind == SplitKind::kGroupedKFold)
    split.assignment = *from_word<Assignment>(request.assignment);
  if (split.kind == SplitKind::kLeaveOneGroupOut || split.kind == SplitKind::kFixed ||
      split.kind == SplitKind::kListed)
    split.folds = 0;
  if (split.kind == SplitKind::kFixed && request.column.empty())
    usage_error("a fixed split needs the column that says it", "name it with --split-column");
  if ((split.kind == SplitKind::kListed) == request.split_file.empty())
    usage_error(request.split_file.empty() ? "a listed split needs the table that lists it"
                                           : "--split-file is for a listed split",
                request.split_file.empty() ? "name it with --split-file" : "add --split listed");
  split.list = request.split_file;
  const std::size_t comma = request.keys.find(',');
  if ((split.kind == SplitKind::kGroupPair) == request.keys.empty() ||
      (!request.keys.empty() && comma == std::string::npos))
    usage_error("two keys and a group-pair split belong together",
                "write --split group-pair --keys a,b");
  if (!request.keys.empty())
    split.keys = {request.keys.substr(0, comma), request.keys.substr(comma + 1)};
  split.mixed = *from_word<MixedRows>(request.mixed);
  return split;
}

Task draft_of(const Globals& globals, const TaskRequest& request) {
  if (request.dataset.empty()) usage_error("the task has no data", "name it with --data DATASET");
  if (request.output.empty()) usage_error("the task has no file", "name it with -o FILE.json");
  const std::string dataset = dataset_for(request);
  const DatasetInfo info = find_dataset(dataset, fs::path(request.output).parent_path());
  Task draft;
  draft.name = request.name.empty() ? fs::path(request.output).stem().string() : request.name;
  draft.summary = request.summary;
  draft.track = request.track;
  draft.dataset = dataset;
  draft.inputs = request.inputs.empty() ? default_inputs(info) : request.inputs;
  const Loss loss = from_word<Loss>(request.loss).value_or(Loss::kOpen);
  for (const std::string& target : request.targets)
    draft.targets.push_back(target_of(target, loss));
  if (request.targets.empty())
    for (const TargetSpec& target : info.targets)
      draft.targets.push_back(
          {target.name, target.unit, target.direction, TargetKind::kOpen, loss});
  draft.group = !request.group.empty() ? request.group : !info.group.empty() ? info.group : "group";
  draft.per_node = request.per_node;
  draft.average = *from_word<Average>(request.average);
  draft.estimate = *from_word<TaskEstimate>(request.estimate);
  draft.rope = request.rope;
  draft.threads_per_fold = request.threads_per_fold;
  draft.split = split_of(globals, request);
  if (!request.cost.empty())
    draft.decision =
        TaskDecision{request.scorer, request.cost, *from_word<Direction>(request.cost_direction),
                     request.default_candidate};
  return draft;
}

int make(const Globals& globals, const TaskRequest& request) {
  if (!request.words.empty())
    usage_error("omen task new takes flags only", "see: omen task --help");
  const Task draft = draft_of(globals, request);
  if (fs::exists(request.output) && !request.force)
    usage_error(request.output + " exists", "replace it with --force, or give another name");
  const fs::path parent = fs::path(request.output).parent_path();
  if (!parent.empty()) fs::create_directories(parent);
  const Task task = freeze_task(draft, request.output);
  if (globals.json)
    print_json(task, shape_of(task));
  else
    note(globals, "froze task " + task.hash.substr(0, 12) + " in " + request.output + " and " +
                      task.split_file().filename().string());
  return kOk;
}

int check(const Globals& globals, const TaskRequest& request) {
  std::vector<std::string> names = request.words;
  if (names.empty())
    for (const fs::path& file : installed_tasks()) names.push_back(file.string());
  CheckReport report("tasks", "file", {"task", false, true}, !request.words.empty());
  for (const std::string& name : names)
    report.add(check_of(name, [](std::string& subject) {
      const fs::path file = find_task(subject);
      subject = file.string();
      const Task task = read_task(file);
      const Shape shape = shape_of(task);
      return std::to_string(shape.workloads) + " workloads, " + std::to_string(shape.folds.size()) +
             " folds, hash " + task.hash.substr(0, 12);
    }));
  return report.print(globals);
}

int run_task(const Globals& globals, const TaskRequest& request) {
  if (request.action.empty())
    usage_error("what to do with a task is missing", "say list, new, show or check");
  const RecipeDoor door(globals);
  if (request.action == "list") return list(globals, request);
  if (request.action == "new") return make(globals, request);
  return request.action == "show" ? show(globals, request) : check(globals, request);
}

void complete_task(Offers& offers) {
  if (offers.at_first())
    offers.words({"list", "new", "show", "check"});
  else
    offers.tasks("installed task");
}

template <class Enum>
Words words(std::initializer_list<Enum> values) {
  Words list;
  for (const Enum value : values) list.emplace_back(word_of(value));
  return list;
}

void describe_task(CommandLine& line) {
  auto& r = line.request(run_task);
  line.word("ACTION", r.action, "list, new, show or check")
      .one_of({"list", "new", "show", "check"});
  line.word("TASK", r.words, "task files, or names of installed tasks");
  line.value("-o,--output", "FILE.json", r.output, "new: file to write; the folds go beside it");
  line.value("--data", "DATASET", r.dataset, "new: dataset, by name or directory");
  line.values("--target", "NAME[:UNIT[:lower|higher]][=LOSS]", r.targets,
              "new: what is predicted, by default as the dataset says");
  line.values("--input", "INPUT", r.inputs,
              "new: table, or table.column, by default every column of workloads that was not "
              "measured, and graphs");
  line.value("--loss", "LOSS", r.loss,
             "new: absolute, squared, absolute-percent; for classes zero-one, log-loss")
      .one_of(words({Loss::kAbsolute, Loss::kSquared, Loss::kAbsolutePercent, Loss::kZeroOne,
                     Loss::kLogLoss}));
  line.value("--group", "COLUMN", r.group, "new: column of the groups that are resampled");
  line.value("--split", "KIND", r.split,
             "new: k-fold, grouped-k-fold (default), leave-one-group-out, fixed, listed or "
             "group-pair")
      .one_of(words({SplitKind::kKFold, SplitKind::kGroupedKFold, SplitKind::kLeaveOneGroupOut,
                     SplitKind::kFixed, SplitKind::kListed, SplitKind::kGroupPair}));
  line.value(
      "--split-file", "FILE.csv", r.split_file,
      "new: of a listed split, workload_id,fold,role with role train, valid, observe or test");
  line.value("--keys", "A,B", r.keys,
             "new: of a group-pair split, the two columns whose values are held out");
  line.value("--mixed", "ROLE", r.mixed,
             "new: rows of which one key is held out: test (default), observe or drop")
      .one_of(words({MixedRows::kTest, MixedRows::kObserve, MixedRows::kDrop}));
  line.value("--split-column", "COLUMN", r.column,
             "new: column that keeps rows in one fold, by default that of --group; for a "
             "fixed split the name of the fold, or train, valid, observe and test");
  line.value("--folds", "N", r.folds, "new: number of folds, 5 by default").range(2, 100000);
  line.value("--repeats", "N", r.repeats, "new: the whole split again with the next seed")
      .range(1, 1000);
  line.value("--assignment", "RULE", r.assignment,
             "new: groups to folds balanced by rows (default), or shuffled")
      .one_of(words({Assignment::kBalanced, Assignment::kShuffled}));
  line.value("--average", "BY", r.average, "new: mean over every row (default) or group")
      .one_of(words({Average::kRow, Average::kGroup}));
  line.value("--estimate", "KIND", r.estimate, "new: median or mean paired difference")
      .one_of(words({TaskEstimate::kMedian, TaskEstimate::kMean}));
  line.value("--rope", "SHARE", r.rope, "new: what counts as equivalent, 0.01 by default")
      .range(0.0, 1.0);
  line.value("--threads-per-fold", "N", r.threads_per_fold, "new: threads of one fold")
      .range(1, 1024);
  line.toggle("--per-node", r.per_node, "new: targets are columns of node_targets");
  line.value("--cost", "COLUMN", r.cost, "new: a decision, judged by this true cost of candidates");
  line.value("--cost-direction", "DIRECTION", r.cost_direction,
             "new: lower (default) or higher wins")
      .one_of(words({Direction::kLower, Direction::kHigher}));
  line.value("--scorer", "COMPONENT", r.scorer, "new: component that decides");
  line.value("--default-candidate", "NAME", r.default_candidate,
             "new: what one takes without a predictor");
  line.value("--name", "NAME", r.name, "new: name, by default that of the file");
  line.value("--track", "TEXT", r.track, "new: track it belongs to");
  line.value("--summary", "TEXT", r.summary, "new: one line about the question");
  line.toggle("--force", r.force, "new: replace a task that exists");
}

}  // namespace

Verb task_verb() {
  return {"task", "list questions about datasets, freeze one, show it, check it",
          "omen task list\nomen task new --data matmul-cpu --loss absolute-percent --folds 5 -o "
          "matmul.json\n"
          "omen task show matmul.json\nomen task check",
          describe_task, complete_task};
}

}  // namespace omen::host::cli
