// SPDX-License-Identifier: Apache-2.0
// Drives a built plugin through its C boundary, as a host does but in a few lines.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <omen/dataset.hpp>
#include <omen/run.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace omen::baseline {

inline const omen_plugin& open_plugin(const char* library) {
  // Never closed, as in the host.
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) throw std::runtime_error(dlerror());
  const auto entry = reinterpret_cast<omen_plugin_entry_fn>(dlsym(handle, "omen_plugin_entry"));
  const omen_plugin* plugin = entry ? entry(OMEN_ABI_MAJOR, OMEN_ABI_MINOR) : nullptr;
  if (!plugin) throw std::runtime_error("no plugin in the library");
  return *plugin;
}

inline const omen_component& find_component(const omen_plugin& plugin, const std::string& id) {
  for (auto* at = plugin.components; *at; ++at) {
    if (id == (*at)->id) return **at;
  }
  throw std::runtime_error("no component " + id);
}

/// A run context whose cancel flag tests can set.
struct TestRun {
  omen_run c{};
  std::atomic<bool> cancelled{false};

  explicit TestRun(std::uint64_t seed = 1, unsigned threads = 2) {
    c.struct_size = sizeof c;
    c.seed = seed;
    c.threads = threads;
    c.interval_level = 0.9;
    c.devices = "cpu";
    c.scratch_dir = "";
    c.run_data = this;
    c.is_cancelled = [](const omen_run* run) {
      return static_cast<TestRun*>(run->run_data)->cancelled.load();
    };
  }
};

/// Keeps a saved model in memory and gives it back.
struct TestArtifact {
  struct Stored {
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::vector<char> bytes;
  };
  std::map<std::string, std::string> meta;
  std::map<std::string, Stored> tensors;

  omen_sink sink() {
    omen_sink sink{};
    sink.struct_size = sizeof sink;
    sink.data = this;
    sink.put_meta = [](void* data, const char* key, const char* value, omen_error*) -> omen_status {
      static_cast<TestArtifact*>(data)->meta[key] = value;
      return OMEN_OK;
    };
    sink.put_tensor = [](void* data, const char* name, const char* dtype, const std::int64_t* shape,
                         std::size_t rank, const void* bytes, std::size_t size,
                         omen_error*) -> omen_status {
      const auto* first = static_cast<const char*>(bytes);
      static_cast<TestArtifact*>(data)->tensors[name] = {
          dtype, {shape, shape + rank}, {first, first + size}};
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
      auto& all = static_cast<TestArtifact*>(data)->meta;
      if (all.count(key) == 0) return OMEN_NOT_FOUND;
      *value = all[key].c_str();
      return OMEN_OK;
    };
    source.get_tensor = [](void* data, const char* name, const char** dtype,
                           const std::int64_t** shape, std::size_t* rank, const void** bytes,
                           std::size_t* size, omen_error*) -> omen_status {
      auto& all = static_cast<TestArtifact*>(data)->tensors;
      if (all.count(name) == 0) return OMEN_NOT_FOUND;
      const Stored& stored = all[name];
      *dtype = stored.dtype.c_str();
      *shape = stored.shape.data();
      *rank = stored.shape.size();
      *bytes = stored.bytes.data();
      *size = stored.bytes.size();
      return OMEN_OK;
    };
    source.tensor_name = [](void* data, std::size_t index) -> const char* {
      auto& all = static_cast<TestArtifact*>(data)->tensors;
      if (index >= all.size()) return nullptr;
      return std::next(all.begin(), static_cast<std::ptrdiff_t>(index))->first.c_str();
    };
    return source;
  }
};

/// A predictor object of the plugin, with defaults for every option that is not given.
class PredictorClient {
 public:
  PredictorClient(const omen_component& component, std::map<std::string, std::string> options = {})
      : vt_(*static_cast<const omen_predictor_vt*>(component.vtable)) {
    std::vector<omen_option> values;
    for (auto* at = component.options; at && *at; ++at) {
      const omen_option_spec& spec = **at;
      if (!spec.default_text && !options.count(spec.key)) continue;  // a list may be empty
      std::string& text =
          options.emplace(spec.key, spec.default_text ? spec.default_text : "").first->second;
      omen_option value{spec.key, spec.type, 0, 0, 0, text.c_str()};
      value.r = std::strtod(text.c_str(), nullptr);
      value.i = std::strtoll(text.c_str(), nullptr, 10);
      values.push_back(value);
    }
    ErrorOut error;
    error.check(vt_.create(values.data(), values.size(), &object_, error));
  }
  ~PredictorClient() { vt_.destroy(object_); }
  PredictorClient(const PredictorClient&) = delete;
  PredictorClient& operator=(const PredictorClient&) = delete;

  void fit(const MemoryDataset& train, const TestRun& run, const MemoryDataset* valid = nullptr) {
    ErrorOut error;
    error.check(vt_.fit(object_, &run.c, train.c(), valid ? valid->c() : nullptr, error));
  }
  Table predict(const MemoryDataset& in, const TestRun& run) {
    ArrowArrayStream stream{};
    ErrorOut error;
    error.check(vt_.predict(object_, &run.c, in.c(), &stream, error));
    return TableStream::import(&stream).read_all();
  }
  TestArtifact save() {
    TestArtifact artifact;
    const omen_sink sink = artifact.sink();
    ErrorOut error;
    error.check(vt_.save(object_, &sink, error));
    return artifact;
  }
  void load(TestArtifact& artifact) {
    const omen_source source = artifact.source();
    ErrorOut error;
    error.check(vt_.load(object_, &source, error));
  }

 private:
  const omen_predictor_vt& vt_;
  omen_object* object_ = nullptr;
};

}  // namespace omen::baseline
