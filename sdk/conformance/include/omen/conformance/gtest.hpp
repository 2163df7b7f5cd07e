// SPDX-License-Identifier: Apache-2.0
// The cases as a GoogleTest suite: OMEN_CONFORMANCE_SUITE(Mine,
// MineQuirks("build/mine/plugin.json"), 2);
#ifndef OMEN_CONFORMANCE_GTEST_HPP
#define OMEN_CONFORMANCE_GTEST_HPP

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "omen/conformance/conformance.hpp"

namespace omen::conformance {

struct SuiteCase {
  std::shared_ptr<const PluginQuirks> quirks;
  CaseInfo info;
};

inline std::vector<SuiteCase> suite_cases(std::shared_ptr<const PluginQuirks> quirks, int level) {
  std::vector<SuiteCase> cases;
  for (CaseInfo& info : list_cases(*quirks, level)) cases.push_back({quirks, std::move(info)});
  return cases;
}

inline void PrintTo(const SuiteCase& one, std::ostream* out) {
  *out << one.info.id;
}

// GoogleTest allows letters, digits and _ in names.
inline std::string suite_case_name(const testing::TestParamInfo<SuiteCase>& info) {
  std::string name = info.param.info.id;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

class ConformanceTest : public testing::TestWithParam<SuiteCase> {
 protected:
  void check() {
    const SuiteCase& one = GetParam();
    const Result result = run_case_forked(one.info, *one.quirks, {});
    if (result.verdict == Verdict::kSkip) GTEST_SKIP() << result.message;
    EXPECT_FALSE(is_failure(result.verdict))
        << verdict_name(result.verdict) << ": " << result.message << "\n  " << one.info.description;
  }
};

}  // namespace omen::conformance

#define OMEN_CONFORMANCE_SUITE(Name, Quirks, level)                                          \
  class Name##Conformance : public omen::conformance::ConformanceTest {};                    \
  TEST_P(Name##Conformance, Holds) {                                                         \
    check();                                                                                 \
  }                                                                                          \
  INSTANTIATE_TEST_SUITE_P(                                                                  \
      Plugin, Name##Conformance,                                                             \
      testing::ValuesIn(omen::conformance::suite_cases(                                      \
          std::shared_ptr<const omen::conformance::PluginQuirks>(new auto(Quirks)), level)), \
      omen::conformance::suite_case_name)

#endif  // OMEN_CONFORMANCE_GTEST_HPP
