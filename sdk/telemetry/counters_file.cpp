// SPDX-License-Identifier: Apache-2.0
// Writes `counters` as a container column by column in one pass over the rows.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "omen/container.hpp"
#include "omen/telemetry/rows.hpp"

namespace omen::telemetry {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::size_t kChunk = std::size_t{1} << 20;

struct Column {
  const char *name, *type, *dtype;
  std::size_t width;
};
// Widest first, so that every column is aligned.
constexpr std::array<Column, 6> kColumns = {{{"workload_id", "int64", "I64", 8},
                                             {"t_ns", "int64", "I64", 8},
                                             {"value", "float64", "F64", 8},
                                             {"device", "int32", "I32", 4},
                                             {"metric", "dictionary", "I32", 4},
                                             {"pid", "int32", "I32", 4}}};
// The order in which the table shows them.
constexpr std::array<std::size_t, 6> kShown = {0, 1, 3, 4, 2, 5};

// A new file beside its target; removed unless it takes the target's place.
class OutputFile {
 public:
  explicit OutputFile(fs::path target) : target_(std::move(target)) {
    temporary_ = target_.string() + ".tmp" + std::to_string(::getpid());
    fd_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0) fail("create");
  }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!placed_) ::unlink(temporary_.c_str());
  }

  const std::string& path() const noexcept { return temporary_; }
  void write(const void* bytes, std::size_t size, std::uint64_t offset) {
    const char* at = static_cast<const char*>(bytes);
    while (size > 0) {
      const ssize_t count = ::pwrite(fd_, at, size, static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("write");
      at += count;
      offset += static_cast<std::uint64_t>(count);
      size -= static_cast<std::size_t>(count);
    }
  }
  void place() {
    if (::fsync(fd_) != 0) fail("write");
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("replace");
    placed_ = true;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw Error(
        OMEN_IO,
        std::string("cannot ") + what + " '" + target_.string() + "': " + std::strerror(errno),
        "Check that the directory exists, is writable and has room.");
  }
  fs::path target_;
  std::string temporary_;
  int fd_ = -1;
  bool placed_ = false;
};

// Collects a column's values and writes them in large pieces.
class ColumnWriter {
 public:
  ColumnWriter(OutputFile& file, std::uint64_t offset) : file_(file), offset_(offset) {
    buffer_.reserve(kChunk);
  }
  template <class T>
  void add(T value) {
    const char* bytes = reinterpret_cast<const char*>(&value);
    buffer_.append(bytes, sizeof value);
    if (buffer_.size() + sizeof value > kChunk) flush();
  }
  void flush() {
    file_.write(buffer_.data(), buffer_.size(), offset_);
    offset_ += buffer_.size();
    buffer_.clear();
  }

 private:
  OutputFile& file_;
  std::uint64_t offset_;
  std::string buffer_;
};

std::string schema_text(const RowsInfo& info) {
  Json metadata = Json::array();
  for (const auto& [key, value] : info.metadata)
    metadata.push_back(Json::array({"omen." + key, value}));
  for (const auto& [workload, start] : info.workload_starts)
    metadata.push_back(
        Json::array({"omen.start_unix_ns." + std::to_string(workload), std::to_string(start)}));
  Json columns = Json::array();
  for (const std::size_t at : kShown) {
    Json facts = Json::array();
    if (std::string_view(kColumns[at].name) == "t_ns")
      facts.push_back(Json::array({"omen.unit", "ns"}));
    columns.push_back(
        Json{{"name", kColumns[at].name}, {"type", kColumns[at].type}, {"metadata", facts}});
  }
  return Json{{"rows", info.rows}, {"metadata", metadata}, {"columns", columns}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

struct Layout {
  std::string header;  // length and JSON, padded to eight bytes
  std::array<std::uint64_t, kColumns.size()> column{};
  std::uint64_t dictionary_offsets = 0, dictionary_bytes = 0;
};

Layout lay_out(const RowsInfo& info, std::size_t text_size, const std::string& digest) {
  Layout layout;
  Json header;
  header["__metadata__"] =
      Json{{"omen.digest", digest}, {"omen.table.counters", schema_text(info)}};
  std::uint64_t at = 0;
  const auto add = [&](const std::string& name, const char* dtype, std::uint64_t count,
                       std::size_t width) {
    const std::uint64_t begin = at;
    at += count * width;
    header[name] = Json{{"dtype", dtype},
                        {"shape", Json::array({count})},
                        {"data_offsets", Json::array({begin, at})}};
    return begin;
  };
  const auto rows = static_cast<std::uint64_t>(info.rows);
  for (std::size_t i = 0; i < kColumns.size(); ++i)
    layout.column[i] = add(std::string("counters/") + kColumns[i].name, kColumns[i].dtype, rows,
                           kColumns[i].width);
  layout.dictionary_offsets =
      add("counters/metric#offsets", "I32", info.metrics.size() + 1, sizeof(std::int32_t));
  layout.dictionary_bytes = add("counters/metric#bytes", "U8", text_size, 1);
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t size = text.size();
  layout.header.assign(reinterpret_cast<const char*>(&size), sizeof size);
  layout.header += text;
  for (std::uint64_t& offset : layout.column) offset += layout.header.size();
  layout.dictionary_offsets += layout.header.size();
  layout.dictionary_bytes += layout.header.size();
  return layout;
}

void write_rows(const OpenRows& open, OutputFile& file, const Layout& layout) {
  std::vector<ColumnWriter> columns;
  for (const std::uint64_t offset : layout.column) columns.emplace_back(file, offset);
  const RowReaderPtr reader = open();
  std::vector<LogRow> rows;
  while (reader->next(rows)) {
    for (const LogRow& row : rows) {
      columns[0].add(row.workload_id);
      columns[1].add(row.sample.t_ns);
      columns[2].add(row.sample.value);
      columns[3].add(row.sample.device);
      columns[4].add(row.sample.metric);
      columns[5].add(row.sample.pid);
    }
  }
  for (ColumnWriter& column : columns) column.flush();
}

}  // namespace

void write_container(const OpenRows& open, const fs::path& path) {
  const RowsInfo info = scan(open);
  std::string text;
  std::vector<std::int32_t> offsets{0};
  for (const std::string& name : info.metrics) {
    text += name;
    offsets.push_back(static_cast<std::int32_t>(text.size()));
  }
  // The digest is known only once the data is written; a text of the same length holds its place.
  OutputFile file(path);
  const Layout layout = lay_out(info, text.size(), std::string(64, '0'));
  file.write(layout.header.data(), layout.header.size(), 0);
  write_rows(open, file, layout);
  file.write(offsets.data(), offsets.size() * sizeof(std::int32_t), layout.dictionary_offsets);
  file.write(text.data(), text.size(), layout.dictionary_bytes);
  const std::string digest = container::Reader::open(file.path()).digest();
  const Layout final = lay_out(info, text.size(), digest);
  file.write(final.header.data(), final.header.size(), 0);
  file.place();
}

}  // namespace omen::telemetry
