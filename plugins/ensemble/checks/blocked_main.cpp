// SPDX-License-Identifier: Apache-2.0
// CPU seconds of a rank that waits for ten seconds: for a collective, a broadcast or a slot.
//   ensemble_blocked OMEN
// One rank has an emulated accelerator that takes seconds for a step, the other is fed by the same
// stream and has nothing to do. With OMEN_SHOW_BREAK=1 the other has a network to train.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"

namespace {

namespace test = omen::test;

bool succeeds(const std::string& line) {
  if (std::system(line.c_str()) == 0) return true;
  std::fprintf(stderr, "failed: %s\n", line.c_str());
  return false;
}

// CPU seconds of the second rank, for each ten seconds by the clock; negative where the run failed.
double blocked_cpu(const std::string& omen, const std::string& data, const std::string& design,
                   const std::string& out) {
  const std::string busy = " --models 'tiny*2' --epochs 60 --design ";
  // Six steps of two and a half seconds.
  const std::string waits = " --models tiny --ranks 2 --train-rate 13 --queue 1 --design ";
  if (!succeeds(omen + " ensemble run --data " + data + " --batch 32 --size 16 -q -o " + out +
                (test::broken() ? busy : waits) + design + " > " + out + ".log 2>&1"))
    return -1;
  std::ifstream in(out + "/run.json");
  const nlohmann::json rank = nlohmann::json::parse(in).at("rank_use").at(1);
  return 10 * rank.at("run_cpu_s").get<double>() / rank.at("run_s").get<double>();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string omen = argv[1];
  const test::TempDir place;
  const std::string data = (place / "images.epd").string();
  if (!succeeds(omen + " ensemble make-data " + data +
                " --images 192 --width 48 --height 40 -q > /dev/null"))
    return 1;
  const std::vector<std::string> designs = {"all-shared", "single-broadcast", "multi-broadcast",
                                            "shared-memory"};
  std::vector<double> used(designs.size());
  std::vector<std::thread> runs;
  for (std::size_t i = 0; i < designs.size(); ++i)
    runs.emplace_back(
        [&, i] { used[i] = blocked_cpu(omen, data, designs[i], (place / designs[i]).string()); });
  for (std::thread& run : runs) run.join();
  int failed = 0;
  for (std::size_t i = 0; i < designs.size(); ++i) {
    if (used[i] < 0) return 1;
    std::string name = "blocked_cpu_" + designs[i];
    for (char& c : name) c = c == '-' ? '_' : c;
    failed |= test::show(name, used[i], "s", "<", 0.2);
  }
  return failed;
}
