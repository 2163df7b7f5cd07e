// SPDX-License-Identifier: Apache-2.0
// The one door to components: it alone opens objects, and knows where they run, within which
// limits, from which places, and which of them are kept for the next call.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "components/component.hpp"
#include "components/object_pool.hpp"
#include "components/registry.hpp"
#include "components/run_context.hpp"
#include "worker/worker.hpp"

namespace omen::host {

class RemoteSniffer;

// A compiler may hang on a file, and those behind it should not wait for ever.
inline constexpr double kFileSeconds = 300;

struct ComponentSettings {
  RunSettings run;
  RunHooks hooks;
  bool isolate = false;
  bool in_process = false;  // plugins of others may run in this process, as the user said
  WorkerLimits limits;      // plugin_path comes from the registry
};

// Opens components in this process, or in a worker: where the caller or the plugin asks for it, and
// where the plugin is not part of this installation.
// [any-thread]
class Components {
 public:
  Components(const Registry& registry, ComponentSettings settings);
  ~Components();

  const Registry& registry() const noexcept { return registry_; }
  const ComponentSettings& settings() const noexcept { return settings_; }
  bool isolated(const ComponentRef& ref) const;

  PredictorHandle predictor(const ComponentRef& ref, const OptionValues& options) const;
  ProfilerHandle profiler(const ComponentRef& ref, const OptionValues& options) const;
  ScorerHandle scorer(const ComponentRef& ref, const OptionValues& options) const;
  CommandHandle command(const ComponentRef& ref, const OptionValues& options) const;
  // omen.observe/1 on a predictor of this door; OMEN_UNSUPPORTED where it does not learn so.
  void observe(const ComponentRef& ref, PredictorHandle& predictor, const omen_run* run,
               const omen_dataset* measured) const;
  // Highest resident set of the worker of this predictor in bytes; 0: it has none.
  std::uint64_t peak_memory(const ComponentRef& ref, const PredictorHandle& handle) const;
  // A worker gets kFileSeconds for each file and half of the memory unless the user says otherwise;
  // to generate workloads may take any time.
  FrontendHandle frontend(const ComponentRef& ref, const OptionValues& options,
                          bool generates) const;
  // A front end for one of many inputs: to start a worker costs more than to lower a file.
  Lease<FrontendHandle> lease_frontend(const ComponentRef& ref, const OptionValues& options,
                                       bool generates) const;
  // An object under a key that says all that `make` makes it from.
  template <class Handle, class Make>
  Lease<Handle> lease(const ComponentRef& ref, std::string key, Make&& make) const {
    // A kept object would move to another thread or hold one back.
    const bool keep = !(ref.info->caps & OMEN_CAP_THREAD_AFFINE);
    return Lease<Handle>(keep ? &pool<Handle>() : nullptr, std::move(key), make);
  }
  // Destroys the objects that are kept; before a plugin ends.
  void drop_idle() const;

  // Confidence that `input` is for this front end; head is null for a name that is no file.
  int sniff(const ComponentRef& ref, const std::string& input, const char* head,
            std::size_t size) const;
  // omen.graph-writer/1 of a plugin.
  void write_graph(const FoundPlugin& plugin, const omen_run* run, const omen_dataset* in,
                   const std::string& path) const;

 private:
  template <class... Handles>
  struct Pools : ObjectPool<Handles>... {};
  template <class Handle>
  ObjectPool<Handle>& pool() const {
    return *pools_;
  }
  bool isolated(const FoundPlugin& plugin) const;
  WorkerLimits limits_of(const FoundPlugin& plugin) const;
  std::shared_ptr<RemoteSniffer> sniffer_of(const FoundPlugin& plugin) const;

  const Registry& registry_;
  ComponentSettings settings_;
  std::unique_ptr<Pools<PredictorHandle, FrontendHandle, ProfilerHandle, ScorerHandle>> pools_;
  mutable std::mutex sniffers_mutex_;
  mutable std::map<std::string, std::shared_ptr<RemoteSniffer>> sniffers_;  // by plugin
};

// The door that this process uses where none can be handed over: in calls from one component to
// another, and for the front ends of recipes.
class ComponentsInUse {
 public:
  explicit ComponentsInUse(const Components& components);  // borrowed
  ~ComponentsInUse();                                      // what was in use before is in use again
  ComponentsInUse(const ComponentsInUse&) = delete;
  ComponentsInUse& operator=(const ComponentsInUse&) = delete;

 private:
  const Components* before_;
};
// Without one in use: plugins of the usual places, with the settings below.
const Components& components_in_use();
// For a process that serves one component; before the first call.
void set_usual_settings(ComponentSettings settings);
// The component that this process opened last without a worker, or "a plugin". [any-thread]
std::string last_opened_in_process();
// Destroys what the door in use keeps; opens none.
void drop_idle_components();

}  // namespace omen::host
