// SPDX-License-Identifier: Apache-2.0
// The worker's side of a link: what it is asked, and what it asks the host in turn.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "components/loader.hpp"
#include "omen/container.hpp"
#include "omen/dataset.hpp"
#include "worker/child_process.hpp"
#include "worker/exchange.hpp"
#include "worker/line_channel.hpp"

namespace omen::host {

class WorkerSession;
struct WorkerCall;

// A dataset of the host: every question about it crosses the socket.
struct AskedDataset {
  AskedDataset(WorkerCall& call, int index, const exchange::Json& facts);
  AskedDataset(const AskedDataset&) = delete;
  AskedDataset& operator=(const AskedDataset&) = delete;

  WorkerCall& call;
  int index;
  std::string task_hash, task_json;
  omen_dataset view{};
};

// What omen_run and omen_dataset of one call point to; in use until its streams are gone.
struct WorkerCall {
  WorkerCall(WorkerSession& session, const exchange::Json& request);
  WorkerCall(const WorkerCall&) = delete;
  WorkerCall& operator=(const WorkerCall&) = delete;
  const omen_dataset* dataset(std::size_t i) const {
    return i < datasets.size() ? &datasets[i].view : nullptr;
  }

  // Whether a thread of the plugin uses `what` of a call that is over; says so once. [any-thread]
  bool is_late(const char* what);

  WorkerSession& session;
  std::uint64_t id;
  std::string op;
  std::atomic<bool> cancelled{false}, over{false}, told{false};
  std::map<std::string, std::string> texts;
  std::deque<AskedDataset> datasets;
  omen_run run{};
  omen_tables_out tables{};
  std::mutex progress_mutex;
  std::chrono::steady_clock::time_point last_progress{};
  std::string last_stage;

 private:
  const char* keep(const exchange::Json& run_json, const char* key);
  void fill_run(const exchange::Json& json);
};

// A model that the host holds: tensors came in a file, metadata is asked for.
class AskedSource {
 public:
  AskedSource(WorkerSession& session, std::uint64_t call, const std::filesystem::path& file);
  AskedSource(const AskedSource&) = delete;
  AskedSource& operator=(const AskedSource&) = delete;
  const omen_source* c() const { return &view_; }

 private:
  const char* meta(const char* key);

  WorkerSession& session_;
  std::uint64_t call_;
  container::Reader reader_;
  std::map<std::string, std::string> meta_;
  omen_source view_{};
};

class WorkerSession {
 public:
  explicit WorkerSession(std::filesystem::path plugin_json)
      : channel_(kChannelFd), plugin_json_(std::move(plugin_json)) {}

  void serve();
  // Puts a question to the host and waits for its answer. [any-thread]
  exchange::Json ask(exchange::Json question);
  // Ends the process where nobody hears it: the host is gone, or the plugin closed our channel, and
  // the host would wait for ever.
  void tell(const exchange::Json& event);
  exchange::PartDirectory& parts() { return *parts_; }
  std::string component_name() const { return component_ ? component_->id : "a plugin"; }

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
  std::shared_ptr<WorkerCall> begin(const exchange::Json& request);
  exchange::Json next_request();
  exchange::Json answer(const exchange::Json& request);
  exchange::Json dispatch(const std::string& op, const exchange::Json& request);

  exchange::Json open(const exchange::Json& request);
  exchange::Json create(const exchange::Json& request);
  exchange::Json stream_call(const std::string& op, const exchange::Json& request);
  exchange::Json plain_call(const std::string& op, const exchange::Json& request);
  exchange::Json save();
  exchange::Json load(const exchange::Json& request);
  exchange::Json probe();
  exchange::Json sniff(const exchange::Json& request);
  exchange::Json run_command(const exchange::Json& request);
  exchange::Json write_graph(const exchange::Json& request);
  exchange::Json next(const exchange::Json& request);
  exchange::Json close();
  // Every table starts with the same slots.
  const omen_predictor_vt& common_slots() const {
    return *static_cast<const omen_predictor_vt*>(component_->vtable);
  }

  LineChannel channel_;
  std::filesystem::path plugin_json_;
  std::unique_ptr<exchange::PartDirectory> parts_;

  LoadedPlugin* plugin_ = nullptr;
  const omen_component* component_ = nullptr;
  omen_object* object_ = nullptr;
  // Calls that are over, for threads that should have ended with them; streams join them at last.
  std::mutex over_mutex_;
  std::deque<std::unique_ptr<WorkerCall>> over_calls_;
  std::map<std::uint64_t, OutStream> streams_;

  std::mutex mutex_;  // requests_, answers_, calls_
  std::condition_variable arrived_;
  std::deque<exchange::Json> requests_, answers_;
  std::map<std::uint64_t, std::weak_ptr<WorkerCall>> calls_;
  std::mutex ask_mutex_;  // one question at a time
};

}  // namespace omen::host
