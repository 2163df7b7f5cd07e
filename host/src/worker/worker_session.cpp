// SPDX-License-Identifier: Apache-2.0
// Serves one component to the host that started the worker.
#include "worker/worker_session.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "components/components.hpp"
#include "omen/instrumented.hpp"
#include "text/log.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

using exchange::Json;

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
#if !OMEN_INSTRUMENTED
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
  settings.in_process = settings.limits.in_process_calls =
      request.at("in_process_calls").get<bool>();
  settings.limits.timeout_s = request.at("timeout").get<double>();
  settings.limits.memory_bytes = request.at("memory").get<std::uint64_t>();
  settings.limits.threads = request.at("threads").get<unsigned>();
  settings.limits.run_dir = request.at("parts").get<std::string>();
  return settings;
}

}  // namespace

void WorkerSession::read_messages() {
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

void WorkerSession::tell(const Json& event) {
  if (!channel_.send(exchange::dump(event))) _exit(1);
}

Json WorkerSession::ask(Json question) {
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

Json WorkerSession::next_request() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return !requests_.empty(); });
  Json request = std::move(requests_.front());
  requests_.pop_front();
  return request;
}

void WorkerSession::serve() {
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

Json WorkerSession::answer(const Json& request) {
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

Json WorkerSession::dispatch(const std::string& op, const Json& request) {
  if (op == "open") return open(request);
  if (op == "create") return create(request);
  if (op == "predict" || op == "score" || op == "enumerate" || op == "collect")
    return stream_call(op, request);
  constexpr const char* kPlain[] = {"fit", "observe", "lower"};
  if (std::find(std::begin(kPlain), std::end(kPlain), op) != std::end(kPlain))
    return plain_call(op, request);
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

Json WorkerSession::open(const Json& request) {
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

Json WorkerSession::create(const Json& request) {
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

// A call that is over is kept for a while, so that a late thread finds out instead of breaking in.
std::shared_ptr<WorkerCall> WorkerSession::begin(const Json& request) {
  constexpr std::size_t kKept = 64;
  std::shared_ptr<WorkerCall> call(new WorkerCall(*this, request), [this](WorkerCall* done) {
    done->over = true;
    const std::lock_guard lock(over_mutex_);  // the reader of messages may hold the last reference
    over_calls_.emplace_back(done);
    if (over_calls_.size() > kKept) over_calls_.pop_front();
  });
  const std::lock_guard lock(mutex_);
  calls_[call->id] = call;
  return call;
}

Json WorkerSession::stream_call(const std::string& op, const Json& request) {
  std::shared_ptr<WorkerCall> call = begin(request);
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

Json WorkerSession::next(const Json& request) {
  const auto stream = streams_.find(request.at("stream").get<std::uint64_t>());
  if (stream == streams_.end()) return {{"end", true}};
  Json reply = stream->second.source.next();
  if (!reply.contains("part") || reply.at("last").get<bool>()) streams_.erase(stream);
  return reply;
}

Json WorkerSession::plain_call(const std::string& op, const Json& request) {
  const std::shared_ptr<WorkerCall> call = begin(request);
  ErrorOut error;
  if (op == "fit") {
    error.check(vt<omen_predictor_vt>().fit(object_, &call->run, call->dataset(0), call->dataset(1),
                                            error));
  } else if (op == "lower") {
    const Json& path = request.at("path");
    const std::string text = path.is_string() ? path.get<std::string>() : std::string();
    error.check(vt<omen_graph_frontend_vt>().lower(
        object_, &call->run, path.is_string() ? text.c_str() : nullptr, &call->tables, error));
  } else {
    error.check(plugin_->observe_extension(component_->id)
                    .observe(object_, &call->run, call->dataset(0), error));
  }
  return Json::object();
}

Json WorkerSession::run_command(const Json& request) {
  const std::shared_ptr<WorkerCall> call = begin(request);
  const auto words = request.at("arguments").get<std::vector<std::string>>();
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  std::int32_t exit_code = 0;
  ErrorOut error;
  error.check(vt<omen_command_vt>().run(object_, &call->run, arguments.data(), arguments.size(),
                                        &call->tables, &exit_code, error));
  return {{"exit_code", exit_code}};
}

Json WorkerSession::write_graph(const Json& request) {
  const auto* ext =
      static_cast<const omen_graph_writer_ext*>(plugin_->extension(OMEN_EXT_GRAPH_WRITER));
  if (!ext)
    throw Error(OMEN_UNSUPPORTED, "plugin '" + plugin_->manifest().id + "' writes no graphs");
  const std::shared_ptr<WorkerCall> call = begin(request);
  const std::string path = request.at("path");
  ErrorOut error;
  error.check(ext->write(&call->run, call->dataset(0), path.c_str(), error));
  return Json::object();
}

Json WorkerSession::save() {
  container::Writer writer;
  ErrorOut error;
  error.check(vt<omen_predictor_vt>().save(object_, writer.sink(), error));
  const fs::path file = parts_->next_name(".omen");
  writer.write(file);
  return {{"file", file.filename().string()}};
}

Json WorkerSession::load(const Json& request) {
  const AskedSource source(*this, request.at("id"), parts_->inside(request.at("file")));
  ErrorOut error;
  if (component_->kind == OMEN_SCORER)
    error.check(vt<omen_scorer_vt>().load(object_, source.c(), error));
  else
    error.check(vt<omen_predictor_vt>().load(object_, source.c(), error));
  return Json::object();
}

Json WorkerSession::probe() {
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

Json WorkerSession::sniff(const Json& request) {
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

Json WorkerSession::close() {
  streams_.clear();
  if (object_) common_slots().destroy(object_);
  object_ = nullptr;
  if (plugin_) plugin_->deinit();
  return Json::object();
}

}  // namespace omen::host
