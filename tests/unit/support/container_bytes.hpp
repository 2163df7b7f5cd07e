// SPDX-License-Identifier: Apache-2.0
// Containers as bytes, written with and without the writer's checks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "omen/container.hpp"

namespace omen::container::bytes {

inline Reader read_bytes(const std::string& bytes) {
  auto held = std::make_shared<const std::string>(bytes);
  return Reader::from_memory(held->data(), held->size(), held);
}

// Header length, header, data: the raw layout, without any of the writer's checks.
inline std::string file(const std::string& header, const std::string& data = {}) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(header.size() >> (8 * i));
  return bytes + header + data;
}

template <class T>
void put(Writer& writer, const std::string& name, const char* dtype, const std::vector<T>& values) {
  writer.put_tensor(name, dtype, {static_cast<std::int64_t>(values.size())}, values.data(),
                    values.size() * sizeof(T));
}

}  // namespace omen::container::bytes
