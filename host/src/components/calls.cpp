// SPDX-License-Identifier: Apache-2.0
// Calls between components: looks the callee up, keeps its object and model for the next call, and
// bounds the depth.
#include "components/calls.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "components/component.hpp"
#include "components/loader.hpp"
#include "components/withheld.hpp"
#include "pipeline/models.hpp"
#include "worker/remote.hpp"

namespace omen::host {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxDepth = 8;
constexpr std::size_t kMaxIdle = 8;

std::atomic<const Registry*> g_registry{nullptr};

const Registry& registry() {
  if (const Registry* given = g_registry) return *given;
  static const auto* const found = new Registry(Registry::discover({}));
  return *found;
}

// The components that are calling each other on this thread.
std::vector<std::string>& call_stack() {
  thread_local std::vector<std::string> stack;
  return stack;
}

class Frame {
 public:
  explicit Frame(const std::string& component) {
    std::vector<std::string>& stack = call_stack();
    if (stack.size() >= kMaxDepth) {
      std::string chain;
      for (const std::string& name : stack) chain += name + " -> ";
      throw Error(OMEN_INVALID_STATE,
                  "calls between components are nested more than " + std::to_string(kMaxDepth) +
                      " deep: " + chain + component,
                  "Let one of them stop calling the others.");
    }
    stack.push_back(component);
  }
  ~Frame() { call_stack().pop_back(); }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
};

struct Request {
  ComponentRef ref;
  std::string options_json, model;

  Request(std::uint32_t kind, const char* component, const char* options, const char* wanted_model)
      : ref(registry().component(kind, component)),
        options_json(options ? options : ""),
        model(wanted_model ? wanted_model : "") {}

  std::string key() const {
    return std::to_string(ref.info->kind) + '\n' + ref.info->id + '\n' + options_json + '\n' +
           model;
  }
  OptionValues options() const {
    OptionSources sources;
    if (!options_json.empty()) {
      const json document = json::parse(options_json, nullptr, false);
      if (!document.is_object())
        throw Error(OMEN_INVALID_ARGUMENT,
                    "options for " + ref.info->id + " are not a JSON object");
      for (const auto& [key, value] : document.items())
        for (const json& item : value.is_array() ? value : json::array({value}))
          sources.flags.emplace_back(key, item.is_string() ? item.get<std::string>() : item.dump());
    }
    return resolve_options(*ref.info, sources);
  }
  WorkerLimits limits() const {
    WorkerLimits limits;
    for (const SearchPlace& place : registry().places())
      limits.plugin_path.push_back(place.directory);
    return limits;
  }
  bool isolated() const { return ref.plugin->manifest.isolation == "worker"; }
  // A kept object would move to another thread or hold one back.
  bool may_be_kept() const { return !(ref.info->caps & OMEN_CAP_THREAD_AFFINE); }
};

template <class Handle, class Vt, class Remote>
std::unique_ptr<Handle> make_handle(const Request& request, Remote&& remote) {
  const Manifest& manifest = request.ref.plugin->manifest;
  const ComponentInfo& info = *request.ref.info;
  const OptionValues options = request.options();
  if (request.isolated())
    return std::make_unique<Handle>(remote(manifest, info.id, options, request.limits()));
  return std::make_unique<Handle>(load_plugin(manifest).vtable<Vt>(info.kind, info.id), options);
}

std::unique_ptr<PredictorHandle> make_predictor(const Request& request) {
  auto handle = make_handle<PredictorHandle, omen_predictor_vt>(request, remote_predictor);
  const std::filesystem::path model = resolve_model(request.ref, request.model);
  if (!model.empty()) load_model(*handle, request.ref, model);
  return handle;
}

std::unique_ptr<ScorerHandle> make_scorer(const Request& request) {
  auto handle = make_handle<ScorerHandle, omen_scorer_vt>(request, remote_scorer);
  const std::filesystem::path model = resolve_model(request.ref, request.model);
  if (!model.empty()) load_model(*handle, request.ref, model);
  return handle;
}

std::unique_ptr<FrontendHandle> make_frontend(const Request& request) {
  return make_handle<FrontendHandle, omen_graph_frontend_vt>(request, remote_frontend);
}

std::unique_ptr<ProfilerHandle> make_profiler(const Request& request) {
  return make_handle<ProfilerHandle, omen_profiler_vt>(request, remote_profiler);
}

// Objects that no call uses at the moment, oldest first; a search calls the same predictor
// thousands of times.
template <class Handle>
class Pool {
 public:
  static Pool& get() {
    static auto* const pool = new Pool;
    return *pool;
  }
  std::unique_ptr<Handle> take(const std::string& key) {
    const std::lock_guard lock(mutex_);
    for (auto at = idle_.begin(); at != idle_.end(); ++at) {
      if (at->first != key) continue;
      std::unique_ptr<Handle> found = std::move(at->second);
      idle_.erase(at);
      return found;
    }
    return nullptr;
  }
  void give(std::string key, std::unique_ptr<Handle> handle) {
    std::unique_ptr<Handle> oldest;  // destroyed after the lock is gone
    const std::lock_guard lock(mutex_);
    idle_.emplace_back(std::move(key), std::move(handle));
    if (idle_.size() <= kMaxIdle) return;
    oldest = std::move(idle_.front().second);
    idle_.pop_front();
  }
  void clear() {
    std::deque<std::pair<std::string, std::unique_ptr<Handle>>> gone;
    const std::lock_guard lock(mutex_);
    gone.swap(idle_);
  }

 private:
  std::mutex mutex_;
  std::deque<std::pair<std::string, std::unique_ptr<Handle>>> idle_;
};

// One object for the length of a call and of the stream that it returned.
template <class Handle>
class Lease {
 public:
  template <class Make>
  Lease(Request request, Make&& make)
      : request_(std::move(request)), handle_(Pool<Handle>::get().take(request_.key())) {
    if (!handle_) handle_ = make(request_);
  }
  ~Lease() {
    if (usable_ && request_.may_be_kept())
      Pool<Handle>::get().give(request_.key(), std::move(handle_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  const std::string& id() const noexcept { return request_.ref.info->id; }
  const ComponentInfo& info() const noexcept { return *request_.ref.info; }
  // An object that failed is not used again.
  template <class Body>
  auto use(Body&& body) {
    usable_ = false;
    auto result = body(*handle_);
    usable_ = true;
    return result;
  }

 private:
  Request request_;
  std::unique_ptr<Handle> handle_;
  bool usable_ = false;
};

// A stream of the callee together with what it reads from; members go in reverse order, the stream
// first.
template <class Handle>
struct Running {
  Lease<Handle> lease;
  std::unique_ptr<WithheldDataset> data;
  std::unique_ptr<TableStream> stream;
};

template <class Handle, class Make, class Start>
void stream_call(Request request, const omen_dataset* in, ArrowArrayStream* out, Make&& make,
                 Start&& start) {
  const Frame frame(request.ref.info->id);
  auto running = std::shared_ptr<Running<Handle>>(
      new Running<Handle>{Lease<Handle>(std::move(request), make),
                          in ? std::make_unique<WithheldDataset>(in) : nullptr, nullptr});
  running->stream = running->lease.use([&](Handle& handle) {
    return std::make_unique<TableStream>(
        start(handle, running->data ? running->data->c() : nullptr));
  });
  const Table schema = running->stream->schema();
  TableStream(schema, [running = std::move(running)] {
    const Frame reading(running->lease.id());
    return running->lease.use([&](Handle&) { return running->stream->next(); });
  }).export_to(out);
}

omen_status call_lower(const omen_host*, const omen_run* run, const char* component,
                       const char* options, const char* path, const omen_tables_out* out,
                       omen_error* error) {
  return detail::guard(error, [&] {
    Request request(OMEN_GRAPH_FRONTEND, component, options, nullptr);
    const Frame frame(request.ref.info->id);
    if (!path && !(request.ref.info->caps & OMEN_CAP_GENERATES))
      throw Error(OMEN_UNSUPPORTED, request.ref.info->id + " does not generate; it needs a file",
                  "Give it a path.");
    Lease<FrontendHandle> lease(std::move(request), make_frontend);
    lease.use([&](FrontendHandle& handle) { return handle.lower(run, path, out), true; });
  });
}

omen_status call_predict(const omen_host*, const omen_run* run, const char* component,
                         const char* options, const char* model, const omen_dataset* in,
                         ArrowArrayStream* out, omen_error* error) {
  return detail::guard(error, [&] {
    stream_call<PredictorHandle>(Request(OMEN_PREDICTOR, component, options, model), in, out,
                                 make_predictor,
                                 [run](PredictorHandle& handle, const omen_dataset* data) {
                                   return handle.predict(run, data);
                                 });
  });
}

omen_status call_score(const omen_host*, const omen_run* run, const char* component,
                       const char* options, const char* model, const omen_dataset* in,
                       ArrowArrayStream* out, omen_error* error) {
  return detail::guard(error, [&] {
    stream_call<ScorerHandle>(
        Request(OMEN_SCORER, component, options, model), in, out, make_scorer,
        [run](ScorerHandle& handle, const omen_dataset* data) { return handle.score(run, data); });
  });
}

omen_status call_collect(const omen_host*, const omen_run* run, const char* component,
                         const char* options, const char* workload, ArrowArrayStream* out,
                         omen_error* error) {
  return detail::guard(error, [&] {
    stream_call<ProfilerHandle>(Request(OMEN_PROFILER, component, options, nullptr), nullptr, out,
                                make_profiler,
                                [run, workload](ProfilerHandle& handle, const omen_dataset*) {
                                  return handle.collect(run, workload ? workload : "{}");
                                });
  });
}

}  // namespace

void use_registry_for_calls(const Registry& registry) {
  g_registry = &registry;
}

const omen_call_ext* call_extension() noexcept {
  static const omen_call_ext extension = {sizeof(omen_call_ext), 0,          call_lower,
                                          call_predict,          call_score, call_collect};
  return &extension;
}

void drop_idle_components() {
  Pool<PredictorHandle>::get().clear();
  Pool<ScorerHandle>::get().clear();
  Pool<FrontendHandle>::get().clear();
  Pool<ProfilerHandle>::get().clear();
}

}  // namespace omen::host
