// SPDX-License-Identifier: Apache-2.0
// Results of jobs as sealed containers, and the directory that keeps them over a kill.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "compare/job_result.hpp"
#include "omen/container.hpp"
#include "omen/utf8.hpp"
#include "text/log.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

constexpr const char* kSeal = "seal";
constexpr const char* kPredictionTables[] = {"predictions", "node_predictions", "scores"};

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

// Metadata is UTF-8 without NUL, whatever a plugin said.
std::string printable(std::string text) {
  std::erase(text, '\0');
  for (std::size_t at; (at = find_invalid_utf8(text)) != std::string::npos;) text[at] = '?';
  return text;
}

// Text columns coded in order of first appearance, so that equal answers have equal bytes.
Table canonical(const Table& table) {
  TableBuilder builder;
  for (std::size_t c = 0; c < table.columns(); ++c) {
    if (!is_text(table.type(c))) {
      builder.add_column(table, c);
      continue;
    }
    const StringColumn texts = table.strings(c);
    std::vector<std::string> values;
    std::vector<bool> present;
    for (std::int64_t row = 0; row < table.rows(); ++row) {
      values.emplace_back(texts[row]);
      present.push_back(!texts.is_null(row));
    }
    builder.add_categories(std::string(table.name(c)), values, table.metadata(c)).valid(present);
  }
  return builder.finish();
}

// sha256 over metadata and names of tensors, which the container's own digest leaves out.
std::string seal_of(const container::Reader& reader) {
  std::string text;
  const auto add = [&text](const std::string& part) {
    text += std::to_string(part.size()) + ":" + part;
  };
  for (const auto& [key, value] : reader.metadata()) {
    if (key == kSeal || key == "omen.digest") continue;
    add(key);
    add(value);
  }
  for (const container::Entry& entry : reader.entries()) {
    add(entry.name);
    add(entry.dtype);
    for (const std::int64_t size : entry.shape) add(std::to_string(size));
    add(std::to_string(entry.begin));
  }
  return container::sha256(text.data(), text.size());
}

container::Reader reader_of(const std::string& bytes) {
  auto owner = std::make_shared<const std::string>(bytes);
  return container::Reader::from_memory(owner->data(), owner->size(), owner);
}

}  // namespace

JobResult make_job_result(const Job& job, JobRecord record, const Cost& cost,
                          const Tables& tables) {
  record.message = printable(record.message);
  container::Writer answers, all;
  for (const auto& [name, table] : tables) {
    const bool is_answer = std::find(std::begin(kPredictionTables), std::end(kPredictionTables),
                                     name) != std::end(kPredictionTables);
    const Table rows = canonical(table);
    if (is_answer) container::put_table(answers, name, rows);
    container::put_table(all, name, rows);
  }
  const std::string answer_bytes = answers.serialise();
  record.digest = tables.empty() ? "" : container::sha256(answer_bytes.data(), answer_bytes.size());
  const std::pair<const char*, std::string> metadata[] = {
      {"key", job.key},
      {"contestant", record.contestant},
      {"task", record.task},
      {"fold", record.fold},
      {"outcome", word_of(record.outcome)},
      {"message", record.message},
      {"digest", record.digest},
      {"model_digest", record.model_digest},
      {"load_s", number_text(cost.load_s)},
      {"fit_s", number_text(cost.fit_s)},
      {"predict_p50_ms", number_text(cost.predict_p50_ms)},
      {"predict_p95_ms", number_text(cost.predict_p95_ms)},
      {"peak_memory", std::to_string(cost.peak_memory)}};
  for (const auto& [key, value] : metadata) all.put_meta(key, printable(value));
  // The schemas of the tables are metadata too, so the seal is made from what a reader sees.
  all.put_meta(kSeal, seal_of(reader_of(all.serialise())));
  return {std::move(record), cost, all.serialise()};
}

JobResult read_job_result(std::string bytes) {
  const container::Reader reader = reader_of(bytes);
  reader.verify_digest();
  const auto& metadata = reader.metadata();
  const auto text = [&](const char* key) {
    const auto at = metadata.find(key);
    if (at == metadata.end())
      throw Error(OMEN_INVALID_DATA, std::string("result has no '") + key + "'");
    return at->second;
  };
  if (text(kSeal) != seal_of(reader))
    throw Error(OMEN_INVALID_DATA, "result was changed: its seal is broken");
  JobResult result;
  result.record = {text("contestant"),
                   text("task"),
                   text("fold"),
                   from_word<Outcome>(text("outcome")).value_or(Outcome::kFailed),
                   text("message"),
                   text("digest"),
                   false,
                   text("model_digest")};
  result.cost = {std::stod(text("load_s")), std::stod(text("fit_s")),
                 std::stod(text("predict_p50_ms")), std::stod(text("predict_p95_ms")),
                 std::stoull(text("peak_memory"))};
  result.bytes = std::move(bytes);
  return result;
}

Tables job_tables(const JobResult& result) {
  const container::Reader reader = reader_of(result.bytes);
  Tables tables;
  for (const std::string& name : container::table_names(reader))
    tables[name] = container::get_table(reader, name);
  return tables;
}

std::optional<JobResult> ResultStore::find(const Job& job) const {
  const fs::path path = directory_ / (job.key + ".omt");
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream bytes;
  bytes << in.rdbuf();
  try {
    JobResult result = read_job_result(bytes.str());
    if (reader_of(result.bytes).metadata().at("key") != job.key)
      throw Error(OMEN_INVALID_DATA, "result is that of another job");
    result.record.reused = true;
    return result;
  } catch (const Error& error) {
    log(OMEN_LOG_WARN, "omen",
        path.filename().string() + " is damaged and will be done again: " + error.what());
    std::error_code ignored;
    fs::remove(path, ignored);
    return std::nullopt;
  }
}

void ResultStore::put(const Job& job, const JobResult& result) const {
  std::error_code failed;
  fs::create_directories(directory_, failed);
  if (failed)
    throw Error(OMEN_IO, directory_.string() + " cannot be made: " + failed.message(),
                "choose another place with --runs-dir");
  container::write_file(directory_ / (job.key + ".omt"), result.bytes);
}

}  // namespace omen::host
