// SPDX-License-Identifier: Apache-2.0
// `omen verify`: runs the conformance cases of a plugin, each in its own process, and reports what
// fired.
#ifndef OMEN_HOST_VERIFY_HPP
#define OMEN_HOST_VERIFY_HPP

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>

namespace omen::host {

struct VerifyRequest {
  std::filesystem::path plugin;  // plugin.json, or the directory that holds it
  int level = 2;                 // 1 load and describe, 2 contract, 3 stress and fuzz
  std::string include, exclude;  // regular expressions over case ids; empty: all, none
  bool json = false;             // one document with format_version on `out`
  bool markdown = false;         // the feature matrix on `out`
  bool in_process = false;       // for debuggers: no child processes, no limits
  bool verbose = false;          // also lists the cases that passed
  std::uint64_t seed = 1;
  unsigned jobs = 0;            // cases at once; 0: one per core
  double timeout_s = 0;         // per case; 0: what each case says
  std::uint64_t memory_mb = 0;  // per case; 0: what each case says
};

// Returns an exit code: 0 without FAIL, CRASH and TIMEOUT, else 1; 2 for a bad request; 4 for an
// unreadable manifest; 130 when interrupted.
int run_verify(const VerifyRequest& request, std::ostream& out, std::ostream& err);

// The child of run_verify: `omen __verify PLUGIN_JSON CASE SEED`, with its verdict as one JSON line
// on descriptor 3.
int verify_case_main(int argc, char** argv);

}  // namespace omen::host

#endif  // OMEN_HOST_VERIFY_HPP
