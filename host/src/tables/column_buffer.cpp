// SPDX-License-Identifier: Apache-2.0
// Nulls, dictionary codes and hand-over of collected columns.
#include "column_buffer.hpp"

namespace omen::host {

std::int32_t ColumnBuffer::code_of(std::string_view value) {
  // Sorted and grouped files repeat the value of the row before.
  if (!codes_.empty() && !texts_.empty() &&
      texts_[static_cast<std::size_t>(codes_.back())] == value)
    return codes_.back();
  const auto found = codes_by_text_.find(value);
  if (found != codes_by_text_.end()) return found->second;
  const auto code = static_cast<std::int32_t>(texts_.size());
  texts_.emplace_back(value);
  codes_by_text_.emplace(texts_.back(), code);
  return code;
}

void ColumnBuffer::add_list(const std::vector<double>& values) {
  for (const double value : values) {
    if (type_ == Type::kIntList)
      integer_items_.push_back(static_cast<std::int32_t>(value));
    else
      float_items_.push_back(static_cast<float>(value));
  }
  done();
}

void ColumnBuffer::add_null() {
  if (present_.empty()) present_.assign(static_cast<std::size_t>(rows_), true);
  switch (type_) {
    case Type::kInt64:
      integers_.push_back(0);
      break;
    case Type::kFloat64:
      numbers_.push_back(0);
      break;
    case Type::kBool:
      bools_.push_back(false);
      break;
    case Type::kDictionary:
      codes_.push_back(0);
      break;
    case Type::kIntList:
      integer_items_.resize(integer_items_.size() + static_cast<std::size_t>(list_size_));
      break;
    default:
      float_items_.resize(float_items_.size() + static_cast<std::size_t>(list_size_));
  }
  present_.push_back(false);
  ++rows_;
}

void ColumnBuffer::flush(TableBuilder& builder) {
  switch (type_) {
    case Type::kInt64:
      builder.add(name_, std::move(integers_));
      break;
    case Type::kFloat64:
      builder.add(name_, std::move(numbers_));
      break;
    case Type::kBool:
      builder.add_bools(name_, bools_);
      break;
    case Type::kDictionary:
      builder.add_dictionary(name_, std::move(codes_), texts_);
      break;
    case Type::kIntList:
      builder.add_list(name_, list_size_, std::move(integer_items_));
      break;
    default:
      builder.add_list(name_, list_size_, std::move(float_items_));
  }
  if (!present_.empty()) builder.valid(present_);
  *this = ColumnBuffer(std::move(name_), type_, list_size_);
}

}  // namespace omen::host
