// SPDX-License-Identifier: Apache-2.0
// The omen program: children of omen go straight to their work, people go to the command line.
#include <string_view>

#include "cli.hpp"
#include "pipeline/verify.hpp"
#include "worker/worker.hpp"

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "__worker") return omen::host::worker_main(argc, argv);
  if (first == "__verify") return omen::host::verify_case_main(argc, argv);
  return omen::host::cli::run(argc, argv);
}
