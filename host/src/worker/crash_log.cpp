// SPDX-License-Identifier: Apache-2.0
// Remembers which components took their process down, by digest of their library, in the user's
// cache.
#include <fstream>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "child_process.hpp"
#include "machine.hpp"
#include "omen/pending_file.hpp"
#include "omen/utc_time.hpp"
#include "worker/worker.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Records by digest alone, as version 1 had them, knew one component of a library only.
constexpr int kFormatVersion = 2;

CrashRecord record_from(const Json& entry) {
  return {entry.value("plugin", ""), entry.value("version", ""), entry.value("component", ""),
          entry.value("call", ""),   entry.value("outcome", ""), entry.value("signal", ""),
          entry.value("time", ""),   entry.value("count", 0)};
}

CrashRecords read_records(const fs::path& file) {
  CrashRecords records;
  std::ifstream in(file);
  if (!in) return records;
  const Json document = Json::parse(in, nullptr, false);
  if (!document.is_object() || document.value("format_version", Json()) != kFormatVersion)
    return records;
  const Json crashes = document.value("crashes", Json::object());
  for (const auto& [digest, components] : crashes.items()) {
    if (!components.is_object()) continue;
    for (const auto& [component, entry] : components.items()) {
      if (!entry.is_object()) continue;
      try {
        records[digest][component] = record_from(entry);
      } catch (const Json::exception&) {
        continue;  // a damaged entry is worth less than the others
      }
    }
  }
  return records;
}

void write_records(const fs::path& file, const CrashRecords& records) {
  Json crashes = Json::object();
  for (const auto& [digest, components] : records)
    for (const auto& [component, r] : components)
      crashes[digest][component] = {{"plugin", r.plugin},       {"version", r.version},
                                    {"component", r.component}, {"call", r.call},
                                    {"outcome", r.outcome},     {"signal", r.signal},
                                    {"time", r.time},           {"count", r.count}};
  const Json document = {{"format_version", kFormatVersion}, {"crashes", crashes}};
  try {
    replace_file(file, document.dump(1) + '\n');
  } catch (const Error&) {
    // A cache that cannot be written is no error.
  }
}

// Reads, changes and replaces the file while no other process does; a cache that cannot be written
// is no error.
template <class Change>
void update_records(Change&& change) {
  const fs::path directory = cache_directory();
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) return;
  const Descriptor lock(
      open((directory / "crashes.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (!lock.open() || flock(lock.get(), LOCK_EX) != 0) return;
  const fs::path file = directory / "crashes.json";
  auto records = read_records(file);
  change(records);
  write_records(file, records);
}

}  // namespace

CrashRecords known_crashes() {
  return read_records(cache_directory() / "crashes.json");
}

void remember_crash(const std::string& library_sha256, CrashRecord record) {
  update_records([&](CrashRecords& records) {
    CrashRecord& known = records[library_sha256][record.component];
    record.count = known.count + 1;
    record.time = utc_now();
    known = std::move(record);
  });
}

void forget_crashes(const std::string& library_sha256) {
  update_records([&](CrashRecords& records) { records.erase(library_sha256); });
}

}  // namespace omen::host
