// SPDX-License-Identifier: Apache-2.0
// `omen predict`: inputs to a table of costs; an input that fails is one row, not the end.
#include <algorithm>
#include <unordered_map>

#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/prediction_text.hpp"
#include "cli/session.hpp"
#include "cli/suggestions.hpp"
#include "cli/verbs.hpp"
#include "data/given_data.hpp"
#include "pipeline/models.hpp"
#include "tables/row_status.hpp"
#include "tables/table_io.hpp"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace {

struct PredictRequest {
  std::vector<std::string> inputs;
  std::string component, data, frontend, model, output;
  bool csv = false;
  double interval_level = 0.90;
  Flags flags;  // options of components, and features of a single row
  RunChoices run;
};

// One predict call and what it answered.
struct Answer {
  Batch batch;
  Choice choice;
  Prediction prediction;
  std::vector<std::string> labels;  // what a person calls each row
  std::vector<TargetFacts> facts;   // what the model says of its targets
};

struct FailedInput {
  std::string input;
  Error error;
};

std::string join_features(const Table& workloads, std::int64_t row) {
  constexpr int kShown = 4;
  std::string text;
  int shown = 0;
  for (std::size_t c = 0; c < workloads.columns() && shown < kShown; ++c) {
    const std::string_view name = workloads.name(c);
    if (name == "workload_id" || name == "group" || name.starts_with("graph_id") ||
        is_list(workloads.type(c)))
      continue;
    text += (shown++ ? " " : "") + std::string(name) + "=" + cell_text(workloads, c, row);
  }
  return text;
}

// Its name, else the file it came from where that is enough, else its first features.
std::vector<std::string> labels_of(const Batch& batch) {
  const Table& workloads = batch.tables.at("workloads");
  const auto name = workloads.find("name");
  const bool one_row_each = batch.inputs.size() == static_cast<std::size_t>(workloads.rows());
  std::vector<std::string> labels;
  for (std::int64_t row = 0; row < workloads.rows(); ++row) {
    std::string label =
        name && is_text(workloads.type(*name)) ? std::string(workloads.strings(*name)[row]) : "";
    if (label.empty() && one_row_each && !batch.frontend.empty())
      label = batch.inputs[batch.input_of[static_cast<std::size_t>(row)]];
    if (label.empty()) label = join_features(workloads, row);
    labels.push_back(label.empty() ? std::to_string(row) : label);
  }
  return labels;
}

// Rows of a task on nodes repeat a workload; every other row stands for one of its own.
std::vector<std::size_t> workload_rows(const Batch& batch, const Table& rows) {
  std::unordered_map<std::int64_t, std::size_t> row_of;
  const Table& workloads = batch.tables.at("workloads");
  const auto known = workloads.column<std::int64_t>("workload_id");
  for (std::int64_t row = 0; row < workloads.rows(); ++row)
    row_of[known[row]] = static_cast<std::size_t>(row);
  std::vector<std::size_t> found;
  for (const std::int64_t id : rows.column<std::int64_t>("workload_id")) {
    const auto at = row_of.find(id);
    if (at == row_of.end())
      throw Error(OMEN_INTERNAL, "plugin misbehaving: a prediction names workload " +
                                     std::to_string(id) + ", which it was not given");
    found.push_back(at->second);
  }
  return found;
}

// The rows for programs: label and input beside what the predictor said.
Table answer_table(const Answer& answer) {
  TableBuilder builder;
  const Table& rows = answer.prediction.rows;
  builder.add_column(rows, rows.index("workload_id"));
  std::vector<std::string> inputs;
  for (const std::size_t row : workload_rows(answer.batch, rows))
    inputs.push_back(answer.batch.inputs[answer.batch.input_of[row]]);
  builder.add_strings("workload", answer.labels).add_categories("input", inputs);
  for (std::size_t c = 0; c < rows.columns(); ++c)
    if (rows.name(c) != "workload_id") builder.add_column(rows, c);
  return builder.finish();
}

Style status_style(std::string_view status) {
  const auto known = from_word<RowStatus>(status);
  if (!known) return Style::kBad;
  return *known == RowStatus::kExtrapolating ? Style::kWarn : Style::kPlain;
}

// Unit and direction as the prediction says, or else as the model does.
TargetFacts target_facts(const Answer& answer, const std::string& target) {
  const Table& rows = answer.prediction.rows;
  const std::size_t column = rows.index(target);
  TargetFacts found{target, rows.metadata(column, "omen.unit"),
                    rows.metadata(column, "omen.direction"), ""};
  for (const TargetFacts& known : answer.facts) {
    if (known.name != target) continue;
    if (found.unit.empty()) found.unit = known.unit;
    if (found.direction.empty()) found.direction = known.direction;
  }
  return found;
}

std::string target_heading(const Answer& answer, const std::string& target) {
  const std::string unit = target_facts(answer, target).unit;
  const bool said = unit.empty() || unit == "1" || target.ends_with("_" + unit);
  return (said ? target : target + " [" + unit + "]") + method_text(answer.prediction.rows, target);
}

TextTable people_table(const Answer& answer, const PredictRequest& request, std::int64_t shown) {
  const Table& rows = answer.prediction.rows;
  const std::vector<std::string> targets = target_names(rows);
  char level[24];
  std::snprintf(level, sizeof level, "%g %% interval", request.interval_level * 100);
  std::vector<Heading> headings{{"workload", false, true}};
  std::vector<bool> bounded, likely;
  for (const std::string& target : targets) {
    headings.push_back({target_heading(answer, target), is_number(rows.type(rows.index(target)))});
    bounded.push_back(rows.has(target + ".lo") && rows.has(target + ".hi"));
    likely.push_back(has_probabilities(rows, target));
    if (bounded.back()) headings.push_back({level, true});
    if (likely.back()) headings.push_back({"chance", true});
  }
  headings.push_back({"status"});
  TextTable table(std::move(headings));
  const StringColumn status = rows.strings("status");
  for (std::int64_t row = 0; row < shown; ++row) {
    std::vector<Cell> cells{answer.labels[static_cast<std::size_t>(row)]};
    for (std::size_t t = 0; t < targets.size(); ++t) {
      cells.emplace_back(cell_text(rows, rows.index(targets[t]), row), Style::kStrong);
      if (bounded[t]) cells.emplace_back(interval_text(rows, targets[t], row), Style::kFaint);
      if (likely[t]) cells.emplace_back(probability_text(rows, targets[t], row), Style::kFaint);
    }
    cells.emplace_back(std::string(status[row]), status_style(status[row]));
    table.add(std::move(cells));
  }
  return table;
}

void write_answer(JsonWriter& json, const Answer& answer) {
  const Manifest& plugin = answer.choice.predictor.plugin->manifest;
  const Table& rows = answer.prediction.rows;
  json.object()
      .field("predictor", answer.choice.predictor.info->id)
      .field("plugin_version", plugin.version);
  json.field("model", answer.choice.model.file().string());
  if (!answer.batch.frontend.empty()) json.field("frontend", answer.batch.frontend);
  if (!answer.batch.dialect.empty()) json.field("dialect", answer.batch.dialect);
  json.strings("inputs", answer.batch.inputs);
  json.key("options")
      .raw(answer.prediction.options_json)
      .field("options_hash", answer.prediction.options_hash);
  json.key("targets").array();
  for (const std::string& target : target_names(rows)) {
    const TargetFacts facts = target_facts(answer, target);
    json.object().field("name", target).field("unit", facts.unit);
    json.field("direction", facts.direction).field("method", method_of(rows, target)).end();
  }
  json.end()
      .field("load_seconds", answer.prediction.load_seconds)
      .field("predict_seconds", answer.prediction.predict_seconds);
  json.key("rows").raw(to_json_rows(answer_table(answer))).end();
}

std::string answers_json(const Globals& globals, const std::vector<Answer>& answers,
                         const std::vector<FailedInput>& failed) {
  JsonWriter json;
  json.object().field("format_version", 1).key("results").array();
  for (const Answer& answer : answers) write_answer(json, answer);
  json.end().key("failures").array();
  for (const FailedInput& f : failed)
    json.object()
        .field("input", f.input)
        .field("reason", f.error.what())
        .field("hint", suggested(globals.plugin_path, f.error.hint()))
        .end();
  return json.end().end().text();
}

class PredictVerb {
 public:
  PredictVerb(const Globals& globals, const PredictRequest& request)
      : request_(request),
        session_(globals, request.run, request.flags, "predict", request.output,
                 request.interval_level) {
    take_component(session_.registry(), OMEN_PREDICTOR, request_.inputs, request_.component);
    if (!request_.data.empty()) request_.inputs.push_back(request_.data);
  }

  int run() {
    try {
      answer_all();
    } catch (const Error&) {
      // A script reads why there is nothing as it reads answers.
      if (globals().json && !failed_.empty()) print(answers_json(globals(), answers_, failed_));
      throw;
    }
    session_.progress().finish();
    write_files();
    show();
    blame();
    return verdict();
  }

 private:
  const Globals& globals() const { return session_.globals(); }

  void answer_all() {
    std::vector<Lowered> inputs = read_inputs();
    if (inputs.empty() && failed_.size() == 1) throw failed_[0].error;
    for (Batch& batch : make_batches(std::move(inputs))) answer(std::move(batch));
  }

  std::vector<Lowered> read_inputs() {
    std::vector<Lowered> inputs;
    if (request_.inputs.empty()) {
      inputs.push_back(from_flags());
      return inputs;
    }
    for (std::size_t i = 0; i < request_.inputs.size(); ++i) {
      const std::string& input = request_.inputs[i];
      if (interrupted()) throw Error(OMEN_CANCELLED, "predict was cancelled");
      session_.progress().update(
          static_cast<double>(i) / static_cast<double>(request_.inputs.size()), input.c_str());
      try {
        const bool is_data = !request_.data.empty() && i + 1 == request_.inputs.size();
        inputs.push_back(is_data ? read_data()
                                 : read_input(session_.components(), input, request_.frontend,
                                              session_.flags()));
        if (inputs.back().tables.at("workloads").rows() == 0)
          throw Error(OMEN_INVALID_DATA, (input == "-" ? "stdin" : input) + " holds no workloads",
                      input == "-" ? "send one JSON object a line" : "");
      } catch (const Error& e) {
        if (e.code() == OMEN_CANCELLED) throw;
        if (!inputs.empty() && inputs.back().input == input) inputs.pop_back();
        failed_.push_back({input, e});
        if (first_exit_ == kOk) first_exit_ = exit_code_of(e);
      }
    }
    return inputs;
  }

  Lowered read_data() {
    Lowered lowered{request_.data, {}, {}, {}};
    lowered.tables = inputs_of(
        read_given_data(session_.components(), request_.data, request_.frontend, session_.flags()));
    lowered.dialect = dialect_of(lowered.tables);
    return lowered;
  }

  // A workload from flags alone: the row decides which predictor fits, as a file would.
  Lowered from_flags() {
    Choice choice;
    TextPairs features;
    const bool is_named = !request_.component.empty() || !request_.model.empty();
    if (is_named) {
      choice = choose_predictor(session_.registry(), models_, {}, "", request_.component,
                                request_.model);
      session_.flags().sources_for(*choice.predictor.info);
      features = session_.flags().features(feature_names(choice));
    } else {
      features = session_.flags().features({}, true);
    }
    if (features.empty())
      usage_error(
          "nothing to predict",
          is_named
              ? "give a file, or its features: " + flag_list(choice)
              : "give a file, a name, - for stdin, or features as flags; see: omen predict --help");
    if (!is_named)
      choice = choose_predictor(session_.registry(), models_, one_row(features), "", "", "");
    Lowered row{"flags", "", "", row_of_flags(std::move(features), choice.model.card().schema)};
    complete_workloads(row.tables);
    return row;
  }

  static std::string flag_list(const Choice& choice) {
    std::string text;
    for (const std::string& name : feature_names(choice))
      text += (text.empty() ? "--" : " --") + name + " VALUE";
    return text;
  }

  void answer(Batch batch) {
    session_.progress().update(-1, "predict");
    try {
      Choice choice = choose_predictor(session_.registry(), models_, batch.tables, batch.dialect,
                                       request_.component, request_.model);
      session_.flags().sources_for(*choice.predictor.info);
      // A feature given as a flag holds for every row.
      if (!request_.inputs.empty())
        add_flag_features(batch.tables, session_.flags(), feature_names(choice),
                          choice.model.card().schema);
      Prediction prediction =
          predict(session_.components(), choice, batch.tables, session_.flags());
      if (prediction.failure && first_exit_ == kOk) first_exit_ = exit_code_of(*prediction.failure);
      if (!prediction.rows.has("status"))
        throw Error(OMEN_INTERNAL, "plugin misbehaving: " + choice.predictor.info->id +
                                       " predicted without a status");
      const std::vector<std::string> names = labels_of(batch);
      const auto node = prediction.rows.find("node_id");
      std::vector<std::string> labels;
      for (const std::size_t row : workload_rows(batch, prediction.rows)) {
        labels.push_back(names[row]);
        if (node)
          labels.back() += " node " + cell_text(prediction.rows, *node,
                                                static_cast<std::int64_t>(labels.size()) - 1);
      }
      std::vector<TargetFacts> facts = choice.model.card().targets;
      answers_.push_back({std::move(batch), std::move(choice), std::move(prediction),
                          std::move(labels), std::move(facts)});
    } catch (const Error& e) {
      const bool only =
          answers_.empty() && failed_.empty() && batch.inputs.size() == request_.inputs.size();
      for (const std::string& input : batch.inputs) failed_.push_back({input, e});
      if (only || request_.inputs.empty() || e.code() == OMEN_CANCELLED ||
          e.code() == OMEN_INVALID_ARGUMENT)
        throw;
      if (first_exit_ == kOk) first_exit_ = exit_code_of(e);
    }
  }

  void write_files() const {
    if (request_.output.empty()) return;
    std::size_t index = 0;
    for (const Answer& answer : answers_) {
      const Table table = answer_table(answer);
      if (!session_.output_directory().empty()) {
        const std::string number = answers_.size() > 1 ? "-" + std::to_string(++index) : "";
        write_rows(session_.output_directory() / ("predictions" + number + ".csv"), "predictions",
                   table);
      } else if (answers_.size() > 1) {
        usage_error("these inputs give " + std::to_string(answers_.size()) +
                        " tables, which do not fit into one file",
                    "write them into a directory: -o results/");
      } else {
        write_rows(request_.output, "predictions", table);
      }
    }
    if (!session_.output_directory().empty()) write_record();
  }

  void write_record() const {
    JsonWriter json;
    session_.begin_record(json, "predict");
    json.key("results").array();
    for (const Answer& answer : answers_) {
      json.object()
          .field("predictor", answer.choice.predictor.info->id)
          .field("model", answer.choice.model.file().string());
      json.field("library_sha256", answer.choice.predictor.plugin->manifest.sha256);
      json.key("options")
          .raw(answer.prediction.options_json)
          .field("options_hash", answer.prediction.options_hash);
      json.field("rows", answer.prediction.rows.rows())
          .field("load_seconds", answer.prediction.load_seconds);
      json.field("predict_seconds", answer.prediction.predict_seconds).end();
    }
    json.end().field("failures", failed_.size()).field("seconds", session_.elapsed()).end();
    write_text(session_.output_directory() / "run.json", json.text());
  }

  void show() const {
    if (globals().json) return print(answers_json(globals(), answers_, failed_));
    const bool to_file = !request_.output.empty();
    for (const Answer& answer : answers_) {
      if (request_.csv)
        print(csv_text(answer_table(answer)));
      else if (!to_file)
        show_answer(answer);
    }
    for (const FailedInput& f : failed_)
      print_error(globals().plugin_path,
                  Error(f.error.code(), f.input + ": " + f.error.what(), f.error.hint()));
    if (to_file) note(globals(), "wrote " + request_.output);
    remarks();
  }

  void show_answer(const Answer& answer) const {
    constexpr std::int64_t kScreenful = 60;
    const Terminal terminal = out_terminal(globals());
    const std::int64_t rows = answer.prediction.rows.rows();
    const std::int64_t shown = terminal.tty ? std::min(rows, kScreenful) : rows;
    if (&answer != &answers_.front()) print("\n");
    print_table(globals(), people_table(answer, request_, shown));
    if (shown < rows)
      print("... " + std::to_string(rows - shown) +
            " more rows; see all with --csv, --json or -o FILE\n");
    note(globals(), "by " + answer.choice.predictor.info->id + " with model " +
                        answer.choice.model.file().stem().string());
  }

  void remarks() const {
    std::int64_t outside = 0, refused = 0;
    for (const Answer& answer : answers_) {
      const StringColumn status = answer.prediction.rows.strings("status");
      for (std::int64_t row = 0; row < status.size(); ++row) {
        outside += from_word<RowStatus>(status[row]) == RowStatus::kExtrapolating;
        refused += !is_answer(status[row]);
      }
    }
    if (outside > 0)
      note(globals(),
           std::to_string(outside) +
               " extrapolating: outside of what the model was trained on, so trust them less");
    if (refused > 0)
      note(globals(), std::to_string(refused) + " without an answer; the status says why");
  }

  void blame() const {
    for (const Answer& answer : answers_)
      for (const Error& fault :
           faults_of_rows(answer.prediction.rows, answer.choice.predictor.info->id))
        print_error(globals().plugin_path, fault);
  }

  int verdict() const {
    if (first_exit_ != kOk) return first_exit_;
    bool any = false;
    for (const Answer& answer : answers_) {
      const StringColumn status = answer.prediction.rows.strings("status");
      for (std::int64_t row = 0; row < status.size() && !any; ++row) any = is_answer(status[row]);
    }
    return any || answers_.empty() ? kOk : kFailed;
  }

  PredictRequest request_;
  Session session_;
  Models models_;
  std::vector<Answer> answers_;
  std::vector<FailedInput> failed_;
  int first_exit_ = kOk;
};

int run_predict(const Globals& globals, const PredictRequest& request) {
  return PredictVerb(globals, request).run();
}

void describe_predict(CommandLine& line) {
  auto& r = line.request(run_predict);
  line.word("INPUT", r.inputs,
            "files, tables, names, - for JSON lines on stdin; a predictor may come first");
  line.value("--with", "COMPONENT", r.component,
             "predictor to use; otherwise found from the input");
  line.value("--data", "DATA", r.data, "a dataset by name or directory; its targets stay out");
  line.value("--frontend", "COMPONENT", r.frontend,
             "front end to use; otherwise found from the file");
  line.value("-m,--model", "MODEL", r.model, "model file or name; otherwise the bundled default");
  line.value("-o,--output", "FILE", r.output,
             "write .csv, .jsonl, .json or .omt; a directory also gets run.json");
  line.toggle("--csv", r.csv, "CSV on stdout");
  line.value("--level", "P", r.interval_level, "coverage of intervals, 0.9 by default")
      .range(0.0, 1.0);
  line.run_choices(r.run, r.flags);
}

}  // namespace

Verb predict_verb() {
  return {"predict", "say what workloads will cost",
          "omen predict examples/matmul.csv\nomen predict *.cl --csv -o costs.csv\nomen predict "
          "resnet50\n"
          "omen predict baseline.ridge -m mine.omen --m 512 --n 512 --k 64\n"
          "omen predict -m mine.omen --data matmul-cpu --csv\n"
          "printf '{\"m\": 64, \"n\": 64, \"k\": 64}\\n' | omen predict -",
          describe_predict, [](Offers& offers) { offers.components(OMEN_PREDICTOR); }};
}

}  // namespace omen::host::cli
