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
#include <map>
#include <sstream>
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

// One run: CPU milliseconds of an image and model after the start of the ranks, and the row that
// the closed form is calibrated with.
struct Arm {
  double cpu_ms = 0;
  Measured row;
};

// The cells of rate.csv by their columns.
std::map<std::string, std::string> cells_of(const std::string& path) {
  std::ifstream in(path);
  std::string head, row;
  std::getline(in, head);
  std::getline(in, row);
  std::istringstream names(head), values(row);
  std::map<std::string, std::string> cells;
  for (std::string name, value; std::getline(names, name, ',') && std::getline(values, value, ',');)
    cells[name] = value;
  return cells;
}

Measured row_of(const std::string& path) {
  auto cells = cells_of(path);
  const auto number = [&cells](const char* name) { return std::stod(cells.at(name)); };
  Measured row;
  row.setting.design = parse_design(cells.at("pipeline")).value().design;
  row.setting.ranks = number("n_nodes");
  row.setting.cores = number("cores_per_node");
  row.setting.preprocessors = number("preprocessors");
  row.setting.ranks_per_node = number("ranks_per_node");
  row.setting.sample_bytes = number("sample_bytes");
  row.setting.train_rates = {number("train_rate")};
  row.rate = number("images_per_s");
  row.cpu = number("cpu_s_per_image");
  row.prepare_cpu = number("prepare_cpu_s_per_image");
  row.train_cpu = number("train_cpu_s_per_image");
  row.power = std::nan("");
  return row;
}

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
    const Measured row = row_of(out + "/rate.csv");
    return {1000 * row.cpu, row};
  }

 private:
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
  double ratio = 0;
  std::vector<Measured> rows;
};
Pairs measure(Bench& bench, int models, int repeats, bool scaled) {
  const char* sharing = test::broken() ? "none" : "shared-memory";
  Pairs pairs;
  std::vector<double> ratios;
  for (int i = 0; i < repeats; ++i) {
    const Arm a = bench.run("none", models, scaled), b = bench.run(sharing, models, scaled);
    ratios.push_back(a.cpu_ms / b.cpu_ms);
    for (const Arm& arm : {a, b}) {
      pairs.rows.push_back(arm.row);
      pairs.rows.back().group = i;
      std::printf("%d models, %s: %.3f ms, of which %.3f prepare and %.3f train\n", models,
                  design_name(arm.row.setting.design), arm.cpu_ms, 1000 * arm.row.prepare_cpu,
                  1000 * arm.row.train_cpu);
    }
    std::fflush(stdout);
  }
  pairs.ratio = omen::median(ratios);
  return pairs;
}

// Calibrated on runs of two models only; the ratio of CPU seconds that the form then expects.
double predicted_ratio(const Pairs& two, int models) {
  const Calibrated form = calibrate(two.rows, {});
  const auto cpu = [&](const Measured& like) {
    Setting setting = like.setting;
    setting.ranks = setting.ranks_per_node = models;
    return cpu_per_image(cpu_terms(setting, form.ask(setting)), form.cpu.value());
  };
  return cpu(two.rows[0]) / cpu(two.rows[1]);
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
  test::show("sharing_gain_scaled_decode", measure(bench, models, repeats, true).ratio, "x");
  return failed;
}
