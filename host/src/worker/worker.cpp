// SPDX-License-Identifier: Apache-2.0
// The worker's side: serves one component to the host that started it.
#include "worker/worker.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child_process.hpp"
#include "components/components.hpp"
#include "components/loader.hpp"
#include "exchange.hpp"
#include "line_channel.hpp"
#include "omen/container.hpp"
#include "omen/dataset.hpp"
#include "text/log.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using exchange::Json;
using Clock = std::chrono::steady_clock;

constexpr auto kProgressPause = std::chrono::milliseconds(50);

pid_t host_process = 0;

// The kernel also sends the death signal when only the thread that spawned us ends, so the parent
// is looked at.
void on_parent_death(int) {
  if (getppid() != host_process) _exit(1);
}

void die_with_parent(pid_t parent) {
  host_process = parent;
  struct sigaction action {};
  action.sa_handler = on_parent_death;
  action.sa_flags = SA_RESTART;
  sigaction(SIGHUP, &action, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGHUP);
  if (getppid() != parent) _exit(1);
}

void keep_to_cpus(const Json& cpus) {
  if (cpus.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const Json& cpu : cpus) CPU_SET(cpu.get<unsigned>(), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    log(OMEN_LOG_WARN, "omen",
        std::string("cannot keep the worker to its processors: ") + std::strerror(errno));
}

// The host watches the resident set; this stops a worker whose host cannot look for a while. Memory
// that is mapped but not touched counts here, hence the distance. Sanitizers map terabytes for
// themselves.
void limit_memory([[maybe_unused]] std::uint64_t bytes) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  if (bytes == 0) return;
  const rlim_t most = std::max<rlim_t>(4 * bytes, bytes + (rlim_t{8} << 30));
  const rlimit limit{most, most};
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

// What the component calls is bound as it is itself; its workers keep their files within ours, so
// that these go with it.
ComponentSettings settings_for_calls(const Json& request) {
  ComponentSettings settings;
  settings.isolate = settings.limits.isolate_calls = request.at("isolate_calls").get<bool>();
  settings.limits.timeout_s = request.at("timeout").get<double>();
  settings.limits.memory_bytes = request.at("memory").get<std::uint64_t>();
  settings.limits.threads = request.at("threads").get<unsigned>();
  settings.limits.run_dir = request.at("parts").get<std::string>();
  return settings;
}

class Session;

// A dataset of the host: every question about it crosses the socket.
struct AskedDataset {
  AskedDataset(Session& session, std::uint64_t call, int index, const Json& facts);
  AskedDataset(const AskedDataset&) = delete;
  AskedDataset& operator=(const AskedDataset&) = delete;

  Session& session;
  std::uint64_t call;
  int index;
  std::string task_hash, task_json;
  omen_dataset view{};
};

// What omen_run and omen_dataset of one call point to; lives until its streams are gone.
struct WorkerCall {
  WorkerCall(Session& session, const Json& request);
  WorkerCall(const WorkerCall&) = delete;
  WorkerCall& operator=(const WorkerCall&) = delete;
  const omen_dataset* dataset(std::size_t i) const {
    return i < datasets.size() ? &datasets[i].view : nullptr;
  }

  Session& session;
  std::uint64_t id;
  std::atomic<bool> cancelled{false};
  std::map<std::string, std::string> texts;
  std::deque<AskedDataset> datasets;
  omen_run run{};
  omen_tables_out tables{};
  std::mutex progress_mutex;
  Clock::time_point last_progress{};
  std::string last_stage;

 private:
  const char* keep(const Json& run_json, const char* key);
  void fill_run(const Json& json);
};

// A model that the host holds: tensors came in a file, metadata is asked for.
class AskedSource {
 public:
  AskedSource(Session& session, std::uint64_t call, const fs::path& file);
  AskedSource(const AskedSource&) = delete;
  AskedSource& operator=(const AskedSource&) = delete;
  const omen_source* c() const { return &view_; }

 private:
  const char* meta(const char* key);

  Session& session_;
  std::uint64_t call_;
  container::Reader reader_;
  std::map<std::string, std::string> meta_;
  omen_source view_{};
};

class Session {
 public:
  explicit Session(fs::path plugin_json)
      : channel_(kChannelFd), plugin_json_(std::move(plugin_json)) {}

  void serve();
  // Puts a question to the host and waits for its answer. [any-thread]
  Json ask(Json question);
  void tell(const Json& event) { channel_.send(exchange::dump(event)); }
  exchange::PartDirectory& parts() { return *parts_; }

 private:
  struct OutStream {
    std::shared_ptr<WorkerCall> call;
    exchange::PartSource source;
  };
  template <class Vt>
  const Vt& vt() const {
    if (!object_) throw Error(OMEN_INVALID_STATE, "worker has no object");
    return plugin_->vtable<Vt>(component_->kind, component_->id);
  }

  void read_messages();
  Json next_request();
  Json answer(const Json& request);
  Json dispatch(const std::string& op, const Json& request);

  Json open(const Json& request);
  Json create(const Json& request);
  Json stream_call(const std::string& op, const Json& request);
  Json plain_call(const std::string& op, const Json& request);
  Json save();
  Json load(const Json& request);
  Json probe();
  Json sniff(const Json& request);
  Json run_command(const Json& request);
  Json write_graph(const Json& request);
  Json next(const Json& request);
  Json close();
  // Every table starts with the same slots.
  const omen_predictor_vt& common_slots() const {
    return *static_cast<const omen_predictor_vt*>(component_->vtable);
  }

  LineChannel channel_;
  fs::path plugin_json_;
  std::unique_ptr<exchange::PartDirectory> parts_;

  LoadedPlugin* plugin_ = nullptr;
  const omen_component* component_ = nullptr;
  omen_object* object_ = nullptr;
  std::map<std::uint64_t, OutStream> streams_;

  std::mutex mutex_;  // requests_, answers_, calls_
  std::condition_variable arrived_;
  std::deque<Json> requests_, answers_;
  std::map<std::uint64_t, std::weak_ptr<WorkerCall>> calls_;
  std::mutex ask_mutex_;  // one question at a time
};

AskedDataset::AskedDataset(Session& s, std::uint64_t call_id, int i, const Json& facts)
    : session(s), call(call_id), index(i) {
  view.struct_size = sizeof view;
  view.data = this;
  if (facts.contains("task_hash")) view.task_hash = (task_hash = facts["task_hash"]).c_str();
  if (facts.contains("task_json")) view.task_json = (task_json = facts["task_json"]).c_str();
  view.rows = [](const omen_dataset* d, const char* table) -> std::int64_t {
    const auto& self = *static_cast<const AskedDataset*>(d->data);
    try {
      return self.session
          .ask({{"ask", "rows"}, {"call", self.call}, {"dataset", self.index}, {"table", table}})
          .at("rows");
    } catch (...) {
      return -1;  // unknown, which is the truth
    }
  };
  view.open = [](const omen_dataset* d, const char* table, ArrowArrayStream* out,
                 omen_error* error) -> omen_status {
    const auto& self = *static_cast<const AskedDataset*>(d->data);
    return detail::guard(error, [&] {
      const Json first = self.session.ask(
          {{"ask", "open"}, {"call", self.call}, {"dataset", self.index}, {"table", table}});
      // Tells the host when the component drops the stream before its end.
      struct Keeper {
        Session& session;
        Json stream;
        bool done;
        ~Keeper() {
          if (!done) session.tell({{"event", "release"}, {"stream", stream}});
        }
      };
      auto keeper = std::make_shared<Keeper>(self.session, first.value("stream", Json()),
                                             first.value("last", false));
      exchange::receive_parts(first, self.session.parts(), [keeper] {
        Json reply = keeper->session.ask({{"ask", "next"}, {"stream", keeper->stream}});
        keeper->done = !reply.contains("part") || reply.value("last", false);
        return reply;
      }).export_to(out);
    });
  };
}

WorkerCall::WorkerCall(Session& s, const Json& request) : session(s), id(request.at("id")) {
  int index = 0;
  for (const Json& facts : request.value("datasets", Json::array()))
    datasets.emplace_back(s, id, index++, facts);
  fill_run(request.value("run", Json::object()));
  tables.struct_size = sizeof tables;
  tables.data = this;
  tables.put = [](void* data, const char* table, ArrowArrayStream* stream,
                  omen_error* error) -> omen_status {
    auto& self = *static_cast<WorkerCall*>(data);
    return detail::guard(error, [&] {
      exchange::PartSource source(TableStream::import(stream), self.session.parts());
      Json parts = Json::array({source.first()});
      while (parts.back().contains("part") && !parts.back().at("last").get<bool>())
        parts.push_back(source.next());
      self.session.ask({{"ask", "put"}, {"call", self.id}, {"table", table}, {"parts", parts}});
    });
  };
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
    return static_cast<WorkerCall*>(r->run_data)->cancelled.load();
  };
  run.progress = [](const omen_run* r, double fraction, const char* stage) {
    auto& self = *static_cast<WorkerCall*>(r->run_data);
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
    self.session.tell({{"event", "metric"},
                       {"call", self.id},
                       {"name", name ? name : ""},
                       {"step", step},
                       {"value", exchange::number(value)}});
  };
}

AskedSource::AskedSource(Session& session, std::uint64_t call, const fs::path& file)
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

void Session::read_messages() {
  while (std::optional<std::string> line = channel_.receive()) {
    Json message = exchange::parse(*line);
    const std::lock_guard lock(mutex_);
    if (const auto cancel = message.find("cancel"); cancel != message.end()) {
      const auto call = calls_.find(cancel->get<std::uint64_t>());
      if (call == calls_.end()) continue;
      if (const auto alive = call->second.lock()) alive->cancelled = true;
      continue;
    }
    (message.contains("op") ? requests_ : answers_).push_back(std::move(message));
    arrived_.notify_all();
  }
  _exit(1);  // the host is gone, and nobody is left to answer
}

Json Session::ask(Json question) {
  const std::lock_guard one_at_a_time(ask_mutex_);
  tell(question);
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return !answers_.empty(); });
  Json answer = std::move(answers_.front());
  answers_.pop_front();
  if (const auto error = answer.find("error");
      error != answer.end() && question.at("ask") != "next")
    throw exchange::error_from(*error);
  return answer;
}

Json Session::next_request() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return !requests_.empty(); });
  Json request = std::move(requests_.front());
  requests_.pop_front();
  return request;
}

void Session::serve() {
  // Ends with the process: it waits in recv until the host closes the socket.
  std::thread([this] { read_messages(); }).detach();
  for (bool open = true; open;) {
    const Json request = next_request();
    Json reply = answer(request);
    reply["reply"] = request.at("id");
    tell(reply);
    open = request.at("op") != "close";
  }
}

Json Session::answer(const Json& request) {
  try {
    return dispatch(request.at("op").get<std::string>(), request);
  } catch (const Error& error) {
    return {{"error", exchange::to_json(error)}};
  } catch (const std::bad_alloc&) {
    return {{"error", exchange::to_json(Error(OMEN_OUT_OF_MEMORY, "out of memory"))}};
  } catch (const std::exception& error) {
    return {{"error", exchange::to_json(Error(
                          OMEN_INTERNAL,
                          std::string("plugin misbehaving: an exception crossed the boundary: ") +
                              error.what()))}};
  } catch (...) {
    return {
        {"error", exchange::to_json(Error(
                      OMEN_INTERNAL, "plugin misbehaving: an exception crossed the boundary"))}};
  }
}

Json Session::dispatch(const std::string& op, const Json& request) {
  if (op == "open") return open(request);
  if (op == "create") return create(request);
  if (op == "predict" || op == "score" || op == "enumerate" || op == "collect")
    return stream_call(op, request);
  if (op == "fit" || op == "observe" || op == "lower") return plain_call(op, request);
  if (op == "save") return save();
  if (op == "load") return load(request);
  if (op == "probe") return probe();
  if (op == "sniff") return sniff(request);
  if (op == "run") return run_command(request);
  if (op == "write_graph") return write_graph(request);
  if (op == "next") return next(request);
  if (op == "release") {
    streams_.erase(request.at("stream").get<std::uint64_t>());
    return Json::object();
  }
  if (op == "close") return close();
  throw Error(OMEN_UNSUPPORTED, "worker does not know '" + op + "'");
}

Json Session::open(const Json& request) {
  set_log_level(request.at("log_level"));
  forward_log([this](std::int32_t level, std::string_view who, std::string_view message) {
    tell({{"event", "log"}, {"level", level}, {"who", who}, {"message", message}});
  });
  keep_to_cpus(request.at("cpus"));
  limit_memory(request.at("memory").get<std::uint64_t>());
  parts_ = std::make_unique<exchange::PartDirectory>(
      fs::path(request.at("parts").get<std::string>()), "w");
  set_usual_settings(settings_for_calls(request));
  try {
    plugin_ = &load_plugin(read_manifest(plugin_json_));
  } catch (const Error& error) {
    throw unloadable(error);
  }
  return Json::object();
}

Json Session::create(const Json& request) {
  const auto kind = request.at("kind").get<std::uint32_t>();
  component_ = &plugin_->component(kind, request.at("component").get<std::string>());
  std::vector<omen_option> options;
  std::deque<std::string> texts;
  for (const Json& option : request.at("options")) {
    omen_option value{};
    value.key = texts.emplace_back(option.at("key")).c_str();
    value.type = option.at("type");
    value.i = option.at("i");
    value.r = exchange::number_from(option.at("r"));
    if (option.at("s").is_string()) value.s = texts.emplace_back(option.at("s")).c_str();
    options.push_back(value);
  }
  ErrorOut error;
  error.check(common_slots().create(options.data(), options.size(), &object_, error));
  if (!object_)
    throw Error(OMEN_INTERNAL, "plugin misbehaving: create returned OMEN_OK without an object");
  if (kind != OMEN_SCORER) return Json::object();
  return {{"enumerates", vt<omen_scorer_vt>().enumerate != nullptr},
          {"loads", vt<omen_scorer_vt>().load != nullptr}};
}

Json Session::stream_call(const std::string& op, const Json& request) {
  auto call = std::make_shared<WorkerCall>(*this, request);
  {
    const std::lock_guard lock(mutex_);
    calls_[call->id] = call;
  }
  ArrowArrayStream stream{};
  ErrorOut error;
  if (op == "predict") {
    error.check(
        vt<omen_predictor_vt>().predict(object_, &call->run, call->dataset(0), &stream, error));
  } else if (op == "score") {
    error.check(vt<omen_scorer_vt>().score(object_, &call->run, call->dataset(0), &stream, error));
  } else if (op == "enumerate") {
    error.check(
        vt<omen_scorer_vt>().enumerate(object_, &call->run, call->dataset(0), &stream, error));
  } else {
    const std::string workload = request.at("workload");
    error.check(
        vt<omen_profiler_vt>().collect(object_, &call->run, workload.c_str(), &stream, error));
  }
  if (!stream.release)
    throw Error(OMEN_INTERNAL, "plugin misbehaving: " + op + " returned OMEN_OK without a stream");
  exchange::PartSource source(TableStream::import(&stream), *parts_);
  Json reply = source.first();
  if (!reply.at("last").get<bool>()) {
    reply["stream"] = call->id;
    const std::uint64_t id = call->id;
    streams_.emplace(id, OutStream{std::move(call), std::move(source)});
  }
  return reply;
}

Json Session::next(const Json& request) {
  const auto stream = streams_.find(request.at("stream").get<std::uint64_t>());
  if (stream == streams_.end()) return {{"end", true}};
  Json reply = stream->second.source.next();
  if (!reply.contains("part") || reply.at("last").get<bool>()) streams_.erase(stream);
  return reply;
}

Json Session::plain_call(const std::string& op, const Json& request) {
  const auto call = std::make_shared<WorkerCall>(*this, request);
  {
    const std::lock_guard lock(mutex_);
    calls_[call->id] = call;
  }
  ErrorOut error;
  if (op == "fit") {
    error.check(vt<omen_predictor_vt>().fit(object_, &call->run, call->dataset(0), call->dataset(1),
                                            error));
  } else if (op == "lower") {
    const Json path = request.at("path");
    const std::string text = path.is_string() ? path.get<std::string>() : std::string();
    error.check(vt<omen_graph_frontend_vt>().lower(
        object_, &call->run, path.is_string() ? text.c_str() : nullptr, &call->tables, error));
  } else {
    const auto* ext = static_cast<const omen_observe_ext*>(plugin_->extension(OMEN_EXT_OBSERVE));
    if (!ext)
      throw Error(OMEN_UNSUPPORTED,
                  std::string(component_->id) + " does not learn from single measurements");
    error.check(ext->observe(object_, &call->run, call->dataset(0), error));
  }
  return Json::object();
}

Json Session::run_command(const Json& request) {
  const auto call = std::make_shared<WorkerCall>(*this, request);
  {
    const std::lock_guard lock(mutex_);
    calls_[call->id] = call;
  }
  const auto words = request.at("arguments").get<std::vector<std::string>>();
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  std::int32_t exit_code = 0;
  ErrorOut error;
  error.check(vt<omen_command_vt>().run(object_, &call->run, arguments.data(), arguments.size(),
                                        &call->tables, &exit_code, error));
  return {{"exit_code", exit_code}};
}

Json Session::write_graph(const Json& request) {
  const auto* ext =
      static_cast<const omen_graph_writer_ext*>(plugin_->extension(OMEN_EXT_GRAPH_WRITER));
  if (!ext)
    throw Error(OMEN_UNSUPPORTED, "plugin '" + plugin_->manifest().id + "' writes no graphs");
  const WorkerCall call(*this, request);
  const std::string path = request.at("path");
  ErrorOut error;
  error.check(ext->write(&call.run, call.dataset(0), path.c_str(), error));
  return Json::object();
}

Json Session::save() {
  container::Writer writer;
  ErrorOut error;
  error.check(vt<omen_predictor_vt>().save(object_, writer.sink(), error));
  const fs::path file = parts_->next_name(".omen");
  writer.write(file);
  return {{"file", file.filename().string()}};
}

Json Session::load(const Json& request) {
  const AskedSource source(*this, request.at("id"), parts_->inside(request.at("file")));
  ErrorOut error;
  if (component_->kind == OMEN_SCORER)
    error.check(vt<omen_scorer_vt>().load(object_, source.c(), error));
  else
    error.check(vt<omen_predictor_vt>().load(object_, source.c(), error));
  return Json::object();
}

Json Session::probe() {
  const auto& table = vt<omen_profiler_vt>();
  std::size_t length = 0;
  ErrorOut error;
  error.check(table.probe(object_, nullptr, &length, error));
  std::string json(length + 1, '\0');
  length = json.size();
  error.check(table.probe(object_, json.data(), &length, error));
  json.resize(std::min(length, json.size()));
  return {{"json", json}};
}

Json Session::sniff(const Json& request) {
  const omen_component& component =
      plugin_->component(OMEN_GRAPH_FRONTEND, request.at("component").get<std::string>());
  const auto& table = *static_cast<const omen_graph_frontend_vt*>(component.vtable);
  const std::string path = request.at("path");
  const Json& head = request.at("head");
  if (!head.is_array()) return {{"confidence", table.sniff(path.c_str(), nullptr, 0)}};
  const auto bytes = head.get<std::vector<std::uint8_t>>();
  // An empty file has a head, unlike a name that is no file.
  const void* first = bytes.empty() ? static_cast<const void*>("") : bytes.data();
  return {{"confidence", table.sniff(path.c_str(), first, bytes.size())}};
}

Json Session::close() {
  streams_.clear();
  if (object_) common_slots().destroy(object_);
  object_ = nullptr;
  if (plugin_) plugin_->deinit();
  return Json::object();
}

constexpr const char* kUnloadable = "UNLOADABLE";

// What the details of an error say about how it came about; empty where they do not.
std::string noted_outcome(const Error& error) {
  const Json details = Json::parse(error.details_json(), nullptr, false);
  if (!details.is_object()) return {};
  const auto at = details.find("outcome");
  return at != details.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

Error unloadable(const Error& error) {
  return Error(error.code(), error.what(), error.hint(),
               exchange::dump(Json{{"outcome", kUnloadable}}));
}

const char* outcome_name(Outcome outcome) noexcept {
  static constexpr const char* kNames[] = {"OK", "REFUSED", "FAILED", "CRASHED", "TIMEOUT", "OOM"};
  return kNames[static_cast<int>(outcome)];
}

Outcome outcome_of(const Error& error) noexcept {
  const std::string noted = noted_outcome(error);
  for (const Outcome outcome :
       {Outcome::kCrashed, Outcome::kTimeout, Outcome::kOom, Outcome::kFailed})
    if (noted == outcome_name(outcome)) return outcome;
  switch (error.code()) {
    case OMEN_OK:
      return Outcome::kOk;
    case OMEN_TIMEOUT:
      return Outcome::kTimeout;
    case OMEN_OUT_OF_MEMORY:
      return Outcome::kOom;
    case OMEN_INVALID_ARGUMENT:
    case OMEN_INVALID_DATA:
    case OMEN_NOT_FOUND:
    case OMEN_UNSUPPORTED:
    case OMEN_UNAVAILABLE:
      return Outcome::kRefused;
    default:
      return Outcome::kFailed;
  }
}

int exit_code_of(const Error& error) noexcept {
  if (error.code() == OMEN_CANCELLED) return 130;
  if (noted_outcome(error) == kUnloadable) return 3;
  switch (outcome_of(error)) {
    case Outcome::kCrashed:
    case Outcome::kTimeout:
    case Outcome::kOom:
      return 5;
    default:
      return error.code() == OMEN_INVALID_DATA ? 4 : 1;
  }
}

int worker_main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("error: __worker is for omen itself\n", stderr);
    return 2;
  }
  die_with_parent(static_cast<pid_t>(std::strtol(argv[3], nullptr, 10)));
  // Never destroyed: static destruction across the libraries of a plugin is not ours to order.
  auto* const session = new Session(argv[2]);
  session->serve();
  flush_log();
  std::fflush(nullptr);
  std::_Exit(0);
}

}  // namespace omen::host
