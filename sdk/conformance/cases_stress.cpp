// SPDX-License-Identifier: Apache-2.0
// Level 3: many objects, many threads, and inputs that are changed at random.
#include <cmath>
#include <limits>
#include <thread>

#include "predictor_trial.hpp"
#include "process_state.hpp"
#include "trial.hpp"

namespace omen::conformance {
namespace {

constexpr int kFuzzRounds = 200;
constexpr std::size_t kStressGrowth = std::size_t{16} << 20;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 2862933555777941757U + 3037000493U) {}
  std::uint64_t below(std::uint64_t limit) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33) % limit;
  }
  double wild_number() {
    static const double kWild[] = {0,   -1,       1e308,     -1e308,       1e-308,
                                   NAN, INFINITY, -INFINITY, 4294967296.0, 0.5};
    return kWild[below(sizeof kWild / sizeof kWild[0])];
  }

 private:
  std::uint64_t state_;
};

// One column changed: gone, of another type, or with wild values. Ids stay, because a host that
// breaks them is at fault itself.
Table mutated(const Table& table, Dice& dice) {
  const std::size_t victim = dice.below(table.columns());
  const std::string name(table.name(victim));
  const bool is_id = name == "workload_id" || name == "graph_id" || name == "node_id";
  TableBuilder builder;
  for (const auto& [key, value] : table.metadata()) builder.metadata(key, value);
  for (std::size_t c = 0; c < table.columns(); ++c) {
    if (c != victim || is_id) {
      builder.add_column(table, c);
      continue;
    }
    const auto rows = static_cast<std::size_t>(table.rows());
    switch (dice.below(4)) {
      case 0:
        break;
      case 1:
        builder.add_strings(name, std::vector<std::string>(rows, "text"));
        break;
      case 2:
        builder.add(name,
                    std::vector<std::int64_t>(rows, std::numeric_limits<std::int64_t>::min()));
        break;
      default: {
        std::vector<double> values(rows);
        for (double& value : values) value = dice.wild_number();
        builder.add(name, std::move(values));
      }
    }
  }
  return builder.finish();
}

void require_orderly(const Error& error, const char* slot) {
  require(error.code() != OMEN_INTERNAL ||
              std::string(error.what()).find("misbehaving") == std::string::npos,
          std::string(slot) + ": " + error.what());
}

void fuzz_tables(Trial& trial) {
  const Task usual = standard_task(trial);
  Predictor predictor = ready_predictor(trial, usual);
  Dice dice(trial.seed());
  const TestRun run(trial.seed());
  for (int round = 0; round < kFuzzRounds; ++round) {
    Task task = usual;
    for (auto& [name, table] : usual.tables())
      if (name != "targets" && dice.below(2) == 0 && table.columns() > 1)
        task[name] = mutated(table, dice);
    try {
      predict(predictor, task, run);
    } catch (const Error& error) {
      require_orderly(error, "predict");
    }
  }
}

void fuzz_training(Trial& trial) {
  const Task usual = standard_task(trial);
  Dice dice(trial.seed() + 1);
  const TestRun run(trial.seed());
  for (int round = 0; round < kFuzzRounds / 10; ++round) {
    Task task = usual;
    for (auto& [name, table] : usual.tables())
      if (dice.below(2) == 0 && table.columns() > 1) task[name] = mutated(table, dice);
    Predictor predictor = trial.create<omen_predictor_vt>();
    try {
      fit(predictor, task, run);
      predict(predictor, usual, run);
    } catch (const Error& error) {
      require_orderly(error, "fit");
    }
  }
}

// Tensor bytes changed behind the header, so that the container itself stays sound.
void fuzz_models(Trial& trial) {
  const Task task = standard_task(trial);
  Predictor fitted = ready_predictor(trial, task);
  std::string model;
  try {
    model = save_model(fitted);
  } catch (const Error& error) {
    skip(error.what());
  }
  std::uint64_t header = 0;
  for (int i = 7; i >= 0; --i)
    header = header << 8 | static_cast<unsigned char>(model[static_cast<std::size_t>(i)]);
  const std::size_t begin = 8 + header;
  if (begin >= model.size()) skip("the model has no tensors");
  Dice dice(trial.seed() + 2);
  const TestRun run(trial.seed());
  for (int round = 0; round < kFuzzRounds; ++round) {
    std::string damaged = model;
    for (std::uint64_t change = 0, changes = 1 + dice.below(8); change < changes; ++change)
      damaged[begin + dice.below(model.size() - begin)] = static_cast<char>(dice.below(256));
    Predictor predictor = trial.create<omen_predictor_vt>();
    try {
      load_model(predictor, damaged);
      predict(predictor, task, run);
    } catch (const Error& error) {
      require_orderly(error, "load");
    }
  }
}

void repeat(Trial& trial) {
  const Task task = standard_task(trial);
  const auto round = [&] {
    Predictor predictor = ready_predictor(trial, task);
    for (int i = 0; i < 5; ++i) predict_or_skip(predictor, task, TestRun(trial.seed()));
  };
  for (int i = 0; i < 3; ++i) round();
  const std::size_t before = allocated_bytes();
  for (int i = 0; i < 10; ++i) round();
  const std::size_t after = allocated_bytes();
  require(after < before + kStressGrowth,
          "ten lives left " + std::to_string((after - before) >> 20) + " MB behind");
}

// Objects are independent even where one object is not for several threads.
void many_objects(Trial& trial) {
  const Task task = standard_task(trial);
  std::vector<std::string> wrong(4);
  std::vector<std::thread> threads;
  trial.component();
  trial.manifest();
  for (std::string& slot : wrong)
    threads.emplace_back([&] {
      try {
        for (int i = 0; i < 3; ++i) {
          Predictor predictor = ready_predictor(trial, task);
          predict_or_skip(predictor, task, TestRun(trial.seed()));
        }
      } catch (const Skipped&) {
        // Not fit for this task at all; other cases say so.
      } catch (const std::exception& error) {
        slot = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : wrong) require(text.empty(), text);
}

bool not_thread_affine(const ComponentFacts& component) {
  return !component.has_cap("thread-affine");
}

}  // namespace

std::vector<Case> stress_cases() {
  return {
      {"stress.tables", "tables with columns changed at random never break predict.", 3, 300,
       kPredictors, nullptr, fuzz_tables},
      {"stress.training", "tables with columns changed at random never break fit.", 3, 600,
       kPredictors, nullptr, fuzz_training},
      {"stress.models", "models with bytes changed at random never break load and predict.", 3, 300,
       kPredictors, nullptr, fuzz_models},
      {"stress.repeat", "ten lives in a row keep no memory.", 3, 600, kPredictors, nullptr, repeat},
      {"stress.objects", "objects in four threads do not disturb each other.", 3, 600, kPredictors,
       not_thread_affine, many_objects},
  };
}

}  // namespace omen::conformance
