// SPDX-License-Identifier: Apache-2.0
// Fits, predicts and compares.
#include "predictor_trial.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "omen/container.hpp"

namespace omen::conformance {
namespace {

namespace fs = std::filesystem;

TableStream stream_of(Predictor& predictor, const omen_run* run, const omen_dataset* in) {
  ArrowArrayStream stream{};
  ErrorOut error;
  error.check(predictor.vt().predict(predictor.get(), run, in, &stream, error));
  if (!stream.release) throw Error(OMEN_INTERNAL, "predict returned OMEN_OK without a stream");
  return TableStream::import(&stream);
}

bool same_number(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

void compare_rows(const AnswerRow& a, const AnswerRow& b, double tolerance,
                  const std::string& where) {
  require(a.status == b.status, where + ": status '" + a.status + "' against '" + b.status + "'");
  if (a.refused()) return;
  for (const auto& [column, value] : a.numbers) {
    const auto other = b.numbers.find(column);
    require(other != b.numbers.end(), where + ": column '" + column + "' is missing");
    require(same_number(value, other->second, tolerance),
            where + ": " + column + " is " + shown(value) + " against " + shown(other->second));
  }
  require(a.texts == b.texts, where + ": the classes differ");
}

AnswerRow answer_at(const Table& table, std::int64_t row) {
  AnswerRow answer;
  for (std::size_t c = 0; c < table.columns(); ++c) {
    const std::string name(table.name(c));
    if (name == "workload_id" || name == "candidate_id") continue;
    if (is_text(table.type(c))) {
      const std::string text(table.strings(c)[row]);
      if (name == "status")
        answer.status = text;
      else
        answer.texts[name] = text;
    } else if (is_number(table.type(c))) {
      answer.numbers[name] = table.slice(row, 1).numbers(c)[0];
    }
  }
  return answer;
}

}  // namespace

TestRun::TestRun(std::uint64_t seed, unsigned threads) {
  std::error_code failed;
  fs::path base = fs::temp_directory_path(failed);
  if (failed) base = "/tmp";
  scratch_ = (base / "omen-verify-XXXXXX").string();
  // No omen::Error, because the plugin has no part in it.
  if (!mkdtemp(scratch_.data()))
    throw std::runtime_error("cannot make a directory in " + base.string());
  run_.struct_size = sizeof run_;
  run_.threads = threads;
  run_.seed = seed;
  run_.interval_level = 0.90;
  run_.devices = "cpu";
  run_.scratch_dir = scratch_.c_str();
  run_.run_data = this;
  run_.is_cancelled = [](const omen_run* run) {
    return static_cast<const TestRun*>(run->run_data)->cancelled_.load();
  };
  run_.progress = [](const omen_run*, double, const char*) {};
  run_.metric = [](const omen_run*, const char*, std::int64_t, double) {};
}

TestRun::~TestRun() {
  std::error_code ignored;
  fs::remove_all(scratch_, ignored);
}

Task standard_task(Trial& trial, TaskShape shape) {
  if (shape.workloads == TaskShape{}.workloads) shape.workloads = trial.quirks().workloads;
  return Task(trial.facts(), trial.quirks(), trial.seed(), shape);
}

void fit(Predictor& predictor, const Task& task, const TestRun& run) {
  MemoryDataset train;
  task.fill(train, true);
  ErrorOut error;
  error.check(predictor.vt().fit(predictor.get(), run.c(), train.c(), nullptr, error));
}

Answers predict(Predictor& predictor, const Task& task, const TestRun& run,
                std::int64_t batch_rows) {
  MemoryDataset in;
  task.fill(in, false);
  in.set_batch_rows(batch_rows);
  TableStream stream = stream_of(predictor, run.c(), in.c());
  Answers answers;
  while (const std::optional<Table> batch = stream.next()) {
    batch->validate();
    const auto id = batch->column<std::int64_t>("workload_id");
    const bool candidates = batch->has("candidate_id");
    answers.has_status = batch->has("status");
    answers.row_count += batch->rows();
    for (std::int64_t row = 0; row < batch->rows(); ++row) {
      const std::int32_t candidate =
          candidates ? batch->column<std::int32_t>("candidate_id")[row] : kNoCandidate;
      answers.rows[{id[row], candidate}] = answer_at(*batch, row);
    }
  }
  if (answers.row_count == 0) answers.has_status = stream.schema().has("status");
  return answers;
}

bool declines(const Error& error) {
  return error.code() == OMEN_INVALID_DATA || error.code() == OMEN_UNSUPPORTED ||
         error.code() == OMEN_INVALID_ARGUMENT || error.code() == OMEN_NOT_FOUND ||
         error.code() == OMEN_UNAVAILABLE;
}

Predictor ready_predictor(Trial& trial, const Task& task) {
  Predictor predictor = trial.create<omen_predictor_vt>();
  try {
    fit(predictor, task, TestRun(trial.seed()));
    return predictor;
  } catch (const Error& error) {
    const std::string model = trial.facts().default_model;
    if (model.empty() || !declines(error))
      skip(std::string("fit failed: ") + error.what() + "; see semantics.fit");
    try {
      const auto file = trial.plugin_quirks().plugin_json().parent_path() / model;
      const container::Reader reader = container::Reader::open(file);
      ErrorOut out;
      out.check(predictor.vt().load(predictor.get(), reader.source(), out));
    } catch (const Error& again) {
      skip(std::string("neither fit nor the default model works: ") + again.what());
    }
  }
  return predictor;
}

std::set<Answers::Key> asked_keys(const Task& task) {
  const bool per_candidate = task.has("candidates");
  const Table& rows = task.tables().at(per_candidate ? "candidates" : "workloads");
  const auto id = rows.column<std::int64_t>("workload_id");
  std::set<Answers::Key> keys;
  for (std::int64_t row = 0; row < rows.rows(); ++row)
    keys.emplace(id[row],
                 per_candidate ? rows.column<std::int32_t>("candidate_id")[row] : kNoCandidate);
  return keys;
}

Answers any_answers(Predictor& predictor, const Task& task, const TestRun& run) {
  try {
    return predict(predictor, task, run);
  } catch (const Error& error) {
    skip(std::string("predict failed: ") + error.what() + "; see semantics.predict");
  }
}

Answers predict_or_skip(Predictor& predictor, const Task& task, const TestRun& run) {
  Answers answers = any_answers(predictor, task, run);
  const std::set<Answers::Key> asked = asked_keys(task);
  for (const auto& [key, row] : answers.rows)
    if (!asked.count(key)) skip("its ids are not those of the workloads; see semantics.coverage");
  return answers;
}

std::string save_model(Predictor& predictor) {
  container::Writer writer;
  ErrorOut error;
  error.check(predictor.vt().save(predictor.get(), writer.sink(), error));
  return writer.serialise();
}

void load_model(Predictor& predictor, const std::string& bytes) {
  const auto held = std::make_shared<const std::string>(bytes);
  const container::Reader reader = container::Reader::from_memory(held->data(), held->size(), held);
  ErrorOut error;
  error.check(predictor.vt().load(predictor.get(), reader.source(), error));
}

void require_same(const Answers& first, const Answers& second, double tolerance,
                  const std::string& between,
                  const std::map<std::int64_t, std::int64_t>* name_in_second) {
  for (const auto& [key, row] : first.rows) {
    Answers::Key other = key;
    if (name_in_second) other.first = name_in_second->at(key.first);
    const auto found = second.rows.find(other);
    const std::string where = between + ", workload " + std::to_string(key.first);
    if (found == second.rows.end()) fail(where + ": no answer");
    compare_rows(row, found->second, tolerance, where);
  }
}

}  // namespace omen::conformance
