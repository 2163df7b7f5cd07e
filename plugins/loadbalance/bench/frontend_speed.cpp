// SPDX-License-Identifier: Apache-2.0
// Speed of the front end as ratios of CPU time in one run: building against parsing, compiling with
// a graph against Clang alone, and both against the published ProGraML binary.
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>

#include "frontend/programl_frontend.hpp"
#include "llvm/compile.hpp"
#include "llvm/graph_builder.hpp"
#include "llvm/kernels.hpp"
#include "llvm/read_module.hpp"
#include "module_files.hpp"
#include "omen/testing/ready_run.hpp"
#include "omen/testing/show.hpp"

namespace omen::loadbalance::bench {
namespace {

using test::broken;
using test::cpu_seconds;
using test::cpu_seconds_of;
using test::kSkipped;
using test::ReadyRun;
using test::show;

// What the best of several rounds takes; other processes only ever add to it.
constexpr int kRounds = 5;

struct Times {
  double parse = 0, build = 0;
};

Times parse_and_build(const std::vector<File>& files, const BuildOptions& options) {
  Times times;
  for (const File& file : files) {
    double start = cpu_seconds();
    const IrModule module = read_module(file.text, file.path);
    times.parse += cpu_seconds() - start;
    start = cpu_seconds();
    const ProgramGraph graph = build_graph(module.get(), "module", options);
    times.build += cpu_seconds() - start;
    if (graph.nodes.empty()) std::abort();
  }
  return times;
}

int build_ratio(const std::string& directory) {
  const std::vector<File> files = files_in(directory, ".ll");
  BuildOptions options;
  options.full_text = broken();
  parse_and_build(files, options);
  std::vector<double> ratios;
  Times best{1e9, 1e9};
  for (int round = 0; round < kRounds; ++round) {
    const Times times = parse_and_build(files, options);
    best = {std::min(best.parse, times.parse), std::min(best.build, times.build)};
  }
  std::printf("%zu modules: parse %.3f s, build %.3f s\n", files.size(), best.parse, best.build);
  return show("graph_build_over_parse", best.build / best.parse, "ratio", "<=", 0.25);
}

// CPU seconds of one process of the published binary for each file; negative where it fails.
double peer_seconds(const char* binary, const std::vector<File>& files) {
  const double start = cpu_seconds(RUSAGE_CHILDREN);
  for (const File& file : files) {
    const pid_t child = ::fork();
    if (child == 0) {
      const int nowhere = ::open("/dev/null", O_WRONLY);
      ::dup2(nowhere, STDOUT_FILENO);
      ::dup2(nowhere, STDERR_FILENO);
      ::execl(binary, binary, "-stdout_fmt=pb", file.path.c_str(), nullptr);
      ::_exit(127);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) return -1;
  }
  return cpu_seconds(RUSAGE_CHILDREN) - start;
}

int peer_ratio(const std::string& directory, const char* binary) {
  std::vector<File> files = files_in(directory, ".ll");
  BuildOptions options;
  // The control parses every module again and again, until nothing is left of the lead.
  int repeats = 1;
  if (broken()) {
    files.resize(std::min<std::size_t>(files.size(), 60));
    repeats = 200;
  }
  const double theirs = peer_seconds(binary, files);
  if (theirs < 0) {
    std::puts("skipped: the published binary does not start; it needs libtinfo5");
    return kSkipped;
  }
  double ours = 1e9;
  for (int round = 0; round < (broken() ? 1 : 3); ++round)
    ours = std::min(ours, cpu_seconds_of([&] {
                      for (int i = 0; i < repeats; ++i) parse_and_build(files, options);
                    }));
  std::printf("%zu modules: published binary %.3f s, ours %.3f s\n", files.size(), theirs, ours);
  return show("parse_build_vs_programl", theirs / ours, "times", ">=", 10);
}

// The front end as omen calls it, with every column of `workloads`.
double whole_front_end(const std::vector<File>& files, const CompileOptions& compile) {
  ProgramlOptions options;
  options.include_dir = compile.include_dirs;
  const ReadyRun run;
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round)
    best =
        std::min(best, cpu_seconds_of([&] {
                   for (const File& file : files) {
                     TableCollector tables;
                     ProgramlFrontend(options).lower(file.path.c_str(), TablesOut(tables.c()), run);
                   }
                 }));
  return best;
}

int compile_ratio(const std::string& directory) {
  const std::vector<File> files = files_in(directory, ".cl");
  CompileOptions options;
  options.include_dirs = {directory};
  double clang = 1e9, both = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    clang = std::min(clang, cpu_seconds_of([&] {
                       for (const File& file : files) compile_opencl(file.text, file.path, options);
                     }));
    both =
        std::min(both, cpu_seconds_of([&] {
                   for (const File& file : files) {
                     const IrModule module = compile_opencl(file.text, file.path, options);
                     if (broken()) compile_opencl(file.text, file.path, options);
                     std::vector<ProgramGraph> graphs;
                     for (const llvm::Function* kernel : kernels_of(module.get()))
                       graphs.push_back(build_graph(module.get(), with_callees(*kernel), "kernel"));
                     to_tables(graphs, kDialect);
                   }
                 }));
  }
  const double whole = whole_front_end(files, options);
  std::printf("%zu sources: Clang %.3f s, with graphs %.3f s, with all columns %.3f s\n",
              files.size(), clang, both, whole);
  // Counts and the verdict on dividing share a compilation of their own.
  const int missed = show("front_end_over_clang", whole / clang, "ratio", "<=", 2.2);
  return missed + show("compile_graph_over_clang", both / clang, "ratio", "<=", 1.5);
}

}  // namespace
}  // namespace omen::loadbalance::bench

int main(int argc, char** argv) {
  using namespace omen::loadbalance::bench;
  const std::string mode = argc > 2 ? argv[1] : "";
  if (mode == "--build") return build_ratio(argv[2]);
  if (mode == "--compile") return compile_ratio(argv[2]);
  if (mode == "--peer" && argc > 3) return peer_ratio(argv[2], argv[3]);
  std::fputs("usage: frontend_speed --build DIR | --compile DIR | --peer DIR BINARY\n", stderr);
  return 2;
}
