// SPDX-License-Identifier: Apache-2.0
// The append-only log of a recording: blocks with checksums, so that a killed run keeps its rows.
#ifndef OMEN_TELEMETRY_RECORD_LOG_HPP
#define OMEN_TELEMETRY_RECORD_LOG_HPP

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "omen/telemetry/rows.hpp"

namespace omen::telemetry {

// Layout: 8 bytes "OMENLOG1", then blocks of {"BLK1", u32 payload size, u32 CRC-32 of the payload,
// payload}, little endian. A payload is a sequence of records (see record_log.cpp) that continues
// the one before; a reader stops at the first block that is cut or damaged.

// A run's rows on their way to disk. put() and put_meta() only encode into memory and may be called
// from any thread; flush() writes and is called by one thread, about once a second.
class LogWriter {
 public:
  // Creates the file; OMEN_IO where that fails.
  LogWriter(std::filesystem::path path, const MetricTable& metrics);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Rows that follow belong to this workload; their times count from start_unix_ns.
  void begin_workload(std::int64_t workload_id, std::int64_t start_unix_ns);
  void put(const std::vector<Sample>& rows);
  // Text facts of the recording; a later value of a key replaces the earlier one.
  void put_meta(const std::string& key, const std::string& value);

  // Hands everything so far to the kernel: it survives the end of this process, however that comes.
  void flush();
  // Marks the log as complete and brings it to disk. Rows that come later are ignored.
  void finish();

  std::int64_t rows() const;
  // Rows that were dropped because the disk did not keep up.
  std::int64_t dropped_rows() const;
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  struct SeriesKey {
    std::int32_t metric, device, pid;
    bool operator==(const SeriesKey&) const = default;
  };
  struct SeriesHash {
    std::size_t operator()(const SeriesKey& key) const noexcept;
  };
  struct Series {
    std::uint32_t id;
    std::uint64_t last_bits;
  };
  Series& series_of(const Sample& sample);
  void write_block(const std::string& payload);

  const std::filesystem::path path_;
  const MetricTable& metrics_;
  int fd_ = -1;
  mutable std::mutex mutex_;
  std::string pending_;
  std::unordered_map<SeriesKey, Series, SeriesHash> series_;
  std::int32_t metrics_written_ = 0;
  std::int64_t last_t_ns_ = 0;
  std::int64_t rows_ = 0, dropped_ = 0;
  bool finished_ = false;
};

// Reads a log block by block; memory does not grow with its length, only with its number of series.
class LogReader final : public RowReader {
 public:
  // OMEN_INVALID_DATA where the file is no log.
  explicit LogReader(const std::filesystem::path& path);
  ~LogReader() override;
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  static bool is_log(const std::filesystem::path& path);

  // One block at a time.
  bool next(std::vector<LogRow>& rows) override;
  // True once the record that finish() writes was read.
  bool complete() const noexcept { return complete_; }
  // Bytes after the last good block.
  std::int64_t lost_bytes() const noexcept { return lost_bytes_; }

 private:
  struct Series {
    std::int32_t metric, device, pid;
    std::uint64_t last_bits;
  };
  class Cursor;
  bool read_block();
  void decode(std::vector<LogRow>& rows);
  void decode_tick(Cursor& cursor, std::vector<LogRow>& rows);

  std::filesystem::path path_;
  int fd_ = -1;
  std::int64_t size_ = 0, position_ = 0;
  std::string payload_;
  std::vector<Series> series_;
  std::int64_t workload_ = 0, t_ns_ = 0;
  bool complete_ = false;
  std::int64_t lost_bytes_ = 0;
};

// Appends all rows and facts of a reader; `metrics` is the table that the writer numbers by. Rows
// that come before an error of the reader are kept.
void copy_rows(RowReader& reader, LogWriter& writer, MetricTable& metrics);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_RECORD_LOG_HPP
