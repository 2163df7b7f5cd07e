// SPDX-License-Identifier: Apache-2.0
// Finds out what a trace file is.
#include "omen/telemetry/imports.hpp"

#include <array>
#include <fstream>

#include "import_text.hpp"
#include "kernel_file.hpp"
#include "omen/telemetry/record_log.hpp"
#include "omen/telemetry/recording.hpp"

namespace omen::telemetry {
namespace {

namespace fs = std::filesystem;

std::string head_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw Error(OMEN_IO, "cannot open '" + path.string() + "'", "Check the name of the trace.");
  std::array<char, 8192> buffer;
  in.read(buffer.data(), buffer.size());
  return std::string(buffer.data(), static_cast<std::size_t>(in.gcount()));
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The header of a container is its length, then JSON.
bool looks_like_container(std::string_view head) {
  return head.size() > 9 && head[8] == '{';
}

std::string format_of(std::string_view head) {
  Scanner lines(head);
  while (!lines.at_end()) {
    const std::string_view line = trim(lines.line());
    if (line.empty()) continue;
    if (has(line, "%idle") && has(line, "CPU")) return "mpstat";
    if (line.front() == '#' && has(line, "gpu")) return "dmon";
    if (line.rfind("Time,", 0) == 0 && has(line, ",Watts,")) return "ptdaemon";
    if (has(line, "timestamp") && (has(line, "utilization.gpu") || has(line, "power.draw") ||
                                   has(line, "memory.used") || has(line, "temperature.gpu")))
      return "nvidia-smi";
    if (line.rfind("Linux ", 0) == 0 || line.rfind("Notification", 0) == 0) continue;
    if (has(line, ",")) return "csv";
  }
  return {};
}

}  // namespace

RowReaderPtr open_trace(const fs::path& path, const ImportOptions& options) {
  const fs::path file = fs::is_directory(path) ? path / kLogName : path;
  std::string format = options.format;
  if (format == "auto") {
    const std::string head = head_of(file);
    if (LogReader::is_log(file))
      format = "log";
    else if (looks_like_container(head))
      format = "container";
    else
      format = format_of(head);
  }
  if (format == "log") return std::make_unique<LogReader>(file);
  if (format == "container") return read_container(file);
  if (format == "mpstat") return import_mpstat(file);
  if (format == "nvidia-smi") return import_nvidia_smi(file);
  if (format == "dmon") return import_dmon(file, options.period_s);
  if (format == "csv") return import_csv(file, options.period_s);
  if (format == "ptdaemon") return import_ptdaemon(file);
  throw Error(OMEN_INVALID_DATA, "'" + file.string() + "' is no trace that can be read here",
              "Traces are recordings, mpstat, nvidia-smi CSV, dmon, CSV with a header, or PTDaemon "
              "logs; format= names one.");
}

}  // namespace omen::telemetry
