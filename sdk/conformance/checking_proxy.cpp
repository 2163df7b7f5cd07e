// SPDX-License-Identifier: Apache-2.0
// Wraps an object of a component and names whoever breaks the contract.
#include "omen/conformance/checking_proxy.hpp"

#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <set>
#include <utility>

#include "omen/abi.h"

namespace omen::conformance {
namespace {

struct Proxy;

void note(Proxy& proxy, Rule rule, bool by_plugin, const std::string& text);

// One call of a slot: stands in for its inputs, and is over when the slot has returned and every
// stream that it gave out is released.
class Call : public std::enable_shared_from_this<Call> {
 public:
  Call(std::shared_ptr<Proxy> proxy, const char* slot, const omen_run* run);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const omen_run* run() { return real_run_ ? &run_ : nullptr; }
  const omen_dataset* dataset(const omen_dataset* real);
  const omen_tables_out* tables(const omen_tables_out* real);
  // Replaces a stream that the plugin gave out by one that watches it.
  void wrap_output(ArrowArrayStream* stream);
  void finish();  // the slot has returned
  void output_released();

 private:
  struct Input {
    Call* call;
    const omen_dataset* real;
    omen_dataset view{};
  };
  struct OpenTable {  // private_data of an input stream
    std::shared_ptr<Call> call;
    ArrowArrayStream real{};
    std::string table;
  };
  struct Output {  // private_data of an output stream
    std::shared_ptr<Call> call;
    ArrowArrayStream real{};
  };

  bool used_after(const char* what);
  void watch_input(const std::string& table, ArrowArrayStream* stream);
  void close_if_over();
  void fill_run();

  std::shared_ptr<Proxy> proxy_;
  const char* slot_;
  const omen_run* real_run_;
  omen_run run_{};
  std::deque<Input> inputs_;
  const omen_tables_out* real_tables_ = nullptr;
  omen_tables_out tables_{};

  std::mutex mutex_;  // everything below
  std::multiset<std::string> open_inputs_;
  int open_outputs_ = 0;
  bool returned_ = false;
  bool over_ = false;
};

struct Proxy {
  CheckedComponent component;
  std::shared_ptr<Findings> findings;
  const void* vt = nullptr;  // the plugin's own table
  omen_object* object = nullptr;
  void (*destroy)(omen_object*) = nullptr;
  std::mutex mutex;
  const char* running = nullptr;  // the slot that runs now
  int concurrent = 0;             // predicts at once, where that is claimed
  int open_outputs = 0;
  bool destroyed = false;
};

void note(Proxy& proxy, Rule rule, bool by_plugin, const std::string& text) {
  proxy.findings->add(rule, by_plugin, proxy.component.id + " " + text);
}

// Proxies and calls stay for a while after their end, so that late use finds them instead of freed
// memory.
class Graveyard {
 public:
  static Graveyard& get() {
    static auto* const graveyard = new Graveyard;
    return *graveyard;
  }
  void keep(std::shared_ptr<void> dead) {
    const std::lock_guard lock(mutex_);
    dead_.push_back(std::move(dead));
    if (dead_.size() > kKept) dead_.pop_front();
  }

 private:
  static constexpr std::size_t kKept = 4096;
  std::mutex mutex_;
  std::deque<std::shared_ptr<void>> dead_;
};

// Handles are pointers to the shared pointer of a proxy; it dies in the graveyard.
std::shared_ptr<Proxy>& proxy_of(omen_object* object) {
  return *reinterpret_cast<std::shared_ptr<Proxy>*>(object);
}

Call::Call(std::shared_ptr<Proxy> proxy, const char* slot, const omen_run* run)
    : proxy_(std::move(proxy)), slot_(slot), real_run_(run) {
  if (!run) return;
  if (run->struct_size < offsetof(omen_run, metric) + sizeof run->metric)
    note(*proxy_, Rule::kStructSize, false, std::string(slot) + " got an omen_run without a size");
  fill_run();
}

void Call::fill_run() {
  run_ = *real_run_;
  run_.run_data = this;
  run_.is_cancelled = [](const omen_run* run) {
    auto& self = *static_cast<Call*>(run->run_data);
    if (self.used_after("is_cancelled") || !self.real_run_->is_cancelled) return true;
    return self.real_run_->is_cancelled(self.real_run_);
  };
  run_.progress = [](const omen_run* run, double fraction, const char* stage) {
    auto& self = *static_cast<Call*>(run->run_data);
    if (self.used_after("progress")) return;
    if (std::isnan(fraction) || fraction > 1)
      note(*self.proxy_, Rule::kProgress, true,
           "reported progress " + std::to_string(fraction) + " in " + self.slot_);
    if (self.real_run_->progress) self.real_run_->progress(self.real_run_, fraction, stage);
  };
  run_.metric = [](const omen_run* run, const char* name, std::int64_t step, double value) {
    auto& self = *static_cast<Call*>(run->run_data);
    if (self.used_after("metric")) return;
    if (self.real_run_->metric) self.real_run_->metric(self.real_run_, name, step, value);
  };
}

bool Call::used_after(const char* what) {
  const std::lock_guard lock(mutex_);
  if (over_)
    note(*proxy_, Rule::kAfterTheCall, true,
         std::string("used ") + what + " of " + slot_ + " after the call was over");
  return over_;
}

const omen_dataset* Call::dataset(const omen_dataset* real) {
  if (!real) return nullptr;
  if (real->struct_size < offsetof(omen_dataset, open) + sizeof real->open)
    note(*proxy_, Rule::kStructSize, false,
         std::string(slot_) + " got an omen_dataset without a size");
  Input& input = inputs_.emplace_back(Input{this, real, *real});
  input.view.data = &input;
  input.view.rows = [](const omen_dataset* view, const char* table) -> std::int64_t {
    const auto& self = *static_cast<const Input*>(view->data);
    return self.call->used_after("a dataset") ? -1 : self.real->rows(self.real, table);
  };
  input.view.open = [](const omen_dataset* view, const char* table, ArrowArrayStream* out,
                       omen_error* error) -> omen_status {
    const auto& self = *static_cast<const Input*>(view->data);
    if (self.call->used_after("a dataset"))
      return detail::fail(error, OMEN_INVALID_STATE, "the call is over");
    const omen_status status = self.real->open(self.real, table, out, error);
    if (status == OMEN_OK) self.call->watch_input(table, out);
    return status;
  };
  return &input.view;
}

void Call::watch_input(const std::string& table, ArrowArrayStream* stream) {
  auto* open = new OpenTable{shared_from_this(), *stream, table};
  {
    const std::lock_guard lock(mutex_);
    open_inputs_.insert(table);
  }
  stream->private_data = open;
  stream->get_schema = [](ArrowArrayStream* s, ArrowSchema* out) {
    ArrowArrayStream& real = static_cast<OpenTable*>(s->private_data)->real;
    return real.get_schema(&real, out);
  };
  stream->get_next = [](ArrowArrayStream* s, ArrowArray* out) {
    ArrowArrayStream& real = static_cast<OpenTable*>(s->private_data)->real;
    return real.get_next(&real, out);
  };
  stream->get_last_error = [](ArrowArrayStream* s) {
    ArrowArrayStream& real = static_cast<OpenTable*>(s->private_data)->real;
    return real.get_last_error(&real);
  };
  stream->release = [](ArrowArrayStream* s) {
    const std::unique_ptr<OpenTable> open(static_cast<OpenTable*>(s->private_data));
    open->real.release(&open->real);
    s->release = nullptr;
    const std::lock_guard lock(open->call->mutex_);
    const auto at = open->call->open_inputs_.find(open->table);
    if (at != open->call->open_inputs_.end()) open->call->open_inputs_.erase(at);
  };
}

const omen_tables_out* Call::tables(const omen_tables_out* real) {
  if (!real) return nullptr;
  real_tables_ = real;
  tables_ = *real;
  tables_.data = this;
  tables_.put = [](void* data, const char* table, ArrowArrayStream* stream,
                   omen_error* error) -> omen_status {
    auto& self = *static_cast<Call*>(data);
    if (!stream || !stream->release) {
      note(*self.proxy_, Rule::kNoStream, true,
           std::string("put table '") + (table ? table : "") + "' without a stream");
      return detail::fail(error, OMEN_INVALID_ARGUMENT, "stream was not filled");
    }
    if (self.used_after("tables")) {
      stream->release(stream);
      return detail::fail(error, OMEN_INVALID_STATE, "the call is over");
    }
    return self.real_tables_->put(self.real_tables_->data, table, stream, error);
  };
  return &tables_;
}

void Call::wrap_output(ArrowArrayStream* stream) {
  auto* output = new Output{shared_from_this(), *stream};
  {
    const std::lock_guard lock(mutex_);
    ++open_outputs_;
  }
  {
    const std::lock_guard lock(proxy_->mutex);
    ++proxy_->open_outputs;
  }
  stream->private_data = output;
  stream->get_schema = [](ArrowArrayStream* s, ArrowSchema* out) {
    ArrowArrayStream& real = static_cast<Output*>(s->private_data)->real;
    return real.get_schema(&real, out);
  };
  stream->get_next = [](ArrowArrayStream* s, ArrowArray* out) {
    auto& self = *static_cast<Output*>(s->private_data);
    *out = ArrowArray{};
    const int code = self.real.get_next(&self.real, out);
    if (code == 0) return 0;
    Proxy& proxy = *self.call->proxy_;
    if (out->release)
      note(proxy, Rule::kOutOnFailure, true,
           std::string("filled a batch of ") + self.call->slot_ + " although its stream failed");
    const char* text = self.real.get_last_error ? self.real.get_last_error(&self.real) : nullptr;
    if (!text || !*text)
      note(proxy, Rule::kErrorText, true,
           std::string("failed in the stream of ") + self.call->slot_ + " without a message");
    return code;
  };
  stream->get_last_error = [](ArrowArrayStream* s) -> const char* {
    ArrowArrayStream& real = static_cast<Output*>(s->private_data)->real;
    return real.get_last_error ? real.get_last_error(&real) : nullptr;
  };
  stream->release = [](ArrowArrayStream* s) {
    const std::unique_ptr<Output> self(static_cast<Output*>(s->private_data));
    self->real.release(&self->real);
    s->release = nullptr;
    if (self->real.release)
      note(*self->call->proxy_, Rule::kStreamNotReleased, true,
           std::string("did not mark the stream of ") + self->call->slot_ + " as released");
    self->call->output_released();
  };
}

void Call::output_released() {
  {
    const std::lock_guard lock(proxy_->mutex);
    --proxy_->open_outputs;
  }
  const std::lock_guard lock(mutex_);
  --open_outputs_;
  close_if_over();
}

void Call::finish() {
  {
    const std::lock_guard lock(mutex_);
    returned_ = true;
    close_if_over();
  }
  Graveyard::get().keep(shared_from_this());
}

void Call::close_if_over() {
  if (!returned_ || open_outputs_ > 0 || over_) return;
  over_ = true;
  for (const std::string& table : open_inputs_)
    note(*proxy_, Rule::kStreamNotReleased, true,
         std::string("left a stream of '") + table + "' open after " + slot_);
}

// Marks a slot as running; two at once are the host's fault.
class Turn {
 public:
  Turn(Proxy& proxy, const char* slot) : proxy_(proxy) {
    const std::lock_guard lock(proxy_.mutex);
    const bool shared = std::string_view(slot) == "predict" &&
                        (proxy.component.caps & OMEN_CAP_CONCURRENT_PREDICT) != 0;
    if (proxy_.destroyed)
      note(proxy_, Rule::kDestroy, false, std::string("had ") + slot + " called after destroy");
    if (proxy_.running && !(shared && proxy_.concurrent > 0))
      note(proxy_, Rule::kSerial, false,
           std::string("had ") + slot + " called during " + proxy_.running);
    if (shared) ++proxy_.concurrent;
    shared_ = shared;
    proxy_.running = slot;
  }
  ~Turn() {
    const std::lock_guard lock(proxy_.mutex);
    if (shared_) --proxy_.concurrent;
    if (!shared_ || proxy_.concurrent == 0) proxy_.running = nullptr;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Proxy& proxy_;
  bool shared_ = false;
};

void judge_error(Proxy& proxy, const char* slot, omen_status status, const omen_error* error) {
  if (status < OMEN_OK || status > OMEN_INTERNAL)
    note(proxy, Rule::kErrorText, true,
         std::string("returned status ") + std::to_string(status) + " from " + slot);
  if (!error) return;
  if (status == OMEN_OK && error->release)
    note(proxy, Rule::kErrorText, true, std::string("returned OMEN_OK and an error from ") + slot);
  if (status != OMEN_OK && (!error->message || !*error->message))
    note(proxy, Rule::kErrorText, true, std::string("failed in ") + slot + " without a message");
}

// Runs one slot of the plugin. An exception that gets out becomes a finding and OMEN_INTERNAL.
template <class Body>
omen_status run_slot(Proxy& proxy, const char* slot, omen_error* error, Body&& body) {
  const Turn turn(proxy, slot);
  ErrorOut spare;  // what the plugin says is judged even where the caller does not want it
  omen_error* out = error ? error : static_cast<omen_error*>(spare);
  std::string thrown;
  try {
    const omen_status status = body(out);
    judge_error(proxy, slot, status, out);
    return status;
  } catch (const std::exception& e) {
    thrown = e.what();
  } catch (...) {
    thrown = "of unknown type";
  }
  const std::string text =
      std::string("let an exception cross the boundary in ") + slot + ": " + thrown;
  note(proxy, Rule::kException, true, text);
  return detail::fail(error, OMEN_INTERNAL,
                      "plugin misbehaving: " + proxy.component.id + " " + text);
}

void judge_stream(Proxy& proxy, const char* slot, omen_status status, Call& call,
                  ArrowArrayStream* filled, ArrowArrayStream* out) {
  if (status != OMEN_OK) {
    if (filled->release)
      note(proxy, Rule::kOutOnFailure, true,
           std::string("failed in ") + slot + " but filled its stream");
    return;
  }
  if (!filled->release) {
    note(proxy, Rule::kNoStream, true,
         std::string("returned OMEN_OK from ") + slot + " without a stream");
    return;
  }
  *out = *filled;
  call.wrap_output(out);
}

// A slot that reads a dataset and fills a stream.
template <class Vt, auto slot>
omen_status stream_slot(omen_object* object, const char* name, const omen_run* run,
                        const omen_dataset* in, ArrowArrayStream* out, omen_error* error) {
  const std::shared_ptr<Proxy> proxy = proxy_of(object);
  const auto call = std::make_shared<Call>(proxy, name, run);
  ArrowArrayStream filled{};
  const omen_status status = run_slot(*proxy, name, error, [&](omen_error* e) {
    return (static_cast<const Vt*>(proxy->vt)->*slot)(proxy->object, call->run(), call->dataset(in),
                                                      &filled, e);
  });
  judge_stream(*proxy, name, status, *call, &filled, out);
  call->finish();
  return status;
}

void destroy_proxy(omen_object* handle) {
  if (!handle) return;
  const std::shared_ptr<Proxy> proxy = proxy_of(handle);
  {
    const std::lock_guard lock(proxy->mutex);
    if (proxy->running)
      note(*proxy, Rule::kSerial, false, std::string("was destroyed during ") + proxy->running);
    if (proxy->destroyed) {
      note(*proxy, Rule::kDestroy, false, "was destroyed twice");
      return;
    }
    if (proxy->open_outputs > 0)
      note(*proxy, Rule::kDestroy, false, "was destroyed while one of its streams was open");
    proxy->destroyed = true;
  }
  try {
    proxy->destroy(proxy->object);
  } catch (...) {
    note(*proxy, Rule::kException, true, "let an exception cross the boundary in destroy");
  }
  Graveyard::get().keep(
      std::shared_ptr<void>(reinterpret_cast<std::shared_ptr<Proxy>*>(handle),
                            [](void* p) { delete static_cast<std::shared_ptr<Proxy>*>(p); }));
}

omen_status no_create(const omen_option*, std::size_t, omen_object**, omen_error* error) {
  return detail::fail(error, OMEN_UNSUPPORTED, "checked objects come from checked_create");
}

template <class Vt>
Vt common_slots() {
  Vt vt{};
  vt.struct_size = sizeof vt;
  vt.create = no_create;
  vt.destroy = destroy_proxy;
  return vt;
}

template <class Vt>
const Vt& inner(const Proxy& proxy) {
  return *static_cast<const Vt*>(proxy.vt);
}

const omen_predictor_vt& checking_table(const omen_predictor_vt&) {
  static const omen_predictor_vt table = [] {
    auto vt = common_slots<omen_predictor_vt>();
    vt.fit = [](omen_object* object, const omen_run* run, const omen_dataset* train,
                const omen_dataset* valid, omen_error* error) -> omen_status {
      const std::shared_ptr<Proxy> proxy = proxy_of(object);
      const auto call = std::make_shared<Call>(proxy, "fit", run);
      const omen_status status = run_slot(*proxy, "fit", error, [&](omen_error* e) {
        return inner<omen_predictor_vt>(*proxy).fit(proxy->object, call->run(),
                                                    call->dataset(train), call->dataset(valid), e);
      });
      call->finish();
      return status;
    };
    vt.predict = [](omen_object* object, const omen_run* run, const omen_dataset* in,
                    ArrowArrayStream* out, omen_error* error) -> omen_status {
      return stream_slot<omen_predictor_vt, &omen_predictor_vt::predict>(object, "predict", run, in,
                                                                         out, error);
    };
    vt.save = [](omen_object* object, const omen_sink* sink, omen_error* error) -> omen_status {
      const std::shared_ptr<Proxy> proxy = proxy_of(object);
      return run_slot(*proxy, "save", error, [&](omen_error* e) {
        return inner<omen_predictor_vt>(*proxy).save(proxy->object, sink, e);
      });
    };
    vt.load = [](omen_object* object, const omen_source* source, omen_error* error) -> omen_status {
      const std::shared_ptr<Proxy> proxy = proxy_of(object);
      return run_slot(*proxy, "load", error, [&](omen_error* e) {
        return inner<omen_predictor_vt>(*proxy).load(proxy->object, source, e);
      });
    };
    return vt;
  }();
  return table;
}

const omen_graph_frontend_vt& checking_table(const omen_graph_frontend_vt&) {
  static const omen_graph_frontend_vt table = [] {
    auto vt = common_slots<omen_graph_frontend_vt>();
    vt.sniff = [](const char*, const void*, std::size_t) -> std::int32_t { return 0; };
    vt.lower = [](omen_object* object, const omen_run* run, const char* path,
                  const omen_tables_out* out, omen_error* error) -> omen_status {
      const std::shared_ptr<Proxy> proxy = proxy_of(object);
      const auto call = std::make_shared<Call>(proxy, "lower", run);
      const omen_status status = run_slot(*proxy, "lower", error, [&](omen_error* e) {
        return inner<omen_graph_frontend_vt>(*proxy).lower(proxy->object, call->run(), path,
                                                           call->tables(out), e);
      });
      call->finish();
      return status;
    };
    return vt;
  }();
  return table;
}

const omen_profiler_vt& checking_table(const omen_profiler_vt&) {
  static const omen_profiler_vt table = [] {
    auto vt = common_slots<omen_profiler_vt>();
    vt.probe = [](omen_object* object, char* json, std::size_t* length,
                  omen_error* error) -> omen_status {
      const std::shared_ptr<Proxy> proxy = proxy_of(object);
      return run_slot(*proxy, "probe", error, [&](omen_error* e) {
        return inner<omen_profiler_vt>(*proxy).probe(proxy->object, json, length, e);
      });
    };
    vt.collect = [](omen_object* object, const omen_run* run, const char* workload,
                    ArrowArrayStream* out, omen_error* error) -> omen_status {
      const std::shared_ptr<Proxy> proxy = proxy_of(object);
      const auto call = std::make_shared<Call>(proxy, "collect", run);
      ArrowArrayStream filled{};
      const omen_status status = run_slot(*proxy, "collect", error, [&](omen_error* e) {
        return inner<omen_profiler_vt>(*proxy).collect(proxy->object, call->run(), workload,
                                                       &filled, e);
      });
      judge_stream(*proxy, "collect", status, *call, &filled, out);
      call->finish();
      return status;
    };
    return vt;
  }();
  return table;
}

// Slots that the plugin leaves NULL are NULL here too.
const omen_scorer_vt& checking_table(const omen_scorer_vt& real) {
  static const auto tables = [] {
    std::array<omen_scorer_vt, 4> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = common_slots<omen_scorer_vt>();
      all[i].score = [](omen_object* object, const omen_run* run, const omen_dataset* in,
                        ArrowArrayStream* out, omen_error* error) -> omen_status {
        return stream_slot<omen_scorer_vt, &omen_scorer_vt::score>(object, "score", run, in, out,
                                                                   error);
      };
      if (i & 1)
        all[i].enumerate = [](omen_object* object, const omen_run* run, const omen_dataset* in,
                              ArrowArrayStream* out, omen_error* error) -> omen_status {
          return stream_slot<omen_scorer_vt, &omen_scorer_vt::enumerate>(object, "enumerate", run,
                                                                         in, out, error);
        };
      if (i & 2)
        all[i].load = [](omen_object* object, const omen_source* source,
                         omen_error* error) -> omen_status {
          const std::shared_ptr<Proxy> proxy = proxy_of(object);
          return run_slot(*proxy, "load", error, [&](omen_error* e) {
            return inner<omen_scorer_vt>(*proxy).load(proxy->object, source, e);
          });
        };
    }
    return all;
  }();
  const bool enumerates = OMEN_HAS(omen_scorer_vt, &real, enumerate) && real.enumerate;
  const bool loads = OMEN_HAS(omen_scorer_vt, &real, load) && real.load;
  return tables[(enumerates ? 1U : 0U) + (loads ? 2U : 0U)];
}

const omen_command_vt& checking_table(const omen_command_vt&) {
  static const omen_command_vt table = [] {
    auto vt = common_slots<omen_command_vt>();
    vt.run = [](omen_object* object, const omen_run* run, const char* const* arguments,
                std::size_t count, const omen_tables_out* out, std::int32_t* exit_code,
                omen_error* error) -> omen_status {
      const std::shared_ptr<Proxy> proxy = proxy_of(object);
      const auto call = std::make_shared<Call>(proxy, "run", run);
      std::int32_t code = 0;
      const omen_status status = run_slot(*proxy, "run", error, [&](omen_error* e) {
        return inner<omen_command_vt>(*proxy).run(proxy->object, call->run(), arguments, count,
                                                  call->tables(out), &code, e);
      });
      if (status == OMEN_OK)
        *exit_code = code;
      else if (code != 0)
        note(*proxy, Rule::kOutOnFailure, true, "failed in run but set the exit code");
      call->finish();
      return status;
    };
    return vt;
  }();
  return table;
}

// Bytes that hold every slot that must not be NULL.
std::size_t least_size(const omen_predictor_vt*) {
  return sizeof(omen_predictor_vt);
}
std::size_t least_size(const omen_graph_frontend_vt*) {
  return sizeof(omen_graph_frontend_vt);
}
std::size_t least_size(const omen_profiler_vt*) {
  return sizeof(omen_profiler_vt);
}
std::size_t least_size(const omen_scorer_vt*) {
  return offsetof(omen_scorer_vt, enumerate);
}
std::size_t least_size(const omen_command_vt*) {
  return sizeof(omen_command_vt);
}

}  // namespace

void Findings::add(Rule rule, bool by_plugin, const std::string& text) {
  Finding finding{rule, by_plugin,
                  (by_plugin ? "plugin misbehaving: " : "host misbehaving: ") + text};
  if (report_) report_(finding);
  const std::lock_guard lock(mutex_);
  found_.push_back(std::move(finding));
}

std::vector<Finding> Findings::all() const {
  const std::lock_guard lock(mutex_);
  return found_;
}

template <class Vt>
CheckedObject<Vt> checked_create(const Vt& vt, const CheckedComponent& component,
                                 const omen_option* options, std::size_t count,
                                 std::shared_ptr<Findings> findings) {
  auto proxy = std::make_shared<Proxy>();
  proxy->component = component;
  proxy->findings = std::move(findings);
  if (vt.struct_size < least_size(&vt))
    note(*proxy, Rule::kStructSize, true,
         "has a table of " + std::to_string(vt.struct_size) + " bytes, too small for its slots");
  proxy->vt = &vt;
  proxy->destroy = vt.destroy;
  omen_object* made = nullptr;
  ErrorOut error;
  const omen_status status = run_slot(
      *proxy, "create", error, [&](omen_error* e) { return vt.create(options, count, &made, e); });
  if (status != OMEN_OK && made)
    note(*proxy, Rule::kOutOnFailure, true, "failed in create but gave out an object");
  error.check(status);
  if (!made) {
    note(*proxy, Rule::kNoStream, true, "returned OMEN_OK from create without an object");
    throw Error(OMEN_INTERNAL, "plugin misbehaving: create returned OMEN_OK without an object");
  }
  proxy->object = made;
  auto* handle = new std::shared_ptr<Proxy>(std::move(proxy));
  return {&checking_table(vt), reinterpret_cast<omen_object*>(handle)};
}

template CheckedObject<omen_predictor_vt> checked_create(const omen_predictor_vt&,
                                                         const CheckedComponent&,
                                                         const omen_option*, std::size_t,
                                                         std::shared_ptr<Findings>);
template CheckedObject<omen_graph_frontend_vt> checked_create(const omen_graph_frontend_vt&,
                                                              const CheckedComponent&,
                                                              const omen_option*, std::size_t,
                                                              std::shared_ptr<Findings>);
template CheckedObject<omen_profiler_vt> checked_create(const omen_profiler_vt&,
                                                        const CheckedComponent&, const omen_option*,
                                                        std::size_t, std::shared_ptr<Findings>);
template CheckedObject<omen_scorer_vt> checked_create(const omen_scorer_vt&,
                                                      const CheckedComponent&, const omen_option*,
                                                      std::size_t, std::shared_ptr<Findings>);
template CheckedObject<omen_command_vt> checked_create(const omen_command_vt&,
                                                       const CheckedComponent&, const omen_option*,
                                                       std::size_t, std::shared_ptr<Findings>);

}  // namespace omen::conformance
