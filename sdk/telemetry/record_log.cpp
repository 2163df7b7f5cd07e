// SPDX-License-Identifier: Apache-2.0
// Encodes rows as differences: a value that did not change takes two bytes.
#include "omen/telemetry/record_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>

namespace omen::telemetry {
namespace {

constexpr char kMagic[8] = {'O', 'M', 'E', 'N', 'L', 'O', 'G', '1'};
constexpr std::uint32_t kBlockMagic = 0x314b4c42;  // "BLK1"
constexpr std::size_t kHeaderSize = 12;
constexpr std::size_t kMostPayload = std::size_t{64} << 20;

// Records. Numbers are variable-length, seven bits a byte; signed ones are zigzag-coded.
enum Record : std::uint8_t {
  kMetric = 1,  // name; metrics are numbered in order
  kSeries,      // metric, device, pid; series are numbered in order
  kTick,  // time since the last tick, count, then {series, bytes, changed high bytes of the value}
  kWorkload,  // id, start; time restarts at 0
  kMeta,      // key, value
  kEnd
};

constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? 0xEDB88320u ^ (value >> 1) : value >> 1;
    table[i] = value;
  }
  return table;
}();

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : bytes)
    crc = kCrcTable[(crc ^ static_cast<std::uint8_t>(byte)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}
void put_signed(std::string& out, std::int64_t value) {
  put_varint(out,
             (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}
void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out.append(text);
}
void put_u32(std::string& out, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(value >> shift));
}
std::uint32_t get_u32(const char* at) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<std::uint8_t>(at[i]);
  return value;
}

// The bits that changed, highest byte first, without the zeros at the end: numbers with few digits
// have zeros there, and an equal value has nothing else.
void put_change(std::string& out, std::uint64_t changed) {
  const int zeros = changed == 0 ? 8 : std::countr_zero(changed) / 8;
  out.push_back(static_cast<char>(8 - zeros));
  for (int byte = 7; byte >= zeros; --byte) out.push_back(static_cast<char>(changed >> (8 * byte)));
}

[[noreturn]] void fail_io(const char* what, const std::filesystem::path& path) {
  throw Error(OMEN_IO,
              std::string("cannot ") + what + " '" + path.string() + "': " + std::strerror(errno),
              "Check that the directory exists, is writable and has room.");
}

void write_all(int fd, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_io("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

// False where the file ends before.
bool read_exactly(int fd, std::int64_t offset, char* out, std::size_t size) {
  while (size > 0) {
    const ssize_t got = ::pread(fd, out, size, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    out += got;
    offset += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

// --------------------------------------------------------------------------------------------
// writer

std::size_t LogWriter::SeriesHash::operator()(const SeriesKey& key) const noexcept {
  const auto mix = [](std::uint64_t sum, std::int32_t part) {
    return (sum ^ static_cast<std::uint32_t>(part)) * 0x9E3779B97F4A7C15ull;
  };
  return mix(mix(mix(0, key.metric), key.device), key.pid) >> 16;
}

LogWriter::LogWriter(std::filesystem::path path, const MetricTable& metrics)
    : path_(std::move(path)), metrics_(metrics) {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ < 0) fail_io("create", path_);
  try {
    write_all(fd_, {kMagic, sizeof kMagic}, path_);
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

LogWriter::~LogWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void LogWriter::begin_workload(std::int64_t workload_id, std::int64_t start_unix_ns) {
  const std::lock_guard lock(mutex_);
  pending_.push_back(kWorkload);
  put_signed(pending_, workload_id);
  put_signed(pending_, start_unix_ns);
  last_t_ns_ = 0;
}

LogWriter::Series& LogWriter::series_of(const Sample& sample) {
  const SeriesKey key{sample.metric, sample.device, sample.pid};
  if (const auto at = series_.find(key); at != series_.end()) return at->second;
  for (; metrics_written_ <= sample.metric; ++metrics_written_) {
    pending_.push_back(kMetric);
    put_text(pending_, metrics_.name(metrics_written_));
  }
  pending_.push_back(kSeries);
  put_varint(pending_, static_cast<std::uint32_t>(sample.metric));
  put_signed(pending_, sample.device);
  put_signed(pending_, sample.pid);
  const auto id = static_cast<std::uint32_t>(series_.size());
  return series_.emplace(key, Series{id, 0}).first->second;
}

void LogWriter::put(const std::vector<Sample>& rows) {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  if (pending_.size() > kMostPayload / 2) {
    dropped_ += static_cast<std::int64_t>(rows.size());
    return;
  }
  // Definitions of new series come first, because a tick is one unbroken record.
  for (const Sample& row : rows) series_of(row);
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first;
    while (last < rows.size() && rows[last].t_ns == rows[first].t_ns) ++last;
    pending_.push_back(kTick);
    put_signed(pending_, rows[first].t_ns - last_t_ns_);
    put_varint(pending_, last - first);
    last_t_ns_ = rows[first].t_ns;
    for (; first < last; ++first) {
      Series& series = series_of(rows[first]);
      const auto bits = std::bit_cast<std::uint64_t>(rows[first].value);
      put_varint(pending_, series.id);
      put_change(pending_, bits ^ series.last_bits);
      series.last_bits = bits;
    }
  }
  rows_ += static_cast<std::int64_t>(rows.size());
}

void LogWriter::put_meta(const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  pending_.push_back(kMeta);
  put_text(pending_, key);
  put_text(pending_, value);
}

void LogWriter::flush() {
  std::string payload;
  {
    const std::lock_guard lock(mutex_);
    payload.swap(pending_);
    pending_.reserve(payload.size());
  }
  if (!payload.empty()) write_block(payload);
}

void LogWriter::write_block(const std::string& payload) {
  std::string block;
  block.reserve(kHeaderSize + payload.size());
  put_u32(block, kBlockMagic);
  put_u32(block, static_cast<std::uint32_t>(payload.size()));
  put_u32(block, crc32(payload));
  block += payload;
  write_all(fd_, block, path_);
}

void LogWriter::finish() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    pending_.push_back(kEnd);
  }
  flush();
  if (::fdatasync(fd_) != 0) fail_io("write", path_);
}

std::int64_t LogWriter::rows() const {
  const std::lock_guard lock(mutex_);
  return rows_;
}

std::int64_t LogWriter::dropped_rows() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

// --------------------------------------------------------------------------------------------
// reader

// Takes numbers and text from a payload; a payload that ends too early is damaged.
class LogReader::Cursor {
 public:
  Cursor(std::string_view bytes, const std::filesystem::path& path) : bytes_(bytes), path_(path) {}

  bool done() const noexcept { return bytes_.empty(); }
  std::uint8_t byte() {
    need(1);
    const auto value = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::uint8_t part = byte();
      value |= static_cast<std::uint64_t>(part & 0x7F) << shift;
      if (part < 0x80) return value;
    }
    bad("a number is too long");
  }
  std::int64_t signed_number() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  std::string text() {
    const std::uint64_t size = varint();
    need(size);
    std::string taken(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return taken;
  }
  std::uint64_t change() {
    const std::uint8_t count = byte();
    if (count > 8) bad("a value is too long");
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i) value |= static_cast<std::uint64_t>(byte()) << (8 * (7 - i));
    return value;
  }
  [[noreturn]] void bad(const char* what) const {
    throw Error(OMEN_INVALID_DATA, "'" + path_.string() + "' is damaged: " + what);
  }

 private:
  void need(std::uint64_t count) const {
    if (count > bytes_.size()) bad("a record is cut off");
  }
  std::string_view bytes_;
  const std::filesystem::path& path_;
};

LogReader::LogReader(const std::filesystem::path& path) : path_(path) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) fail_io("open", path_);
  struct stat status {};
  char magic[sizeof kMagic] = {};
  const bool good = ::fstat(fd_, &status) == 0 && read_exactly(fd_, 0, magic, sizeof magic) &&
                    std::memcmp(magic, kMagic, sizeof magic) == 0;
  if (!good) {
    ::close(fd_);
    throw Error(OMEN_INVALID_DATA, "'" + path_.string() + "' is no recording log",
                "Give the file or directory that omen profile named.");
  }
  size_ = status.st_size;
  position_ = sizeof kMagic;
}

LogReader::~LogReader() {
  ::close(fd_);
}

bool LogReader::is_log(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char magic[sizeof kMagic] = {};
  const bool good =
      read_exactly(fd, 0, magic, sizeof magic) && std::memcmp(magic, kMagic, sizeof magic) == 0;
  ::close(fd);
  return good;
}

bool LogReader::read_block() {
  lost_bytes_ = size_ - position_;
  char header[kHeaderSize];
  if (!read_exactly(fd_, position_, header, sizeof header)) return false;
  const std::uint32_t size = get_u32(header + 4);
  if (get_u32(header) != kBlockMagic || size > kMostPayload) return false;
  payload_.resize(size);
  const std::int64_t start = position_ + static_cast<std::int64_t>(kHeaderSize);
  if (!read_exactly(fd_, start, payload_.data(), size)) return false;
  if (crc32(payload_) != get_u32(header + 8)) return false;
  position_ = start + size;
  lost_bytes_ = size_ - position_;
  return true;
}

bool LogReader::next(std::vector<LogRow>& rows) {
  rows.clear();
  if (!read_block()) return false;
  decode(rows);
  return true;
}

void LogReader::decode(std::vector<LogRow>& rows) {
  Cursor cursor(payload_, path_);
  while (!cursor.done()) {
    switch (cursor.byte()) {
      case kMetric:
        metrics_.push_back(cursor.text());
        break;
      case kSeries: {
        const std::uint64_t metric = cursor.varint();
        if (metric >= metrics_.size()) cursor.bad("a series names an unknown metric");
        const auto device = static_cast<std::int32_t>(cursor.signed_number());
        const auto pid = static_cast<std::int32_t>(cursor.signed_number());
        series_.push_back({static_cast<std::int32_t>(metric), device, pid, 0});
        break;
      }
      case kTick:
        decode_tick(cursor, rows);
        break;
      case kWorkload:
        workload_ = cursor.signed_number();
        starts_[workload_] = cursor.signed_number();
        t_ns_ = 0;
        break;
      case kMeta: {
        std::string key = cursor.text();
        metadata_[std::move(key)] = cursor.text();
        break;
      }
      case kEnd:
        complete_ = true;
        break;
      default:
        cursor.bad("a record has an unknown kind");
    }
  }
}

void LogReader::decode_tick(Cursor& cursor, std::vector<LogRow>& rows) {
  // Wraps like the writer's subtraction, so that damaged input cannot overflow.
  t_ns_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(t_ns_) +
                                    static_cast<std::uint64_t>(cursor.signed_number()));
  const std::uint64_t count = cursor.varint();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t id = cursor.varint();
    if (id >= series_.size()) cursor.bad("a row names an unknown series");
    Series& series = series_[id];
    series.last_bits ^= cursor.change();
    rows.push_back({workload_,
                    {t_ns_, std::bit_cast<double>(series.last_bits), series.metric, series.device,
                     series.pid}});
  }
}

void copy_rows(RowReader& reader, LogWriter& writer, MetricTable& metrics) {
  std::vector<LogRow> rows;
  std::vector<Sample> samples;
  std::vector<std::int32_t> numbers;  // of the reader's metrics in the writer's table
  std::optional<std::int64_t> workload;
  for (const auto& [key, value] : reader.metadata()) writer.put_meta(key, value);
  while (reader.next(rows)) {
    for (std::size_t i = 0; i < rows.size();) {
      if (workload != rows[i].workload_id) {
        workload = rows[i].workload_id;
        const auto start = reader.workload_starts().find(*workload);
        writer.begin_workload(*workload,
                              start == reader.workload_starts().end() ? 0 : start->second);
      }
      samples.clear();
      for (; i < rows.size() && rows[i].workload_id == *workload; ++i) {
        const auto metric = static_cast<std::size_t>(rows[i].sample.metric);
        while (numbers.size() <= metric)
          numbers.push_back(metrics.id(reader.metrics()[numbers.size()]));
        samples.push_back(rows[i].sample);
        samples.back().metric = numbers[metric];
      }
      writer.put(samples);
      writer.flush();
    }
  }
  for (const auto& [key, value] : reader.metadata()) writer.put_meta(key, value);
}

}  // namespace omen::telemetry
