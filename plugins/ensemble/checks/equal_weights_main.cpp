// SPDX-License-Identifier: Apache-2.0
// Runs whose weights, buffers or optimisers differ from those of models that trained unshared:
// every design with 1 to 4 models, 1 to n preprocessors and several queues.
//   ensemble_equal_weights OMEN
// With OMEN_SHOW_BREAK=1 the shared runs draw their images in another order.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"

namespace {

namespace fs = std::filesystem;
namespace test = omen::test;

// Two epochs of five batches, the last of them not full.
constexpr int kImages = 44, kEpochs = 2, kMostModels = 4;
const std::vector<std::string> kNets = {"resnet8", "tiny", "lenet", "tiny"};

// Files of weights and checkpoints, one after the other; empty where the run failed.
std::string trained(const fs::path& out) {
  std::string all;
  for (const char* part : {"weights", "checkpoints"}) {
    if (!fs::is_directory(out / part)) return {};
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(out / part)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      std::ostringstream bytes;
      bytes << file.filename().string() << std::ifstream(file, std::ios::binary).rdbuf();
      all += bytes.str();
    }
  }
  return all;
}

class Grid {
 public:
  explicit Grid(std::string omen) : omen_(std::move(omen)) {}

  bool make_images() const {
    return std::system((omen_ + " ensemble make-data " + data() + " --images " +
                        std::to_string(kImages) + " --width 48 --height 40 -q > /dev/null")
                           .c_str()) == 0;
  }
  void compare(int models) {
    std::string names;
    for (int i = 0; i < models; ++i) names += (i ? "," : "") + kNets[static_cast<std::size_t>(i)];
    const std::string alone = run(names, "none --queue 4", 5);
    if (alone.empty()) ++failed_;
    for (const char* queue : {" --queue 1 --sample-queue 1", " --queue 3 --block 2"}) {
      against(alone, names, std::string("all-shared") + queue);
      for (const char* design : {"single-broadcast", "multi-broadcast", "shared-memory",
                                 "shared-memory --pace decoupled"})
        for (int makers = 1; makers <= models; ++makers)
          against(alone, names, design + (" --preprocessors " + std::to_string(makers)) + queue);
    }
  }
  int runs() const { return runs_; }
  int failed() const { return failed_; }

 private:
  std::string data() const { return (place_ / "images.epd").string(); }
  std::string run(const std::string& models, const std::string& design, int seed) const {
    const std::string out = (place_ / "out").string();
    fs::remove_all(out);
    const std::string line = omen_ + " ensemble run --data " + data() + " --models " + models +
                             " --batch 8 --size 16 --optimiser momentum --epochs " +
                             std::to_string(kEpochs) + " --seed " + std::to_string(seed) +
                             " --design " + design + " -q -o " + out + " > " + out + ".log 2>&1";
    return std::system(line.c_str()) == 0 ? trained(out) : std::string();
  }
  void against(const std::string& alone, const std::string& models, const std::string& design) {
    ++runs_;
    if (run(models, design, test::broken() ? 6 : 5) == alone) return;
    ++failed_;
    if (!test::broken()) std::fprintf(stderr, "differs: %s %s\n", models.c_str(), design.c_str());
  }

  const std::string omen_;
  const test::TempDir place_;
  int runs_ = 0, failed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  Grid grid(argv[1]);
  if (!grid.make_images()) return 1;
  const int most = test::broken() ? 1 : kMostModels;
  for (int models = 1; models <= most; ++models) grid.compare(models);
  test::show("shared_runs", grid.runs(), "runs");
  return test::show("shared_runs_with_other_weights", grid.failed(), "runs", "==", 0);
}
