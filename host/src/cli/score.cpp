// SPDX-License-Identifier: Apache-2.0
// `omen score`: which candidate to choose for each workload, and why.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "data/given_data.hpp"
#include "pipeline/models.hpp"
#include "tables/table_io.hpp"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace {

struct ScoreRequest {
  std::vector<std::string> inputs;
  std::string component, data, frontend, predictor, model, policy, candidates, output, fail_if;
  bool csv = false;
  std::int64_t top = 0;
  Flags flags;
  RunChoices run;
};

ComponentRef find_scorer(const Registry& registry, const std::string& component) {
  if (!component.empty()) return registry.component(OMEN_SCORER, component);
  const std::vector<ComponentRef> all = registry.components(OMEN_SCORER);
  if (all.size() == 1) return all[0];
  if (all.empty())
    throw ExitError(kUsage, Error(OMEN_NOT_FOUND, "no scorer is installed",
                                  "see where plugins are looked for with: omen doctor"));
  std::string ids;
  for (const ComponentRef& ref : all) ids += (ids.empty() ? "" : ", ") + ref.info->id;
  usage_error("several scorers are installed: " + ids, "choose one with --with " + all[0].info->id);
}

// (workload, candidate) as one key.
std::uint64_t pair_key(std::int64_t workload, std::int64_t candidate) {
  return static_cast<std::uint64_t>(workload) << 32 ^ static_cast<std::uint64_t>(candidate);
}

std::vector<std::int64_t> ids(const Table& table, const char* column) {
  std::vector<std::int64_t> values;
  for (const double value : table.numbers(column))
    values.push_back(static_cast<std::int64_t>(value));
  return values;
}

// What a person calls a row: its name, else its first columns.
std::string label(const Table& table, std::int64_t row) {
  if (const auto name = table.find("name");
      name && is_text(table.type(*name)) && !table.is_null(*name, row))
    return std::string(table.strings(*name)[row]);
  constexpr int kShown = 3;
  std::string text;
  int shown = 0;
  for (std::size_t c = 0; c < table.columns() && shown < kShown; ++c) {
    const std::string_view name = table.name(c);
    if (name == "workload_id" || name == "candidate_id" || name == "group" ||
        name.starts_with("graph_id"))
      continue;
    text += (shown++ ? " " : "") + std::string(name) + "=" + cell_text(table, c, row);
  }
  return text;
}

// Scores with names, best first within each workload.
Table named_scores(const Scoring& scoring, const Table& workloads, std::int64_t top) {
  const auto workload_ids = ids(workloads, "workload_id");
  std::unordered_map<std::int64_t, std::int64_t> workload_row;
  for (std::size_t i = 0; i < workload_ids.size(); ++i)
    workload_row[workload_ids[i]] = static_cast<std::int64_t>(i);
  std::unordered_map<std::uint64_t, std::int64_t> candidate_row;
  const auto owners = ids(scoring.candidates, "workload_id"),
             numbers = ids(scoring.candidates, "candidate_id");
  for (std::size_t i = 0; i < owners.size(); ++i)
    candidate_row[pair_key(owners[i], numbers[i])] = static_cast<std::int64_t>(i);

  const auto owner = ids(scoring.scores, "workload_id"),
             number = ids(scoring.scores, "candidate_id"), rank = ids(scoring.scores, "rank");
  const std::int64_t first = rank.empty() ? 1 : *std::min_element(rank.begin(), rank.end());
  std::vector<std::int64_t> order;
  for (std::int64_t row = 0; row < scoring.scores.rows(); ++row)
    if (top == 0 || rank[static_cast<std::size_t>(row)] - first < top) order.push_back(row);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const auto x = static_cast<std::size_t>(a), y = static_cast<std::size_t>(b);
    return std::pair(workload_row[owner[x]], rank[x]) < std::pair(workload_row[owner[y]], rank[y]);
  });
  std::vector<std::string> workload_names, candidate_names;
  for (const std::int64_t row : order) {
    const auto at = static_cast<std::size_t>(row);
    const auto candidate = candidate_row.find(pair_key(owner[at], number[at]));
    if (candidate == candidate_row.end())
      throw Error(OMEN_INTERNAL, "plugin misbehaving: a score names candidate " +
                                     std::to_string(number[at]) + " of workload " +
                                     std::to_string(owner[at]) + ", which it was not given");
    workload_names.push_back(label(workloads, workload_row[owner[at]]));
    candidate_names.push_back(label(scoring.candidates, candidate->second));
  }
  const Table sorted = take(scoring.scores, order);
  TableBuilder builder;
  builder.add_column(sorted, sorted.index("workload_id"))
      .add_column(sorted, sorted.index("candidate_id"));
  builder.add_strings("workload", workload_names).add_strings("candidate", candidate_names);
  for (std::size_t c = 0; c < sorted.columns(); ++c)
    if (sorted.name(c) != "workload_id" && sorted.name(c) != "candidate_id")
      builder.add_column(sorted, c);
  return builder.finish();
}

TextTable people_table(const Table& rows) {
  TextTable table({{"workload", false, true},
                   {"rank", true},
                   {"candidate", false, true},
                   {"score", true},
                   {"feasible"},
                   {"reason", false, true}});
  std::string last;
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    const auto text = [&](const char* column) { return cell_text(rows, rows.index(column), row); };
    const bool feasible = rows.boolean(rows.index("feasible"), row);
    const std::string workload = text("workload");
    table.add({workload == last ? "" : workload,
               text("rank"),
               {text("candidate"), workload == last ? Style::kPlain : Style::kStrong},
               text("score"),
               {feasible ? "yes" : "no", feasible ? Style::kGood : Style::kBad},
               text("reason")});
    last = workload;
  }
  return table;
}

// A workload from flags: those that neither the scorer nor its predictor takes as options.
Tables workload_of_flags(Session& session, const ScoringPlan& plan) {
  session.flags().sources_for(*plan.scorer.info);
  std::vector<std::string> schema;
  if (const auto predictor = known_predictor(session.registry(), plan)) {
    session.flags().sources_for(*predictor->info);
    if (const Model model(resolve_model(*predictor, plan.model)); !model.empty())
      schema = model.card().schema;
  }
  TextPairs features = session.flags().features({}, true);
  if (features.empty())
    usage_error("no workloads to score",
                "give a table, files, names or features as flags; see: omen score --help");
  Tables tables = row_of_flags(std::move(features), schema);
  complete_workloads(tables);
  return tables;
}

// The workloads of every input; they must fit into one table.
Tables read_workloads(Session& session, const ScoreRequest& request, const ScoringPlan& plan) {
  if (request.inputs.empty() && request.data.empty()) return workload_of_flags(session, plan);
  std::vector<Lowered> inputs;
  for (const std::string& input : request.inputs)
    inputs.push_back(read_input(session.components(), input, request.frontend, session.flags()));
  if (!request.data.empty())
    inputs.push_back({request.data,
                      {},
                      {},
                      inputs_of(read_given_data(session.components(), request.data,
                                                request.frontend, session.flags()))});
  std::vector<Batch> batches = make_batches(std::move(inputs));
  if (batches.size() > 1)
    throw Error(OMEN_INVALID_DATA,
                "the inputs have different columns, so they cannot be scored together",
                "score them one after the other");
  if (batches[0].tables.at("workloads").rows() == 0)
    throw Error(OMEN_INVALID_DATA, "the input holds no workloads");
  return std::move(batches[0].tables);
}

// Workloads for which no candidate is feasible, by name.
std::vector<std::string> infeasible_workloads(const Scoring& result, const Table& workloads) {
  std::set<std::int64_t> served;
  const auto owner = ids(result.scores, "workload_id");
  const std::size_t feasible = result.scores.index("feasible");
  for (std::size_t i = 0; i < owner.size(); ++i)
    if (result.scores.boolean(feasible, static_cast<std::int64_t>(i))) served.insert(owner[i]);
  std::vector<std::string> names;
  const auto all = ids(workloads, "workload_id");
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!served.count(all[i])) names.push_back(label(workloads, static_cast<std::int64_t>(i)));
  return names;
}

// What --fail-if asks for.
int verdict(const Globals& globals, const ScoreRequest& request, const Scoring& result,
            const Table& workloads) {
  if (request.fail_if.empty()) return kOk;
  const std::vector<std::string> names = infeasible_workloads(result, workloads);
  if (names.empty()) return kOk;
  note(globals, std::to_string(names.size()) + " of " + std::to_string(workloads.rows()) +
                    " workloads have no feasible candidate, the first is " + names[0]);
  return kFailed;
}

void write_facts(JsonWriter& json, const ScoringPlan& plan, const Scoring& result) {
  json.field("scorer", plan.scorer.info->id).field("predictor", result.predictor);
  json.field("candidates", result.candidates.rows());
  json.field("predict_seconds", result.predict_seconds);
  json.field("score_seconds", result.score_seconds);
}

void write_files(const Session& session, const std::string& output, const ScoringPlan& plan,
                 const Scoring& result, const Table& rows) {
  const std::filesystem::path& directory = session.output_directory();
  if (output.empty()) return;
  write_rows(directory.empty() ? std::filesystem::path(output) : directory / "scores.csv", "scores",
             rows);
  if (directory.empty()) return;
  JsonWriter record;
  session.begin_record(record, "score");
  write_facts(record, plan, result);
  write_text(directory / "run.json", record.field("seconds", session.elapsed()).end().text());
}

int run_score(const Globals& globals, const ScoreRequest& given) {
  ScoreRequest request = given;
  Session session(globals, request.run, request.flags, "score", request.output);
  take_component(session.registry(), OMEN_SCORER, request.inputs, request.component);
  ScoringPlan plan;
  plan.scorer = find_scorer(session.registry(), request.component);
  plan.predictor = request.predictor;
  plan.model = request.model;
  plan.tables = read_workloads(session, request, plan);
  if (const auto own = plan.tables.extract("candidates"); !own.empty())
    plan.candidates = own.mapped();
  if (!request.candidates.empty())
    plan.candidates = read_dataset(request.candidates).at("workloads");
  if (!request.policy.empty() || plan.scorer.info->default_model())
    plan.policy = resolve_model(plan.scorer, request.policy);

  const Scoring result = score(session.components(), plan, session.flags());
  session.progress().finish();
  const Table rows = named_scores(result, plan.tables.at("workloads"), request.top);
  write_files(session, request.output, plan, result, rows);
  if (globals.json) {
    JsonWriter json;
    write_facts(json.object().field("format_version", 1), plan, result);
    print(json.key("rows").raw(to_json_rows(rows)).end().text());
  } else if (request.csv) {
    print(csv_text(rows));
  } else if (request.output.empty()) {
    print_table(globals, people_table(rows));
  }
  if (!request.output.empty()) note(globals, "wrote " + request.output);
  return verdict(globals, request, result, plan.tables.at("workloads"));
}

void describe_score(CommandLine& line) {
  auto& r = line.request(run_score);
  line.word("INPUT", r.inputs,
            "workloads: files, tables, names or -, or features as flags; a scorer may come first");
  line.value("--with", "COMPONENT", r.component, "scorer to use");
  line.value("--data", "DATA", r.data, "a dataset by name or directory; its targets stay out");
  line.value("--frontend", "COMPONENT", r.frontend,
             "front end to read files with; otherwise found from the file");
  line.value("--candidates", "FILE", r.candidates,
             "table of options; otherwise those of the dataset, or the scorer lists them");
  line.value("--predictor", "COMPONENT", r.predictor, "predictor that gives the costs");
  line.value("-m,--model", "MODEL", r.model, "model of the predictor");
  line.value("--policy", "MODEL", r.policy, "model of the scorer");
  line.value("--top", "N", r.top, "show only the best N of each workload");
  line.value("-o,--output", "FILE", r.output,
             "write .csv, .jsonl, .json or .omt; a directory also gets run.json");
  line.toggle("--csv", r.csv, "CSV on stdout");
  line.value("--fail-if", "WHAT", r.fail_if,
             "infeasible: exit 1 where a workload has no feasible candidate")
      .one_of({"infeasible"});
  line.run_choices(r.run, r.flags);
}

}  // namespace

Verb score_verb() {
  return {
      "score",
      "rank candidates, such as GPUs for a job, by what they would cost",
      "omen score jobs.csv --with power.cap --candidates gpus.csv\nomen score jobs.csv --with "
      "power.cap --top 3\nomen score kernel.cl --with loadbalance.split --input-size 1M --wgsize "
      "256",
      describe_score,
      [](Offers& offers) { offers.components(OMEN_SCORER); },
      OMEN_SCORER};
}

}  // namespace omen::host::cli
