// SPDX-License-Identifier: Apache-2.0
// Calls between components: looks the callee up, has it opened and kept by the door that is in use,
// and bounds the depth.
#include "components/calls.hpp"

#include <memory>
#include <nlohmann/json.hpp>

#include "components/components.hpp"
#include "components/withheld.hpp"
#include "pipeline/models.hpp"
#include "pipeline/pipeline.hpp"

namespace omen::host {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxDepth = 8;

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
  const Components& door;
  ComponentRef ref;
  std::string options_json, model;

  Request(std::uint32_t kind, const char* component, const char* options, const char* wanted_model)
      : door(components_in_use()),
        ref(door.registry().component(kind, component)),
        options_json(options ? options : ""),
        model(wanted_model ? wanted_model : "") {}

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
  // A search calls the same predictor thousands of times, so objects stay with their models.
  template <class Handle, class Make>
  Lease<Handle> lease(Make&& make) const {
    return door.lease<Handle>(ref, ref.info->id + '\n' + options_json + '\n' + model, make);
  }
};

template <class Handle>
Handle with_model(Handle handle, const Request& request) {
  const std::filesystem::path model = resolve_model(request.ref, request.model);
  if (!model.empty()) load_model(handle, request.ref, model);
  return handle;
}

Lease<PredictorHandle> lease_predictor(const Request& request) {
  return request.lease<PredictorHandle>(
      [&] { return with_model(request.door.predictor(request.ref, request.options()), request); });
}

Lease<ScorerHandle> lease_scorer(const Request& request) {
  return request.lease<ScorerHandle>(
      [&] { return with_model(request.door.scorer(request.ref, request.options()), request); });
}

Lease<ProfilerHandle> lease_profiler(const Request& request) {
  return request.lease<ProfilerHandle>(
      [&] { return request.door.profiler(request.ref, request.options()); });
}

// A stream of the callee together with what it reads from; members go in reverse order, the stream
// first.
template <class Handle>
struct Running {
  std::string id;
  Lease<Handle> lease;
  std::unique_ptr<WithheldDataset> data;
  std::unique_ptr<TableStream> stream;
};

template <class Handle, class Start>
void stream_call(const Request& request, const omen_dataset* in, ArrowArrayStream* out,
                 Lease<Handle> (*lease)(const Request&), Start&& start) {
  const Frame frame(request.ref.info->id);
  auto running = std::shared_ptr<Running<Handle>>(
      new Running<Handle>{request.ref.info->id, lease(request),
                          in ? std::make_unique<WithheldDataset>(in) : nullptr, nullptr});
  running->stream = running->lease.use([&](Handle& handle) {
    return std::make_unique<TableStream>(
        start(handle, running->data ? running->data->c() : nullptr));
  });
  const Table schema = running->stream->schema();
  TableStream(schema, [running = std::move(running)] {
    const Frame reading(running->id);
    return running->lease.use([&](Handle&) { return running->stream->next(); });
  }).export_to(out);
}

std::string surest_frontend(const char* path) {
  if (!path)
    throw Error(OMEN_INVALID_ARGUMENT, "neither a front end nor a path is given",
                "Name a component that generates, or give it a path.");
  return find_frontend(components_in_use(), path).info->id;
}

omen_status call_lower(const omen_host*, const omen_run* run, const char* component,
                       const char* options, const char* path, const omen_tables_out* out,
                       omen_error* error) {
  return detail::guard(error, [&] {
    const std::string named = component && *component ? component : surest_frontend(path);
    const Request request(OMEN_GRAPH_FRONTEND, named.c_str(), options, nullptr);
    const Frame frame(request.ref.info->id);
    if (!path && !(request.ref.info->caps & OMEN_CAP_GENERATES))
      throw Error(OMEN_UNSUPPORTED, request.ref.info->id + " does not generate; it needs a file",
                  "Give it a path.");
    request.door.lease_frontend(request.ref, request.options(), path == nullptr)
        .use([&](FrontendHandle& handle) { return handle.lower(run, path, out), true; });
  });
}

omen_status call_predict(const omen_host*, const omen_run* run, const char* component,
                         const char* options, const char* model, const omen_dataset* in,
                         ArrowArrayStream* out, omen_error* error) {
  return detail::guard(error, [&] {
    stream_call<PredictorHandle>(Request(OMEN_PREDICTOR, component, options, model), in, out,
                                 lease_predictor,
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
        Request(OMEN_SCORER, component, options, model), in, out, lease_scorer,
        [run](ScorerHandle& handle, const omen_dataset* data) { return handle.score(run, data); });
  });
}

omen_status call_collect(const omen_host*, const omen_run* run, const char* component,
                         const char* options, const char* workload, ArrowArrayStream* out,
                         omen_error* error) {
  return detail::guard(error, [&] {
    stream_call<ProfilerHandle>(Request(OMEN_PROFILER, component, options, nullptr), nullptr, out,
                                lease_profiler,
                                [run, workload](ProfilerHandle& handle, const omen_dataset*) {
                                  return handle.collect(run, workload ? workload : "{}");
                                });
  });
}

}  // namespace

const omen_call_ext* call_extension() noexcept {
  static const omen_call_ext extension = {sizeof(omen_call_ext), 0,          call_lower,
                                          call_predict,          call_score, call_collect};
  return &extension;
}

}  // namespace omen::host
