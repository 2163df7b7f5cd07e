// SPDX-License-Identifier: Apache-2.0
// The shipped model on GPUs of which no job was measured: ResNet-50 against the rates of Gavel
// and the order of MISO's steps.
//   driple_zero_shot OMEN
// With OMEN_SHOW_BREAK=1 the slowest GPU answers for the fastest.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "omen/testing/show.hpp"
#include "operator_tables.hpp"

namespace {

namespace test = omen::test;
using omen::driple::checks::data_directory;
using omen::driple::checks::for_each_row;
using omen::driple::checks::TextRow;

constexpr const char* kGpus[] = {"k80", "p100", "v100"};  // from slow to fast
constexpr const char* kInterference = "../../interference/";

double said_seconds(const std::string& omen, const std::string& gpu, int batch) {
  const std::string line = "'" + omen + "' predict resnet50 --batch " + std::to_string(batch) +
                           " --gpu " + gpu + " --csv -q | cut -d, -f4 | tail -1";
  const std::unique_ptr<FILE, int (*)(FILE*)> in(popen(line.c_str(), "r"), pclose);
  char text[64] = "";
  if (!in || !std::fgets(text, sizeof text, in.get()))
    throw std::runtime_error("this failed: " + line);
  return 1e-3 * std::strtod(text, nullptr);
}

// Seconds of a step by GPU and batch, isolated, on one GPU.
std::map<std::pair<std::string, int>, double> gavel_steps() {
  std::map<std::pair<std::string, int>, double> steps;
  for_each_row(std::string(kInterference) + "gavel/gavel_isolated.csv",
               {"source", "gpu", "model", "batch_size", "scale_factor", "steps_per_s"},
               [&](const TextRow& r) {
                 const double rate = std::strtod(r[5].c_str(), nullptr);
                 if (r[0] == "oracle" && r[2] == "ResNet-50" && r[4] == "1" && rate > 0)
                   steps[{r[1], std::atoi(r[3].c_str())}] = 1 / rate;
               });
  return steps;
}

// MISO does not state the depth of its `resnet` nor the size of its images, so that only the order
// of its batches on a whole A100 can be asked for.
int show_miso(const std::string& omen) {
  std::map<int, double> measured;
  for_each_row(std::string(kInterference) + "miso/a100_mig_step_time.csv",
               {"mig_slice", "model", "batch_size", "median_s"}, [&](const TextRow& r) {
                 if (r[0] == "7g.40gb" && r[1] == "resnet")
                   measured[std::atoi(r[2].c_str())] = std::strtod(r[3].c_str(), nullptr);
               });
  double wrong = 0, pairs = 0, before = 0, said_before = 0;
  for (const auto& [batch, seconds] : measured) {
    const double said = said_seconds(omen, "a100", batch) * (test::broken() ? -1 : 1);
    if (before > 0) ++pairs, wrong += (seconds > before) != (said > said_before) ? 1 : 0;
    before = seconds, said_before = said;
  }
  test::show("miso_pairs", pairs, "pairs");
  return test::show("miso_order_wrong", wrong, "pairs", "==", 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::puts("usage: driple_zero_shot OMEN");
    return 2;
  }
  if (data_directory().empty()) {
    std::puts("skipped: OMEN_DATA is not set: the published rates are absent");
    return test::kSkipped;
  }
  const auto measured = gavel_steps();
  double off = 0, rows = 0, wrong = 0;
  for (const int batch : {16, 32, 64, 128}) {
    double before = 1e9;
    for (const char* gpu : kGpus) {
      const double truth = measured.at({gpu, batch});
      const bool swapped = test::broken() && std::string(gpu) == kGpus[2];
      const double said = said_seconds(argv[1], swapped ? kGpus[0] : gpu, batch);
      const std::string name = std::string(gpu) + "_" + std::to_string(batch);
      test::show("gavel_said_" + name, 1e3 * said, "ms");
      test::show("gavel_measured_" + name, 1e3 * truth, "ms");
      off += std::abs(said / truth - 1), ++rows;
      wrong += said >= before ? 1 : 0;
      before = said;
    }
  }
  test::show("gavel_off", 100 * off / rows, "%");
  const int missed = test::show("gavel_order_wrong", wrong, "pairs", "==", 0);
  return missed | show_miso(argv[1]);
}
