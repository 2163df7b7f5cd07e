// SPDX-License-Identifier: Apache-2.0
// Typed access to named tensors, with every size checked on the way in.
#include "omen/learn/state.hpp"

#include <cstring>
#include <limits>

#include "omen/learn/errors.hpp"

namespace omen::learn {
namespace {

using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

[[noreturn]] void damaged(const std::string& name, const std::string& what) {
  throw_bad_data("model tensor '" + name + "' " + what, "train the model again");
}

std::vector<std::byte> copy_bytes(const void* data, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(data);
  return size == 0 ? std::vector<std::byte>() : std::vector<std::byte>(first, first + size);
}

Tensor checked(const StateReader& state, const std::string& name, const char* dtype,
               std::size_t rank, std::size_t width) {
  Tensor tensor = state.get(name);
  if (tensor.dtype != dtype) damaged(name, "has type " + tensor.dtype + ", expected " + dtype);
  if (tensor.shape.size() != rank) damaged(name, "has the wrong number of dimensions");
  std::size_t count = 1;
  for (const std::int64_t extent : tensor.shape) {
    const auto unsigned_extent = static_cast<std::size_t>(extent);
    if (extent < 0 ||
        (extent > 0 && count > std::numeric_limits<std::size_t>::max() / width / unsigned_extent)) {
      damaged(name, "has an impossible shape");
    }
    count *= unsigned_extent;
  }
  if (tensor.bytes.size() != count * width) damaged(name, "does not fill its shape");
  return tensor;
}

}  // namespace

void StateWriter::put_matrix(const std::string& name, const Matrix& values) {
  const auto size = static_cast<std::size_t>(values.size()) * sizeof(double);
  put(name, {"F64", {values.rows(), values.cols()}, copy_bytes(values.data(), size)});
}

void StateWriter::put_floats(const std::string& name, const Matrix& values) {
  const Floats narrow = values.cast<float>();
  const auto size = static_cast<std::size_t>(narrow.size()) * sizeof(float);
  put(name, {"F32", {narrow.rows(), narrow.cols()}, copy_bytes(narrow.data(), size)});
}

void StateWriter::put_numbers(const std::string& name, const Vector& values) {
  const auto size = static_cast<std::size_t>(values.size()) * sizeof(double);
  put(name, {"F64", {values.size()}, copy_bytes(values.data(), size)});
}

void StateWriter::put_integers(const std::string& name, const std::vector<std::int64_t>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  put(name, {"I64", {count}, copy_bytes(values.data(), values.size() * sizeof(std::int64_t))});
}

void StateWriter::put_bytes(const std::string& name, std::string_view bytes) {
  const auto count = static_cast<std::int64_t>(bytes.size());
  put(name, {"U8", {count}, copy_bytes(bytes.data(), bytes.size())});
}

void StateWriter::put_strings(const std::string& name, const std::vector<std::string>& values) {
  std::vector<std::int64_t> offsets{0};
  std::string joined;
  for (const std::string& value : values) {
    joined += value;
    offsets.push_back(static_cast<std::int64_t>(joined.size()));
  }
  put_integers(name + ".offsets", offsets);
  put_bytes(name + ".bytes", joined);
}

Matrix StateReader::matrix(const std::string& name) const {
  const Tensor tensor = checked(*this, name, "F64", 2, sizeof(double));
  Matrix values(tensor.shape[0], tensor.shape[1]);
  if (!tensor.bytes.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

Matrix StateReader::matrix(const std::string& name, Index rows, Index cols) const {
  Matrix values = matrix(name);
  if ((rows >= 0 && values.rows() != rows) || (cols >= 0 && values.cols() != cols)) {
    damaged(name, "has the wrong shape for this model");
  }
  return values;
}

Matrix StateReader::floats(const std::string& name, Index rows, Index cols) const {
  const Tensor tensor = checked(*this, name, "F32", 2, sizeof(float));
  Floats values(tensor.shape[0], tensor.shape[1]);
  if (!tensor.bytes.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  if (values.rows() != rows || values.cols() != cols) {
    damaged(name, "has the wrong shape for this model");
  }
  return values.cast<double>();
}

Vector StateReader::numbers(const std::string& name, Index count) const {
  const Tensor tensor = checked(*this, name, "F64", 1, sizeof(double));
  Vector values(tensor.shape[0]);
  if (!tensor.bytes.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  if (count >= 0 && values.size() != count) damaged(name, "has the wrong size for this model");
  return values;
}

std::vector<std::int64_t> StateReader::integers(const std::string& name) const {
  const Tensor tensor = checked(*this, name, "I64", 1, sizeof(std::int64_t));
  std::vector<std::int64_t> values(tensor.bytes.size() / sizeof(std::int64_t));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

std::string StateReader::bytes(const std::string& name) const {
  const Tensor tensor = checked(*this, name, "U8", 1, 1);
  return {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
}

std::vector<std::string> StateReader::strings(const std::string& name) const {
  const std::vector<std::int64_t> offsets = integers(name + ".offsets");
  const std::string joined = bytes(name + ".bytes");
  if (offsets.empty() || offsets.front() != 0) damaged(name, "has no valid offsets");
  std::vector<std::string> values;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1] || offsets[i] > static_cast<std::int64_t>(joined.size())) {
      damaged(name, "has offsets outside its bytes");
    }
    const auto begin = static_cast<std::size_t>(offsets[i - 1]);
    values.push_back(joined.substr(begin, static_cast<std::size_t>(offsets[i]) - begin));
  }
  return values;
}

void MemoryState::put(const std::string& name, const Tensor& tensor) {
  tensors[name] = tensor;
}

Tensor MemoryState::get(const std::string& name) const {
  const auto found = tensors.find(name);
  if (found == tensors.end()) damaged(name, "is missing");
  return found->second;
}

}  // namespace omen::learn
