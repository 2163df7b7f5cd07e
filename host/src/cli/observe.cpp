// SPDX-License-Identifier: Apache-2.0
// `omen observe`: measured rows correct a model without a new training.
#include <algorithm>

#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "data/given_data.hpp"
#include "pipeline/models.hpp"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

struct ObserveRequest {
  std::string model, data, frontend, group, output, summary;
  Flags flags;
  RunChoices run;
};

// What the model predicts and the rows hold becomes their targets.
Tables measured_rows(Session& session, const ObserveRequest& request, const ModelCard& card) {
  GivenData given =
      read_given_data(session.components(), request.data, request.frontend, session.flags());
  complete_workloads(given.tables, request.group.empty() ? given.group : request.group);
  const auto holds = [&](const char* table, const std::string& column) {
    const auto at = given.tables.find(table);
    return at != given.tables.end() && at->second.has(column);
  };
  std::vector<TargetSpec> there;
  std::string wanted;
  for (const TargetFacts& target : card.targets) {
    wanted += (wanted.empty() ? "" : ", ") + target.name;
    if (holds("workloads", target.name) || holds("targets", target.name))
      there.push_back({target.name, target.unit,
                       from_word<Direction>(target.direction).value_or(Direction::kLower)});
  }
  if (there.empty() && !given.tables.count("node_targets"))
    throw Error(OMEN_INVALID_DATA, request.data + " holds nothing that " + card.file + " predicts",
                "give it one of the columns " + wanted);
  const std::int64_t dropped = there.empty() ? 0 : take_targets(given, there);
  if (dropped > 0)
    note(session.globals(), std::to_string(dropped) + " rows without a target were left out");
  if (given.tables.at("workloads").rows() == 0)
    throw Error(OMEN_INVALID_DATA, request.data + " holds no row with a target",
                "rows count where one of " + wanted + " has a value");
  return std::move(given.tables);
}

// As the model was trained, unless the command line says otherwise.
OptionValues options_of(const ComponentInfo& info, FlagBook& flags, const ModelCard& card) {
  OptionSources sources = flags.sources_for(info);
  if (sources.config_json.empty()) sources.config_json = card.options_json;
  return resolve_options(info, sources);
}

void check_output(const std::string& output) {
  if (fs::path(output).extension() != ".omen")
    usage_error("-o is '" + output + "', which does not end in .omen",
                "write -o " + fs::path(output).stem().string() + ".omen");
}

int run_observe(const Globals& globals, const ObserveRequest& request) {
  check_output(request.output);
  Session session(globals, request.run, request.flags, "observe " + request.model, {});
  const Model model{fs::path(request.model)};
  const ComponentRef predictor =
      named_component(session.registry(), OMEN_PREDICTOR, model.card().component);
  const OptionValues options = options_of(*predictor.info, session.flags(), model.card());
  const Tables measured = measured_rows(session, request, model.card());
  session.flags().finish();
  const Observation done =
      observe(session.components(), {{predictor, model}, options, measured, {}, request.summary},
              request.output);
  session.progress().finish();
  const ModelCard card = read_model_card(fs::path(request.output));
  const std::int64_t rows = measured.at("workloads").rows();
  if (globals.json) {
    JsonWriter json;
    json.object().field("format_version", 1).field("component", card.component);
    json.field("model", request.output).field("from", request.model).field("rows", rows);
    json.field("observed_rows", card.observed_rows).field("seconds", done.seconds);
    print(json.field("digest", card.digest).end().text());
    return kOk;
  }
  print("wrote " + request.output + ": " + card.component + " corrected by " +
        std::to_string(rows) + " rows, " + format_duration(done.seconds) + "\n");
  return kOk;
}

void describe_observe(CommandLine& line) {
  auto& r = line.request(run_observe);
  line.word("MODEL", r.model, "model to correct").required();
  line.value("--data", "DATA", r.data, "measured rows: a table, or a dataset by name or directory")
      .required();
  line.value("--frontend", "COMPONENT", r.frontend, "front end that reads the rows");
  line.value("--group", "COLUMN", r.group, "column of the groups of rows");
  line.value("--summary", "TEXT", r.summary, "one line that the model keeps");
  line.value("-o,--output", "NEW.omen", r.output, "model to write").required();
  line.run_choices(r.run, r.flags);
}

}  // namespace

Verb observe_verb() {
  return {"observe", "correct a model by rows that were measured after its training",
          "omen observe mine.omen --data measured.csv -o corrected.omen", describe_observe,
          nullptr};
}

}  // namespace omen::host::cli
