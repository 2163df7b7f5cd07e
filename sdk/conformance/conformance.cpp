// SPDX-License-Identifier: Apache-2.0
// Lists and runs the cases.
#include "omen/conformance/conformance.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "omen/instrumented.hpp"
#include "trial.hpp"

namespace omen::conformance {
namespace {

constexpr std::array<const char*, 6> kVerdicts = {"PASS", "SKIP",  "WARN",
                                                  "FAIL", "CRASH", "TIMEOUT"};

// Sanitizers make everything slower but no contract different.
#if OMEN_INSTRUMENTED
constexpr double kTimeoutScale = 5;
#else
constexpr double kTimeoutScale = 1;
#endif

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> all;
    for (const auto& part : {manifest_cases(), binary_cases(), lifecycle_cases(), option_cases(),
                             data_cases(), semantics_cases(), observe_cases(), scorer_cases(),
                             profiler_cases(), frontend_cases(), stress_cases()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return cases;
}

CaseInfo info_of(const Case& one, const ComponentFacts* component, const PluginQuirks& quirks) {
  CaseInfo info;
  info.id = one.id;
  info.description = one.description;
  info.level = one.level;
  info.timeout_s = one.timeout_s * kTimeoutScale;
  info.opens = one.opens;
  if (component) {
    info.id += "/" + component->id;
    const ComponentQuirks particular = quirks.component(component->id);
    info.timeout_s *= particular.timeout_factor;
    info.memory_mb = particular.memory_mb;
  }
  return info;
}

Result judge(const Case& one, Trial& trial) {
  try {
    one.run(trial);
  } catch (const Skipped& reason) {
    return {Verdict::kSkip, reason.what()};
  } catch (const Failed& reason) {
    return {Verdict::kFail, reason.what()};
  } catch (const Error& error) {
    return {Verdict::kFail, error.what()};
  } catch (const std::exception& error) {
    // What the plugin throws was caught where it was called.
    return {Verdict::kWarn, std::string("not checked: the kit itself failed: ") + error.what()};
  } catch (...) {
    return {Verdict::kFail, "an exception of unknown type crossed the boundary"};
  }
  if (trial.warnings().empty()) return {};
  std::string text = trial.warnings().front();
  if (trial.warnings().size() > 1)
    text += " (and " + std::to_string(trial.warnings().size() - 1) + " more)";
  return {Verdict::kWarn, text};
}

std::string mark(const std::vector<std::pair<CaseInfo, Result>>& results, const std::string& group,
                 const std::string& component) {
  int passed = 0, failed = 0, warned = 0;
  for (const auto& [info, result] : results) {
    if (info.group() != group || info.component() != component) continue;
    failed += is_failure(result.verdict);
    warned += result.verdict == Verdict::kWarn;
    passed += result.verdict == Verdict::kPass;
  }
  if (failed > 0) return std::to_string(failed) + " failed";
  if (warned > 0) return std::to_string(passed) + " passed, " + std::to_string(warned) + " warned";
  return passed > 0 ? std::to_string(passed) + " passed" : "-";
}

}  // namespace

const char* verdict_name(Verdict verdict) noexcept {
  return kVerdicts[static_cast<std::size_t>(verdict)];
}

std::optional<Verdict> verdict_from_name(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kVerdicts.size(); ++i)
    if (name == kVerdicts[i]) return static_cast<Verdict>(i);
  return std::nullopt;
}

std::string CaseInfo::component() const {
  const auto slash = id.find('/');
  return slash == std::string::npos ? std::string() : id.substr(slash + 1);
}

std::optional<std::string> PluginQuirks::off(const std::string&) const {
  return std::nullopt;
}

ComponentQuirks PluginQuirks::component(const std::string&) const {
  return {};
}

std::vector<CaseInfo> list_cases(const PluginQuirks& quirks, int level) {
  PluginFacts manifest;
  try {
    manifest = facts_from_manifest(quirks.plugin_json());
  } catch (const Error&) {
    return {info_of(all_cases().front(), nullptr, quirks)};  // manifest.schema says what is wrong
  }
  std::vector<CaseInfo> list;
  for (const Case& one : all_cases()) {
    if (one.level > level) continue;
    if (one.kinds == 0) list.push_back(info_of(one, nullptr, quirks));
    for (const ComponentFacts& component : manifest.components)
      if ((one.kinds >> component.kind & 1) && (!one.applies || one.applies(component)))
        list.push_back(info_of(one, &component, quirks));
  }
  return list;
}

Result run_case(const std::string& id, const PluginQuirks& quirks, const Environment& environment) {
  const auto slash = id.find('/');
  const std::string name = id.substr(0, slash);
  for (const std::string& asked : {id, name})
    if (const auto reason = quirks.off(asked)) return {Verdict::kSkip, "switched off: " + *reason};
  for (const Case& one : all_cases()) {
    if (name != one.id) continue;
    Trial trial(quirks, environment, slash == std::string::npos ? "" : id.substr(slash + 1),
                one.kinds);
    return judge(one, trial);
  }
  throw Error(OMEN_NOT_FOUND, "there is no case '" + id + "'");
}

std::string feature_matrix(const std::filesystem::path& plugin_json,
                           const std::vector<std::pair<CaseInfo, Result>>& results) {
  const PluginFacts manifest = facts_from_manifest(plugin_json);
  static constexpr std::array<const char*, 6> kGroups = {"lifecycle", "options", "data",
                                                         "semantics", "scorer",  "stress"};
  std::ostringstream out;
  out << "| component | kind | caps | reads | writes |";
  for (const char* group : kGroups) out << ' ' << group << " |";
  out << "\n|---|---|---|---|---|";
  for (std::size_t i = 0; i < kGroups.size(); ++i) out << "---|";
  out << '\n';
  for (const ComponentFacts& component : manifest.components) {
    out << "| `" << component.id << "` | " << kind_name(component.kind) << " | "
        << component.fields.at("caps") << " | " << component.fields.at("reads") << " | "
        << component.fields.at("writes") << " |";
    for (const char* group : kGroups) out << ' ' << mark(results, group, component.id) << " |";
    out << '\n';
  }
  return out.str();
}

}  // namespace omen::conformance
