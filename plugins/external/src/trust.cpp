// SPDX-License-Identifier: Apache-2.0
// A model, a task or a run of somebody else names a program among its options, and could name any.
#include "trust.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <omen/host.hpp>
#include <omen/join.hpp>
#include <set>

namespace omen::external {
namespace {

// Of this process, for users without a cache.
struct Remembered {
  std::mutex mutex;
  std::set<std::string> records;
};
Remembered& remembered() {
  static auto* const all = new Remembered;
  return *all;
}

bool is_known(const trust::Record& record) {
  const char* everything = std::getenv("OMEN_EXTERNAL_TRUST");
  if (everything && *everything) return true;
  {
    const std::lock_guard lock(remembered().mutex);
    if (remembered().records.count(record.id())) return true;
  }
  return trust::is_trusted(record);
}

// What `omen` puts between the words of a command line for its plugins and workers.
constexpr char kBetweenWords = '\x1f';

// As the value of a flag, or behind the name of an option: "--command X", "-O command=X",
// "external.program@script=S,command=X".
bool stands_in(const std::vector<std::string>& words, const std::string& value) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0 && words[i] == value && words[i - 1].rfind('-', 0) == 0) return true;
    const std::string wanted = "=" + value;
    for (std::size_t at = words[i].find(wanted); at != std::string::npos;
         at = words[i].find(wanted, at + 1)) {
      const std::size_t end = at + wanted.size();
      if (end == words[i].size() || words[i][end] == ',') return true;
    }
  }
  return false;
}

}  // namespace

bool is_typed(const std::vector<std::string>& values) {
  const char* line = std::getenv("OMEN_COMMAND_LINE");
  if (!line) return true;
  const std::vector<std::string> words = split(line, kBetweenWords);
  return std::all_of(values.begin(), values.end(), [&](const std::string& value) {
    return value.empty() || stands_in(words, value);
  });
}

void remember(const trust::Record& record) {
  {
    const std::lock_guard lock(remembered().mutex);
    remembered().records.insert(record.id());
  }
  try {
    trust::add(record);
  } catch (const Error& error) {
    log(OMEN_LOG_WARN, "external.program",
        std::string("cannot remember the program for later runs: ") + error.what());
  }
}

void require_program(const std::string& command) {
  if (is_known(trust::program(command))) return;
  throw Error(
      OMEN_INVALID_STATE,
      "this model wants to run a program that you never trained with: " + trust::visible(command),
      "Where you trust it as it is now: omen trust add COMMAND, or the model as omen trust "
      "add MODEL.omen; OMEN_EXTERNAL_TRUST=1 trusts everything.");
}

void require_model(const trust::Record& model, const std::string& command) {
  if (is_known(model)) return;
  throw Error(
      OMEN_INVALID_STATE,
      "this model was not trained by you, and hands its state to: " + trust::visible(command),
      "Where you trust both: omen trust add MODEL.omen; OMEN_EXTERNAL_TRUST=1 trusts "
      "everything.");
}

}  // namespace omen::external
