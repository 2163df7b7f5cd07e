// SPDX-License-Identifier: Apache-2.0
// `omen train`: a table with targets becomes a model.
#include <fstream>
#include <mutex>

#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "json_writer.hpp"
#include "omen/host/models.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

struct Metric {
  std::string name;
  std::int64_t step;
  double value;
};

std::vector<std::string> columns_of(const Table& table) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < table.columns(); ++c)
    if (table.name(c) != "workload_id" && table.name(c) != "group")
      names.emplace_back(table.name(c));
  return names;
}

std::string column_list(const Table& table) {
  std::string text;
  for (const std::string& name : columns_of(table)) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Tables read_training(const TrainRequest& request, const std::string& file, std::int64_t& dropped) {
  if (!fs::exists(file))
    throw Error(OMEN_IO, "file '" + file + "' does not exist",
                "check the path; the current directory is " + fs::current_path().string());
  Tables tables = read_dataset(file);
  if (!request.group.empty() && !tables.at("workloads").has(request.group))
    usage_error(file + " has no column '" + request.group + "' to group by",
                "its columns are " + column_list(tables.at("workloads")));
  complete_workloads(tables, request.group);
  std::vector<TargetSpec> targets;
  for (const std::string& text : request.targets) targets.push_back(parse_target(text));
  if (tables.count("targets") && targets.empty()) return tables;
  if (targets.empty())
    usage_error("nothing to predict", "name the column to learn with --target; " + file + " has " +
                                          column_list(tables.at("workloads")));
  for (const TargetSpec& target : targets)
    if (!tables.at("workloads").has(target.name)) {
      const auto near = near_names(target.name, columns_of(tables.at("workloads")));
      usage_error(file + " has no column '" + target.name + "'",
                  near.empty() ? "its columns are " + column_list(tables.at("workloads"))
                               : "did you mean '" + near[0] + "'?");
    }
  dropped += split_targets(tables, targets);
  if (tables.at("workloads").rows() == 0)
    throw Error(OMEN_INVALID_DATA, file + " holds no row with every target");
  return tables;
}

Split split_data(const Globals& globals, const TrainRequest& request, std::string& split_id) {
  std::int64_t dropped = 0;
  Tables data = read_training(request, request.data, dropped);
  Split split;
  if (request.valid.empty()) {
    constexpr double kShare = 0.1;
    split = split_by_group(data, kShare, globals.seed);
    split_id = split.valid.empty() ? "none" : "groups:0.1:seed" + std::to_string(globals.seed);
  } else {
    split.train = std::move(data);
    split.valid = read_training(request, request.valid, dropped);
    split_id = "file:" + fs::path(request.valid).filename().string();
  }
  if (dropped > 0) note(globals, std::to_string(dropped) + " rows without a target were left out");
  return split;
}

void write_metrics(const fs::path& path, const std::vector<Metric>& metrics) {
  if (metrics.empty()) return;
  std::vector<std::string> names;
  std::vector<std::int64_t> steps;
  std::vector<double> values;
  for (const Metric& m : metrics) {
    names.push_back(m.name);
    steps.push_back(m.step);
    values.push_back(m.value);
  }
  TableBuilder builder;
  builder.add_categories("metric", names).add("step", steps).add("value", values);
  write_rows(path, "metrics", builder.finish());
}

}  // namespace

int run_train(const Globals& globals, const TrainRequest& request) {
  Session session(globals, request.run, request.flags, "train " + request.component,
                  request.output);
  TrainingPlan plan;
  plan.predictor = named_component(session.registry(), OMEN_PREDICTOR, request.component);
  const std::string& id = plan.predictor.info->id;
  plan.data = split_data(globals, request, plan.split_id);
  plan.summary = request.summary;
  if (!request.from.empty()) plan.from = resolve_model(plan.predictor, request.from);
  const fs::path& directory = session.output_directory();
  const std::string file = id + ".omen";
  const fs::path output = !directory.empty()       ? directory / file
                          : request.output.empty() ? fs::path(file)
                                                   : fs::path(request.output);
  if (output.extension() != ".omen")
    usage_error("-o is '" + output.string() + "', which does not end in .omen",
                "write -o " + output.stem().string() + ".omen");
  if (const fs::path parent = output.parent_path(); !parent.empty() && !fs::is_directory(parent))
    throw Error(OMEN_IO, "directory '" + parent.string() + "' of -o does not exist",
                "make it with: mkdir -p " + parent.string());

  std::mutex mutex;
  std::vector<Metric> metrics;
  PipelineSettings settings = session.components().settings();
  settings.hooks.metric = [&](const char* name, std::int64_t step, double value) {
    const std::lock_guard lock(mutex);
    metrics.push_back({name, step, value});
  };
  const Components components(session.registry(), settings);
  const Training result = train(components, plan, session.flags(), output);
  session.progress().finish();

  const std::int64_t rows = plan.data.train.at("workloads").rows();
  const std::int64_t held = plan.data.valid.empty() ? 0 : plan.data.valid.at("workloads").rows();
  const auto write_result = [&](JsonWriter& json) {
    json.field("component", id)
        .field("model", output.string())
        .field("rows", rows)
        .field("validation_rows", held);
    json.key("options")
        .raw(result.options_json)
        .field("options_hash", result.options_hash)
        .field("seed", globals.seed);
    json.field("split", plan.split_id).field("fit_seconds", result.fit_seconds);
    json.field("digest", read_model_card(output).digest).key("metrics").object();
    for (const auto& [name, value] : result.last_metrics) json.field(name, value);
    json.end();
  };
  if (!directory.empty()) {
    JsonWriter record;
    session.begin_record(record, "train");
    write_result(record);
    write_text(directory / "run.json", record.end().text());
    write_metrics(directory / "metrics.csv", metrics);
  }
  if (globals.json) {
    JsonWriter json;
    write_result(json.object().field("format_version", 1));
    print(json.end().text());
    return kOk;
  }
  std::string text =
      "wrote " + output.string() + ": " + id + " on " + std::to_string(rows) + " rows";
  if (held > 0) text += ", " + std::to_string(held) + " held out";
  text += ", " + format_duration(result.fit_seconds) + "\n";
  for (const auto& [name, value] : result.last_metrics)
    text += "  " + name + " " + format_number(value) + "\n";
  print(text);
  note(globals, "use it with: omen predict FILE -m " + output.string());
  return kOk;
}

}  // namespace omen::host::cli
