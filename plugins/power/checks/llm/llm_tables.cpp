// SPDX-License-Identifier: Apache-2.0
// Reads the tables, leaves out what their notes call wrong, and joins shapes and GPUs.
#include "llm_tables.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace omen::power::checks {
namespace {

namespace fs = std::filesystem;
using Row = std::map<std::string, std::string>;

// No field of these tables holds a comma.
std::vector<Row> rows_of(const fs::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot open " + path.string());
  const auto fields = [](const std::string& line) {
    std::vector<std::string> made;
    std::istringstream text(line);
    for (std::string field; std::getline(text, field, ',');) made.push_back(field);
    return made;
  };
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = fields(line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> values = fields(line);
    Row row;
    for (std::size_t i = 0; i < names.size(); ++i)
      row[names[i]] = i < values.size() ? values[i] : "";
    rows.push_back(std::move(row));
  }
  return rows;
}

double number(const Row& row, const char* name) {
  const std::string& text = row.at(name);
  return text.empty() ? NAN : std::stod(text);
}

std::map<std::string, Gpu> gpus_of(const fs::path& directory) {
  std::map<std::string, Gpu> gpus;
  for (const Row& row : rows_of(directory / "gpu_specs.csv")) {
    const std::string& name = row.at("gpu");
    // Both directions of all links between GPUs, which the table does not have.
    const double link = name.rfind("A100", 0) == 0 ? 6e11 : name == "B200" ? 1.8e12 : 9e11;
    gpus[name] = {name,
                  1e12 * number(row, "bf16_dense_TFLOPs"),
                  1e12 * number(row, "hbm_TBps"),
                  1e9 * number(row, "memory_GB"),
                  link,
                  number(row, "tdp_W"),
                  number(row, "idle_W_used")};
  }
  return gpus;
}

std::string shape_name(const ModelShape& m) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2g/%.2g", m.parameters / 1e9, m.active / 1e9);
  return text;
}

class Collector {
 public:
  explicit Collector(const fs::path& directory) : gpus_(gpus_of(directory)) {}

  void add(const Row& row, const char* gpu, const char* gpus, const char* input,
           const std::string& framework, double batch, double output, double seconds, double watts,
           RunSource source) {
    const auto found = gpus_.find(row.at(gpu));
    const std::optional<ModelShape> shape = published_shape(row.at("model"));
    if (found == gpus_.end() || !shape) return;
    PublicRun made;
    Serving& s = made.run.serving;
    s.model = *shape;
    s.gpu = found->second;
    s.gpus = number(row, gpus);
    s.framework = framework;
    s.batch = batch;
    s.input = number(row, input);
    s.output = output;
    made.run.seconds = seconds;
    made.run.watts = watts;
    made.source = source;
    made.gpu = found->first;
    made.shape = shape_name(*shape);
    const auto group = groups_.emplace(made.shape, static_cast<std::int32_t>(groups_.size()));
    made.run.group = group.first->second;
    runs.push_back(std::move(made));
  }

  std::vector<PublicRun> runs;

 private:
  std::map<std::string, Gpu> gpus_;
  std::map<std::string, std::int32_t> groups_;
};

void add_bench(const fs::path& directory, Collector& all) {
  for (const Row& row : rows_of(directory / "llmib_power.csv"))
    all.add(row, "hardware", "num_devices", "input_len", row.at("framework") + " 2024",
            number(row, "batch"), number(row, "output_len"), number(row, "latency_s"),
            number(row, "power_active_gpu_W"), RunSource::kBenchPower);
  for (const Row& row : rows_of(directory / "llmib_throughput.csv")) {
    if (row.at("framework") == "llama.cpp") continue;
    all.add(row, "hardware", "num_devices", "input_len", row.at("framework") + " 2024",
            number(row, "batch"), number(row, "output_len"), number(row, "latency_s"), NAN,
            RunSource::kBenchLatency);
    if (!all.runs.empty() && all.runs.back().source == RunSource::kBenchLatency)
      all.runs.back().run.trust = 0.6;
  }
  for (const Row& row : rows_of(directory / "llmib_ttft.csv"))
    all.add(row, "hardware", "num_devices", "input_len", row.at("framework") + " 2024",
            number(row, "batch"), 1, number(row, "ttft_s"), NAN, RunSource::kBenchFirstToken);
}

void add_splitwise(const fs::path& directory, Collector& all) {
  for (const Row& row : rows_of(directory / "splitwise_tidy.csv")) {
    if (row.at("batch_split_suspect") == "1" || row.at("phase") == "token") continue;
    const bool whole = row.at("phase") == "request";
    const bool powered = whole && row.at("power_suspect") != "1";
    const double watts = powered ? number(row, "power_W_per_gpu") : NAN;
    const bool complete = row.at("e2e_consistent") == "1";
    if (whole && !complete && !std::isfinite(watts)) continue;
    const std::size_t before = all.runs.size();
    all.add(row, "gpu", "tensor_parallel", "prompt_tokens", "splitwise 2023", number(row, "batch"),
            whole ? number(row, "new_tokens") : 0, number(row, "latency_ms") / 1e3, watts,
            whole ? RunSource::kSplitwise : RunSource::kSplitwisePrompt);
    if (all.runs.size() == before) continue;
    PublicRun& made = all.runs.back();
    made.doubtful = row.at("power_window_doubt") == "1";
    made.whole_request = complete;
    if (made.doubtful && whole) made.run.trust = 0.3;
  }
}

}  // namespace

std::optional<fs::path> llm_data_directory() {
  const char* data = std::getenv("OMEN_DATA");
  if (!data || !*data) return std::nullopt;
  fs::path directory = fs::path(data) / "power" / "llm_power";
  if (!fs::exists(directory / "llmib_power.csv")) return std::nullopt;
  return directory;
}

std::vector<PublicRun> public_runs(const fs::path& directory) {
  Collector all(directory);
  add_bench(directory, all);
  add_splitwise(directory, all);
  return std::move(all.runs);
}

}  // namespace omen::power::checks
