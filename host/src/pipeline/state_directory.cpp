// SPDX-License-Identifier: Apache-2.0
// The file `fingerprint` says whose state a directory holds, and carries the lock.
#include "pipeline/state_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "omen/container.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

constexpr const char* kStateMark = "fingerprint";

bool holds_other_files(const fs::path& directory) {
  std::error_code none;
  const fs::directory_iterator entries(directory, none);
  return std::any_of(begin(entries), end(entries), [](const fs::directory_entry& entry) {
    return entry.path().filename() != kStateMark;
  });
}

[[noreturn]] void state_refused(const fs::path& path, const std::string& what,
                                const std::string& hint) {
  throw Error(OMEN_INVALID_STATE, path.string() + " " + what, hint);
}

std::string mark_text(int file) {
  std::string text(128, '\0');
  const ssize_t size = pread(file, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

}  // namespace

StateDirectory::StateDirectory(const fs::path& path, const std::string& fingerprint) {
  if (path.empty()) return;
  const fs::path place = fs::absolute(path), mark = place / kStateMark;
  std::error_code failed;
  fs::create_directories(place, failed);
  const bool kept = holds_other_files(place);
  if (kept && !fs::exists(mark))
    state_refused(path, "is there and holds no state of a training",
                  "choose another -o, or move it away");
  lock_ = Descriptor(::open(mark.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644));
  if (!lock_.open())
    throw Error(OMEN_IO, "directory " + path.string() + " cannot be used: " + std::strerror(errno),
                "choose another place with -o");
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) != 0)
    state_refused(path, "is in use by another process", "wait for its end, or choose another -o");
  if (mark_text(lock_.get()) != fingerprint) {
    if (kept)
      state_refused(
          path, "keeps an unfinished run with other data, options, seed or plugin",
          "finish that one with its own command, or start anew after: rm -r " + path.string());
    if (ftruncate(lock_.get(), 0) != 0 ||
        pwrite(lock_.get(), fingerprint.data(), fingerprint.size(), 0) < 0)
      throw Error(OMEN_IO, mark.string() + " cannot be written: " + std::strerror(errno));
  }
  path_ = place;
}

StateDirectory::~StateDirectory() {
  if (!path_.empty() && !keeps_something()) finish();
}

bool StateDirectory::keeps_something() const {
  return !path_.empty() && holds_other_files(path_);
}

void StateDirectory::finish() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  path_.clear();
  lock_.reset();
}

std::string digest_of_files(const ComponentInfo& info, const OptionValues& options) {
  std::string digests;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const omen_option& value = options.data()[i];
    const OptionInfo* option = info.option(value.key);
    std::error_code ignored;
    if (option && option->type == OMEN_OPT_PATH && value.s && fs::is_regular_file(value.s, ignored))
      digests += std::string(value.key) + "=" + container::sha256_file(value.s) + ";";
  }
  return digests;
}

std::string call_fingerprint(const ComponentRef& ref, const OptionValues& options,
                             const RunSettings& run, const std::vector<std::string>& more) {
  std::vector<std::string> parts = {
      ref.plugin->manifest.sha256,        ref.info->id,
      options.canonical_json(),           digest_of_files(*ref.info, options),
      std::to_string(run.seed),           std::to_string(run.threads),
      std::to_string(run.interval_level), run.devices};
  parts.insert(parts.end(), more.begin(), more.end());
  std::string text;
  for (const std::string& part : parts) text += std::to_string(part.size()) + ":" + part;
  return container::sha256(text.data(), text.size());
}

std::string tables_digest(const Tables& tables) {
  std::string digests;
  for (const auto& [name, table] : tables) {
    container::Writer writer;
    container::put_table(writer, name, table);
    const std::string bytes = writer.serialise();
    digests += container::sha256(bytes.data(), bytes.size());
  }
  return container::sha256(digests.data(), digests.size());
}

}  // namespace omen::host
