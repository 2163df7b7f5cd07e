// SPDX-License-Identifier: Apache-2.0
// Wraps an object of a component and names whoever breaks the contract.
#include "omen/conformance/checking_proxy.hpp"

#include <array>
#include <utility>

#include "checked_call.hpp"
#include "omen/abi.h"

namespace omen::conformance {
namespace {

using checking::Call;
using checking::note;
using checking::Proxy;

// Handles are pointers to the shared pointer of a proxy; it dies in the graveyard.
std::shared_ptr<Proxy>& proxy_of(omen_object* object) {
  return *reinterpret_cast<std::shared_ptr<Proxy>*>(object);
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
  checking::bury(
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

omen_status checked_observe(const omen_observe_ext& extension, omen_object* predictor,
                            const omen_run* run, const omen_dataset* measured, omen_error* error) {
  const std::shared_ptr<Proxy> proxy = proxy_of(predictor);
  const auto call = std::make_shared<Call>(proxy, "observe", run);
  const omen_status status = run_slot(*proxy, "observe", error, [&](omen_error* e) {
    return extension.observe(proxy->object, call->run(), call->dataset(measured), e);
  });
  call->finish();
  return status;
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
