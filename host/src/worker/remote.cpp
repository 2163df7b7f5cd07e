// SPDX-License-Identifier: Apache-2.0
// Tables of functions whose every slot is a call to a worker.
#include "worker/remote.hpp"

#include <cstring>
#include <utility>

#include "omen/container.hpp"
#include "worker_link.hpp"

namespace omen::host {
namespace {

using Json = exchange::Json;

struct RemoteObject {
  std::shared_ptr<WorkerLink> link;
};

WorkerLink& link_of(omen_object* object) {
  return *reinterpret_cast<RemoteObject*>(object)->link;
}

// Objects come from remote_predictor() and its kin, because create cannot say which worker is
// meant.
omen_status no_create(const omen_option*, std::size_t, omen_object**, omen_error* error) {
  return detail::fail(error, OMEN_UNSUPPORTED, "objects in a worker are made by the host");
}

void destroy(omen_object* object) {
  delete reinterpret_cast<RemoteObject*>(object);
}

CallContext inputs(const omen_run* run, const omen_dataset* first,
                   const omen_dataset* second = nullptr) {
  CallContext context;
  context.run = run;
  if (first) context.datasets.push_back(first);
  if (second) context.datasets.push_back(second);
  return context;
}

template <const char* op>
omen_status stream_slot(omen_object* object, const omen_run* run, const omen_dataset* in,
                        ArrowArrayStream* out, omen_error* error) {
  return detail::guard(
      error, [&] { link_of(object).stream(op, Json::object(), inputs(run, in)).export_to(out); });
}
constexpr char kPredict[] = "predict";
constexpr char kScore[] = "score";
constexpr char kEnumerate[] = "enumerate";

// Everything but the host's own keys, which the sink would refuse.
void replay(const container::Reader& model, const omen_sink* sink) {
  ErrorOut error;
  for (const auto& [key, value] : model.metadata())
    if (key.rfind("omen.", 0) != 0)
      error.check(sink->put_meta(sink->data, key.c_str(), value.c_str(), error));
  for (const container::Entry& entry : model.entries())
    error.check(sink->put_tensor(sink->data, entry.name.c_str(), entry.dtype.c_str(),
                                 entry.shape.data(), entry.shape.size(), model.bytes(entry),
                                 entry.end - entry.begin, error));
}

omen_status save_slot(omen_object* object, const omen_sink* sink, omen_error* error) {
  return detail::guard(error, [&] {
    WorkerLink& link = link_of(object);
    const std::filesystem::path file =
        link.parts().inside(link.call("save", Json::object()).at("file"));
    const container::Reader model = container::Reader::open(file);
    std::filesystem::remove(file);
    replay(model, sink);
  });
}

omen_status load_slot(omen_object* object, const omen_source* source, omen_error* error) {
  return detail::guard(error, [&] {
    WorkerLink& link = link_of(object);
    container::Writer writer;
    const ArtifactReader reader(source);
    for (const std::string& name : reader.names()) {
      const TensorView tensor = reader.tensor(name);
      writer.put_tensor(name, tensor.dtype, tensor.shape, tensor.bytes, tensor.size);
    }
    const std::filesystem::path file = link.parts().next_name(".omen");
    writer.write(file);
    CallContext context;
    context.source = source;
    link.call("load", {{"file", file.filename().string()}}, std::move(context));
    std::filesystem::remove(file);
  });
}

template <class Vt>
Vt common_slots() {
  Vt vt{};
  vt.struct_size = sizeof vt;
  vt.create = no_create;
  vt.destroy = destroy;
  return vt;
}

const omen_predictor_vt& predictor_vt() {
  static const omen_predictor_vt table = [] {
    auto vt = common_slots<omen_predictor_vt>();
    vt.fit = [](omen_object* object, const omen_run* run, const omen_dataset* train,
                const omen_dataset* valid, omen_error* error) -> omen_status {
      return detail::guard(
          error, [&] { link_of(object).call("fit", Json::object(), inputs(run, train, valid)); });
    };
    vt.predict = stream_slot<kPredict>;
    vt.save = save_slot;
    vt.load = load_slot;
    return vt;
  }();
  return table;
}

const omen_graph_frontend_vt& frontend_vt() {
  static const omen_graph_frontend_vt table = [] {
    auto vt = common_slots<omen_graph_frontend_vt>();
    vt.sniff = [](const char*, const void*, std::size_t) -> std::int32_t {
      return 0;
    };  // see RemoteSniffer
    vt.lower = [](omen_object* object, const omen_run* run, const char* path,
                  const omen_tables_out* out, omen_error* error) -> omen_status {
      return detail::guard(error, [&] {
        CallContext context = inputs(run, nullptr);
        context.tables = out;
        link_of(object).call("lower", {{"path", path ? Json(path) : Json(nullptr)}},
                             std::move(context));
      });
    };
    return vt;
  }();
  return table;
}

const omen_profiler_vt& profiler_vt() {
  static const omen_profiler_vt table = [] {
    auto vt = common_slots<omen_profiler_vt>();
    vt.probe = [](omen_object* object, char* json, std::size_t* length,
                  omen_error* error) -> omen_status {
      return detail::guard(error, [&] {
        const std::string text = link_of(object).call("probe", Json::object()).at("json");
        const std::size_t capacity = std::exchange(*length, text.size());
        if (!json) return;
        if (capacity <= text.size())
          throw Error(OMEN_INVALID_ARGUMENT, "buffer is too small", "Ask for the length first.");
        std::memcpy(json, text.c_str(), text.size() + 1);
      });
    };
    vt.collect = [](omen_object* object, const omen_run* run, const char* workload,
                    ArrowArrayStream* out, omen_error* error) -> omen_status {
      return detail::guard(error, [&] {
        link_of(object)
            .stream("collect", {{"workload", workload}}, inputs(run, nullptr))
            .export_to(out);
      });
    };
    return vt;
  }();
  return table;
}

// A slot that the component leaves NULL is NULL here too.
const omen_scorer_vt& scorer_vt(bool enumerates, bool loads) {
  static const auto tables = [] {
    std::array<omen_scorer_vt, 4> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = common_slots<omen_scorer_vt>();
      all[i].score = stream_slot<kScore>;
      if (i & 1) all[i].enumerate = stream_slot<kEnumerate>;
      if (i & 2) all[i].load = load_slot;
    }
    return all;
  }();
  return tables[(enumerates ? 1 : 0) + (loads ? 2 : 0)];
}

const omen_command_vt& command_vt() {
  static const omen_command_vt table = [] {
    auto vt = common_slots<omen_command_vt>();
    vt.run = [](omen_object* object, const omen_run* run, const char* const* arguments,
                std::size_t count, const omen_tables_out* out, std::int32_t* exit_code,
                omen_error* error) -> omen_status {
      return detail::guard(error, [&] {
        CallContext context = inputs(run, nullptr);
        context.tables = out;
        const std::vector<std::string> words(arguments, arguments + count);
        *exit_code =
            link_of(object).call("run", {{"arguments", words}}, std::move(context)).at("exit_code");
      });
    };
    return vt;
  }();
  return table;
}

struct Started {
  std::shared_ptr<WorkerLink> link;
  Json facts;
  omen_object* release() && {
    return reinterpret_cast<omen_object*>(new RemoteObject{std::move(link)});
  }
};

Started start(const Manifest& plugin, std::uint32_t kind, std::string_view id,
              const OptionValues& options, const WorkerLimits& limits) {
  Started started{std::make_shared<WorkerLink>(plugin, std::string(id), limits), {}};
  started.facts = started.link->call(
      "create", {{"kind", kind},
                 {"component", std::string(id)},
                 {"options", exchange::to_json(options.data(), options.size())}});
  return started;
}

}  // namespace

PredictorHandle remote_predictor(const Manifest& plugin, std::string_view id,
                                 const OptionValues& options, const WorkerLimits& limits) {
  return {predictor_vt(), start(plugin, OMEN_PREDICTOR, id, options, limits).release()};
}

FrontendHandle remote_frontend(const Manifest& plugin, std::string_view id,
                               const OptionValues& options, const WorkerLimits& limits) {
  return {frontend_vt(), start(plugin, OMEN_GRAPH_FRONTEND, id, options, limits).release()};
}

ProfilerHandle remote_profiler(const Manifest& plugin, std::string_view id,
                               const OptionValues& options, const WorkerLimits& limits) {
  return {profiler_vt(), start(plugin, OMEN_PROFILER, id, options, limits).release()};
}

ScorerHandle remote_scorer(const Manifest& plugin, std::string_view id, const OptionValues& options,
                           const WorkerLimits& limits) {
  Started started = start(plugin, OMEN_SCORER, id, options, limits);
  const omen_scorer_vt& vt = scorer_vt(started.facts.at("enumerates"), started.facts.at("loads"));
  return {vt, std::move(started).release()};
}

CommandHandle remote_command(const Manifest& plugin, std::string_view id,
                             const OptionValues& options, const WorkerLimits& limits) {
  return {command_vt(), start(plugin, OMEN_COMMAND, id, options, limits).release()};
}

RemoteSniffer::RemoteSniffer(const Manifest& plugin, const WorkerLimits& limits)
    : link_(std::make_shared<WorkerLink>(plugin, plugin.id, limits)) {}

int RemoteSniffer::sniff(std::string_view id, const char* path, std::string_view head) {
  const Json bytes =
      head.data() ? Json(std::vector<std::uint8_t>(head.begin(), head.end())) : Json(nullptr);
  return link_->call("sniff", {{"component", std::string(id)}, {"path", path}, {"head", bytes}})
      .at("confidence");
}

void remote_observe(PredictorHandle& predictor, const omen_run* run, const omen_dataset* measured) {
  link_of(predictor.object()).call("observe", Json::object(), inputs(run, measured));
}

void remote_write_graph(const Manifest& plugin, const omen_run* run, const omen_dataset* in,
                        const char* path, const WorkerLimits& limits) {
  WorkerLink link(plugin, plugin.id, limits);
  link.call("write_graph", {{"path", path}}, inputs(run, in));
}

std::uint64_t remote_peak_memory(const PredictorHandle& predictor) {
  return link_of(predictor.object()).peak_memory();
}

}  // namespace omen::host
