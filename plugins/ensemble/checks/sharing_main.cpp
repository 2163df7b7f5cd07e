// SPDX-License-Identifier: Apache-2.0
// What sharing saves, measured: CPU seconds of whole runs with and without it, and what the closed
// form says after it saw two models only.
//   ensemble_sharing OMEN full|short [PAIRS]
// With OMEN_SHOW_BREAK=1 both arms preprocess for themselves.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "omen/median.hpp"
#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"
#include "rate/calibration.hpp"

namespace {

using namespace omen::ensemble;
namespace test = omen::test;
namespace fs = std::filesystem;

// Of an image and model: all CPU time of the ranks after their start, and that of training.
struct Arm {
  double cpu_ms = 0, train_ms = 0;
};

class Bench {
 public:
  Bench(std::string omen, std::int64_t images, std::int64_t epochs)
      : omen_(std::move(omen)), images_(images), epochs_(epochs) {}

  Arm run(const char* design, int models, bool scaled) {
    const std::string out = (place_ / ("r" + std::to_string(runs_++))).string();
    // The images are made once; later runs read the same file.
    const std::string data = made();
    const std::string line = omen_ + " ensemble run --models 'tiny*" + std::to_string(models) +
                             "' --data " + data + " --epochs " + std::to_string(epochs_) +
                             " --batch 64 --design " + design + (scaled ? " --scaled-decode" : "") +
                             " -q -o " + out + " > " + out + ".log 2>&1";
    if (std::system(line.c_str()) != 0) {
      std::fprintf(stderr, "failed: %s\n", line.c_str());
      std::exit(1);
    }
    std::ifstream in(out + "/run.json");
    const nlohmann::json facts = nlohmann::json::parse(in);
    const double samples = facts.at("samples");
    return {1000 * facts.at("cpu_s").get<double>() / samples,
            1000 * train_seconds(out + "/stages.csv") / samples};
  }

 private:
  // rank,stage,count,wall_s,cpu_s,bytes
  static double train_seconds(const std::string& path) {
    std::ifstream in(path);
    double sum = 0, wall = 0, cpu = 0;
    long count = 0;
    for (std::string line; std::getline(in, line);)
      if (const std::size_t at = line.find(",train,");
          at != std::string::npos &&
          std::sscanf(line.c_str() + at, ",train,%ld,%lf,%lf", &count, &wall, &cpu) == 3)
        sum += cpu;
    return sum;
  }
  std::string made() {
    const std::string path = (place_ / "images.epd").string();
    if (fs::exists(path)) return path;
    const std::string line = omen_ + " ensemble make-data " + path + " --images " +
                             std::to_string(images_) + " -q > /dev/null";
    if (std::system(line.c_str()) != 0) std::exit(1);
    return path;
  }

  const std::string omen_;
  const std::int64_t images_, epochs_;
  const test::TempDir place_;
  int runs_ = 0;
};

// Medians of pairs that follow each other, so that a busy machine disturbs both arms alike.
struct Pairs {
  double alone_ms = 0, shared_ms = 0, ratio = 0, train_ms = 0;
};
Pairs measure(Bench& bench, int models, int repeats, bool scaled) {
  const char* sharing = test::broken() ? "none" : "shared-memory";
  std::vector<double> alone, shared, ratios, training;
  for (int i = 0; i < repeats; ++i) {
    const Arm a = bench.run("none", models, scaled), b = bench.run(sharing, models, scaled);
    alone.push_back(a.cpu_ms), shared.push_back(b.cpu_ms), ratios.push_back(a.cpu_ms / b.cpu_ms);
    training.push_back(b.train_ms);
    std::printf("%d models: %.3f ms alone, %.3f ms shared, ratio %.2f\n", models, a.cpu_ms,
                b.cpu_ms, ratios.back());
    std::fflush(stdout);
  }
  return {omen::median(alone), omen::median(shared), omen::median(ratios), omen::median(training)};
}

// A trainer on the CPU sleeps while it waits, so what counts for its CPU seconds is the rate at
// which it trains when it does, as if every rank had a core.
Measured row_of(Design design, int models, double cpu_ms, double train_ms) {
  Measured row;
  row.setting.train_rates.assign(static_cast<std::size_t>(models), 1000 / train_ms);
  row.setting.design = design;
  row.setting.ranks = models;
  row.setting.ranks_per_node = row.setting.cores = models;
  row.setting.sample_bytes = 32 * 32 * 3 * 4 + 4;
  row.group = models;
  row.rate = 1000 / train_ms;
  row.cpu = cpu_ms / 1000;
  row.power = std::nan("");
  return row;
}

// Calibrated on two models with and without sharing; the ratio of CPU seconds that it then expects.
double predicted_ratio(const Pairs& two, int models) {
  const Calibrated form = calibrate({row_of(Design::kNone, 2, two.alone_ms, two.train_ms),
                                     row_of(Design::kSharedMemory, 2, two.shared_ms, two.train_ms)},
                                    {});
  const auto cpu = [&](Design design) {
    const Setting setting = row_of(design, models, 0, two.train_ms).setting;
    return cpu_per_image(cpu_terms(setting, form.ask(setting)), form.cpu.value());
  };
  return cpu(Design::kNone) / cpu(Design::kSharedMemory);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const bool full = std::string(argv[2]) == "full";
  Bench bench(argv[1], full ? 2048 : 128, full ? 4 : 1);
  const int models = full ? 8 : 4, repeats = argc > 3 ? std::atoi(argv[3]) : full ? 5 : 1;
  const Pairs two = measure(bench, 2, repeats, false),
              many = measure(bench, models, repeats, false);
  int failed = test::show(full ? "sharing_gain" : "sharing_gain_short", many.ratio, "x",
                          ">=", full ? 3.5 : 1.5);
  // Short runs are too noisy to calibrate on, and two equal arms tell a form nothing.
  if (!full || test::broken()) return failed;
  const double expected = predicted_ratio(two, models);
  test::show("predicted_gain", expected, "x");
  failed |= test::show("sharing_gain_off_prediction", 100 * std::abs(many.ratio / expected - 1),
                       "%", "<=", 15);
  test::show("sharing_gain_scaled_decode", measure(bench, models, 1, true).ratio, "x");
  return failed;
}
