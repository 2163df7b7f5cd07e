// SPDX-License-Identifier: Apache-2.0
// `omen verify`: resolves the plugin and hands over to the conformance cases.
#include <iostream>

#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "components/registry.hpp"
#include "components/run_context.hpp"
#include "pipeline/verify.hpp"

namespace omen::host::cli {

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
  const int code = run_verify(wanted, std::cout, std::cerr);
  std::cout.flush();
  return code;
}

}  // namespace omen::host::cli
