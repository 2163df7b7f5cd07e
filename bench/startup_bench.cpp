// SPDX-License-Identifier: Apache-2.0
// What starting costs: CPU time of `omen list` with 20 plugins against an empty iostream program.
//   startup_bench OMEN EMPTY            Google Benchmark figures
//   startup_bench --show OMEN EMPTY     the acceptance figure; OMEN_SHOW_BREAK=1 lists a hundred
//   times as many plugins startup_bench --links OMEN          how many heavy libraries omen links;
//   broken: of CMake, which links libcurl
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "components/manifest.hpp"
#include "omen/median.hpp"
#include "omen/testing/show.hpp"
#include "omen/testing/temp_dir.hpp"

namespace fs = std::filesystem;

namespace {

using omen::median;

constexpr int kPlugins = 20;

using omen::test::broken;

// A manifest as long as those of the tracks: four components with six options each.
std::string manifest_text(const std::string& id) {
  using namespace omen::host;
  Manifest manifest;
  manifest.id = id;
  manifest.version = "0.1.0";
  manifest.license = "Apache-2.0";
  manifest.abi_minor = OMEN_ABI_MINOR;
  manifest.library = "lib" + id + ".so";
  manifest.sha256.assign(64, 'a');
  manifest.size = 412672;
  manifest.requirements["libtorch"] = ">=2.9,<3";
  for (int c = 0; c < 4; ++c) {
    ComponentInfo component;
    component.kind = c == 0 ? OMEN_GRAPH_FRONTEND : OMEN_PREDICTOR;
    component.id = id + ".component" + std::to_string(c);
    component.summary = "a component whose summary has a usual length";
    component.caps = OMEN_CAP_SEEDED_REPEATABLE;
    component.reads = {"nodes@ops/1", "edges", "workloads.batch_size"};
    component.writes = {"step_time_ms:ms:lower", "energy_j:J:lower"};
    for (int o = 0; o < 6; ++o) {
      OptionInfo option;
      option.key = "option" + std::to_string(o);
      option.type = OMEN_OPT_INT;
      option.default_text = "64";
      option.min = 1;
      option.max = 4096;
      option.help = "what this option does to the result";
      component.options.push_back(option);
    }
    manifest.components.push_back(component);
  }
  return to_json(manifest);
}

// A copy of omen with generated plugins beside it and nothing else to find.
class Installation {
 public:
  Installation(const fs::path& omen, int plugins) {
    fs::create_directories(root_ / "bin");
    fs::copy_file(omen, root_ / "bin/omen");
    for (int i = 0; i < plugins; ++i) {
      const std::string id = "generated" + std::to_string(i);
      const fs::path directory = root_ / "plugins" / id;
      fs::create_directories(directory);
      const std::string text = manifest_text(id);
      std::FILE* file = std::fopen((directory / "plugin.json").c_str(), "w");
      if (!file || std::fputs(text.c_str(), file) < 0 || std::fclose(file) != 0)
        throw std::runtime_error("cannot write a manifest");
    }
    ::unsetenv("OMEN_PLUGIN_PATH");
    ::setenv("XDG_DATA_HOME", (root_ / "home").c_str(), 1);
  }
  std::string omen() const { return (root_ / "bin/omen").string(); }

 private:
  omen::test::TempDir root_;
};

// CPU seconds, user and system, of one run; its output is thrown away, or kept where `output` is
// given.
double run(const std::vector<std::string>& words, const char* output = "/dev/null") {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed) throw std::runtime_error("cannot start " + words[0]);
  int status = 0;
  rusage usage{};
  if (::wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(words[0] + " failed");
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Every plugin must be in the list, or a broken omen would win.
void check_list(const Installation& installation, int plugins) {
  const std::string file = installation.omen() + ".list";
  run({installation.omen(), "list", "--plain"}, file.c_str());
  std::FILE* in = std::fopen(file.c_str(), "r");
  if (!in) throw std::runtime_error("no list");
  std::string text(std::size_t{1} << 22, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), in));
  std::fclose(in);
  for (int i = 0; i < plugins; ++i)
    if (text.find("generated" + std::to_string(i)) == text.npos)
      throw std::runtime_error("omen list leaves plugins out");
}

int show(const std::string& omen, const std::string& empty) {
  constexpr double kGoal = 5;
  constexpr int kRepeats = 150;
  const int plugins = broken() ? 100 * kPlugins : kPlugins;
  const Installation installation(omen, plugins);
  check_list(installation, plugins);
  std::vector<double> list, nothing;
  for (int i = 0; i < (broken() ? 10 : kRepeats); ++i) {
    list.push_back(run({installation.omen(), "list"}));
    nothing.push_back(run({empty}));
  }
  const double ratio = median(list) / median(nothing);
  std::printf("omen list with %d plugins: %.2f ms, empty program: %.2f ms\n", plugins,
              1e3 * median(list), 1e3 * median(nothing));
  return omen::test::show("list_20_plugins_ratio", ratio, "x", "<=", kGoal);
}

int show_links(const std::string& omen) {
  const std::string target = broken() ? OMEN_BENCH_CMAKE : omen;
  std::FILE* pipe = ::popen(("ldd '" + target + "'").c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run ldd");
  std::string text;
  char line[512];
  while (std::fgets(line, sizeof line, pipe)) text += line;
  if (::pclose(pipe) != 0 || text.find("libc.so") == text.npos)
    throw std::runtime_error("ldd failed on " + target);
  int heavy = 0;
  for (const char* name :
       {"libcurl", "libmpi", "libtorch", "libc10", "libLLVM", "libclang", "libcuda", "libOpenCL"})
    heavy += text.find(name) != text.npos;
  return omen::test::show("omen_links_heavy_libraries", heavy, "libraries", "==", 0);
}

void add_benchmark(const char* name, std::vector<std::string> words) {
  benchmark::RegisterBenchmark(name,
                               [words](benchmark::State& state) {
                                 for (auto _ : state) state.SetIterationTime(run(words));
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "--show" && argc == 4) return show(argv[2], argv[3]);
    if (mode == "--links" && argc == 3) return show_links(argv[2]);
    benchmark::Initialize(&argc, argv);
    if (argc != 3) {
      std::fprintf(stderr, "usage: startup_bench [--show|--links] OMEN EMPTY\n");
      return 2;
    }
    const Installation installation(argv[1], kPlugins);
    add_benchmark("omen_list_20_plugins", {installation.omen(), "list"});
    add_benchmark("empty_iostream_program", {argv[2]});
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
