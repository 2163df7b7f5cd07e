// SPDX-License-Identifier: Apache-2.0
// One door to components: in this process or in a worker, behind the same handles.
#include "components/loader.hpp"
#include "omen/conformance/checking_proxy.hpp"
#include "pipeline/pipeline.hpp"
#include "text/log.hpp"
#include "worker/machine.hpp"
#include "worker/remote.hpp"

namespace omen::host {
namespace {

LoadedPlugin& loaded(const Manifest& manifest) {
  try {
    return load_plugin(manifest);
  } catch (const Error& e) {
    throw unloadable(e);
  }
}

template <class Handle, class Vt>
Handle local(const ComponentRef& ref, const OptionValues& options) {
  const Vt& vt = loaded(ref.plugin->manifest).vtable<Vt>(ref.info->kind, ref.info->id);
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

std::string key_of(const ComponentRef& ref, const OptionValues& options) {
  return ref.info->id + "\n" + options.canonical_json();
}

}  // namespace

Components::Components(const Registry& registry, PipelineSettings settings)
    : registry_(registry), settings_(std::move(settings)) {}
Components::~Components() = default;

bool Components::isolated(const ComponentRef& ref) const {
  return settings_.isolate || ref.plugin->manifest.isolation != "default";
}

PredictorHandle Components::predictor(const ComponentRef& ref, const OptionValues& options) const {
  if (!isolated(ref)) return local<PredictorHandle, omen_predictor_vt>(ref, options);
  return remote_predictor(ref.plugin->manifest, ref.info->id, options, settings_.limits);
}

FrontendHandle Components::frontend(const ComponentRef& ref, const OptionValues& options,
                                    bool generates) const {
  if (!isolated(ref)) return local<FrontendHandle, omen_graph_frontend_vt>(ref, options);
  WorkerLimits limits = settings_.limits;
  if (!generates && limits.timeout_s == 0) limits.timeout_s = kFileSeconds;
  if (limits.memory_bytes == 0) limits.memory_bytes = half_of_memory();
  return remote_frontend(ref.plugin->manifest, ref.info->id, options, limits);
}

std::unique_ptr<FrontendHandle> Components::take_frontend(const ComponentRef& ref,
                                                          const OptionValues& options,
                                                          bool generates) const {
  {
    const std::lock_guard lock(idle_mutex_);
    if (auto node = idle_.extract(key_of(ref, options))) return std::move(node.mapped());
  }
  return std::make_unique<FrontendHandle>(frontend(ref, options, generates));
}

void Components::keep_frontend(const ComponentRef& ref, const OptionValues& options,
                               std::unique_ptr<FrontendHandle> handle) const {
  if (!isolated(ref) || ref.info->caps & OMEN_CAP_THREAD_AFFINE) return;
  const std::lock_guard lock(idle_mutex_);
  idle_.emplace(key_of(ref, options), std::move(handle));
}

std::shared_ptr<RemoteSniffer> Components::sniffer_of(const Manifest& manifest) const {
  const std::lock_guard lock(idle_mutex_);
  std::shared_ptr<RemoteSniffer>& sniffer = sniffers_[manifest.id];
  if (!sniffer) sniffer = std::make_shared<RemoteSniffer>(manifest, settings_.limits);
  return sniffer;
}

ProfilerHandle Components::profiler(const ComponentRef& ref, const OptionValues& options) const {
  if (!isolated(ref)) return local<ProfilerHandle, omen_profiler_vt>(ref, options);
  return remote_profiler(ref.plugin->manifest, ref.info->id, options, settings_.limits);
}

ScorerHandle Components::scorer(const ComponentRef& ref, const OptionValues& options) const {
  if (!isolated(ref)) return local<ScorerHandle, omen_scorer_vt>(ref, options);
  return remote_scorer(ref.plugin->manifest, ref.info->id, options, settings_.limits);
}

CommandHandle Components::command(const ComponentRef& ref, const OptionValues& options) const {
  if (!isolated(ref)) return local<CommandHandle, omen_command_vt>(ref, options);
  return remote_command(ref.plugin->manifest, ref.info->id, options, settings_.limits);
}

int Components::sniff(const ComponentRef& ref, const std::string& input, const char* head,
                      std::size_t size) const {
  const Manifest& manifest = ref.plugin->manifest;
  if (isolated(ref)) {
    const std::string_view bytes(head, size);
    try {
      return sniffer_of(manifest)->sniff(ref.info->id, input.c_str(), bytes);
    } catch (...) {
      const std::lock_guard lock(idle_mutex_);
      sniffers_.erase(manifest.id);
      throw;
    }
  }
  const auto& vt = loaded(manifest).vtable<omen_graph_frontend_vt>(ref.info->kind, ref.info->id);
  return vt.sniff ? vt.sniff(input.c_str(), head, size) : 0;
}

void Components::write_graph(const FoundPlugin& plugin, const omen_run* run, const omen_dataset* in,
                             const std::string& path) const {
  const Manifest& manifest = plugin.manifest;
  if (settings_.isolate || manifest.isolation != "default")
    return remote_write_graph(manifest, run, in, path.c_str(), settings_.limits);
  const auto* writer =
      static_cast<const omen_graph_writer_ext*>(loaded(manifest).extension(OMEN_EXT_GRAPH_WRITER));
  if (!writer)
    throw Error(OMEN_UNSUPPORTED,
                "plugin misbehaving: " + manifest.id + " lists graph formats but has no writer");
  ErrorOut error;
  error.check(writer->write(run, in, path.c_str(), error));
}

}  // namespace omen::host
