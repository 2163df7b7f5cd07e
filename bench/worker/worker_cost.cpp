// SPDX-License-Identifier: Apache-2.0
// What a worker costs: CPU time of `omen predict` with a plugin of others, over the same in
// process.
//   worker_cost OMEN PLUGINS    with OMEN_SHOW_BREAK=1 the worker's side answers eight times
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"

namespace {

namespace fs = std::filesystem;

void write_rows(const fs::path& file, int rows) {
  std::ofstream out(file);
  out << "f0,f1,f2,f3,f4,f5,f6,f7,time_ms\n";
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < 8; ++column) out << (row * 7 + column) % 1000 << ".5,";
    out << row % 13 << "\n";
  }
}

double cpu_of(const std::string& command) {
  const double start = omen::test::cpu_seconds(RUSAGE_CHILDREN);
  if (std::system(command.c_str()) != 0) {
    std::fprintf(stderr, "error: %s\n", command.c_str());
    std::exit(1);
  }
  return omen::test::cpu_seconds(RUSAGE_CHILDREN) - start;
}

// The fastest of several, because whatever else the machine does only adds.
double least(const std::string& command, int repeats) {
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) best = std::min(best, cpu_of(command));
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const omen::test::TempDir directory;
  const std::string omen = std::string(argv[1]) + " ",
                    places = " --plugin-path " + std::string(argv[2]);
  const std::string model = " -m " + (directory / "m.omen").string();
  write_rows(directory / "one.csv", 1);
  write_rows(directory / "many.csv", 200000);
  write_rows(directory / "some.csv", 20);
  cpu_of(omen + "train abibench.linear --in-process -q --target time_ms:ms:lower --data " +
         (directory / "some.csv").string() + " -o " + (directory / "m.omen").string() + places +
         " > /dev/null");
  int missed = 0;
  const auto compare = [&](const char* name, const char* file, int repeats, double goal) {
    const std::string predict =
        omen + "predict -q --csv " + (directory / file).string() + model + places + " > /dev/null";
    std::string isolated = predict;
    for (int again = 0; omen::test::broken() && again < 7; ++again) isolated += "; " + predict;
    const double worker = least(isolated, repeats);
    const double process = least(predict + " --in-process", repeats);
    missed |= omen::test::show(name, worker / process, "x", "<=", goal);
  };
  compare("worker_cost_one_row", "one.csv", 9, 5);
  compare("worker_cost_200k_rows", "many.csv", 3, 2);
  return missed;
}
