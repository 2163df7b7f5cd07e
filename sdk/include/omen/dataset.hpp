// SPDX-License-Identifier: Apache-2.0
// Named tables across the boundary: the view a component reads, one made from tables in memory, and
// a collector.
#ifndef OMEN_DATASET_HPP
#define OMEN_DATASET_HPP

#include <map>
#include <set>
#include <string>
#include <utility>

#include "omen/table.hpp"

namespace omen {

// Borrowed view of an omen_dataset.
class Dataset {
 public:
  explicit Dataset(const omen_dataset* dataset) : dataset_(dataset) {}

  // False for the absent validation set.
  explicit operator bool() const noexcept { return dataset_ != nullptr; }
  const omen_dataset* c() const noexcept { return dataset_; }

  const char* task_hash() const noexcept { return dataset_->task_hash ? dataset_->task_hash : ""; }
  const char* task_json() const noexcept {
    return dataset_->task_json ? dataset_->task_json : "{}";
  }

  // -1 where the number is not known beforehand.
  std::int64_t rows(const char* table) const { return dataset_->rows(dataset_, table); }
  bool has(const char* table) const { return rows(table) != 0; }

  // Batch by batch, for tables larger than memory.
  TableStream stream(const char* table) const {
    ArrowArrayStream stream{};
    ErrorOut error;
    error.check(dataset_->open(dataset_, table, &stream, error));
    return TableStream::import(&stream);
  }
  // The whole table.
  Table table(const char* name) const { return stream(name).read_all(); }

 private:
  const omen_dataset* dataset_;
};

// A dataset over tables in memory; what a host, or a component that calls another one, hands out.
class MemoryDataset {
 public:
  MemoryDataset() {
    view_.struct_size = sizeof view_;
    view_.data = this;
    view_.rows = [](const omen_dataset* d, const char* table) -> std::int64_t {
      const Table* found = static_cast<MemoryDataset*>(d->data)->find(table);
      return found ? found->rows() : 0;
    };
    view_.open = [](const omen_dataset* d, const char* table, ArrowArrayStream* out,
                    omen_error* error) -> omen_status {
      return detail::guard(error, [&] { static_cast<MemoryDataset*>(d->data)->open(table, out); });
    };
  }
  MemoryDataset(const MemoryDataset&) = delete;
  MemoryDataset& operator=(const MemoryDataset&) = delete;

  void put(const std::string& name, Table table) { tables_[name] = std::move(table); }
  // From now on opening the table fails, as targets do in predict.
  void withhold(const std::string& name) { withheld_.insert(name); }
  void set_task(std::string hash, std::string json) {
    task_hash_ = std::move(hash);
    task_json_ = std::move(json);
    view_.task_hash = task_hash_.c_str();
    view_.task_json = task_json_.c_str();
  }
  // More than 0: tables are streamed in batches of that many rows.
  void set_batch_rows(std::int64_t rows) { batch_rows_ = rows; }

  const omen_dataset* c() const noexcept { return &view_; }
  Dataset view() const noexcept { return Dataset(&view_); }
  const std::map<std::string, Table>& tables() const noexcept { return tables_; }
  const Table* find(const std::string& name) const {
    const auto at = tables_.find(name);
    return at == tables_.end() || withheld_.count(name) ? nullptr : &at->second;
  }

 private:
  void open(const char* name, ArrowArrayStream* out) const {
    const Table* table = find(name);
    if (!table) {
      const bool secret = withheld_.count(name) > 0;
      throw Error(OMEN_NOT_FOUND, "table '" + std::string(name) +
                                      (secret ? "' is withheld here" : "' is not in this dataset"));
    }
    if (batch_rows_ <= 0) return TableStream(*table).export_to(out);
    TableStream(*table, [rest = *table, step = batch_rows_]() mutable -> std::optional<Table> {
      if (rest.rows() == 0) return std::nullopt;
      const std::int64_t count = std::min(step, rest.rows());
      Table batch = rest.slice(0, count);
      rest = rest.slice(count, rest.rows() - count);
      return batch;
    }).export_to(out);
  }

  omen_dataset view_{};
  std::map<std::string, Table> tables_;
  std::set<std::string> withheld_;
  std::string task_hash_, task_json_;
  std::int64_t batch_rows_ = 0;
};

// Where a front end or a command puts its tables: `out.put("nodes", builder.finish());`
class TablesOut {
 public:
  explicit TablesOut(const omen_tables_out* out) : out_(out) {}
  const omen_tables_out* c() const noexcept { return out_; }

  void put(const char* table, TableStream stream) const {
    ArrowArrayStream c{};
    std::move(stream).export_to(&c);
    ErrorOut error;
    error.check(out_->put(out_->data, table, &c, error));
  }

 private:
  const omen_tables_out* out_;
};

// Keeps what is put; pieces of one table are joined.
class TableCollector {
 public:
  TableCollector() {
    out_.struct_size = sizeof out_;
    out_.data = this;
    out_.put = [](void* data, const char* table, ArrowArrayStream* stream,
                  omen_error* error) -> omen_status {
      return detail::guard(error, [&] {
        TableStream incoming = TableStream::import(stream);
        static_cast<TableCollector*>(data)->pieces_[table].push_back(incoming.read_all());
      });
    };
  }
  TableCollector(const TableCollector&) = delete;
  TableCollector& operator=(const TableCollector&) = delete;

  const omen_tables_out* c() const noexcept { return &out_; }
  std::map<std::string, Table> take() {
    std::map<std::string, Table> tables;
    for (auto& [name, pieces] : pieces_)
      tables[name] = pieces.size() == 1 ? pieces[0] : concat(pieces);
    pieces_.clear();
    return tables;
  }

 private:
  omen_tables_out out_{};
  std::map<std::string, std::vector<Table>> pieces_;
};

}  // namespace omen

#endif  // OMEN_DATASET_HPP
