// SPDX-License-Identifier: Apache-2.0
// Named tensors that a fitted model is written to and read from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "omen/learn/matrix.hpp"

namespace omen::learn {

struct Tensor {
  std::string dtype;  ///< safetensors name: F64, I64, U8
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

/// Where a fitted model goes; the container, or a map in tests.
class StateWriter {
 public:
  virtual ~StateWriter() = default;
  virtual void put(const std::string& name, const Tensor& tensor) = 0;

  void put_matrix(const std::string& name, const Matrix& values);
  /// In single precision.
  void put_floats(const std::string& name, const Matrix& values);
  void put_numbers(const std::string& name, const Vector& values);
  void put_integers(const std::string& name, const std::vector<std::int64_t>& values);
  void put_bytes(const std::string& name, std::string_view bytes);
  /// Stored as two tensors, `name.offsets` and `name.bytes`.
  void put_strings(const std::string& name, const std::vector<std::string>& values);
};

/// Where a fitted model comes from. Every getter checks type and shape, since a file may be
/// damaged.
class StateReader {
 public:
  virtual ~StateReader() = default;
  virtual Tensor get(const std::string& name) const = 0;

  Matrix matrix(const std::string& name) const;
  /// Also checks the shape; -1 accepts any extent.
  Matrix matrix(const std::string& name, Index rows, Index cols) const;
  Matrix floats(const std::string& name, Index rows, Index cols) const;
  Vector numbers(const std::string& name, Index count = -1) const;
  std::vector<std::int64_t> integers(const std::string& name) const;
  std::string bytes(const std::string& name) const;
  std::vector<std::string> strings(const std::string& name) const;
};

/// A state kept in memory.
class MemoryState final : public StateWriter, public StateReader {
 public:
  void put(const std::string& name, const Tensor& tensor) override;
  Tensor get(const std::string& name) const override;

  std::map<std::string, Tensor> tensors;
};

}  // namespace omen::learn
