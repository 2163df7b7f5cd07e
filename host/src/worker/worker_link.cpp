// SPDX-License-Identifier: Apache-2.0
// The host's side of a worker: its life, its calls and their limits.
#include "worker_link.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "components/named_errors.hpp"
#include "text/log.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using Json = exchange::Json;
using std::chrono::milliseconds;

// A process can touch about 100 MB in this time, which is how far it may overshoot its limit.
constexpr milliseconds kLinkLookEvery{20};
constexpr milliseconds kCountEvery{250};
constexpr milliseconds kCloseGrace{2000};
constexpr milliseconds kKillGrace{10000};

fs::path make_exchange_dir(const fs::path& parent) {
  std::error_code failed;
  fs::path base = parent.empty() ? fs::temp_directory_path(failed) : parent;
  if (failed) base = "/tmp";
  if (!parent.empty()) fs::create_directories(parent, failed);
  std::string pattern = (base / "omen-worker-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw Error(
        OMEN_IO,
        "cannot make a directory for a worker in " + base.string() + ": " + std::strerror(errno),
        "Set TMPDIR to a directory that you may write to.");
  return pattern;
}

std::string joined(const std::vector<fs::path>& paths) {
  std::string text;
  for (const fs::path& path : paths) text += path.string() + ":";
  if (const char* known = std::getenv("OMEN_PLUGIN_PATH")) return text + known;
  if (!text.empty()) text.pop_back();
  return text;
}

SpawnRequest spawn_request(const Manifest& plugin, const WorkerLimits& limits) {
  SpawnRequest request;
  request.program =
      limits.executable.empty() ? fs::read_symlink("/proc/self/exe") : limits.executable;
  request.arguments = {"__worker", (plugin.directory / "plugin.json").string(),
                       std::to_string(getpid())};
  request.environment = thread_environment(limits.threads);
  if (!limits.plugin_path.empty())
    request.environment.emplace_back("OMEN_PLUGIN_PATH", joined(limits.plugin_path));
  request.keeps_stdout = limits.owns_stdout;
  // The first line is worth a warning, a thousand are not.
  request.on_stdout = [id = plugin.id, warned = false](std::string_view line) mutable {
    const std::string text = "wrote to stdout: " + std::string(line);
    if (std::exchange(warned, true))
      log(OMEN_LOG_INFO, id, text);
    else
      log(OMEN_LOG_WARN, id, text + " (results belong there; " + verify_hint(id) + ")");
  };
  return request;
}

std::string megabytes(std::uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MB";
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const auto at = text.rfind('\n');
  return at == std::string::npos ? text : text.substr(at + 1);
}

Json describe_dataset(const omen_dataset& dataset) {
  Json facts = Json::object();
  if (dataset.task_hash) facts["task_hash"] = dataset.task_hash;
  if (dataset.task_json) facts["task_json"] = dataset.task_json;
  return facts;
}

std::int32_t worker_log_level() {
  for (std::int32_t level = OMEN_LOG_TRACE; level < OMEN_LOG_ERROR; ++level)
    if (log_enabled(level)) return level;
  return OMEN_LOG_ERROR;
}

}  // namespace

// A stream whose batches the worker holds back until they are asked for.
struct WorkerLink::OpenStream {
  std::shared_ptr<WorkerLink> link;
  std::uint64_t id;
  bool ended = false;

  OpenStream(std::shared_ptr<WorkerLink> owner, std::uint64_t stream)
      : link(std::move(owner)), id(stream) {}
  OpenStream(const OpenStream&) = delete;
  OpenStream& operator=(const OpenStream&) = delete;
  ~OpenStream() { link->release(id, ended); }

  Json next() {
    Json reply;
    try {
      reply = link->next_part(id);
    } catch (const Error&) {
      ended = true;
      throw;
    }
    ended = !reply.contains("part") || reply.value("last", Json()) == true;
    return reply;
  }
};

WorkerLink::WorkerLink(const Manifest& plugin, std::string component, const WorkerLimits& limits)
    : component_(std::move(component)),
      plugin_id_(plugin.id),
      version_(plugin.version),
      digest_(plugin.sha256),
      limits_(limits),
      directory_(make_exchange_dir(limits.run_dir)),
      parts_(std::make_unique<exchange::PartDirectory>(directory_, "h")) {
  try {
    child_ = std::make_unique<ChildProcess>(spawn_request(plugin, limits));
    channel_ = std::make_unique<LineChannel>(child_->channel());
    call("open", {{"log_level", worker_log_level()},
                  {"cpus", limits.cpus},
                  {"memory", limits.memory_bytes},
                  {"timeout", limits.timeout_s},
                  {"threads", limits.threads},
                  {"isolate_calls", limits.isolate_calls},
                  {"in_process_calls", limits.in_process_calls},
                  {"parts", directory_.string()}});
  } catch (...) {
    child_.reset();
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
    throw;
  }
}

WorkerLink::~WorkerLink() {
  if (!dead_ && !child_->ended()) {
    channel_->send(exchange::dump({{"op", "close"}, {"id", ++last_id_}}));
    if (!child_->wait_end(kCloseGrace))
      log(OMEN_LOG_WARN, component_, "did not end in time and was killed");
    drain_logs();
  }
  // Drivers may fall over their own threads when they are let go; nobody waits for them any more.
  if (!dead_ && child_->ended() && child_->ended_by_signal())
    log(OMEN_LOG_WARN, component_,
        "crashed after its last answer (" + child_->end_reason() + "); what it answered stands");
  child_.reset();
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

void WorkerLink::drain_logs() {
  while (child_->wait_readable(milliseconds(0)) && channel_->fill()) continue;
  while (const std::optional<std::string> line = channel_->buffered()) {
    const Json message = Json::parse(*line, nullptr, false);
    try {
      if (message.is_object() && message.value("event", Json()) == "log") handle_event(message);
    } catch (const Json::exception&) {
      continue;  // nobody waits for the rest of a worker that ends
    }
  }
}

std::uint64_t WorkerLink::peak_memory() {
  const std::lock_guard lock(mutex_);
  child_->resident();
  return child_->peak_resident();
}

std::uint64_t WorkerLink::start(const std::string& op, Json& request, CallContext context) {
  if (dead_)
    throw Error(OMEN_INVALID_STATE, component_ + " is gone: " + dead_->what(), dead_->hint(),
                dead_->details_json());
  if (busy_)
    throw Error(OMEN_INVALID_STATE,
                "host misbehaving: " + op + " of " + component_ + " called during another call");
  const std::uint64_t id = ++last_id_;
  request["op"] = op;
  request["id"] = id;
  if (context.run) request["run"] = exchange::to_json(*context.run);
  if (!context.datasets.empty()) {
    request["datasets"] = Json::array();
    for (const omen_dataset* dataset : context.datasets)
      request["datasets"].push_back(describe_dataset(*dataset));
  }
  OpenCall& call = calls_[id];
  call.given = std::move(context);
  call.op = op;
  return id;
}

Json WorkerLink::call(const std::string& op, Json request, CallContext context) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = start(op, request, std::move(context));
  struct Forget {
    WorkerLink& link;
    std::uint64_t id;
    bool keep = false;
    ~Forget() {
      if (!keep) link.calls_.erase(id);
    }
  } forget{*this, id};
  channel_->send(exchange::dump(request));  // a worker that is gone shows below
  Json reply = wait_reply(id, id, op);
  forget.keep = reply.contains("stream");
  return reply;
}

TableStream WorkerLink::stream(const std::string& op, Json request, CallContext context) {
  const Json reply = call(op, std::move(request), std::move(context));
  std::shared_ptr<OpenStream> open;
  if (reply.contains("stream")) {
    const auto id = reply["stream"].get<std::uint64_t>();
    open = std::make_shared<OpenStream>(shared_from_this(), id);
    count_received(id, reply);
  }
  return exchange::receive_parts(reply, *parts_, [open] { return open->next(); });
}

Json WorkerLink::next_part(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  Json request = {{"stream", stream}};
  const std::uint64_t id = start("next", request, {});
  calls_.erase(id);
  channel_->send(exchange::dump(request));
  Json reply = wait_reply(id, stream, "next batch");
  count_received(stream, reply);
  return reply;
}

void WorkerLink::count_received(std::uint64_t call, const Json& reply) {
  const auto known = calls_.find(call);
  const auto part = reply.find("part");
  if (known == calls_.end() || part == reply.end() || !part->is_string()) return;
  std::error_code missing;  // what is missing shows when it is read
  const auto size = fs::file_size(parts_->inside(part->get<std::string>()), missing);
  if (!missing) known->second.received += size;
}

void WorkerLink::release(std::uint64_t stream, bool ended) {
  const std::lock_guard lock(mutex_);
  try {
    if (!ended && !dead_) {
      Json request = {{"stream", stream}};
      const std::uint64_t id = start("release", request, {});
      calls_.erase(id);
      channel_->send(exchange::dump(request));
      wait_reply(id, stream, "release");
    }
  } catch (const std::exception& error) {
    log(OMEN_LOG_WARN, component_, std::string("release of a stream failed: ") + error.what());
  }
  calls_.erase(stream);
}

Json WorkerLink::wait_reply(std::uint64_t id, std::uint64_t call, const std::string& op) {
  busy_ = true;
  struct Idle {
    WorkerLink& link;
    ~Idle() { link.busy_ = false; }
  } idle{*this};
  for (;;) {
    while (const std::optional<std::string> line = channel_->buffered()) {
      std::optional<Json> reply = take_line(*line, id, op);
      if (!reply) continue;
      if (const auto error = reply->find("error"); error != reply->end() && op != "next batch")
        throw exchange::error_from(*error);
      return *std::move(reply);
    }
    // A process that it left behind may hold the socket open after its end.
    const bool readable = child_->wait_readable(kLinkLookEvery);
    if (readable ? !channel_->fill() : child_->ended()) report_death(op);
    look_after(call, op);
  }
}

void WorkerLink::look_after(std::uint64_t id, const std::string& waiting_for) {
  const auto now = Clock::now();
  if (now < next_look_) return;
  next_look_ = now + kLinkLookEvery;
  const auto known = calls_.find(id);
  if (known == calls_.end()) return;
  OpenCall& call = known->second;
  const std::string op = call.op;
  const std::uint64_t resident = child_->resident();
  if (limits_.memory_bytes > 0) {
    if (now >= next_count_) {
      next_count_ = now + kCountEvery;
      on_disk_ = parts_->bytes_of_other_side();
    }
    if (resident + call.received + on_disk_ > limits_.memory_bytes)
      end(OMEN_OUT_OF_MEMORY, Outcome::kOom, op,
          component_ + " used more than " + megabytes(limits_.memory_bytes) + " in " + op +
              " and was ended",
          "Give it more with --memory, or fewer workloads at a time.");
  }
  if (limits_.timeout_s > 0 &&
      now - call.started > std::chrono::duration<double>(limits_.timeout_s))
    end(OMEN_TIMEOUT, Outcome::kTimeout, op,
        component_ + " did not finish " + op + " within " + seconds_text(limits_.timeout_s) +
            " and was ended",
        "Give it longer with --timeout.");
  if (call.cancelled_at) {
    if (now - *call.cancelled_at > std::chrono::duration<double>(limits_.cancel_grace_s))
      end(OMEN_CANCELLED, Outcome::kFailed, op,
          component_ + " did not stop " + waiting_for + " within " +
              seconds_text(limits_.cancel_grace_s) + " and was killed",
          "");
    return;
  }
  const omen_run* run = call.given.run;
  if (!run || !run->is_cancelled || !run->is_cancelled(run)) return;
  call.cancelled_at = now;
  channel_->send(exchange::dump({{"cancel", id}}));
}

void WorkerLink::end(omen_status code, Outcome outcome, const std::string& op,
                     const std::string& message, const std::string& hint) {
  child_->kill();
  child_->wait_end(kKillGrace);
  const Json details = {
      {"outcome", word_of(outcome)}, {"call", op}, {"stderr", child_->stderr_tail()}};
  if (outcome != Outcome::kFailed)
    remember_crash(digest_, {plugin_id_, version_, component_, op, word_of(outcome), "", "", 0});
  dead_ = Error(code, message, hint, exchange::dump(details));
  throw *dead_;
}

void WorkerLink::report_death(const std::string& op) {
  // The socket closes a moment before the process can be waited for.
  if (!child_->wait_end(kCloseGrace)) child_->kill();
  child_->wait_end(kKillGrace);

  const std::string reason = child_->end_reason().empty() ? "exit 0" : child_->end_reason();
  const std::string& tail = child_->stderr_tail();
  std::string message = component_ +
                        (child_->ended_by_signal() ? " crashed in " : " ended its process in ") +
                        op + " (" + reason + ")";
  if (!last_line(tail).empty()) message += "; it last wrote: " + last_line(tail);
  const std::string hint = reason == "SIGKILL"
                               ? "The system may have run out of memory; limit it with --memory."
                               : "Tell its author, or run it in this process under a debugger.";
  if (!tail.empty()) log(OMEN_LOG_INFO, component_, "last words on stderr:\n" + tail);
  remember_crash(digest_,
                 {plugin_id_, version_, component_, op, word_of(Outcome::kCrashed), reason, "", 0});
  const Json details = {
      {"outcome", word_of(Outcome::kCrashed)}, {"signal", reason}, {"call", op}, {"stderr", tail}};
  dead_ = Error(OMEN_INTERNAL, message, hint, exchange::dump(details));
  throw *dead_;
}

std::optional<Json> WorkerLink::take_line(const std::string& line, std::uint64_t id,
                                          const std::string& op) {
  constexpr std::size_t kShown = 60;
  std::string why;
  try {
    return handle(exchange::parse(line), id);
  } catch (const Json::exception&) {
    why = "a message of another kind";
  } catch (const Error&) {
    why = "no message";
  }
  end(OMEN_INTERNAL, Outcome::kCrashed, op,
      component_ + " broke its channel to omen in " + op + " and was ended: " + why + ": " +
          line.substr(0, kShown),
      "Descriptor 3 of a worker belongs to omen; let the plugin write elsewhere.");
}

std::optional<Json> WorkerLink::handle(const Json& message, std::uint64_t id) {
  if (message.contains("reply")) {
    if (message["reply"] == id) return message;
    return std::nullopt;  // of a call that was given up
  }
  if (message.contains("event")) {
    handle_event(message);
    return std::nullopt;
  }
  Json reply;
  try {
    reply = answer(message);
  } catch (const Error& error) {
    reply = {{"error", exchange::to_json(error)}};
  } catch (const std::exception& error) {
    reply = {{"error", exchange::to_json(Error(OMEN_INTERNAL, error.what()))}};
  }
  channel_->send(exchange::dump(reply));
  return std::nullopt;
}

}  // namespace omen::host
