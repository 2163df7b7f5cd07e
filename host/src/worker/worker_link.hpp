// SPDX-License-Identifier: Apache-2.0
// The host's side of a worker: sends calls, answers the worker's questions, and watches time,
// memory and life.
#ifndef OMEN_HOST_SRC_WORKER_LINK_HPP
#define OMEN_HOST_SRC_WORKER_LINK_HPP

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "components/manifest.hpp"
#include "exchange.hpp"
#include "line_channel.hpp"
#include "worker/worker.hpp"

namespace omen::host {

// What the worker may ask for during a call, borrowed from the caller until the call's streams are
// released.
struct CallContext {
  const omen_run* run = nullptr;
  std::vector<const omen_dataset*> datasets;
  const omen_source* source = nullptr;
  const omen_tables_out* tables = nullptr;
};

class WorkerLink : public std::enable_shared_from_this<WorkerLink> {
 public:
  using Json = exchange::Json;

  // Starts the worker and loads the plugin there.
  WorkerLink(const Manifest& plugin, std::string component, const WorkerLimits& limits);
  ~WorkerLink();  // asks the worker to end, and insists after a while
  WorkerLink(const WorkerLink&) = delete;
  WorkerLink& operator=(const WorkerLink&) = delete;

  // One call; throws what the component reported, or what became of the worker. Calls wait for each
  // other.
  Json call(const std::string& op, Json request, CallContext context = {});
  // A call whose reply is a stream; the stream keeps the worker alive.
  TableStream stream(const std::string& op, Json request, CallContext context);

  exchange::PartDirectory& parts() noexcept { return *parts_; }
  std::uint64_t peak_memory();

 private:
  using Clock = std::chrono::steady_clock;
  struct OpenStream;
  // A call lasts until its stream is released, and its limits with it.
  struct OpenCall {
    CallContext given;
    std::string op;
    Clock::time_point started = Clock::now();
    std::optional<Clock::time_point> cancelled_at;
    std::uint64_t received = 0;  // bytes of its stream, which the host holds by now
  };

  std::uint64_t start(const std::string& op, Json& request, CallContext context);
  Json wait_reply(std::uint64_t id, std::uint64_t call, const std::string& op);
  Json next_part(std::uint64_t stream);
  void release(std::uint64_t stream, bool ended);

  std::optional<Json> take_line(const std::string& line, std::uint64_t id, const std::string& op);
  std::optional<Json> handle(const Json& message, std::uint64_t id);
  void handle_event(const Json& event);
  Json answer(const Json& question);
  Json open_table(const Json& question);
  Json put_table(const Json& question);
  CallContext& context(const Json& message);
  void count_received(std::uint64_t call, const Json& reply);

  void look_after(std::uint64_t id, const std::string& waiting_for);
  [[noreturn]] void end(omen_status code, Outcome outcome, const std::string& op,
                        const std::string& message, const std::string& hint);
  [[noreturn]] void report_death(const std::string& op);
  void drain_logs();

  std::string component_, plugin_id_, version_, digest_;
  WorkerLimits limits_;
  std::filesystem::path directory_;
  std::unique_ptr<exchange::PartDirectory> parts_;
  std::unique_ptr<ChildProcess> child_;
  std::unique_ptr<LineChannel> channel_;

  std::recursive_mutex
      mutex_;  // recursive, so that a call from within a call is an error and not a deadlock
  bool busy_ = false;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, OpenCall> calls_;
  std::map<std::uint64_t, exchange::PartSource> inputs_;
  std::optional<Error> dead_;
  Clock::time_point next_look_{}, next_count_{};
  std::uint64_t on_disk_ = 0;  // what the worker has written and the host has not taken
};

}  // namespace omen::host

#endif  // OMEN_HOST_SRC_WORKER_LINK_HPP
