// SPDX-License-Identifier: Apache-2.0
// Saves and loads a model through the host: string metadata and dense tensors.
#ifndef OMEN_ARTIFACT_HPP
#define OMEN_ARTIFACT_HPP

#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "omen/table.hpp"

namespace omen {

template <class T>
constexpr const char* dtype_of() {
  constexpr const char* kNames[] = {"BOOL", "I8",  "U8",  "I16", "U16", "I32",
                                    "U32",  "I64", "U64", "F32", "F64"};
  return kNames[static_cast<int>(type_of<T>())];
}

class ArtifactWriter {
 public:
  explicit ArtifactWriter(const omen_sink* sink) : sink_(sink) {}

  void put_meta(const std::string& key, const std::string& value) {
    ErrorOut error;
    error.check(sink_->put_meta(sink_->data, key.c_str(), value.c_str(), error));
  }
  // An empty shape means one dimension with every value.
  template <class T>
  void put(const std::string& name, const std::vector<T>& values,
           std::vector<std::int64_t> shape = {}) {
    if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
    put_raw(name, dtype_of<T>(), shape, values.data(), values.size() * sizeof(T));
  }
  void put_text(const std::string& name, const std::string& bytes) {
    put_raw(name, "U8", {static_cast<std::int64_t>(bytes.size())}, bytes.data(), bytes.size());
  }
  void put_raw(const std::string& name, const char* dtype, const std::vector<std::int64_t>& shape,
               const void* bytes, std::size_t size) {
    ErrorOut error;
    error.check(sink_->put_tensor(sink_->data, name.c_str(), dtype, shape.data(), shape.size(),
                                  bytes, size, error));
  }

 private:
  const omen_sink* sink_;
};

// A tensor in the host's memory; valid until load returns.
struct TensorView {
  std::string dtype;
  std::vector<std::int64_t> shape;
  const void* bytes = nullptr;
  std::size_t size = 0;
};

class ArtifactReader {
 public:
  explicit ArtifactReader(const omen_source* source) : source_(source) {}

  std::optional<std::string> find_meta(const std::string& key) const {
    const char* value = nullptr;
    ErrorOut error;
    const omen_status status = source_->get_meta(source_->data, key.c_str(), &value, error);
    if (status == OMEN_NOT_FOUND) return std::nullopt;
    error.check(status);
    return value;
  }
  std::string meta(const std::string& key) const {
    if (auto value = find_meta(key)) return *value;
    throw Error(OMEN_INVALID_DATA, "model has no metadata '" + key + "'",
                "Train it again with this version.");
  }
  TensorView tensor(const std::string& name) const {
    TensorView view;
    const char* dtype = nullptr;
    const std::int64_t* shape = nullptr;
    std::size_t rank = 0;
    ErrorOut error;
    error.check(source_->get_tensor(source_->data, name.c_str(), &dtype, &shape, &rank, &view.bytes,
                                    &view.size, error));
    view.dtype = dtype;
    view.shape.assign(shape, shape + rank);
    return view;
  }
  template <class T>
  std::vector<T> get(const std::string& name) const {
    const TensorView view = tensor(name);
    if (view.dtype != dtype_of<T>())
      throw Error(OMEN_INVALID_DATA,
                  "tensor '" + name + "' is " + view.dtype + ", expected " + dtype_of<T>());
    std::vector<T> values(view.size / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), view.bytes, values.size() * sizeof(T));
    return values;
  }
  std::string text(const std::string& name) const {
    const TensorView view = tensor(name);
    return std::string(static_cast<const char*>(view.bytes), view.size);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; const char* name = source_->tensor_name(source_->data, i); ++i)
      all.emplace_back(name);
    return all;
  }

 private:
  const omen_source* source_;
};

}  // namespace omen

#endif  // OMEN_ARTIFACT_HPP
