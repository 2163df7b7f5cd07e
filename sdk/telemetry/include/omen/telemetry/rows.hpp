// SPDX-License-Identifier: Apache-2.0
// Rows of `counters` from any file, and what can be made of them in constant memory.
#ifndef OMEN_TELEMETRY_ROWS_HPP
#define OMEN_TELEMETRY_ROWS_HPP

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "omen/table.hpp"
#include "omen/telemetry/source.hpp"

namespace omen::telemetry {

struct LogRow {
  std::int64_t workload_id = 0;
  Sample sample;
};

// Reads rows in order, once.
class RowReader {
 public:
  virtual ~RowReader() = default;
  // Replaces `rows` by the next ones, which may be none; false at the end.
  virtual bool next(std::vector<LogRow>& rows) = 0;

  // What has been read so far.
  const std::vector<std::string>& metrics() const noexcept { return metrics_; }
  // Text facts of the recording: command, interval_ns, devices, notes, ...
  const std::map<std::string, std::string>& metadata() const noexcept { return metadata_; }
  // Nanoseconds since 1970 at which each workload started, where known.
  const std::map<std::int64_t, std::int64_t>& workload_starts() const noexcept { return starts_; }

 protected:
  std::vector<std::string> metrics_;
  std::map<std::string, std::string> metadata_;
  std::map<std::int64_t, std::int64_t> starts_;
};

using RowReaderPtr = std::unique_ptr<RowReader>;
// Reading twice means opening twice.
using OpenRows = std::function<RowReaderPtr()>;

// Rows of a table `counters` in a container; the file stays mapped, not loaded.
RowReaderPtr read_container(const std::filesystem::path& path);
// Rows of a stream of `counters`, as profilers return it.
RowReaderPtr read_stream(TableStream stream);

// Facts that one reading finds.
struct RowsInfo {
  std::int64_t rows = 0;
  std::int64_t last_t_ns = 0;
  std::vector<std::string> metrics;
  std::map<std::string, std::string> metadata;
  std::map<std::int64_t, std::int64_t> workload_starts;
};
RowsInfo scan(const OpenRows& open);

// The table `counters`: workload_id int64, t_ns int64, device int32, metric dictionary, value
// float64, pid int32. Facts stand in its metadata as omen.<key>. One dictionary for all batches.
TableStream counters_stream(const OpenRows& open);

// The same as a container file, written in place of `path` in one step. Memory does not grow with
// the number of rows.
void write_container(const OpenRows& open, const std::filesystem::path& path);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_ROWS_HPP
