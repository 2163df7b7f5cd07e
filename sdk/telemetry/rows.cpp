// SPDX-License-Identifier: Apache-2.0
// Rows from tables, and tables from rows.
#include "omen/telemetry/rows.hpp"

#include <algorithm>
#include <unordered_map>

#include "omen/container.hpp"

namespace omen::telemetry {
namespace {

constexpr std::int64_t kRowsAtOnce = 65536;
constexpr std::string_view kPrefix = "omen.";
constexpr std::string_view kStartPrefix = "start_unix_ns.";

// Takes columns where they are; a table may leave out all but metric and value.
class TableRows final : public RowReader {
 public:
  explicit TableRows(TableStream stream) : stream_(std::move(stream)) {
    take_facts(stream_.schema());
  }

  bool next(std::vector<LogRow>& rows) override {
    rows.clear();
    while (table_.rows() == 0) {
      auto batch = stream_.next();
      if (!batch) return false;
      table_ = std::move(*batch);
    }
    const std::int64_t count = std::min(kRowsAtOnce, table_.rows());
    append(table_.slice(0, count), rows);
    table_ = table_.slice(count, table_.rows() - count);
    return true;
  }

 private:
  void take_facts(const Table& schema) {
    for (const auto& [key, value] : schema.metadata()) {
      if (std::string_view(key).substr(0, kPrefix.size()) != kPrefix) continue;
      const std::string name = key.substr(kPrefix.size());
      if (name.rfind(kStartPrefix, 0) == 0)
        starts_[std::stoll(name.substr(kStartPrefix.size()))] = std::stoll(value);
      else
        metadata_[name] = value;
    }
  }

  void append(const Table& part, std::vector<LogRow>& rows) {
    const auto optional = [&](const char* name) {
      return part.has(name) ? part.numbers(name) : std::vector<double>();
    };
    const std::vector<double> values = part.numbers("value");
    const std::vector<double> times = optional("t_ns");
    const std::vector<double> devices = optional("device");
    const std::vector<double> pids = optional("pid");
    const std::vector<double> workloads = optional("workload_id");
    const StringColumn names = part.strings("metric");
    const bool exact = part.has("t_ns") && part.type(part.index("t_ns")) == Type::kInt64;
    const std::int64_t* t_ns = exact ? part.column<std::int64_t>("t_ns").data() : nullptr;
    for (std::int64_t i = 0; i < part.rows(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      LogRow row;
      row.sample.value = values[at];
      row.sample.metric = metric_of(names[i]);
      row.sample.t_ns = t_ns ? t_ns[i] : integer<std::int64_t>(times, at, 0);
      row.sample.device = integer<std::int32_t>(devices, at, Sample::kWholeMachine);
      row.sample.pid = integer<std::int32_t>(pids, at, 0);
      row.workload_id = integer<std::int64_t>(workloads, at, 0);
      rows.push_back(row);
    }
  }

  template <class Integer>
  static Integer integer(const std::vector<double>& column, std::size_t row, Integer otherwise) {
    // Anything outside the exact range of a double is no count of anything here.
    if (column.empty() || !(std::abs(column[row]) < 9e15)) return otherwise;
    return static_cast<Integer>(static_cast<std::int64_t>(column[row]));
  }

  std::int32_t metric_of(std::string_view name) {
    const auto [at, fresh] =
        ids_.try_emplace(std::string(name), static_cast<std::int32_t>(metrics_.size()));
    if (fresh) metrics_.emplace_back(name);
    return at->second;
  }

  TableStream stream_;
  Table table_;
  std::unordered_map<std::string, std::int32_t> ids_;
};

void add_facts(TableBuilder& builder, const RowsInfo& info) {
  for (const auto& [key, value] : info.metadata)
    builder.metadata(std::string(kPrefix) + key, value);
  for (const auto& [workload, start] : info.workload_starts)
    builder.metadata(std::string(kPrefix) + std::string(kStartPrefix) + std::to_string(workload),
                     std::to_string(start));
}

Table build(const std::vector<LogRow>& rows, const RowsInfo& info) {
  std::vector<std::int64_t> workloads, times;
  std::vector<std::int32_t> devices, metrics, pids;
  std::vector<double> values;
  for (const LogRow& row : rows) {
    workloads.push_back(row.workload_id);
    times.push_back(row.sample.t_ns);
    devices.push_back(row.sample.device);
    metrics.push_back(row.sample.metric);
    values.push_back(row.sample.value);
    pids.push_back(row.sample.pid);
  }
  TableBuilder builder;
  add_facts(builder, info);
  builder.add("workload_id", std::move(workloads))
      .add("t_ns", std::move(times), {{"omen.unit", "ns"}})
      .add("device", std::move(devices))
      .add_dictionary("metric", std::move(metrics), info.metrics)
      .add("value", std::move(values))
      .add("pid", std::move(pids));
  return builder.finish();
}

}  // namespace

RowReaderPtr read_container(const std::filesystem::path& path) {
  const container::Reader reader = container::Reader::open(path);
  return read_stream(container::get_table(reader, "counters"));
}

RowReaderPtr read_stream(TableStream stream) {
  for (const char* column : {"metric", "value"})
    if (!stream.schema().has(column))
      throw Error(OMEN_INVALID_DATA,
                  std::string("the table counters has no column '") + column + "'",
                  "A trace has at least the columns metric and value.");
  return std::make_unique<TableRows>(std::move(stream));
}

RowsInfo scan(const OpenRows& open) {
  RowsInfo info;
  const RowReaderPtr reader = open();
  std::vector<LogRow> rows;
  while (reader->next(rows)) {
    info.rows += static_cast<std::int64_t>(rows.size());
    for (const LogRow& row : rows) info.last_t_ns = std::max(info.last_t_ns, row.sample.t_ns);
  }
  info.metrics = reader->metrics();
  info.metadata = reader->metadata();
  info.workload_starts = reader->workload_starts();
  return info;
}

TableStream counters_stream(const OpenRows& open) {
  const auto info = std::make_shared<const RowsInfo>(scan(open));
  return TableStream(build({}, *info),
                     [info, reader = std::shared_ptr<RowReader>(open()),
                      rows = std::vector<LogRow>()]() mutable -> std::optional<Table> {
                       while (reader->next(rows))
                         if (!rows.empty()) return build(rows, *info);
                       return std::nullopt;
                     });
}

}  // namespace omen::telemetry
