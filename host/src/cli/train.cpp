// SPDX-License-Identifier: Apache-2.0
// `omen train`: a table with targets becomes a model.
#include <algorithm>
#include <fstream>

#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/metric_log.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "data/given_data.hpp"
#include "pipeline/models.hpp"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

struct TrainRequest {
  std::string component, data, frontend, valid, group, from, output, summary;
  std::vector<std::string> targets;
  Flags flags;
  RunChoices run;
};

std::string column_list(const Table& table) {
  std::string text;
  for (std::size_t c = 0; c < table.columns(); ++c)
    if (table.name(c) != "workload_id" && table.name(c) != "group")
      text += (text.empty() ? "" : ", ") + std::string(table.name(c));
  return text;
}

// Such a predictor learns about nodes: from node_targets, or from answers of its own where the data
// has none.
bool learns_nodes(const ComponentInfo& predictor, const Tables& tables) {
  return tables.count("node_targets") > 0 ||
         std::find(predictor.reads.begin(), predictor.reads.end(), "node_targets:optional") !=
             predictor.reads.end();
}

Tables read_training(Session& session, const TrainRequest& request, const ComponentInfo& predictor,
                     const std::string& word, std::int64_t& dropped) {
  GivenData given = read_given_data(session.components(), word, request.frontend, session.flags());
  Tables& tables = given.tables;
  if (!request.group.empty() && !tables.at("workloads").has(request.group))
    usage_error(word + " has no column '" + request.group + "' to group by",
                "its columns are " + column_list(tables.at("workloads")));
  std::vector<TargetSpec> targets;
  for (const std::string& text : request.targets) targets.push_back(parse_target(text));
  if (targets.empty() && given.measured.empty() && !tables.count("targets") &&
      !learns_nodes(predictor, tables))
    usage_error("nothing to predict", "name the column to learn with --target; " + word + " has " +
                                          column_list(tables.at("workloads")));
  complete_workloads(tables, request.group.empty() ? given.group : request.group);
  dropped += take_targets(given, std::move(targets));
  if (tables.at("workloads").rows() == 0)
    throw Error(
        OMEN_INVALID_DATA, word + " holds no row with a target",
        "rows count where a target has a value; say which columns are targets with --target");
  return std::move(tables);
}

Split split_data(Session& session, const TrainRequest& request, const ComponentInfo& predictor,
                 std::string& split_id) {
  const Globals& globals = session.globals();
  std::int64_t dropped = 0;
  Tables data = read_training(session, request, predictor, request.data, dropped);
  Split split;
  if (request.valid.empty()) {
    constexpr double kShare = 0.1;
    split = split_by_group(data, kShare, globals.seed);
    split_id = split.valid.empty() ? "none" : "groups:0.1:seed" + std::to_string(globals.seed);
  } else {
    split.train = std::move(data);
    split.valid = read_training(session, request, predictor, request.valid, dropped);
    split_id = "file:" + fs::path(request.valid).filename().string();
  }
  if (dropped > 0) note(globals, std::to_string(dropped) + " rows without a target were left out");
  return split;
}

class TrainVerb {
 public:
  TrainVerb(const Globals& globals, const TrainRequest& request)
      : globals_(globals),
        request_(request),
        session_(globals, request.run, request.flags, "train " + request.component,
                 request.output) {
    plan_.predictor = named_component(session_.registry(), OMEN_PREDICTOR, request.component);
    plan_.data = split_data(session_, request, *plan_.predictor.info, plan_.split_id);
    plan_.summary = request.summary;
    if (!request.from.empty()) plan_.from = resolve_model(plan_.predictor, request.from);
    output_ = model_path();
    plan_.state = output_.string() + ".state";
  }

  int run() {
    ComponentSettings settings = session_.components().settings();
    settings.hooks.metric = [this](const char* name, std::int64_t step, double value) {
      metrics_.add(name, step, value);
    };
    const Components components(session_.registry(), settings);
    result_ = train(components, plan_, session_.flags(), output_);
    session_.progress().finish();
    if (!session_.output_directory().empty()) write_record();
    if (globals_.json) {
      JsonWriter json;
      write_result(json.object().field("format_version", 1));
      print(json.end().text());
    } else {
      print(text());
      note(globals_, "use it with: omen predict FILE -m " + output_.string());
    }
    return kOk;
  }

 private:
  const std::string& id() const { return plan_.predictor.info->id; }
  std::int64_t rows() const { return plan_.data.train.at("workloads").rows(); }
  std::int64_t held_rows() const {
    return plan_.data.valid.empty() ? 0 : plan_.data.valid.at("workloads").rows();
  }

  // Checked before the training, whose work would be lost otherwise.
  fs::path model_path() const {
    const fs::path& directory = session_.output_directory();
    const fs::path path = !directory.empty()        ? directory / (id() + ".omen")
                          : request_.output.empty() ? fs::path(id() + ".omen")
                                                    : fs::path(request_.output);
    if (path.extension() != ".omen")
      usage_error("-o is '" + path.string() + "', which does not end in .omen",
                  "write -o " + path.stem().string() + ".omen");
    if (const fs::path parent = path.parent_path(); !parent.empty() && !fs::is_directory(parent))
      throw Error(OMEN_IO, "directory '" + parent.string() + "' of -o does not exist",
                  "make it with: mkdir -p " + parent.string());
    return path;
  }

  void write_result(JsonWriter& json) const {
    json.field("component", id()).field("model", output_.string());
    json.field("rows", rows()).field("validation_rows", held_rows());
    json.key("options").raw(result_.options_json).field("options_hash", result_.options_hash);
    json.field("seed", globals_.seed).field("split", plan_.split_id);
    json.field("fit_seconds", result_.fit_seconds);
    json.field("digest", read_model_card(output_).digest).key("metrics").object();
    for (const auto& [name, value] : result_.last_metrics) json.field(name, value);
    json.end();
  }

  void write_record() const {
    JsonWriter record;
    session_.begin_record(record, "train");
    write_result(record);
    write_text(session_.output_directory() / "run.json", record.end().text());
    metrics_.write(session_.output_directory());
  }

  std::string text() const {
    std::string text =
        "wrote " + output_.string() + ": " + id() + " on " + std::to_string(rows()) + " rows";
    if (held_rows() > 0) text += ", " + std::to_string(held_rows()) + " for validation";
    text += ", " + format_duration(result_.fit_seconds) + "\n";
    for (const auto& [name, value] : result_.last_metrics)
      text += "  " + name + " " + format_number(value) + "\n";
    return text;
  }

  const Globals& globals_;
  const TrainRequest& request_;
  Session session_;
  TrainingPlan plan_;
  fs::path output_;
  Training result_;
  MetricLog metrics_;
};

int run_train(const Globals& globals, const TrainRequest& request) {
  return TrainVerb(globals, request).run();
}

void describe_train(CommandLine& line) {
  auto& r = line.request(run_train);
  line.word("COMPONENT", r.component, "predictor to train").required();
  line.value("--data", "DATA", r.data,
             "what to learn from: a table, a file of a front end, or a dataset by name or "
             "directory")
      .required();
  line.value("--frontend", "COMPONENT", r.frontend,
             "front end to read the data with; otherwise found from the file");
  line.values(
      "--target", "NAME[:UNIT[:lower|higher]]", r.targets,
      "column to predict, its unit, and what is better, by default as the dataset says; may "
      "be repeated");
  line.value("--group", "COLUMN", r.group, "column whose rows stay together when data is split");
  line.value("--valid", "DATA", r.valid, "data to validate on; otherwise 10 % of the groups");
  line.value("--from", "MODEL", r.from, "model to continue from");
  line.value("--summary", "TEXT", r.summary, "one line that the model keeps");
  line.value("-o,--output", "OUT.omen", r.output, "model to write; a directory also gets run.json");
  line.run_choices(r.run, r.flags);
}

}  // namespace

Verb train_verb() {
  return {"train", "fit a predictor to measured workloads and keep it as a model",
          "omen train baseline.gbt --data runs.csv --target time_ms:ms:lower -o mine.omen\n"
          "omen train baseline.gbt --data matmul-cpu -o mine.omen\n"
          "omen train baseline.ridge --data runs.csv --target time_ms --group network --alpha 0.1",
          describe_train, [](Offers& offers) { offers.components(OMEN_PREDICTOR); }};
}

}  // namespace omen::host::cli
