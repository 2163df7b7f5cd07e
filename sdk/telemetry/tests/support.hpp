// SPDX-License-Identifier: Apache-2.0
// Fixture trees for /proc and /sys, and look-ups in sampled rows.
#ifndef OMEN_TESTS_TELEMETRY_SUPPORT_HPP
#define OMEN_TESTS_TELEMETRY_SUPPORT_HPP

#include <filesystem>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "omen/telemetry/source.hpp"
#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::telemetry::test {

// Files are rewritten in place, as the kernel's are.
class TempTree : public omen::test::TempDir {
 public:
  const std::filesystem::path& root() const { return path(); }
  // Several files of one directory, each with the line that it holds.
  void write_lines(const std::string& directory,
                   std::initializer_list<std::pair<const char*, const char*>> files) const {
    for (const auto& [name, line] : files) write(directory + name, std::string(line) + "\n");
  }
  void remove(const std::string& name) const { std::filesystem::remove_all(path() / name); }
};

// What a source needs, over a fixture tree with proc/ and sys/.
struct Bench {
  TempTree tree;
  MetricTable metrics;
  Notes notes;
  std::vector<Sample> rows;

  Context context() { return {{tree / "proc", tree / "sys"}, metrics, notes}; }

  // The rows of one tick only.
  void tick(Source& source, double seconds) {
    rows.clear();
    source.sample(static_cast<std::int64_t>(seconds * 1e9), rows);
  }
  std::vector<double> values(const std::string& metric, std::int32_t device = -1,
                             std::int32_t pid = 0) {
    std::vector<double> found;
    const std::int32_t id = metrics.id(metric);
    for (const Sample& row : rows)
      if (row.metric == id && row.device == device && row.pid == pid) found.push_back(row.value);
    return found;
  }
  // The value of a metric that has one row in this tick; not a number otherwise.
  double value(const std::string& metric, std::int32_t device = -1, std::int32_t pid = 0) {
    const std::vector<double> found = values(metric, device, pid);
    return found.size() == 1 ? found[0] : std::numeric_limits<double>::quiet_NaN();
  }
  bool has_note(const std::string& part) {
    for (const Note& note : notes.list())
      if (note.message.find(part) != std::string::npos) return true;
    return false;
  }
};

}  // namespace omen::telemetry::test

#endif  // OMEN_TESTS_TELEMETRY_SUPPORT_HPP
