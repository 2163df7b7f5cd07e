// SPDX-License-Identifier: Apache-2.0
// Tensors over Arrow buffers, and vocabularies.
#include "omen/torch/columns.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace omen::torch_kit {
namespace {

/// The table travels in the deleter, which is what keeps the buffer alive.
template <class T>
at::Tensor view(const Table& table, const T* data, std::vector<std::int64_t> shape,
                at::ScalarType type) {
  const auto options = at::TensorOptions().dtype(type);
  if (!data) return at::empty(shape, options);
  return at::from_blob(
      const_cast<T*>(data), shape, [owner = table](void*) {}, options);
}

bool has_nulls(const Table& table, std::size_t column) {
  for (std::int64_t row = 0; row < table.rows(); ++row)
    if (table.is_null(column, row)) return true;
  return false;
}

at::Tensor from_doubles(const std::vector<double>& values, at::ScalarType type) {
  const auto n = static_cast<std::int64_t>(values.size());
  return at::from_blob(const_cast<double*>(values.data()), {n},
                       at::TensorOptions().dtype(at::kDouble))
      .to(type, /*non_blocking=*/false, /*copy=*/true);
}

template <class T>
at::Tensor number_view(const Table& table, std::size_t column, at::ScalarType type) {
  const Column<T> values = table.column<T>(column);
  return view(table, values.data(), {values.size()}, type);
}

std::optional<at::ScalarType> scalar_type_of(Type type) {
  switch (type) {
    case Type::kBool:
      return at::kBool;
    case Type::kInt8:
      return at::kChar;
    case Type::kUInt8:
      return at::kByte;
    case Type::kInt16:
      return at::kShort;
    case Type::kInt32:
      return at::kInt;
    case Type::kInt64:
      return at::kLong;
    case Type::kFloat32:
      return at::kFloat;
    case Type::kFloat64:
      return at::kDouble;
    default:
      return std::nullopt;
  }
}

at::Tensor numbers_in_place(const Table& table, std::size_t column, at::ScalarType type) {
  switch (type) {
    case at::kChar:
      return number_view<std::int8_t>(table, column, type);
    case at::kByte:
      return number_view<std::uint8_t>(table, column, type);
    case at::kShort:
      return number_view<std::int16_t>(table, column, type);
    case at::kInt:
      return number_view<std::int32_t>(table, column, type);
    case at::kLong:
      return number_view<std::int64_t>(table, column, type);
    case at::kFloat:
      return number_view<float>(table, column, type);
    default:
      return number_view<double>(table, column, type);
  }
}

}  // namespace

at::Tensor column_tensor(const Table& table, const std::string& name) {
  const std::size_t column = table.index(name);
  const Type type = table.type(column);
  if (type == Type::kFloatList) {
    const ListColumn<float> list = table.list<float>(column);
    return view(table, list.data(), {list.size(), list.width()}, at::kFloat);
  }
  if (type == Type::kIntList) {
    const ListColumn<std::int32_t> list = table.list<std::int32_t>(column);
    return view(table, list.data(), {list.size(), list.width()}, at::kInt);
  }
  const auto scalar = scalar_type_of(type);
  if (!scalar)
    throw Error(OMEN_INVALID_DATA,
                "column '" + name + "' of type " + type_name(type) + " does not become a tensor",
                "use a Vocabulary for text, or a signed integer type");
  const bool nulls = has_nulls(table, column);
  if (nulls && *scalar != at::kFloat && *scalar != at::kDouble)
    throw Error(OMEN_INVALID_DATA, "column '" + name + "' has nulls, which " + type_name(type) +
                                       " cannot express in a tensor");
  if (nulls || *scalar == at::kBool) return from_doubles(table.numbers(column), *scalar);
  return numbers_in_place(table, column, *scalar);
}

at::Tensor column_matrix(const Table& table, const std::vector<std::string>& names) {
  const auto width = static_cast<std::int64_t>(names.size());
  at::Tensor matrix = at::empty({table.rows(), width}, at::TensorOptions().dtype(at::kFloat));
  float* cell = matrix.mutable_data_ptr<float>();
  for (std::int64_t c = 0; c < width; ++c) {
    const std::vector<double> values = table.numbers(names[static_cast<std::size_t>(c)]);
    for (std::size_t r = 0; r < values.size(); ++r)
      cell[static_cast<std::int64_t>(r) * width + c] = static_cast<float>(values[r]);
  }
  return matrix;
}

Vocabulary::Vocabulary(std::vector<std::string> words) : words_(std::move(words)) {
  for (std::size_t i = 0; i < words_.size(); ++i)
    if (!ids_.emplace(words_[i], static_cast<std::int64_t>(i)).second)
      throw Error(OMEN_INVALID_ARGUMENT, "vocabulary has '" + words_[i] + "' twice");
}

Vocabulary Vocabulary::of(const StringColumn& column, std::int64_t min_count) {
  std::vector<std::int64_t> by_code(static_cast<std::size_t>(column.value_count()), 0);
  std::map<std::string, std::int64_t> count;
  for (std::int64_t row = 0; row < column.size(); ++row) {
    if (column.is_null(row)) continue;
    if (column.codes())
      ++by_code[static_cast<std::size_t>(column.codes()[row])];
    else
      ++count[std::string(column[row])];
  }
  for (std::size_t code = 0; code < by_code.size(); ++code)
    if (by_code[code] > 0)
      count[std::string(column.value(static_cast<std::int64_t>(code)))] += by_code[code];
  std::vector<std::pair<std::string, std::int64_t>> ranked(count.begin(), count.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (auto& [word, times] : ranked)
    if (times >= min_count) words.push_back(std::move(word));
  return Vocabulary(std::move(words));
}

std::int64_t Vocabulary::id(std::string_view word) const {
  const auto at = ids_.find(std::string(word));
  return at == ids_.end() ? unknown() : at->second;
}

at::Tensor Vocabulary::ids(const StringColumn& column) const {
  at::Tensor out = at::empty({column.size()}, at::TensorOptions().dtype(at::kLong));
  std::int64_t* to = out.mutable_data_ptr<std::int64_t>();
  if (!column.codes()) {
    for (std::int64_t row = 0; row < column.size(); ++row) to[row] = id(column[row]);
    return out;
  }
  std::vector<std::int64_t> of_code;
  for (std::int64_t code = 0; code < column.value_count(); ++code)
    of_code.push_back(id(column.value(code)));
  for (std::int64_t row = 0; row < column.size(); ++row)
    to[row] =
        column.is_null(row) ? unknown() : of_code[static_cast<std::size_t>(column.codes()[row])];
  return out;
}

void Vocabulary::save(ArtifactWriter& out, const std::string& name) const {
  std::string bytes;
  std::vector<std::int64_t> ends;
  for (const std::string& word : words_) {
    bytes += word;
    ends.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  out.put(name + ".ends", ends);
  out.put_text(name + ".words", bytes);
}

Vocabulary Vocabulary::load(const ArtifactReader& in, const std::string& name) {
  const std::string bytes = in.text(name + ".words");
  std::vector<std::string> words;
  std::int64_t begin = 0;
  for (const std::int64_t end : in.get<std::int64_t>(name + ".ends")) {
    if (end < begin || end > static_cast<std::int64_t>(bytes.size()))
      throw Error(OMEN_INVALID_DATA, "vocabulary '" + name + "' is damaged");
    words.push_back(
        bytes.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    begin = end;
  }
  return Vocabulary(std::move(words));
}

}  // namespace omen::torch_kit
