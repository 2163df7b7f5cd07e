// SPDX-License-Identifier: Apache-2.0
// Collects the values of one column batch by batch for the text readers.
#ifndef OMEN_HOST_COLUMN_BUFFER_HPP
#define OMEN_HOST_COLUMN_BUFFER_HPP

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "omen/table.hpp"

namespace omen::host {

// Holds int64, float64, bool, dictionary text, or lists of float32 or int32.
class ColumnBuffer {
 public:
  ColumnBuffer(std::string name, Type type, std::int64_t list_size = 0)
      : name_(std::move(name)), type_(type), list_size_(list_size) {}

  const std::string& name() const noexcept { return name_; }
  Type type() const noexcept { return type_; }
  std::int64_t list_size() const noexcept { return list_size_; }
  std::int64_t rows() const noexcept { return rows_; }

  void add_integer(std::int64_t value) {
    integers_.push_back(value);
    done();
  }
  void add_number(double value) {
    numbers_.push_back(value);
    done();
  }
  void add_bool(bool value) {
    bools_.push_back(value);
    done();
  }
  // True where the value is the first of its kind in this batch.
  bool add_text(std::string_view value) {
    const std::size_t before = texts_.size();
    codes_.push_back(code_of(value));
    done();
    return texts_.size() > before;
  }
  void add_list(const std::vector<double>& values);
  void add_null();

  // Moves the batch into a builder and starts the next one.
  void flush(TableBuilder& builder);

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  void done() {
    ++rows_;
    if (!present_.empty()) present_.push_back(true);
  }
  std::int32_t code_of(std::string_view value);

  std::string name_;
  Type type_;
  std::int64_t list_size_;
  std::int64_t rows_ = 0;
  std::vector<bool> present_;  // stays empty until the first null
  std::vector<std::int64_t> integers_;
  std::vector<double> numbers_;
  std::vector<bool> bools_;
  std::vector<float> float_items_;
  std::vector<std::int32_t> integer_items_;
  std::vector<std::int32_t> codes_;
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> codes_by_text_;
};

}  // namespace omen::host

#endif  // OMEN_HOST_COLUMN_BUFFER_HPP
