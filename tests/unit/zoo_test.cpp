// SPDX-License-Identifier: Apache-2.0
// Every animal of the zoo trips the one case that is about it, and its twin trips none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>

#include "pipeline/verify.hpp"

namespace omen::host {
namespace {

using Json = nlohmann::json;
using Failures = std::map<std::string, std::string>;

struct Animal {
  const char* name;
  const char* case_id;  // without the component; a case about the plugin ends with '!'
  const char* verdict;
  const char* message;  // part of it
  int passes = 36;      // of the twin, at least
};

void PrintTo(const Animal& animal, std::ostream* out) {
  *out << animal.name;
}

constexpr Animal kZoo[] = {
    {"wrong_major", "binary.right-major!", "FAIL", "ABI major 1"},
    {"throws", "lifecycle.before-fit", "FAIL", "let an exception cross the boundary in predict"},
    {"leaks", "lifecycle.bounded-memory", "FAIL", "objects left"},
    {"prints", "lifecycle.silent", "FAIL", "stdout got: predicting"},
    {"hangs", "data.nulls", "TIMEOUT", "no verdict within"},
    {"segfaults", "data.nulls", "CRASH", ""},
    {"eats_memory", "data.nulls", "CRASH", "used more than 768 MB"},
    {"lies", "manifest.descriptors!", "FAIL", "cost:s:lower"},
    {"returns_nan", "semantics.finite", "FAIL", "cost is inf"},
    {"wrong_rows", "semantics.coverage", "FAIL", "24 answers were due, 25 came"},
    {"never_releases", "data.streams-released", "FAIL", "left a stream of 'workloads' open"},
    {"forgets", "semantics.observe", "FAIL", "observed, saved and loaded"},
    {"fails_midstream", "semantics.predict", "FAIL", "the answer broke off"},
    {"text_target", "semantics.targets", "FAIL", "cost is the text '"},
    {"crossed_interval", "semantics.intervals", "FAIL", "cost.lo is above cost.hi"},
    {"late_thread", "lifecycle.threads", "FAIL", "used progress of fit after the call was over"},
    {"shifted_ids", "semantics.coverage", "FAIL", "workload 24 was answered but never asked for"},
    {"partial_enumerate", "scorer.enumerate", "FAIL", "24 workloads were given, 23 got", 24},
    {"unknown_name", "frontend.sniff", "FAIL", "it lists the name 'double'", 20},
    {"hidden_exit", "profiler.exit-code", "FAIL", "no 'job.exit_code' of 3", 20},
    {"throws_when_opened", "binary.loads!", "CRASH", ""},
    {"debug_mode", "data.nulls", "CRASH", ""},
};

struct Verified {
  int exit_code = 0;
  Failures failures;  // verdict by case
  Failures messages;
  int passed = 0;
};

Verified verify(const std::string& id) {
  VerifyRequest request;
  request.plugin = std::filesystem::path(OMEN_TEST_BUILD_DIR) / "fixtures/zoo" / id;
  request.level = 2;
  request.json = true;
  std::ostringstream out, err;
  Verified verified;
  verified.exit_code = run_verify(request, out, err);
  EXPECT_EQ(err.str(), "");
  const Json document = Json::parse(out.str());
  EXPECT_EQ(document.at("format_version"), 1);
  for (const Json& one : document.at("cases")) {
    const std::string verdict = one.at("verdict");
    verified.passed += verdict == "PASS";
    if (verdict == "PASS" || verdict == "SKIP" || verdict == "WARN") continue;
    verified.failures[one.at("id")] = verdict;
    verified.messages[one.at("id")] = one.at("message");
  }
  return verified;
}

class ZooTest : public testing::TestWithParam<Animal> {};

TEST_P(ZooTest, TheBadOneTripsItsCaseAndNoOther) {
  const Animal& animal = GetParam();
  const std::string id = std::string("bad_") + animal.name;
  std::string wanted = animal.case_id;
  if (wanted.back() == '!')
    wanted.pop_back();
  else
    wanted += "/" + id + ".mean";
  const Verified verified = verify(id);
  EXPECT_EQ(verified.exit_code, 1);
  EXPECT_EQ(verified.failures, (Failures{{wanted, animal.verdict}}));
  ASSERT_EQ(verified.messages.count(wanted), 1u);
  EXPECT_THAT(verified.messages.at(wanted), testing::HasSubstr(animal.message));
}

TEST_P(ZooTest, TheTwinPasses) {
  const Verified verified = verify(std::string("good_") + GetParam().name);
  EXPECT_EQ(verified.exit_code, 0);
  EXPECT_EQ(verified.failures, Failures{});
  EXPECT_GE(verified.passed, GetParam().passes);
}

INSTANTIATE_TEST_SUITE_P(All, ZooTest, testing::ValuesIn(kZoo),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace omen::host

// The test program is the child that runs each case.
int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "__verify")
    return omen::host::verify_case_main(argc, argv);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
