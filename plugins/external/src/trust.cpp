// SPDX-License-Identifier: Apache-2.0
// A model file names its program among its options, so a model from somebody else could name any.
// One empty file per program in the user's cache says which ones this user has run.
#include "trust.hpp"

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <omen/container.hpp>
#include <omen/host.hpp>
#include <set>

namespace omen::external {
namespace fs = std::filesystem;
namespace {

// Of this process, for users without a cache.
struct Remembered {
  std::mutex mutex;
  std::set<std::string> programs;
};
Remembered& remembered() {
  static auto* const all = new Remembered;
  return *all;
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

// Empty where there is no home.
fs::path record_of(const std::string& program) {
  const char *cache = variable("XDG_CACHE_HOME"), *home = variable("HOME");
  if (!cache && !home) return {};
  const fs::path base = cache ? fs::path(cache) : fs::path(home) / ".cache";
  return base / "omen" / "external" / container::sha256(program.data(), program.size());
}

}  // namespace

void trust(const std::string& program) {
  {
    const std::lock_guard lock(remembered().mutex);
    remembered().programs.insert(program);
  }
  const fs::path record = record_of(program);
  std::error_code failed;
  if (record.empty() || fs::exists(record, failed)) return;
  fs::create_directories(record.parent_path(), failed);
  try {
    container::write_file(record, "");
  } catch (const Error& error) {
    log(OMEN_LOG_WARN, "external.program",
        std::string("cannot remember the program for later runs: ") + error.what());
  }
}

void require_trust(const std::string& program) {
  if (variable("OMEN_EXTERNAL_TRUST")) return;
  {
    const std::lock_guard lock(remembered().mutex);
    if (remembered().programs.count(program)) return;
  }
  const fs::path record = record_of(program);
  std::error_code ignored;
  if (!record.empty() && fs::exists(record, ignored)) return;
  throw Error(OMEN_INVALID_STATE,
              "this model wants to run a program that you never trained with: " + program,
              "Where you trust it, set OMEN_EXTERNAL_TRUST=1 or train with it.");
}

}  // namespace omen::external
