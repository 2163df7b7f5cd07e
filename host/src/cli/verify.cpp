// SPDX-License-Identifier: Apache-2.0
// `omen verify`: resolves the plugin and hands over to the conformance cases.
#include <iostream>

#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "components/registry.hpp"
#include "components/run_context.hpp"
#include "pipeline/verify.hpp"

namespace omen::host::cli {
namespace {

struct VerifyRequest {
  std::string plugin;       // id, directory or plugin.json
  int level = 2, jobs = 0;  // jobs 0: one per core
  std::string include, exclude;
  bool in_process = false, markdown = false;
  double timeout_seconds = 0;
};

int run_verify_verb(const Globals& globals, const VerifyRequest& request) {
  namespace fs = std::filesystem;
  host::VerifyRequest wanted;
  std::error_code error;
  const bool is_path =
      request.plugin.find('/') != std::string::npos || fs::exists(request.plugin, error);
  wanted.plugin =
      is_path ? fs::path(request.plugin)
              : Registry::discover(globals.plugin_path).plugin(request.plugin).manifest.directory;
  if (is_path && !fs::exists(wanted.plugin, error))
    throw Error(OMEN_IO, "'" + request.plugin + "' does not exist",
                "give a plugin, its directory or its plugin.json");
  // A library stands for the directory that it lies in.
  if (wanted.plugin.extension() == ".so") wanted.plugin = fs::absolute(wanted.plugin).parent_path();
  if (fs::is_directory(wanted.plugin, error) && !fs::exists(wanted.plugin / "plugin.json", error)) {
    const Registry here = Registry::discover({wanted.plugin});
    for (const BrokenPlugin& broken : here.broken())
      if (fs::equivalent(broken.directory, wanted.plugin, error)) throw broken.error;
  }
  wanted.level = request.level;
  wanted.include = request.include;
  wanted.exclude = request.exclude;
  wanted.json = globals.json;
  wanted.markdown = request.markdown;
  wanted.in_process = request.in_process;
  wanted.verbose = globals.verbose > 0;
  wanted.seed = globals.seed;
  wanted.jobs = static_cast<unsigned>(request.jobs);
  wanted.timeout_s = request.timeout_seconds;
  install_interrupt_handler();
  give_stdout_back();  // the report goes there as it grows; cases run in children
  const int code = run_verify(wanted, std::cout, std::cerr);
  std::cout.flush();
  return code;
}

void describe_verify(CommandLine& line) {
  auto& r = line.request(run_verify_verb);
  line.word("PLUGIN", r.plugin, "a plugin, its directory or its plugin.json").required();
  line.value("--level", "1..3", r.level, "1 load and describe, 2 contract, 3 stress").range(1, 3);
  line.value("--include", "REGEX", r.include, "only tests whose name matches");
  line.value("--exclude", "REGEX", r.exclude, "no tests whose name matches");
  line.value("-j,--jobs", "N", r.jobs, "tests at the same time").range(1, 256);
  line.time("--timeout", r.timeout_seconds, "for each test, instead of its own limit");
  line.toggle("--in-process", r.in_process, "without workers, for a debugger");
  line.toggle("--markdown", r.markdown, "print the feature matrix for a README");
}

}  // namespace

Verb verify_verb() {
  return {"verify", "check that a plugin keeps the contract",
          "omen verify baseline\nomen verify build/plugins/mine --level 3", describe_verify,
          [](Offers& offers) { offers.plugins(); }};
}

}  // namespace omen::host::cli
