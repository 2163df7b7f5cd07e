// SPDX-License-Identifier: Apache-2.0
// Cases about objects and the process they live in.
#include <chrono>
#include <cstring>
#include <map>
#include <thread>

#include "predictor_trial.hpp"
#include "process_state.hpp"
#include "trial.hpp"

namespace omen::conformance {
namespace {

constexpr int kObjects = 100;
// What a hundred objects may leave behind: caches that fill once, not leaks that grow.
constexpr std::size_t kLifecycleGrowth = std::size_t{2} << 20;
// Pools spin for a moment before they sleep; who still runs afterwards runs on.
constexpr std::chrono::milliseconds kThreadsSettle{250};

// create and destroy of the plugin's own table; every table starts with the same slots.
AnyObject create_any(Trial& trial, const OptionSet& options) {
  const auto& vt = *static_cast<const omen_predictor_vt*>(trial.component().vtable);
  AnyObject made;
  made.destroy = vt.destroy;
  ErrorOut error;
  const omen_status status = across(
      "create", [&] { return vt.create(options.data(), options.size(), &made.object, error); });
  try {
    error.check(status);
  } catch (const Error& e) {
    if (e.code() == OMEN_UNAVAILABLE) skip(e.what());
    fail(std::string("create failed: ") + e.what());
  }
  require(made.object != nullptr, "create returned OMEN_OK without an object");
  return made;
}

void init(Trial& trial) {
  const omen_plugin& plugin = trial.descriptor();
  if (!plugin.init) return;
  omen_host bare{};
  bare.struct_size = sizeof bare;
  bare.abi_major = OMEN_ABI_MAJOR;
  bare.abi_minor = OMEN_ABI_MINOR;
  bare.name = "bare host";
  bare.version = "0";
  bare.plugin_dir = "/nonexistent";
  bare.get_extension = [](const omen_host*, const char*) -> const void* { return nullptr; };
  bare.log_enabled = [](const omen_host*, std::int32_t) { return false; };
  bare.log = [](const omen_host*, std::int32_t, const char*, const char*) {};
  omen_error error{};
  error.struct_size = sizeof error;
  const omen_status status = across("init", [&] { return plugin.init(&bare, &error); });
  if (status == OMEN_OK) {
    require(!error.release, "init returned OMEN_OK and an error");
    if (plugin.deinit) across("deinit", plugin.deinit);
    return;
  }
  require(error.message && *error.message, "init failed without a message");
  if (error.release) error.release(&error);
}

void extensions(Trial& trial) {
  const omen_plugin& plugin = trial.plugin();
  if (!OMEN_HAS(omen_plugin, &plugin, get_extension) || !plugin.get_extension) return;
  for (const char* id : {"org.example.no-such-thing/1", "omen.command/1x", "omen.command/10",
                         "omen.observe/1 ", "omen.graph-writer/", ""})
    require(across("get_extension", [&] { return plugin.get_extension(id); }) == nullptr,
            std::string("get_extension answers to '") + id + "'");
}

void create(Trial& trial) {
  const OptionSet options(trial.component());
  const AnyObject made = create_any(trial, options);
  across("destroy", [&] {
    made.destroy(made.object);
    made.destroy(nullptr);  // must be accepted
  });
}

void two_instances(Trial& trial) {
  const OptionSet options(trial.component());
  const AnyObject first = create_any(trial, options);
  const AnyObject second = create_any(trial, options);
  require(first.object != second.object, "two objects are one");
  first.destroy(first.object);
  second.destroy(second.object);
}

void bounded_memory(Trial& trial) {
  const OptionSet options(trial.component());
  const auto round = [&] {
    for (int i = 0; i < kObjects; ++i) {
      const AnyObject made = create_any(trial, options);
      made.destroy(made.object);
    }
  };
  round();  // fills caches
  const std::size_t resident = resident_bytes(), allocated = allocated_bytes();
  round();
  const std::size_t now = allocated_bytes(), resident_now = resident_bytes();
  const std::size_t grown =
      std::max(now > allocated ? now - allocated : 0,
               has_plain_malloc() && resident_now > resident ? resident_now - resident : 0);
  require(grown <= kLifecycleGrowth,
          std::to_string(kObjects) + " objects left " + std::to_string(grown >> 10) + " KB behind");
}

void predictor_life(Trial& trial) {
  const Task task = standard_task(trial);
  Predictor predictor = trial.create<omen_predictor_vt>();
  const TestRun run(trial.seed());
  try {
    fit(predictor, task, run);
    predict(predictor, task, run);
    Predictor other = trial.create<omen_predictor_vt>();
    load_model(other, save_model(predictor));
    predict(other, task, run);
  } catch (const Error&) {
    // Failing is the business of other cases; what it does to the process is ours.
  }
}

// Everything that a user does with an object of this kind.
void whole_life(Trial& trial) {
  switch (trial.component().kind) {
    case OMEN_PREDICTOR:
      return predictor_life(trial);
    case OMEN_SCORER:
      return use_scorer(trial);
    case OMEN_PROFILER:
      return use_profiler(trial);
    case OMEN_GRAPH_FRONTEND:
      return use_frontend(trial);
    default:
      create(trial);
  }
}

void process_state(Trial& trial) {
  trial.component();
  if (trial.component().kind == OMEN_PREDICTOR) standard_task(trial);
  whole_life(trial);  // a first time, because libraries open what they need once
  const ProcessState before = ProcessState::now();
  whole_life(trial);
  for (const std::string& change : before.changes(ProcessState::now())) fail(change);
}

void handlers(Trial& trial) {
  // Before the library is opened at all; what drivers do that a measurement opens is not its doing.
  const ProcessState before = ProcessState::now();
  if (trial.component().kind == OMEN_PREDICTOR)
    predictor_life(trial);
  else
    create(trial);
  for (const std::string& change : before.changes(ProcessState::now()))
    require(change.find("descriptor") != std::string::npos, change);
}

void silent(Trial& trial) {
  trial.component();
  std::string out, err;
  {
    OutputTrap trap;
    whole_life(trial);
    out = trap.written_to_stdout();
    err = trap.written_to_stderr();
  }
  require(out.empty(), "stdout got: " + out.substr(0, 80));
  require(err.empty(), "stderr got: " + err.substr(0, 80));
}

void before_fit(Trial& trial) {
  Predictor predictor = trial.create<omen_predictor_vt>();
  const Task task = standard_task(trial);
  const auto expect_invalid_state = [](const char* slot, auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      require(error.code() == OMEN_INVALID_STATE || error.code() == OMEN_UNSUPPORTED,
              std::string(slot) + " before fit gave '" + status_name(error.code()) +
                  "' instead of 'invalid state': " + error.what());
      return true;
    }
    return false;
  };
  const TestRun run(trial.seed());
  const bool refused = expect_invalid_state("predict", [&] { predict(predictor, task, run); });
  if (!refused && expect_invalid_state("save", [&] { save_model(predictor); }))
    fail("predict works before fit, but save does not");
}

void contract(Trial& trial) {
  whole_life(trial);
  if (trial.component().kind == OMEN_PREDICTOR) {
    Predictor fresh = trial.create<omen_predictor_vt>();
    try {
      predict(fresh, standard_task(trial), TestRun(trial.seed()));
    } catch (const Error&) {
      // The proxy judged how it failed.
    }
  }
  for (const Finding& finding : trial.findings()->all())
    if (finding.rule != Rule::kStreamNotReleased && finding.rule != Rule::kException &&
        finding.rule != Rule::kAfterTheCall)
      fail(finding.text);
}

// Threads that are there now and were not `before`.
std::map<int, std::uint64_t> left_behind(const std::map<int, std::uint64_t>& before) {
  std::map<int, std::uint64_t> left = thread_wakeups();
  for (const auto& [thread, wakeups] : before) left.erase(thread);
  return left;
}

void late_threads(Trial& trial) {
  trial.component();
  const std::map<int, std::uint64_t> before = thread_wakeups();
  whole_life(trial);
  bool awake = false;
  if (!left_behind(before).empty()) {
    std::this_thread::sleep_for(kThreadsSettle);
    const std::map<int, std::uint64_t> settled = left_behind(before);
    std::this_thread::sleep_for(kThreadsSettle);
    for (const auto& [thread, wakeups] : left_behind(before)) {
      const auto was = settled.find(thread);
      awake = awake || was == settled.end() || was->second != wakeups;
    }
  }
  for (const Finding& finding : trial.findings()->all())
    if (finding.rule == Rule::kAfterTheCall) fail(finding.text);
  if (awake)
    trial.warn("a thread that it started is awake after its calls; only pools may sleep on");
}

void deinit(Trial& trial) {
  const omen_plugin& plugin = trial.plugin();
  for (const omen_component* component : components_of(plugin)) {
    const auto& vt = *static_cast<const omen_predictor_vt*>(component->vtable);
    const OptionSet options(*component);
    omen_object* object = nullptr;
    across("create", [&] {
      if (vt.create(options.data(), options.size(), &object, nullptr) == OMEN_OK)
        vt.destroy(object);
    });
  }
  const int threads = thread_count();
  if (plugin.deinit) across("deinit", plugin.deinit);
  require(thread_count() <= threads, "deinit starts threads");
}

}  // namespace

std::vector<Case> lifecycle_cases() {
  return {
      {"lifecycle.init", "init works, or fails with a message, under a host without extensions.", 1,
       20, 0, nullptr, init},
      {"lifecycle.extensions", "only exact extension ids are answered.", 1, 20, 0, nullptr,
       extensions},
      {"lifecycle.deinit", "deinit after the last destroy leaves nothing running.", 1, 30, 0,
       nullptr, deinit},
      {"lifecycle.create", "the default options make an object, and destroy takes NULL.", 1, 20,
       kAllKinds, nullptr, create},
      {"lifecycle.two-instances", "two objects live side by side.", 2, 20, kAllKinds, nullptr,
       two_instances},
      {"lifecycle.bounded-memory", "creating and destroying 100 objects keeps no memory.", 2, 60,
       kAllKinds, nullptr, bounded_memory},
      {"lifecycle.process-state",
       "descriptors, directory, locale, handlers and environment stay as they were.", 2, 120,
       kAllKinds, nullptr, process_state},
      {"lifecycle.handlers", "opening the library installs no handler and changes no locale.", 2,
       60, kAllKinds, nullptr, handlers},
      {"lifecycle.silent", "nothing is written to stdout or stderr.", 2, 60, kAllKinds, nullptr,
       silent},
      {"lifecycle.before-fit", "predict and save before fit give OMEN_INVALID_STATE.", 2, 30,
       kPredictors, nullptr, before_fit},
      {"lifecycle.contract", "no slot breaks the rules that the checking proxy knows.", 2, 60,
       kAllKinds, nullptr, contract},
      {"lifecycle.threads", "no thread touches a run, a dataset or a stream after its call.", 2, 60,
       kAllKinds, nullptr, late_threads},
  };
}

}  // namespace omen::conformance
