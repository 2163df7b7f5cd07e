// SPDX-License-Identifier: Apache-2.0
// The author layer: write one class, name it in OMEN_PLUGIN, and the C boundary is filled in.
//
//   class Mean final : public omen::Predictor { ... };
//   OMEN_PLUGIN("mine", "0.1.0", "Apache-2.0",
//               omen::predictor<Mean, MeanOptions>("mine.mean", "predicts the
//               mean").reads("workloads.*").writes("*"))
#ifndef OMEN_PLUGIN_HPP
#define OMEN_PLUGIN_HPP

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "omen/abi.h"
#include "omen/artifact.hpp"
#include "omen/dataset.hpp"
#include "omen/host.hpp"
#include "omen/options.hpp"
#include "omen/run.hpp"
#include "omen/table.hpp"

namespace omen {

namespace detail {
[[noreturn]] inline void unsupported(const char* what) {
  throw Error(OMEN_UNSUPPORTED, std::string("this component does not ") + what);
}
}  // namespace detail

// Learns costs and predicts them; the contract of every function stands at its slot in abi.h.
class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual void fit(const Dataset& train, const Dataset& valid, const Run& run) = 0;
  virtual TableStream predict(const Dataset& in, const Run& run) = 0;
  virtual void save(ArtifactWriter&) const { detail::unsupported("save models"); }
  virtual void load(const ArtifactReader&) { detail::unsupported("load models"); }
  virtual void observe(const Dataset&, const Run&) {
    detail::unsupported("learn from single measurements");
  }
};

class GraphFrontend {
 public:
  virtual ~GraphFrontend() = default;
  // A front end also has `static int sniff(const char* path, std::string_view head)`, which sees
  // only the name of a thing that is no file when head.data() is null. One that knows names may
  // list them: `static std::vector<std::string> names()`.
  virtual void lower(const char* path, const TablesOut& out, const Run& run) = 0;
};

class Profiler {
 public:
  virtual ~Profiler() = default;
  virtual std::string probe() = 0;
  virtual TableStream collect(const std::string& workload_json, const Run& run) = 0;
};

class Scorer {
 public:
  virtual ~Scorer() = default;
  virtual TableStream score(const Dataset& in, const Run& run) = 0;
  virtual TableStream enumerate(const Dataset&, const Run&) {
    detail::unsupported("enumerate candidates");
  }
  virtual void load(const ArtifactReader&) { detail::unsupported("load policies"); }
};

class Command {
 public:
  virtual ~Command() = default;
  // Returns the exit code.
  virtual int run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) = 0;
};

namespace detail {

template <class Base>
Base& object(omen_object* handle) {
  return *reinterpret_cast<Base*>(handle);
}

template <class Base, class Impl, class O>
omen_status create(const omen_option* options, std::size_t count, omen_object** out,
                   omen_error* error) {
  return guard(error, [&] {
    std::unique_ptr<Base> made;
    if constexpr (std::is_constructible_v<Impl, O>)
      made = std::make_unique<Impl>(OptionTable<O>::get().parse(options, count));
    else
      made = std::make_unique<Impl>();
    *out = reinterpret_cast<omen_object*>(made.release());
  });
}

template <class Base>
void destroy(omen_object* handle) {
  delete reinterpret_cast<Base*>(handle);
}

template <class Vt, class Base, class Impl, class O>
Vt common_slots() {
  Vt vt{};
  vt.struct_size = sizeof vt;
  vt.create = create<Base, Impl, O>;
  vt.destroy = destroy<Base>;
  return vt;
}

template <class Impl, class O>
const omen_predictor_vt* predictor_vt() {
  static const omen_predictor_vt table = [] {
    auto vt = common_slots<omen_predictor_vt, Predictor, Impl, O>();
    vt.fit = [](omen_object* o, const omen_run* run, const omen_dataset* train,
                const omen_dataset* valid, omen_error* e) -> omen_status {
      return guard(e, [&] { object<Predictor>(o).fit(Dataset(train), Dataset(valid), Run(run)); });
    };
    vt.predict = [](omen_object* o, const omen_run* run, const omen_dataset* in,
                    ArrowArrayStream* out, omen_error* e) -> omen_status {
      return guard(e, [&] { object<Predictor>(o).predict(Dataset(in), Run(run)).export_to(out); });
    };
    vt.save = [](omen_object* o, const omen_sink* sink, omen_error* e) -> omen_status {
      return guard(e, [&] {
        ArtifactWriter writer(sink);
        object<Predictor>(o).save(writer);
      });
    };
    vt.load = [](omen_object* o, const omen_source* source, omen_error* e) -> omen_status {
      return guard(e, [&] { object<Predictor>(o).load(ArtifactReader(source)); });
    };
    return vt;
  }();
  return &table;
}

template <class Impl, class O>
const omen_graph_frontend_vt* graph_frontend_vt() {
  static const omen_graph_frontend_vt table = [] {
    auto vt = common_slots<omen_graph_frontend_vt, GraphFrontend, Impl, O>();
    vt.sniff = [](const char* path, const void* head, std::size_t size) -> std::int32_t {
      try {
        return Impl::sniff(path, std::string_view(static_cast<const char*>(head), size));
      } catch (...) {
        return 0;
      }
    };
    vt.lower = [](omen_object* o, const omen_run* run, const char* path, const omen_tables_out* out,
                  omen_error* e) -> omen_status {
      return guard(e, [&] { object<GraphFrontend>(o).lower(path, TablesOut(out), Run(run)); });
    };
    return vt;
  }();
  return &table;
}

// Two-call sizing: copies as much as fits and always reports the full length.
inline void copy_sized(const std::string& text, char* out, std::size_t* length) {
  const std::size_t capacity = *length;
  *length = text.size();
  if (!out) return;
  if (capacity <= text.size())
    throw Error(OMEN_INVALID_ARGUMENT,
                "buffer of " + std::to_string(capacity) + " bytes is too small",
                "Ask for the length first.");
  std::memcpy(out, text.c_str(), text.size() + 1);
}

template <class Impl, class O>
const omen_profiler_vt* profiler_vt() {
  static const omen_profiler_vt table = [] {
    auto vt = common_slots<omen_profiler_vt, Profiler, Impl, O>();
    vt.probe = [](omen_object* o, char* json, std::size_t* len, omen_error* e) -> omen_status {
      return guard(e, [&] { copy_sized(object<Profiler>(o).probe(), json, len); });
    };
    vt.collect = [](omen_object* o, const omen_run* run, const char* workload,
                    ArrowArrayStream* counters, omen_error* e) -> omen_status {
      return guard(e, [&] { object<Profiler>(o).collect(workload, Run(run)).export_to(counters); });
    };
    return vt;
  }();
  return &table;
}

template <class Impl, class O>
const omen_scorer_vt* scorer_vt() {
  static const omen_scorer_vt table = [] {
    auto vt = common_slots<omen_scorer_vt, Scorer, Impl, O>();
    vt.score = [](omen_object* o, const omen_run* run, const omen_dataset* in,
                  ArrowArrayStream* out, omen_error* e) -> omen_status {
      return guard(e, [&] { object<Scorer>(o).score(Dataset(in), Run(run)).export_to(out); });
    };
    // Slots that the class does not override stay NULL, so that a host can tell without calling.
    if constexpr (!std::is_same_v<decltype(&Impl::enumerate), decltype(&Scorer::enumerate)>)
      vt.enumerate = [](omen_object* o, const omen_run* run, const omen_dataset* in,
                        ArrowArrayStream* out, omen_error* e) -> omen_status {
        return guard(e, [&] { object<Scorer>(o).enumerate(Dataset(in), Run(run)).export_to(out); });
      };
    if constexpr (!std::is_same_v<decltype(&Impl::load), decltype(&Scorer::load)>)
      vt.load = [](omen_object* o, const omen_source* source, omen_error* e) -> omen_status {
        return guard(e, [&] { object<Scorer>(o).load(ArtifactReader(source)); });
      };
    return vt;
  }();
  return &table;
}

template <class Impl, class O>
const omen_command_vt* command_vt() {
  static const omen_command_vt table = [] {
    auto vt = common_slots<omen_command_vt, Command, Impl, O>();
    vt.run = [](omen_object* o, const omen_run* run, const char* const* args, std::size_t count,
                const omen_tables_out* out, std::int32_t* exit_code, omen_error* e) -> omen_status {
      return guard(e, [&] {
        *exit_code = object<Command>(o).run(std::vector<std::string>(args, args + count),
                                            TablesOut(out), Run(run));
      });
    };
    return vt;
  }();
  return &table;
}

template <class Impl, class = void>
struct ListsNames : std::false_type {};
template <class Impl>
struct ListsNames<Impl, std::void_t<decltype(Impl::names())>> : std::true_type {};

}  // namespace detail

// Describes one component; made by predictor<>(), frontend<>(), profiler<>(), scorer<>() and
// command<>().
class Component {
 public:
  Component(std::uint32_t kind, const char* id, const char* summary,
            const omen_option_spec* const* options, const void* vtable) {
    c_.struct_size = sizeof c_;
    c_.kind = kind;
    c_.id = id;
    c_.summary = summary;
    c_.options = options;
    c_.vtable = vtable;
  }
  template <class... T>
  Component reads(T... names) && {
    reads_ = {names...};
    return std::move(*this);
  }
  template <class... T>
  Component writes(T... names) && {
    writes_ = {names...};
    return std::move(*this);
  }
  Component caps(std::uint64_t bits) && {
    c_.caps = bits;
    return std::move(*this);
  }
  Component cite(const char* reference) && {
    c_.cite = reference;
    return std::move(*this);
  }

  // Completes the C struct in place; the component must not move afterwards.
  const omen_component* finish() {
    reads_.push_back(nullptr);
    writes_.push_back(nullptr);
    c_.reads = reads_.data();
    c_.writes = writes_.data();
    return &c_;
  }
  Component observes(bool yes) && {
    observes_ = yes;
    return std::move(*this);
  }
  // What a front end knows without a file.
  Component names(std::vector<std::string> known) && {
    names_ = std::move(known);
    return std::move(*this);
  }
  std::uint32_t kind() const noexcept { return c_.kind; }
  bool observes() const noexcept { return observes_; }
  // Null where it lists none; the component must not move afterwards.
  const omen_frontend_names* finish_names() {
    if (names_.empty()) return nullptr;
    for (const std::string& name : names_) name_list_.push_back(name.c_str());
    name_list_.push_back(nullptr);
    listed_ = {c_.id, name_list_.data()};
    return &listed_;
  }

 private:
  bool observes_ = false;
  std::vector<std::string> names_;
  std::vector<const char*> name_list_;
  omen_frontend_names listed_{};
  omen_component c_{};
  std::vector<const char*> reads_, writes_;
};

template <class Impl, class O = NoOptions>
Component predictor(const char* id, const char* summary) {
  return Component(OMEN_PREDICTOR, id, summary, detail::OptionTable<O>::get().specs(),
                   detail::predictor_vt<Impl, O>())
      .observes(!std::is_same_v<decltype(&Impl::observe), decltype(&Predictor::observe)>);
}
template <class Impl, class O = NoOptions>
Component frontend(const char* id, const char* summary) {
  Component made(OMEN_GRAPH_FRONTEND, id, summary, detail::OptionTable<O>::get().specs(),
                 detail::graph_frontend_vt<Impl, O>());
  if constexpr (detail::ListsNames<Impl>::value)
    return std::move(made).names(Impl::names());
  else
    return made;
}
template <class Impl, class O = NoOptions>
Component profiler(const char* id, const char* summary) {
  return {OMEN_PROFILER, id, summary, detail::OptionTable<O>::get().specs(),
          detail::profiler_vt<Impl, O>()};
}
template <class Impl, class O = NoOptions>
Component scorer(const char* id, const char* summary) {
  return {OMEN_SCORER, id, summary, detail::OptionTable<O>::get().specs(),
          detail::scorer_vt<Impl, O>()};
}
template <class Impl, class O = NoOptions>
Component command(const char* id, const char* summary) {
  return {OMEN_COMMAND, id, summary, detail::OptionTable<O>::get().specs(),
          detail::command_vt<Impl, O>()};
}

// Further output formats of a plugin's front ends.
using GraphWriterFn = void (*)(const Dataset& in, const char* path, const Run& run);
template <GraphWriterFn write>
omen_graph_writer_ext graph_writer_ext(const char* const* suffixes) {
  omen_graph_writer_ext ext{};
  ext.struct_size = sizeof ext;
  ext.suffixes = suffixes;
  ext.write = [](const omen_run* run, const omen_dataset* in, const char* path,
                 omen_error* e) -> omen_status {
    return detail::guard(e, [&] { write(Dataset(in), path, Run(run)); });
  };
  return ext;
}
struct GraphWriter {
  omen_graph_writer_ext ext;
};
template <GraphWriterFn write, class... Suffix>
GraphWriter graph_writer(Suffix... suffixes) {
  static const char* const list[] = {suffixes..., nullptr};
  return {graph_writer_ext<write>(list)};
}

// Any further extension by its id; the struct must have static storage.
struct Extension {
  const char* id;
  const void* table;
};

namespace detail {

class PluginDescriptor {
 public:
  template <class... Part>
  PluginDescriptor(const char* id, const char* version, const char* license, Part... parts) {
    plugin_.struct_size = sizeof plugin_;
    plugin_.abi_major = OMEN_ABI_MAJOR;
    plugin_.abi_minor = OMEN_ABI_MINOR;
    plugin_.id = id;
    plugin_.version = version;
    plugin_.license = license;
    (add(std::move(parts)), ...);
    for (Component& component : parts_)
      (component.kind() == OMEN_COMMAND ? commands_ : components_).push_back(component.finish());
    if (!commands_.empty()) {
      commands_.push_back(nullptr);
      command_ext_ = {sizeof command_ext_, 0, commands_.data()};
      extensions_.push_back({OMEN_EXT_COMMAND, &command_ext_});
    }
    components_.push_back(nullptr);
    plugin_.components = components_.data();
    plugin_.init = [](const omen_host* host, omen_error*) -> omen_status {
      host_slot() = host;
      return OMEN_OK;
    };
    plugin_.deinit = [] {};
    for (Component& component : parts_)
      if (const omen_frontend_names* names = component.finish_names()) names_.push_back(names);
    if (!names_.empty()) {
      names_.push_back(nullptr);
      names_ext_ = {sizeof names_ext_, 0, names_.data()};
      extensions_.push_back({OMEN_EXT_NAMES, &names_ext_});
    }
    bool observes = false;
    for (const Component& component : parts_) observes |= component.observes();
    if (!observes) return;
    observe_ext_ = {sizeof observe_ext_, 0,
                    [](omen_object* o, const omen_run* run, const omen_dataset* measured,
                       omen_error* e) -> omen_status {
                      return guard(
                          e, [&] { object<Predictor>(o).observe(Dataset(measured), Run(run)); });
                    }};
    extensions_.push_back({OMEN_EXT_OBSERVE, &observe_ext_});
  }
  const omen_plugin* get(const void* (*get_extension)(const char*)) {
    plugin_.get_extension = get_extension;
    return &plugin_;
  }
  const void* extension(std::string_view id) const noexcept {
    for (const Extension& e : extensions_)
      if (id == e.id) return e.table;
    return nullptr;
  }

 private:
  void add(Component component) { parts_.push_back(std::move(component)); }
  void add(GraphWriter writer) {
    writer_ = writer.ext;
    extensions_.push_back({OMEN_EXT_GRAPH_WRITER, &writer_});
  }
  void add(Extension extension) { extensions_.push_back(extension); }

  omen_plugin plugin_{};
  std::deque<Component> parts_;
  std::vector<const omen_component*> components_, commands_;
  std::vector<Extension> extensions_;
  omen_command_ext command_ext_{};
  omen_observe_ext observe_ext_{};
  omen_graph_writer_ext writer_{};
  std::vector<const omen_frontend_names*> names_;
  omen_names_ext names_ext_{};
};

}  // namespace detail
}  // namespace omen

// Defines the entry function. The descriptor is built on the first call and never destroyed.
#define OMEN_PLUGIN(id, version, license, ...)                                     \
  static omen::detail::PluginDescriptor& omen_plugin_descriptor() {                \
    static auto* const descriptor =                                                \
        new omen::detail::PluginDescriptor(id, version, license, __VA_ARGS__);     \
    return *descriptor;                                                            \
  }                                                                                \
  extern "C" OMEN_EXPORT const omen_plugin* omen_plugin_entry(std::uint32_t major, \
                                                              std::uint32_t) {     \
    if (major != OMEN_ABI_MAJOR) return nullptr;                                   \
    return omen_plugin_descriptor().get([](const char* wanted) -> const void* {    \
      return omen_plugin_descriptor().extension(wanted);                           \
    });                                                                            \
  }

#endif  // OMEN_PLUGIN_HPP
