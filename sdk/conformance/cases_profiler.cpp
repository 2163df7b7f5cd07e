// SPDX-License-Identifier: Apache-2.0
// Cases about measurements: profilers, also on machines without their device.
#include <cmath>
#include <csignal>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "omen/job_metrics.h"
#include "omen/tables.hpp"
#include "predictor_trial.hpp"
#include "trial.hpp"

namespace omen::conformance {
namespace {

using Profiler = Checked<omen_profiler_vt>;

constexpr int kExitCode = 3;
constexpr std::int32_t kWholeMachine = -1;

std::string probe(Profiler& profiler) {
  std::size_t length = 0;
  ErrorOut error;
  error.check(profiler.vt().probe(profiler.get(), nullptr, &length, error));
  std::string json(length + 1, '\0');
  length = json.size();
  error.check(profiler.vt().probe(profiler.get(), json.data(), &length, error));
  require(length < json.size(), "probe reports a length beyond the buffer");
  json.resize(length);
  return json;
}

void probes(Trial& trial) {
  Profiler profiler = trial.create<omen_profiler_vt>();
  try {
    const std::string json = probe(profiler);
    require(nlohmann::json::parse(json, nullptr, false).is_object(),
            "probe gives no JSON object: " + json.substr(0, 80));
    char small[1] = {'x'};
    std::size_t length = sizeof small;
    require(profiler.vt().probe(profiler.get(), small, &length, nullptr) != OMEN_OK,
            "probe writes into a buffer that is too small");
  } catch (const Error& error) {
    require(error.code() == OMEN_UNAVAILABLE,
            std::string("probe failed with '") + status_name(error.code()) + "': " + error.what());
    require(!error.hint().empty(), "probe says that the device is missing, but not what to do");
  }
}

Table collected(Profiler& profiler, const std::string& workload, const TestRun& run) {
  ArrowArrayStream stream{};
  ErrorOut error;
  error.check(profiler.vt().collect(profiler.get(), run.c(), workload.c_str(), &stream, error));
  require(stream.release != nullptr, "collect returned OMEN_OK without a stream");
  return TableStream::import(&stream).read_all();
}

std::string usual_workload(Trial& trial) {
  const std::string& quirk = trial.quirks().workload_json;
  return quirk.empty() ? R"({"command": ["true"]})" : quirk;
}

void collects(Trial& trial) {
  Profiler profiler = trial.create<omen_profiler_vt>();
  const TestRun run(trial.seed());
  try {
    const Table counters = collected(profiler, usual_workload(trial), run);
    for (const std::string& column : tables::required_columns(OMEN_TABLE_COUNTERS))
      require(counters.has(column), "counters have no column '" + column + "'");
    for (const double value : counters.numbers("value"))
      require(!std::isinf(value), "a counter is infinite");
  } catch (const Error& e) {
    require(declines(e), std::string("collect failed: ") + e.what());
    if (e.code() == OMEN_UNAVAILABLE)
      require(!e.hint().empty(), "collect says that the device is missing, but not what to do");
    skip(std::string("collect: ") + e.what());
  }
}

// The last value of a metric that is of no single device.
std::optional<int> job_value(const Table& counters, std::string_view metric) {
  const auto names = counters.strings("metric");
  const std::vector<double> values = counters.numbers("value");
  std::optional<int> found;
  for (std::int64_t row = 0; row < counters.rows(); ++row) {
    const bool of_machine =
        !counters.has("device") || counters.column<std::int32_t>("device")[row] == kWholeMachine;
    if (of_machine && names[row] == metric)
      found = static_cast<int>(values[static_cast<std::size_t>(row)]);
  }
  return found;
}

std::string of_shell(const std::string& script) {
  return nlohmann::json{{"command", {"sh", "-c", script}}}.dump();
}

void exit_codes(Trial& trial) {
  Profiler profiler = trial.create<omen_profiler_vt>();
  const TestRun run(trial.seed());
  try {
    const std::filesystem::path ran = std::filesystem::path(run.scratch_dir()) / "ran";
    const Table failed = collected(
        profiler, of_shell("touch '" + ran.string() + "'; exit " + std::to_string(kExitCode)), run);
    if (!std::filesystem::exists(ran)) skip("it does not run the command that it is given");
    require(job_value(failed, OMEN_METRIC_EXIT_CODE) == kExitCode,
            "a command that exits 3 leaves no '" OMEN_METRIC_EXIT_CODE
            "' of 3 on device -1, so omen profile would exit 0");
    const Table killed = collected(profiler, of_shell("kill -TERM $$"), run);
    require(job_value(killed, OMEN_METRIC_SIGNAL) == SIGTERM,
            "a command that SIGTERM ends leaves no '" OMEN_METRIC_SIGNAL "' of 15 on device -1");
  } catch (const Error& e) {
    require(declines(e), std::string("collect failed: ") + e.what());
    skip(std::string("it runs no commands here: ") + e.what());
  }
  try {
    collected(profiler, R"({"command": ["omen-verify-no-such-command"]})", run);
  } catch (const Error& e) {
    require(e.code() == OMEN_NOT_FOUND, std::string("a command that does not exist gives '") +
                                            status_name(e.code()) + "' instead of 'not found'");
    return;
  }
  fail("collect works on a command that does not exist");
}

}  // namespace

void use_profiler(Trial& trial) {
  Profiler profiler = trial.create<omen_profiler_vt>();
  try {
    collected(profiler, usual_workload(trial), TestRun(trial.seed()));
  } catch (const Error&) {
    return;
  }
}

std::vector<Case> profiler_cases() {
  return {
      {"profiler.probe", "probe describes devices as JSON, or says what is missing and what to do.",
       1, 30, kProfilers, nullptr, probes},
      {"profiler.collect", "collect gives counters, or says why not.", 2, 60, kProfilers, nullptr,
       collects},
      {"profiler.exit-code", "how the command ended is among the counters.", 2, 60, kProfilers,
       nullptr, exit_codes},
  };
}

}  // namespace omen::conformance
