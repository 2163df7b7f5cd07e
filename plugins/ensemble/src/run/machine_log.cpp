// SPDX-License-Identifier: Apache-2.0
// The recorder of the telemetry library in a thread of its own.
#include "run/machine_log.hpp"

#include <omen/error.hpp>
#include <omen/host.hpp>
#include <omen/telemetry/record_log.hpp>
#include <omen/telemetry/recording.hpp>
#include <omen/telemetry/summary.hpp>

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;

fs::path place_of(const fs::path& directory) {
  return directory / "machine";
}
fs::path log_of(const fs::path& directory) {
  return place_of(directory) / telemetry::kLogName;
}
bool is_there(const fs::path& log) {
  return fs::exists(log) && telemetry::LogReader::is_log(log);
}

}  // namespace

MachineLog::MachineLog(const fs::path& directory, pid_t process) {
  fs::create_directories(place_of(directory));
  thread_ = std::thread([this, place = place_of(directory), process] { record(place, process); });
}

MachineLog::~MachineLog() {
  ends_ = true;
  thread_.join();
  if (!failure_.empty())
    log(OMEN_LOG_INFO, "ensemble.run", "the machine is not recorded: " + failure_);
}

void MachineLog::record(const fs::path& directory, pid_t process) {
  telemetry::RecordOptions options;
  options.interval_ns = telemetry::kNsPerSecond;
  options.directory = directory;
  telemetry::Workload ranks;
  ranks.pid = process;
  telemetry::RecordHooks hooks;
  hooks.cancelled = [this] { return ends_.load(); };
  try {
    telemetry::record(options, ranks, hooks);
  } catch (const std::exception& error) {
    failure_ = error.what();
  }
}

void write_machine_trace(const fs::path& directory, const fs::path& target) {
  const fs::path log = log_of(directory);
  if (!is_there(log)) return;
  telemetry::write_container([&log] { return std::make_unique<telemetry::LogReader>(log); },
                             target);
}

std::map<std::string, double> machine_means(const fs::path& directory) {
  const fs::path log = log_of(directory);
  if (!is_there(log)) return {};
  telemetry::LogReader reader(log);
  const telemetry::Summary summary = telemetry::summarise(reader);
  std::map<std::string, double> means;
  for (const std::string name : kMachineMeans) {
    double sum = 0;
    int count = 0;
    for (const auto& [key, series] : summary.series)
      // Of a processor the row of all cores; GPUs have none of that kind.
      if (key.metric == name &&
          (key.device == telemetry::Sample::kWholeMachine || !name.starts_with("cpu."))) {
        sum += series.mean();
        ++count;
      }
    if (count > 0) means[name] = sum / count;
  }
  return means;
}

}  // namespace omen::ensemble
