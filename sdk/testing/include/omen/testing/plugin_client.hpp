// SPDX-License-Identifier: Apache-2.0
// Drives a built plugin through its C boundary, as a host does but in a few lines.
#ifndef OMEN_TESTING_PLUGIN_CLIENT_HPP
#define OMEN_TESTING_PLUGIN_CLIENT_HPP

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "omen/dataset.hpp"
#include "omen/testing/memory_artifact.hpp"
#include "omen/testing/ready_run.hpp"

namespace omen::test {

// Keys and values as one would type them; a repeated option stands there as often as it is given.
using OptionTexts = std::vector<std::pair<std::string, std::string>>;

// A plugin that is opened and initialised, with a host that keeps no log and has one extension,
// which keeps figures. It is never closed, as in the host.
class PluginClient {
 public:
  explicit PluginClient(const std::filesystem::path& library) {
    void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) throw Error(OMEN_NOT_FOUND, ::dlerror());
    const auto entry = reinterpret_cast<omen_plugin_entry_fn>(::dlsym(handle, "omen_plugin_entry"));
    plugin_ = entry ? entry(OMEN_ABI_MAJOR, OMEN_ABI_MINOR) : nullptr;
    if (!plugin_) throw Error(OMEN_INVALID_DATA, "no plugin in " + library.string());
    if (!plugin_->init) return;
    ErrorOut error;
    error.check(plugin_->init(host_in(library.parent_path()), error));
  }

  // Every figure that a plugin handed over so far, as JSON by its name.
  static std::map<std::string, std::string>& figures() {
    static std::map<std::string, std::string> all;
    return all;
  }

  const omen_plugin& c() const noexcept { return *plugin_; }
  std::vector<std::string> ids() const {
    std::vector<std::string> all;
    for (auto* at = plugin_->components; *at; ++at) all.emplace_back((*at)->id);
    return all;
  }
  const omen_component& component(const std::string& id) const {
    for (auto* at = plugin_->components; *at; ++at)
      if (id == (*at)->id) return **at;
    const auto* commands = static_cast<const omen_command_ext*>(
        plugin_->get_extension ? plugin_->get_extension(OMEN_EXT_COMMAND) : nullptr);
    for (auto* at = commands ? commands->commands : nullptr; at && *at; ++at)
      if (id == (*at)->id) return **at;
    throw Error(OMEN_NOT_FOUND, "no component " + id);
  }

 private:
  static omen_status keep_figure(const omen_host*, const omen_run*, const char* name,
                                 const char* plotly_json, ArrowArrayStream* table, omen_error*) {
    figures()[name] = plotly_json;
    if (table) table->release(table);
    return OMEN_OK;
  }
  static const void* extension(const omen_host*, const char* id) {
    static const omen_figure_ext figure = {sizeof figure, 0, keep_figure};
    return std::string_view(id) == OMEN_EXT_FIGURE ? &figure : nullptr;
  }

  // Outlives every object of the plugin, so it is given away.
  static const omen_host* host_in(const std::filesystem::path& directory) {
    struct Host {
      omen_host c{};
      std::string directory;
    };
    auto* host = new Host{{}, directory.string()};
    host->c.struct_size = sizeof host->c;
    host->c.abi_major = OMEN_ABI_MAJOR;
    host->c.abi_minor = OMEN_ABI_MINOR;
    host->c.name = "omen-test";
    host->c.version = "0";
    host->c.plugin_dir = host->directory.c_str();
    host->c.get_extension = extension;
    host->c.log_enabled = [](const omen_host*, std::int32_t) { return false; };
    host->c.log = [](const omen_host*, std::int32_t, const char*, const char*) {};
    static std::vector<std::unique_ptr<Host>>& kept = *new std::vector<std::unique_ptr<Host>>;
    kept.emplace_back(host);
    return &host->c;
  }

  const omen_plugin* plugin_ = nullptr;
};

// One object of a component, with defaults for every option that is not given.
template <class Vt>
class ObjectClient {
 public:
  explicit ObjectClient(const omen_component& component, const OptionTexts& options = {})
      : vt_(*static_cast<const Vt*>(component.vtable)) {
    OptionTexts texts;
    for (auto* at = component.options; at && *at; ++at) {
      const std::size_t before = texts.size();
      for (const auto& given : options)
        if (given.first == (*at)->key) texts.push_back(given);
      if (texts.size() == before && (*at)->default_text)
        texts.emplace_back((*at)->key, (*at)->default_text);
    }
    std::vector<omen_option> values;
    for (const auto& [key, text] : texts) values.push_back(value_of(spec_of(component, key), text));
    for (const auto& given : options) spec_of(component, given.first);
    ErrorOut error;
    error.check(vt_.create(values.data(), values.size(), &object_, error));
  }
  ~ObjectClient() { vt_.destroy(object_); }
  ObjectClient(const ObjectClient&) = delete;
  ObjectClient& operator=(const ObjectClient&) = delete;

  omen_object* object() const noexcept { return object_; }

 protected:
  template <class Call>
  static Table table_of(Call&& call) {
    ArrowArrayStream stream{};
    ErrorOut error;
    error.check(call(&stream, static_cast<omen_error*>(error)));
    return TableStream::import(&stream).read_all();
  }
  const Vt& vt_;
  omen_object* object_ = nullptr;

 private:
  static const omen_option_spec& spec_of(const omen_component& component, const std::string& key) {
    for (auto* at = component.options; at && *at; ++at)
      if (key == (*at)->key) return **at;
    throw Error(OMEN_INVALID_ARGUMENT, std::string(component.id) + " has no option " + key);
  }
  static omen_option value_of(const omen_option_spec& spec, const std::string& text) {
    omen_option value{spec.key, spec.type, 0, 0, 0, text.c_str()};
    value.r = std::strtod(text.c_str(), nullptr);
    value.i = text == "true" ? 1 : std::strtoll(text.c_str(), nullptr, 10);
    return value;
  }
};

class PredictorClient : public ObjectClient<omen_predictor_vt> {
 public:
  using ObjectClient::ObjectClient;
  void fit(const MemoryDataset& train, const ReadyRun& run, const MemoryDataset* valid = nullptr) {
    ErrorOut error;
    error.check(vt_.fit(object_, run.c(), train.c(), valid ? valid->c() : nullptr, error));
  }
  Table predict(const MemoryDataset& in, const ReadyRun& run) {
    return table_of([&](ArrowArrayStream* out, omen_error* error) {
      return vt_.predict(object_, run.c(), in.c(), out, error);
    });
  }
  MemoryArtifact save() {
    MemoryArtifact artifact;
    const omen_sink sink = artifact.sink();
    ErrorOut error;
    error.check(vt_.save(object_, &sink, error));
    return artifact;
  }
  void load(MemoryArtifact& artifact) {
    const omen_source source = artifact.source();
    ErrorOut error;
    error.check(vt_.load(object_, &source, error));
  }
};

class FrontendClient : public ObjectClient<omen_graph_frontend_vt> {
 public:
  using ObjectClient::ObjectClient;
  std::map<std::string, Table> lower(const std::filesystem::path& path, const ReadyRun& run) {
    TableCollector tables;
    ErrorOut error;
    error.check(vt_.lower(object_, run.c(), path.c_str(), tables.c(), error));
    return tables.take();
  }
};

class ProfilerClient : public ObjectClient<omen_profiler_vt> {
 public:
  using ObjectClient::ObjectClient;
  Table collect(const std::string& workload_json, const ReadyRun& run) {
    return table_of([&](ArrowArrayStream* out, omen_error* error) {
      return vt_.collect(object_, run.c(), workload_json.c_str(), out, error);
    });
  }
};

class ScorerClient : public ObjectClient<omen_scorer_vt> {
 public:
  using ObjectClient::ObjectClient;
  Table enumerate(const MemoryDataset& in, const ReadyRun& run) {
    return table_of([&](ArrowArrayStream* out, omen_error* error) {
      return vt_.enumerate(object_, run.c(), in.c(), out, error);
    });
  }
  Table score(const MemoryDataset& in, const ReadyRun& run) {
    return table_of([&](ArrowArrayStream* out, omen_error* error) {
      return vt_.score(object_, run.c(), in.c(), out, error);
    });
  }
};

class CommandClient : public ObjectClient<omen_command_vt> {
 public:
  using ObjectClient::ObjectClient;
  // The tables that it would print; an exit code other than 0 is an error.
  std::map<std::string, Table> run(const std::vector<std::string>& words, const ReadyRun& run) {
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    TableCollector tables;
    ErrorOut error;
    std::int32_t code = 0;
    error.check(
        vt_.run(object_, run.c(), arguments.data(), arguments.size(), tables.c(), &code, error));
    if (code != 0) throw Error(OMEN_INTERNAL, "it exits " + std::to_string(code));
    return tables.take();
  }
};

}  // namespace omen::test

#endif  // OMEN_TESTING_PLUGIN_CLIENT_HPP
