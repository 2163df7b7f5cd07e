// SPDX-License-Identifier: Apache-2.0
// Writes `counters` as a container column by column in one pass over the rows.
#include <array>
#include <nlohmann/json.hpp>

#include "omen/container.hpp"
#include "omen/pending_file.hpp"
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

// Collects a column's values and writes them in large pieces.
class ColumnWriter {
 public:
  ColumnWriter(PendingFile& file, std::uint64_t offset) : file_(file), offset_(offset) {
    buffer_.reserve(kChunk);
  }
  template <class T>
  void add(T value) {
    const char* bytes = reinterpret_cast<const char*>(&value);
    buffer_.append(bytes, sizeof value);
    if (buffer_.size() + sizeof value > kChunk) flush();
  }
  void flush() {
    file_.overwrite(buffer_.data(), buffer_.size(), offset_);
    offset_ += buffer_.size();
    buffer_.clear();
  }

 private:
  PendingFile& file_;
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

void write_rows(const OpenRows& open, PendingFile& file, const Layout& layout) {
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
  PendingFile file(path);
  const Layout layout = lay_out(info, text.size(), std::string(64, '0'));
  file.overwrite(layout.header.data(), layout.header.size(), 0);
  write_rows(open, file, layout);
  file.overwrite(offsets.data(), offsets.size() * sizeof(std::int32_t), layout.dictionary_offsets);
  file.overwrite(text.data(), text.size(), layout.dictionary_bytes);
  const std::string digest = container::Reader::open(file.temporary()).digest();
  const Layout final = lay_out(info, text.size(), digest);
  file.overwrite(final.header.data(), final.header.size(), 0);
  file.commit();
}

}  // namespace omen::telemetry
