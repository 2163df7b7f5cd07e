// SPDX-License-Identifier: Apache-2.0
// Cases about what answers mean: complete, finite, repeatable, and given up when asked.
#include <time.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "allocation.hpp"
#include "predictor_trial.hpp"
#include "trial.hpp"

namespace omen::conformance {
namespace {

constexpr double kSeededTolerance = 1e-4;
constexpr unsigned kThreads = 4;
constexpr std::int64_t kManyWorkloads = 4000;
constexpr char kClassUnit[] = "class";

void fit_works(Trial& trial) {
  Predictor predictor = trial.create<omen_predictor_vt>();
  try {
    fit(predictor, standard_task(trial), TestRun(trial.seed()));
  } catch (const Error& error) {
    if (error.code() == OMEN_UNAVAILABLE) skip(error.what());
    const std::string text = std::string("fit failed on the synthetic task: ") + error.what();
    require(declines(error), text);
    trial.warn(text + "; describe its inputs in omen-verify.json");
  }
}

void predict_works(Trial& trial) {
  const Task task = standard_task(trial);
  Predictor predictor = ready_predictor(trial, task);
  try {
    predict(predictor, task, TestRun(trial.seed()));
  } catch (const Error& error) {
    fail(std::string("predict failed: ") + error.what());
  }
}

struct Standard {
  Task task;
  Answers answers;
};

Standard standard_answers(Trial& trial) {
  Task task = standard_task(trial);
  Predictor predictor = ready_predictor(trial, task);
  Answers answers = predict_or_skip(predictor, task, TestRun(trial.seed()));
  return {std::move(task), std::move(answers)};
}

std::string key_text(const Answers::Key& key) {
  std::string text = "workload " + std::to_string(key.first);
  if (key.second != kNoCandidate) text += ", candidate " + std::to_string(key.second);
  return text;
}

void coverage(Trial& trial) {
  const Task task = standard_task(trial);
  Predictor predictor = ready_predictor(trial, task);
  const Answers answers = any_answers(predictor, task, TestRun(trial.seed()));
  require(answers.has_status, "predictions have no column 'status'");
  const std::set<Answers::Key> asked = asked_keys(task);
  const auto wanted = static_cast<std::int64_t>(asked.size());
  require(answers.row_count == wanted, std::to_string(wanted) + " answers were due, " +
                                           std::to_string(answers.row_count) + " came");
  for (const auto& [key, row] : answers.rows)
    require(asked.count(key) > 0, key_text(key) + " was answered but never asked for");
  require(answers.rows.size() == asked.size(), "some workload got two answers and another none");
}

// Synthetic targets are numbers, so the answers are; a class is the one that may be text.
void target_types(Trial& trial) {
  const Standard standard = standard_answers(trial);
  bool answered = false, any = false;
  for (const auto& [key, row] : standard.answers.rows) {
    if (row.refused()) continue;
    answered = true;
    for (const TargetSpec& target : standard.task.targets()) {
      const auto text = row.texts.find(target.name);
      require(text == row.texts.end() || target.unit == kClassUnit,
              key_text(key) + ": " + target.name + " is the text '" +
                  (text == row.texts.end() ? "" : text->second) + "', not a number");
      any = any || row.numbers.count(target.name) || text != row.texts.end();
    }
  }
  require(any || !answered, "no answer has a column of its targets, such as '" +
                                standard.task.targets().front().name + "'");
}

void finite(Trial& trial) {
  for (const auto& [key, row] : standard_answers(trial).answers.rows) {
    if (row.refused()) continue;
    for (const auto& [column, value] : row.numbers)
      require(std::isfinite(value), "workload " + std::to_string(key.first) + " has status '" +
                                        row.status + "' but " + column + " is " +
                                        std::to_string(value));
  }
}

void plausible(Trial& trial) {
  for (const auto& [key, row] : standard_answers(trial).answers.rows)
    for (const TargetSpec& target : targets_of(trial.facts())) {
      const auto value = row.numbers.find(target.name);
      if (row.refused() || value == row.numbers.end() || target.unit.empty()) continue;
      if (value->second < 0)
        trial.warn("workload " + std::to_string(key.first) + ": " + target.name + " is " +
                   std::to_string(value->second) + " " + target.unit);
    }
}

void row_order(Trial& trial) {
  const Task task = standard_task(trial);
  Predictor predictor = ready_predictor(trial, task);
  const TestRun run(trial.seed());
  const Answers first = predict_or_skip(predictor, task, run);
  std::vector<std::int64_t> order;
  const Task shuffled = task.shuffled(trial.seed() + 3, &order);
  std::map<std::int64_t, std::int64_t> name;
  for (std::size_t i = 0; i < order.size(); ++i) name[order[i]] = static_cast<std::int64_t>(i);
  try {
    require_same(first, predict(predictor, shuffled, run), trial.quirks().tolerance,
                 "rows in another order", &name);
  } catch (const Error& error) {
    fail(std::string("predict failed on rows in another order: ") + error.what());
  }
}

void save_load(Trial& trial) {
  const Task task = standard_task(trial);
  Predictor predictor = ready_predictor(trial, task);
  const TestRun run(trial.seed());
  const Answers before = predict_or_skip(predictor, task, run);
  try {
    const std::string model = save_model(predictor);
    require_same(before, predict(predictor, task, run), trial.quirks().tolerance, "after save");
    Predictor other = trial.create<omen_predictor_vt>();
    load_model(other, model);
    require_same(before, predict(other, task, run), trial.quirks().tolerance, "after load");
  } catch (const Error& error) {
    if (error.code() == OMEN_UNSUPPORTED) skip(error.what());
    fail(error.what());
  }
}

void load_nothing(Trial& trial) {
  Predictor predictor = trial.create<omen_predictor_vt>();
  static const char kEmpty[] = "\2\0\0\0\0\0\0\0{}";
  try {
    load_model(predictor, std::string(kEmpty, sizeof kEmpty - 1));
  } catch (const Error& error) {
    require(error.code() != OMEN_INTERNAL,
            std::string("load of an empty model failed with 'internal error': ") + error.what());
    return;
  }
  trial.warn("load takes a model without any tensor");
}

void determinism(Trial& trial) {
  const Task task = standard_task(trial);
  const bool bitwise = trial.facts().has_cap("bitwise-repeatable");
  const double tolerance = bitwise ? 0 : kSeededTolerance;
  std::optional<Answers> first;
  for (const unsigned threads : {1U, 1U, kThreads}) {
    Predictor predictor = trial.create<omen_predictor_vt>();
    const TestRun run(trial.seed(), threads);
    Answers answers;
    try {
      fit(predictor, task, run);
      answers = predict(predictor, task, run);
    } catch (const Error& error) {
      skip(error.what());
    }
    if (first)
      require_same(*first, answers, tolerance,
                   "seed " + std::to_string(trial.seed()) + ", " + std::to_string(threads) +
                       " threads against 1");
    else
      first = std::move(answers);
  }
}

void concurrent(Trial& trial) {
  const Task task = standard_task(trial);
  Predictor predictor = ready_predictor(trial, task);
  const TestRun run(trial.seed());
  const Answers alone = predict_or_skip(predictor, task, run);
  std::vector<std::string> wrong(kThreads);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      try {
        for (int repeat = 0; repeat < 5; ++repeat)
          require_same(alone, predict(predictor, task, run), trial.quirks().tolerance, "at once");
      } catch (const std::exception& error) {
        wrong[i] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : wrong) require(text.empty(), text);
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// One second of waiting or of work; on a busy machine waiting alone says little.
void require_quick(const char* slot, double wall, double cpu) {
  char text[96];
  std::snprintf(text, sizeof text, "%s returned %.1f s after it was cancelled", slot, wall);
  require(wall <= 1 || (cpu <= 0.8 && wall <= 5), text);
}

void cancel(Trial& trial) {
  TaskShape shape;
  shape.workloads = kManyWorkloads;
  const Task task = standard_task(trial, shape);
  Predictor predictor = trial.create<omen_predictor_vt>();
  TestRun run(trial.seed());
  run.cancel();
  const auto started = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  omen_status status = OMEN_OK;
  try {
    fit(predictor, task, run);
  } catch (const Error& error) {
    status = error.code();
    if (declines(error)) skip(error.what());
    require(status == OMEN_CANCELLED,
            std::string("a cancelled fit gave '") + status_name(status) + "': " + error.what());
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - started;
  require_quick("fit", wall.count(), cpu_seconds() - cpu);
  if (status == OMEN_OK) return;  // done before it looked, which is fine when it is this quick
  const auto answers = [&](Predictor& one) {
    try {
      predict(one, standard_task(trial), TestRun(trial.seed()));
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  Predictor fresh = trial.create<omen_predictor_vt>();
  require(answers(predictor) == answers(fresh),
          "after a cancelled fit the object is not as it was before");
}

void require_interval(const AnswerRow& row, const std::string& column, double value,
                      const std::string& where) {
  const auto low = row.numbers.find(column + ".lo"), high = row.numbers.find(column + ".hi");
  require((low == row.numbers.end()) == (high == row.numbers.end()),
          where + ": " + column + " has one end of an interval and not the other");
  if (low == row.numbers.end()) return;
  require(low->second <= high->second, where + ": " + column + ".lo is above " + column + ".hi");
  require(low->second <= value && value <= high->second,
          where + ": " + column + " lies outside its interval");
}

// Who claims no uncertainty may give intervals all the same, and is held to them.
void intervals(Trial& trial) {
  bool any = false, answered = false;
  for (const auto& [key, row] : standard_answers(trial).answers.rows) {
    if (row.refused()) continue;
    answered = true;
    for (const auto& [column, value] : row.numbers) {
      require_interval(row, column, value, key_text(key));
      any = any || row.numbers.count(column + ".lo");
    }
  }
  require(any || !answered || !trial.facts().has_cap("uncertainty"),
          "it claims uncertainty but gives no <target>.lo and <target>.hi");
}

void warm_start(Trial& trial) {
  const Task task = standard_task(trial);
  Predictor predictor = ready_predictor(trial, task);
  const TestRun run(trial.seed());
  try {
    Predictor other = trial.create<omen_predictor_vt>();
    load_model(other, save_model(predictor));
    fit(other, task, run);
    predict(other, task, run);
  } catch (const Error& error) {
    fail(std::string("fit after load failed: ") + error.what());
  }
}

// Runs a whole life with one allocation failing; the plugin may cope, or say that it ran out.
void live_with_failure(Trial& trial, const Task& task, std::uint64_t number) {
  const TestRun run(trial.seed());
  fail_allocation(number);
  try {
    OptionSet options(trial.component());
    for (const auto& [key, value] : trial.quirks().options) options.set(key, value);
    Predictor predictor(checked_create(trial.vtable<omen_predictor_vt>(),
                                       {trial.component_id(), trial.component().caps},
                                       options.data(), options.size(), trial.findings()));
    fit(predictor, task, run);
    predict(predictor, task, run);
  } catch (const Error& error) {
    fail_allocation(0);
    require(error.code() == OMEN_OUT_OF_MEMORY || declines(error),
            "allocation " + std::to_string(number) + " failed and gave '" +
                status_name(error.code()) + "' instead of 'out of memory': " + error.what());
  }
  fail_allocation(0);
}

void allocation(Trial& trial, int samples) {
  const Task task = standard_task(trial);
  ready_predictor(trial, task);  // what is set up once is not at stake
  if (redirect_allocations(trial.manifest().library.string()) == 0)
    skip("the library imports no allocation function");
  const TestRun run(trial.seed());
  fail_allocation(0);
  {
    Predictor predictor = trial.create<omen_predictor_vt>();
    try {
      fit(predictor, task, run);
      predict(predictor, task, run);
    } catch (const Error& error) {
      skip(std::string("it fails without any help: ") + error.what());
    }
  }
  const std::uint64_t total = allocations_seen();
  std::set<std::uint64_t> numbers;
  for (int i = 1; i <= samples; ++i) {
    if (static_cast<std::uint64_t>(i) <= total) numbers.insert(static_cast<std::uint64_t>(i));
    numbers.insert(1 + static_cast<std::uint64_t>(static_cast<double>(total) * i / (samples + 1)));
  }
  for (const std::uint64_t number : numbers) live_with_failure(trial, task, number);
}

bool repeatable(const ComponentFacts& component) {
  return component.has_cap("bitwise-repeatable") || component.has_cap("seeded-repeatable");
}
bool claims_concurrency(const ComponentFacts& component) {
  return component.has_cap("concurrent-predict");
}
bool claims_warm_start(const ComponentFacts& component) {
  return component.has_cap("warm-start");
}

}  // namespace

std::vector<Case> semantics_cases() {
  return {
      {"semantics.fit", "fit learns from a task made of what it reads and writes.", 2, 60,
       kPredictors, nullptr, fit_works},
      {"semantics.predict", "the answer can be read to its end.", 2, 60, kPredictors, nullptr,
       predict_works},
      {"semantics.coverage", "every workload gets exactly one answer with a status.", 2, 60,
       kPredictors, nullptr, coverage},
      {"semantics.targets", "a target that is a number is answered by a number.", 2, 60,
       kPredictors, nullptr, target_types},
      {"semantics.finite", "answers that are not refused are finite.", 2, 60, kPredictors, nullptr,
       finite},
      {"semantics.plausible", "costs with a unit are not negative.", 2, 60, kPredictors, nullptr,
       plausible},
      {"semantics.row-order", "the order of the rows does not change the answers.", 2, 60,
       kPredictors, nullptr, row_order},
      {"semantics.save-load", "a model that was saved and loaded answers the same.", 2, 60,
       kPredictors, nullptr, save_load},
      {"semantics.load-nothing", "a model without tensors is refused.", 2, 30, kPredictors, nullptr,
       load_nothing},
      {"semantics.determinism", "the same seed gives the same answers at 1 and at 4 threads.", 2,
       120, kPredictors, repeatable, determinism},
      {"semantics.concurrent", "predict may run in several threads at once.", 2, 120, kPredictors,
       claims_concurrency, concurrent},
      {"semantics.cancel", "a cancelled fit returns within a second and leaves no trace.", 2, 60,
       kPredictors, nullptr, cancel},
      {"semantics.intervals", "intervals hold the answer, and exist where they are claimed.", 2, 60,
       kPredictors, nullptr, intervals},
      {"semantics.warm-start", "fit works after load.", 2, 60, kPredictors, claims_warm_start,
       warm_start},
      {"semantics.allocation", "an allocation that fails gives OMEN_OUT_OF_MEMORY.", 2, 120,
       kPredictors, nullptr, [](Trial& trial) { allocation(trial, 10); }},
      {"stress.allocation", "any of many failing allocations gives OMEN_OUT_OF_MEMORY.", 3, 600,
       kPredictors, nullptr, [](Trial& trial) { allocation(trial, 100); }},
  };
}

}  // namespace omen::conformance
