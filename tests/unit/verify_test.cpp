// SPDX-License-Identifier: Apache-2.0
// The runner behind `omen verify`: selection, switches, output and exit codes.
#include "pipeline/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "omen/conformance/gtest.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::HasSubstr;

fs::path zoo(const std::string& id) {
  return fs::path(OMEN_TEST_BUILD_DIR) / "fixtures/zoo" / id;
}

struct Said {
  int exit_code = 0;
  std::string out, err;
};

Said verify(const VerifyRequest& request) {
  std::ostringstream out, err;
  Said said;
  said.exit_code = run_verify(request, out, err);
  said.out = out.str();
  said.err = err.str();
  return said;
}

class VerifyTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::copy(zoo("good_prints"), directory_, fs::copy_options::recursive);
    request_.plugin = directory_;
  }
  void write(const char* name, const std::string& text) {
    std::ofstream(directory_ / name) << text;
  }

  const test::TempDir temporary_;
  const fs::path directory_ = temporary_.path();
  VerifyRequest request_;
};

TEST_F(VerifyTest, LevelOneIsPartOfLevelTwo) {
  request_.json = true;
  request_.level = 1;
  const Json one = Json::parse(verify(request_).out);
  request_.level = 2;
  const Json two = Json::parse(verify(request_).out);
  EXPECT_GE(one.at("cases").size(), 15u);
  EXPECT_GT(two.at("cases").size(), one.at("cases").size() + 15);
  for (const Json& one_case : one.at("cases")) EXPECT_EQ(one_case.at("level"), 1);
  EXPECT_EQ(one.at("ok"), true);
  EXPECT_EQ(one.at("counts").at("PASS"), one.at("cases").size());
}

TEST_F(VerifyTest, SelectsByRegularExpression) {
  request_.json = true;
  request_.include = "^binary\\.";
  request_.exclude = "export";
  const Json document = Json::parse(verify(request_).out);
  for (const Json& one : document.at("cases")) {
    EXPECT_THAT(one.at("id").get<std::string>(), testing::StartsWith("binary."));
    EXPECT_NE(one.at("id"), "binary.one-export");
  }
  EXPECT_EQ(document.at("cases").size(), 7u);
  request_.include = "[";
  const Said said = verify(request_);
  EXPECT_EQ(said.exit_code, 2);
  EXPECT_THAT(said.err, HasSubstr("no regular expression"));
}

TEST_F(VerifyTest, ShowsTheRuleOnFailureAndCountsTheRest) {
  request_.plugin = zoo("bad_returns_nan");
  request_.include = "semantics";
  const Said said = verify(request_);
  EXPECT_EQ(said.exit_code, 1);
  EXPECT_THAT(said.out, HasSubstr("FAIL    semantics.finite/bad_returns_nan.mean\n"
                                  "        rule: answers that are not refused are finite.\n"
                                  "        but:  workload "));
  EXPECT_THAT(said.out, HasSubstr("1 failed"));
}

TEST_F(VerifyTest, InProcessGivesTheSameVerdicts) {
  request_.in_process = true;
  request_.include = "manifest|binary|options|coverage";
  EXPECT_EQ(verify(request_).exit_code, 0);
}

TEST_F(VerifyTest, ASwitchTurnsACaseOff) {
  write("omen-verify.json", R"({"format_version": 1, "off": {"binary.runpath": "not ours"}})");
  request_.json = true;
  request_.include = "binary.runpath";
  const Json one = Json::parse(verify(request_).out).at("cases").at(0);
  EXPECT_EQ(one.at("verdict"), "SKIP");
  EXPECT_EQ(one.at("message"), "switched off: not ours");
}

TEST_F(VerifyTest, AnUnknownSwitchIsAnError) {
  write("omen-verify.json", R"({"of": {}})");
  const Said said = verify(request_);
  EXPECT_EQ(said.exit_code, 4);
  EXPECT_THAT(said.err, HasSubstr("'of' is unknown"));
}

TEST_F(VerifyTest, ABrokenManifestHasOneCase) {
  write("plugin.json", "{\"manifest_version\": 1}");
  request_.json = true;
  const Json document = Json::parse(verify(request_).out);
  ASSERT_EQ(document.at("cases").size(), 1u);
  EXPECT_EQ(document.at("cases").at(0).at("id"), "manifest.schema");
  EXPECT_EQ(document.at("cases").at(0).at("verdict"), "FAIL");
  EXPECT_THAT(document.at("cases").at(0).at("message").get<std::string>(),
              HasSubstr("'id' is missing"));
}

TEST_F(VerifyTest, AnotherLibraryIsNoticed) {
  std::ofstream(directory_ / "libgood_prints.so", std::ios::app) << "x";
  request_.json = true;
  request_.include = "manifest.digest";
  const Json one = Json::parse(verify(request_).out).at("cases").at(0);
  EXPECT_EQ(one.at("verdict"), "FAIL");
  EXPECT_THAT(one.at("message").get<std::string>(), HasSubstr("bytes, the manifest says"));
}

TEST_F(VerifyTest, ALibraryThatDoesNotOpenIsOneLine) {
  request_.plugin = zoo("bad_throws_when_opened");
  request_.include = "semantics";  // also where nobody asks for the case that says so
  request_.json = true;
  const Said said = verify(request_);
  EXPECT_EQ(said.exit_code, 1);
  const Json cases = Json::parse(said.out).at("cases");
  EXPECT_EQ(cases.at(0).at("id"), "binary.loads");
  EXPECT_EQ(cases.at(0).at("verdict"), "CRASH");
  for (std::size_t i = 1; i < cases.size(); ++i) {
    EXPECT_EQ(cases.at(i).at("verdict"), "SKIP") << cases.at(i).at("id");
    EXPECT_EQ(cases.at(i).at("message"), "the library does not open; see binary.loads");
  }
  request_.json = false;
  EXPECT_THAT(verify(request_).out, testing::Not(HasSubstr("semantics.")));
}

TEST_F(VerifyTest, AFailureOfTheKitIsNotThePlugins) {
  ASSERT_EQ(setenv("TMPDIR", "/proc", 1), 0);  // a directory in which nobody can make one
  request_.json = true;
  request_.include = "semantics.coverage";
  const Said said = verify(request_);
  unsetenv("TMPDIR");
  EXPECT_EQ(said.exit_code, 0);
  const Json one = Json::parse(said.out).at("cases").at(0);
  EXPECT_EQ(one.at("verdict"), "WARN");
  EXPECT_EQ(one.at("message"),
            "not checked: the kit itself failed: cannot make a directory in /proc");
}

TEST_F(VerifyTest, MissingPluginIsExitFour) {
  request_.plugin = directory_ / "nowhere";
  const Said said = verify(request_);
  EXPECT_EQ(said.exit_code, 4);
  EXPECT_THAT(said.err, HasSubstr("hint: give the directory"));
}

TEST_F(VerifyTest, RendersTheFeatureMatrix) {
  request_.markdown = true;
  request_.include = "semantics.(coverage|finite)";
  const Said said = verify(request_);
  EXPECT_THAT(said.out, HasSubstr("| `good_prints.mean` | predictor | bitwise-repeatable | "
                                  "workloads.x | cost:ms:lower | - | - | - | 2 passed | - | - |"));
}

}  // namespace
}  // namespace omen::host

// The same cases as a suite of their own, as a plugin's author would have them.
OMEN_CONFORMANCE_SUITE(Twin,
                       omen::conformance::PluginQuirks(OMEN_TEST_BUILD_DIR
                                                       "/fixtures/zoo/good_leaks/plugin.json"),
                       1);

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "__verify")
    return omen::host::verify_case_main(argc, argv);
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
