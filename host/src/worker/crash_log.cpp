// SPDX-License-Identifier: Apache-2.0
// Remembers which libraries took their process down, by digest, in the user's cache.
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
#include "worker/worker.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::map<std::string, CrashRecord> read_records(const fs::path& file) {
  std::map<std::string, CrashRecord> records;
  std::ifstream in(file);
  if (!in) return records;
  const Json document = Json::parse(in, nullptr, false);
  if (!document.is_object() || !document.contains("crashes") || !document["crashes"].is_object())
    return records;
  for (const auto& [digest, entry] : document["crashes"].items()) {
    if (!entry.is_object()) continue;
    try {
      records[digest] = {entry.value("plugin", ""),    entry.value("version", ""),
                         entry.value("component", ""), entry.value("call", ""),
                         entry.value("outcome", ""),   entry.value("signal", ""),
                         entry.value("time", ""),      entry.value("count", 0)};
    } catch (const Json::exception&) {
      continue;  // a damaged entry is worth less than the others
    }
  }
  return records;
}

void write_records(const fs::path& file, const std::map<std::string, CrashRecord>& records) {
  Json crashes = Json::object();
  for (const auto& [digest, r] : records)
    crashes[digest] = {{"plugin", r.plugin}, {"version", r.version}, {"component", r.component},
                       {"call", r.call},     {"outcome", r.outcome}, {"signal", r.signal},
                       {"time", r.time},     {"count", r.count}};
  const Json document = {{"format_version", 1}, {"crashes", crashes}};
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

std::map<std::string, CrashRecord> known_crashes() {
  return read_records(cache_directory() / "crashes.json");
}

void remember_crash(const std::string& library_sha256, CrashRecord record) {
  update_records([&](std::map<std::string, CrashRecord>& records) {
    const auto known = records.find(library_sha256);
    record.count = known == records.end() ? 1 : known->second.count + 1;
    record.time = utc_now();
    records[library_sha256] = std::move(record);
  });
}

void forget_crashes(const std::string& library_sha256) {
  update_records(
      [&](std::map<std::string, CrashRecord>& records) { records.erase(library_sha256); });
}

}  // namespace omen::host
