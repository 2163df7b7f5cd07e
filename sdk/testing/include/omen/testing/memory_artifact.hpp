// SPDX-License-Identifier: Apache-2.0
// A saved model in memory, and the round trip through it.
#ifndef OMEN_TESTING_MEMORY_ARTIFACT_HPP
#define OMEN_TESTING_MEMORY_ARTIFACT_HPP

#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "omen/artifact.hpp"

namespace omen::test {

// Keeps what is saved and gives it back; tests may also change it in between.
class MemoryArtifact {
 public:
  struct Tensor {
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::vector<char> bytes;
  };
  std::map<std::string, std::string> meta;
  std::map<std::string, Tensor> tensors;

  MemoryArtifact() = default;

  // Views of this artifact, which must outlive them.
  omen_sink sink() {
    omen_sink sink{};
    sink.struct_size = sizeof sink;
    sink.data = this;
    sink.put_meta = [](void* data, const char* key, const char* value, omen_error*) -> omen_status {
      self(data).meta[key] = value;
      return OMEN_OK;
    };
    sink.put_tensor = [](void* data, const char* name, const char* dtype, const std::int64_t* shape,
                         std::size_t rank, const void* bytes, std::size_t size,
                         omen_error*) -> omen_status {
      const auto* first = static_cast<const char*>(bytes);
      self(data).tensors[name] = {dtype, {shape, shape + rank}, {first, first + size}};
      return OMEN_OK;
    };
    return sink;
  }
  omen_source source() {
    omen_source source{};
    source.struct_size = sizeof source;
    source.data = this;
    source.get_meta = [](void* data, const char* key, const char** value,
                         omen_error*) -> omen_status {
      const auto at = self(data).meta.find(key);
      if (at == self(data).meta.end()) return OMEN_NOT_FOUND;
      *value = at->second.c_str();
      return OMEN_OK;
    };
    source.get_tensor = [](void* data, const char* name, const char** dtype,
                           const std::int64_t** shape, std::size_t* rank, const void** bytes,
                           std::size_t* size, omen_error*) -> omen_status {
      const auto at = self(data).tensors.find(name);
      if (at == self(data).tensors.end()) return OMEN_NOT_FOUND;
      *dtype = at->second.dtype.c_str();
      *shape = at->second.shape.data();
      *rank = at->second.shape.size();
      *bytes = at->second.bytes.data();
      *size = at->second.bytes.size();
      return OMEN_OK;
    };
    source.tensor_name = [](void* data, std::size_t index) -> const char* {
      const auto& all = self(data).tensors;
      if (index >= all.size()) return nullptr;
      return std::next(all.begin(), static_cast<std::ptrdiff_t>(index))->first.c_str();
    };
    return source;
  }

 private:
  static MemoryArtifact& self(void* data) { return *static_cast<MemoryArtifact*>(data); }
};

// For anything with save(ArtifactWriter&) and load(const ArtifactReader&).
template <class Model>
MemoryArtifact saved(const Model& model) {
  MemoryArtifact artifact;
  const omen_sink sink = artifact.sink();
  ArtifactWriter writer(&sink);
  model.save(writer);
  return artifact;
}
template <class Model>
void load_from(MemoryArtifact& artifact, Model& model) {
  const omen_source source = artifact.source();
  model.load(ArtifactReader(&source));
}
// `to` becomes what `from` is after it was saved and loaded.
template <class Model>
void round_trip(const Model& from, Model& to) {
  MemoryArtifact artifact = saved(from);
  load_from(artifact, to);
}

}  // namespace omen::test

#endif  // OMEN_TESTING_MEMORY_ARTIFACT_HPP
