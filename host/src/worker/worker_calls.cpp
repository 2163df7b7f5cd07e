// SPDX-License-Identifier: Apache-2.0
// What a component gets with a call: datasets, a model and a run that live in the host.
#include "worker/worker_session.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

using exchange::Json;
using Clock = std::chrono::steady_clock;

constexpr auto kProgressPause = std::chrono::milliseconds(50);

[[noreturn]] void throw_over(const std::string& op) {
  throw Error(OMEN_INVALID_STATE, "the call of " + op + " is over",
              "Join threads before the slot returns.");
}

}  // namespace

AskedDataset::AskedDataset(WorkerCall& of, int i, const Json& facts) : call(of), index(i) {
  view.struct_size = sizeof view;
  view.data = this;
  if (facts.contains("task_hash")) view.task_hash = (task_hash = facts["task_hash"]).c_str();
  if (facts.contains("task_json")) view.task_json = (task_json = facts["task_json"]).c_str();
  view.rows = [](const omen_dataset* d, const char* table) -> std::int64_t {
    const auto& self = *static_cast<const AskedDataset*>(d->data);
    try {
      if (self.call.is_late("a dataset")) return -1;
      return self.call.session
          .ask({{"ask", "rows"}, {"call", self.call.id}, {"dataset", self.index}, {"table", table}})
          .at("rows");
    } catch (...) {
      return -1;  // unknown, which is the truth
    }
  };
  view.open = [](const omen_dataset* d, const char* table, ArrowArrayStream* out,
                 omen_error* error) -> omen_status {
    const auto& self = *static_cast<const AskedDataset*>(d->data);
    return detail::guard(error, [&] {
      if (self.call.is_late("a dataset")) throw_over(self.call.op);
      const Json first = self.call.session.ask(
          {{"ask", "open"}, {"call", self.call.id}, {"dataset", self.index}, {"table", table}});
      // Tells the host when the component drops the stream before its end.
      struct Keeper {
        WorkerSession& session;
        Json stream;
        bool done;
        Keeper(WorkerSession& asked, Json id, bool ended)
            : session(asked), stream(std::move(id)), done(ended) {}
        ~Keeper() {
          if (!done) session.tell({{"event", "release"}, {"stream", stream}});
        }
      };
      auto keeper = std::make_shared<Keeper>(self.call.session, first.value("stream", Json()),
                                             first.value("last", false));
      exchange::receive_parts(first, self.call.session.parts(), [keeper] {
        Json reply = keeper->session.ask({{"ask", "next"}, {"stream", keeper->stream}});
        keeper->done = !reply.contains("part") || reply.value("last", false);
        return reply;
      }).export_to(out);
    });
  };
}

WorkerCall::WorkerCall(WorkerSession& s, const Json& request)
    : session(s), id(request.at("id")), op(request.at("op")) {
  int index = 0;
  for (const Json& facts : request.value("datasets", Json::array()))
    datasets.emplace_back(*this, index++, facts);
  fill_run(request.value("run", Json::object()));
  tables.struct_size = sizeof tables;
  tables.data = this;
  tables.put = [](void* data, const char* table, ArrowArrayStream* stream,
                  omen_error* error) -> omen_status {
    auto& self = *static_cast<WorkerCall*>(data);
    return detail::guard(error, [&] {
      if (self.is_late("its tables")) throw_over(self.op);
      exchange::PartSource source(TableStream::import(stream), self.session.parts());
      Json parts = Json::array({source.first()});
      while (parts.back().contains("part") && !parts.back().at("last").get<bool>())
        parts.push_back(source.next());
      self.session.ask({{"ask", "put"}, {"call", self.id}, {"table", table}, {"parts", parts}});
    });
  };
}

bool WorkerCall::is_late(const char* what) {
  if (!over) return false;
  if (!told.exchange(true))
    session.tell({{"event", "log"},
                  {"level", OMEN_LOG_WARN},
                  {"who", session.component_name()},
                  {"message", std::string("plugin misbehaving: a thread used ") + what + " of " +
                                  op + " after the call was over"}});
  return true;
}

const char* WorkerCall::keep(const Json& run_json, const char* key) {
  const auto at = run_json.find(key);
  if (at == run_json.end() || !at->is_string()) return nullptr;
  return (texts[key] = at->get<std::string>()).c_str();
}

void WorkerCall::fill_run(const Json& json) {
  run.struct_size = sizeof run;
  run.threads = json.value("threads", 0u);
  run.seed = json.value("seed", std::uint64_t{1});
  run.interval_level =
      json.contains("interval_level") ? exchange::number_from(json["interval_level"]) : 0.90;
  run.devices = keep(json, "devices");
  run.scratch_dir = keep(json, "scratch_dir");
  run.output_dir = keep(json, "output_dir");
  run.state_dir = keep(json, "state_dir");
  run.run_data = this;
  run.is_cancelled = [](const omen_run* r) {
    auto& self = *static_cast<WorkerCall*>(r->run_data);
    return self.is_late("is_cancelled") || self.cancelled.load();
  };
  run.progress = [](const omen_run* r, double fraction, const char* stage) {
    auto& self = *static_cast<WorkerCall*>(r->run_data);
    if (self.is_late("progress")) return;
    const std::string name = stage ? stage : "";
    {
      const std::lock_guard lock(self.progress_mutex);
      const auto now = Clock::now();
      if (name == self.last_stage && fraction < 1 && now - self.last_progress < kProgressPause)
        return;
      self.last_progress = now;
      self.last_stage = name;
    }
    self.session.tell({{"event", "progress"},
                       {"call", self.id},
                       {"fraction", exchange::number(fraction)},
                       {"stage", stage ? Json(name) : Json(nullptr)}});
  };
  run.metric = [](const omen_run* r, const char* name, std::int64_t step, double value) {
    auto& self = *static_cast<WorkerCall*>(r->run_data);
    if (self.is_late("metric")) return;
    self.session.tell({{"event", "metric"},
                       {"call", self.id},
                       {"name", name ? name : ""},
                       {"step", step},
                       {"value", exchange::number(value)}});
  };
}

AskedSource::AskedSource(WorkerSession& session, std::uint64_t call, const fs::path& file)
    : session_(session), call_(call), reader_(container::Reader::open(file)) {
  view_ = *reader_.source();
  view_.data = this;
  view_.get_meta = [](void* data, const char* key, const char** value,
                      omen_error* error) -> omen_status {
    return detail::guard(error, [&] { *value = static_cast<AskedSource*>(data)->meta(key); });
  };
  view_.get_tensor = [](void* data, const char* name, const char** dtype,
                        const std::int64_t** shape, std::size_t* rank, const void** bytes,
                        std::size_t* size, omen_error* error) -> omen_status {
    const omen_source* inner = static_cast<AskedSource*>(data)->reader_.source();
    return inner->get_tensor(inner->data, name, dtype, shape, rank, bytes, size, error);
  };
  view_.tensor_name = [](void* data, std::size_t index) -> const char* {
    const omen_source* inner = static_cast<AskedSource*>(data)->reader_.source();
    return inner->tensor_name(inner->data, index);
  };
}

const char* AskedSource::meta(const char* key) {
  const auto known = meta_.find(key);
  if (known != meta_.end()) return known->second.c_str();
  const Json answer = session_.ask({{"ask", "meta"}, {"call", call_}, {"key", key}});
  return (meta_[key] = answer.at("value").get<std::string>()).c_str();
}

}  // namespace omen::host
