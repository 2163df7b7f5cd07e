// SPDX-License-Identifier: Apache-2.0
// One door to components: in this process or in a worker, behind the same handles.
#include "components/components.hpp"

#include <atomic>

#include "components/loader.hpp"
#include "omen/conformance/checking_proxy.hpp"
#include "text/log.hpp"
#include "worker/machine.hpp"
#include "worker/remote.hpp"

namespace omen::host {
namespace {

LoadedPlugin& opened(const Manifest& manifest) {
  try {
    return load_plugin(manifest);
  } catch (const Error& e) {
    throw unloadable(e);
  }
}

struct LastOpened {
  std::mutex mutex;
  std::string id = "a plugin";
};
LastOpened& last_opened() {
  static auto* const last = new LastOpened;
  return *last;
}

template <class Handle, class Vt>
Handle local(const ComponentRef& ref, const OptionValues& options) {
  {
    const std::lock_guard lock(last_opened().mutex);
    last_opened().id = ref.info->id;
  }
  const Vt& vt = opened(ref.plugin->manifest).vtable<Vt>(ref.info->kind, ref.info->id);
#if OMEN_CHECK_CALLS
  static const auto findings = std::make_shared<conformance::Findings>(
      [](const conformance::Finding& finding) { log(OMEN_LOG_WARN, "omen", finding.text); });
  const auto made = conformance::checked_create(vt, {ref.info->id, ref.info->caps}, options.data(),
                                                options.size(), findings);
  return Handle(*made.vt, made.object);
#else
  return Handle(vt, options);
#endif
}

// A file on which a compiler grows without end must not take the machine along; 0: unknown.
std::uint64_t half_of_memory() {
  const Machine machine = machine_facts();
  const bool limited = machine.cgroup_memory > 0 && machine.cgroup_memory < machine.memory;
  return (limited ? machine.cgroup_memory : machine.memory) / 2;
}

std::atomic<const Components*> g_in_use{nullptr};
std::atomic<const Components*> g_usual{nullptr};

ComponentSettings& usual_settings() {
  static auto* const settings = new ComponentSettings;
  return *settings;
}

}  // namespace

Components::Components(const Registry& registry, ComponentSettings settings)
    : registry_(registry),
      settings_(std::move(settings)),
      pools_(std::make_unique<decltype(pools_)::element_type>()) {
  settings_.limits.plugin_path = registry.plugin_path();
}
Components::~Components() = default;

bool Components::isolated(const FoundPlugin& plugin) const {
  return settings_.isolate || plugin.manifest.isolation != Isolation::kDefault ||
         !(plugin.own || settings_.in_process);
}

bool Components::isolated(const ComponentRef& ref) const {
  return isolated(*ref.plugin);
}

WorkerLimits Components::limits_of(const FoundPlugin& plugin) const {
  WorkerLimits limits = settings_.limits;
  if (!plugin.own && limits.memory_bytes == 0) limits.memory_bytes = half_of_memory();
  return limits;
}

PredictorHandle Components::predictor(const ComponentRef& ref, const OptionValues& options) const {
  if (!isolated(ref)) return local<PredictorHandle, omen_predictor_vt>(ref, options);
  return remote_predictor(ref.plugin->manifest, ref.info->id, options, limits_of(*ref.plugin));
}

void Components::observe(const ComponentRef& ref, PredictorHandle& predictor, const omen_run* run,
                         const omen_dataset* measured) const {
  if (isolated(ref)) return remote_observe(predictor, run, measured);
  const omen_observe_ext& extension = opened(ref.plugin->manifest).observe_extension(ref.info->id);
  ErrorOut error;
#if OMEN_CHECK_CALLS
  error.check(conformance::checked_observe(extension, predictor.object(), run, measured, error));
#else
  error.check(extension.observe(predictor.object(), run, measured, error));
#endif
}

std::uint64_t Components::peak_memory(const ComponentRef& ref,
                                      const PredictorHandle& handle) const {
  return isolated(ref) ? remote_peak_memory(handle) : 0;
}

FrontendHandle Components::frontend(const ComponentRef& ref, const OptionValues& options,
                                    bool generates) const {
  if (!isolated(ref)) return local<FrontendHandle, omen_graph_frontend_vt>(ref, options);
  WorkerLimits limits = settings_.limits;
  if (!generates && limits.timeout_s == 0) limits.timeout_s = kFileSeconds;
  if (limits.memory_bytes == 0) limits.memory_bytes = half_of_memory();
  return remote_frontend(ref.plugin->manifest, ref.info->id, options, limits);
}

Lease<FrontendHandle> Components::lease_frontend(const ComponentRef& ref,
                                                 const OptionValues& options,
                                                 bool generates) const {
  const std::string key =
      ref.info->id + "\n" + options.canonical_json() + (generates ? "\ngenerates" : "");
  return lease<FrontendHandle>(ref, key, [&] { return frontend(ref, options, generates); });
}

void Components::drop_idle() const {
  pool<PredictorHandle>().clear();
  pool<FrontendHandle>().clear();
  pool<ProfilerHandle>().clear();
  pool<ScorerHandle>().clear();
}

std::shared_ptr<RemoteSniffer> Components::sniffer_of(const FoundPlugin& plugin) const {
  const std::lock_guard lock(sniffers_mutex_);
  std::shared_ptr<RemoteSniffer>& sniffer = sniffers_[plugin.manifest.id];
  if (sniffer) return sniffer;
  WorkerLimits limits = limits_of(plugin);
  if (limits.timeout_s == 0) limits.timeout_s = kFileSeconds;
  return sniffer = std::make_shared<RemoteSniffer>(plugin.manifest, limits);
}

ProfilerHandle Components::profiler(const ComponentRef& ref, const OptionValues& options) const {
  if (!isolated(ref)) return local<ProfilerHandle, omen_profiler_vt>(ref, options);
  return remote_profiler(ref.plugin->manifest, ref.info->id, options, limits_of(*ref.plugin));
}

ScorerHandle Components::scorer(const ComponentRef& ref, const OptionValues& options) const {
  if (!isolated(ref)) return local<ScorerHandle, omen_scorer_vt>(ref, options);
  return remote_scorer(ref.plugin->manifest, ref.info->id, options, limits_of(*ref.plugin));
}

CommandHandle Components::command(const ComponentRef& ref, const OptionValues& options) const {
  if (!isolated(ref)) return local<CommandHandle, omen_command_vt>(ref, options);
  return remote_command(ref.plugin->manifest, ref.info->id, options, limits_of(*ref.plugin));
}

int Components::sniff(const ComponentRef& ref, const std::string& input, const char* head,
                      std::size_t size) const {
  const Manifest& manifest = ref.plugin->manifest;
  if (isolated(ref)) {
    const std::string_view bytes(head, size);
    try {
      return sniffer_of(*ref.plugin)->sniff(ref.info->id, input.c_str(), bytes);
    } catch (...) {
      const std::lock_guard lock(sniffers_mutex_);
      sniffers_.erase(manifest.id);
      throw;
    }
  }
  const auto& vt = opened(manifest).vtable<omen_graph_frontend_vt>(ref.info->kind, ref.info->id);
  return vt.sniff ? vt.sniff(input.c_str(), head, size) : 0;
}

void Components::write_graph(const FoundPlugin& plugin, const omen_run* run, const omen_dataset* in,
                             const std::string& path) const {
  const Manifest& manifest = plugin.manifest;
  if (isolated(plugin))
    return remote_write_graph(manifest, run, in, path.c_str(), limits_of(plugin));
  const auto* writer =
      static_cast<const omen_graph_writer_ext*>(opened(manifest).extension(OMEN_EXT_GRAPH_WRITER));
  if (!writer)
    throw Error(OMEN_UNSUPPORTED,
                "plugin misbehaving: " + manifest.id + " lists graph formats but has no writer");
  ErrorOut error;
  error.check(writer->write(run, in, path.c_str(), error));
}

ComponentsInUse::ComponentsInUse(const Components& components)
    : before_(g_in_use.exchange(&components)) {}

ComponentsInUse::~ComponentsInUse() {
  g_in_use = before_;
}

const Components& components_in_use() {
  if (const Components* given = g_in_use) return *given;
  static const Components* const usual = [] {
    const auto* const registry = new Registry(Registry::discover({}));
    const auto* const components = new Components(*registry, usual_settings());
    g_usual = components;
    return components;
  }();
  return *usual;
}

void set_usual_settings(ComponentSettings settings) {
  usual_settings() = std::move(settings);
}

std::string last_opened_in_process() {
  const std::lock_guard lock(last_opened().mutex);
  return last_opened().id;
}

void drop_idle_components() {
  for (const auto& door : {&g_in_use, &g_usual})
    if (const Components* components = *door) components->drop_idle();
}

}  // namespace omen::host
