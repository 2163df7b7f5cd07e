// SPDX-License-Identifier: Apache-2.0
// Table columns as tensors, without a copy where the types allow it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "omen/artifact.hpp"
#include "omen/table.hpp"

namespace omen::torch_kit {

/// A number column [rows] or a list column [rows, width]. Shares the memory of the table and keeps
/// it alive, except for bool columns and float columns with nulls, which are copied (nulls become
/// NaN). Other columns with nulls, and text, are OMEN_INVALID_DATA. Treat it as read-only.
at::Tensor column_tensor(const Table& table, const std::string& name);

/// The columns side by side as float32 [rows, columns]; copies.
at::Tensor column_matrix(const Table& table, const std::vector<std::string>& names);

/// Stable numbers for text such as operator names: dictionary codes differ between tables.
class Vocabulary {
 public:
  Vocabulary() = default;
  /// Word i gets number i; all others get words.size().
  explicit Vocabulary(std::vector<std::string> words);
  /// The words of a column by falling count, equal counts by text; rarer ones stay unknown.
  static Vocabulary of(const StringColumn& column, std::int64_t min_count = 1);

  std::int64_t id(std::string_view word) const;
  std::int64_t unknown() const { return static_cast<std::int64_t>(words_.size()); }
  /// Rows that an embedding needs: all words and the unknown one.
  std::int64_t size() const { return unknown() + 1; }
  const std::vector<std::string>& words() const { return words_; }

  /// Numbers of a column, int64 [rows].
  at::Tensor ids(const StringColumn& column) const;

  void save(ArtifactWriter& out, const std::string& name) const;
  static Vocabulary load(const ArtifactReader& in, const std::string& name);

 private:
  std::vector<std::string> words_;
  std::unordered_map<std::string, std::int64_t> ids_;
};

}  // namespace omen::torch_kit
