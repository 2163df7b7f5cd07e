// SPDX-License-Identifier: Apache-2.0
// The contract of abi.h as test cases: what `omen verify` runs, and what a GoogleTest suite can
// run.
#ifndef OMEN_CONFORMANCE_CONFORMANCE_HPP
#define OMEN_CONFORMANCE_CONFORMANCE_HPP

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "omen/abi.h"

namespace omen::conformance {

enum class Verdict { kPass, kSkip, kWarn, kFail, kCrash, kTimeout };

// "PASS", "SKIP", "WARN", "FAIL", "CRASH", "TIMEOUT".
const char* verdict_name(Verdict verdict) noexcept;
std::optional<Verdict> verdict_from_name(std::string_view name) noexcept;
constexpr bool is_failure(Verdict verdict) noexcept {
  return verdict >= Verdict::kFail;
}

struct Result {
  Verdict verdict = Verdict::kPass;
  std::string message;  // why, for everything but PASS
};

// The case that says whether the library opens at all.
inline constexpr char kLoads[] = "binary.loads";

// One thing that must hold, for a plugin or for one of its components.
struct CaseInfo {
  std::string id;  // "data.nulls/mine.mean", without the slash where it is about the plugin
  std::string description;  // one sentence
  int level = 1;            // 1 load and describe, 2 contract, 3 stress and fuzz
  double timeout_s = 20;
  std::uint64_t memory_mb = 2048;  // resident; a child above it is ended
  bool opens = true;               // it needs the library, so it says nothing where kLoads fails
  std::string group() const { return id.substr(0, id.find('.')); }
  std::string component() const;  // "mine.mean", or empty
};

// How a synthetic column is filled where its name says too little.
struct ColumnQuirk {
  std::vector<std::string> values;         // categories; the column becomes a dictionary
  std::optional<double> minimum, maximum;  // numbers are drawn from here
  bool integer = false;
  std::int64_t width = 0;  // of a list column
};

// What is particular about one component.
struct ComponentQuirks {
  std::map<std::string, std::string> options;  // instead of the defaults, e.g. fewer epochs
  double tolerance = 1e-6;                     // relative, where two answers must agree
  double timeout_factor = 1;
  std::uint64_t memory_mb = 2048;
  std::int64_t workloads = 24;                 // rows of the synthetic task
  std::map<std::string, ColumnQuirk> columns;  // by "table.column"
  std::vector<std::string> operations;         // vocabulary of nodes.op
  std::vector<std::filesystem::path> sources;  // files that a front end must lower
  std::string workload_json;                   // what a profiler can collect
};

// Describes a plugin to the kit. Override what is particular; the rest has sensible answers.
class PluginQuirks {
 public:
  explicit PluginQuirks(std::filesystem::path plugin_json) : plugin_json_(std::move(plugin_json)) {}
  virtual ~PluginQuirks() = default;
  const std::filesystem::path& plugin_json() const noexcept { return plugin_json_; }
  // Why a case is switched off, by its id with or without the component; nothing: it runs.
  virtual std::optional<std::string> off(const std::string& case_id) const;
  virtual ComponentQuirks component(const std::string& id) const;

 private:
  std::filesystem::path plugin_json_;
};

// Quirks out of omen-verify.json beside plugin.json (or in its data/); absent: none.
// Throws OMEN_INVALID_DATA naming the field at fault.
std::unique_ptr<PluginQuirks> quirks_from_file(const std::filesystem::path& plugin_json);

// What the kit borrows from a host; everything may be absent.
struct Environment {
  const omen_host* host = nullptr;  // handed to init
  // Resolves one option text as the host's command line would; throws what the host refuses with.
  std::function<void(const std::string& component, const std::string& key, const std::string& text)>
      resolve_option;
  std::uint64_t seed = 1;
  int level = 2;
};

// Reads plugin.json only; a manifest that cannot be read has one case, which says so.
std::vector<CaseInfo> list_cases(const PluginQuirks& quirks, int level);
// Runs one case in this process; a crash or a hang of the plugin is one of this process.
Result run_case(const std::string& id, const PluginQuirks& quirks, const Environment& environment);
// The same in a forked child with the time limit of the case; for test programs.
Result run_case_forked(const CaseInfo& info, const PluginQuirks& quirks,
                       const Environment& environment);

// A Markdown table of what each component offers and which groups of cases it passed.
std::string feature_matrix(const std::filesystem::path& plugin_json,
                           const std::vector<std::pair<CaseInfo, Result>>& results);

}  // namespace omen::conformance

#endif  // OMEN_CONFORMANCE_CONFORMANCE_HPP
