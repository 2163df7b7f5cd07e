// SPDX-License-Identifier: Apache-2.0
// Charts: self-contained pages with their table beside them.
#include "report/figure.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"
#include "report/page_parts.hpp"
#include "worker/machine.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using omen::test::error_of;
using omen::test::IsError;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFigure =
    R"({"data": [{"type": "bar", "y": [1, 2]}], "layout": {"title": "</script><b>"}})";

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Table table() {
  TableBuilder builder;
  builder.add("y", std::vector<double>{1, 2});
  return builder.finish();
}

// The chart library lies beside the program that is tested here; a stand-in serves where it was not
// fetched.
class WriteFigure : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(share_directory());
    library_ = share_directory() / "plotly.min.js";
    if (fs::exists(library_)) return;
    std::ofstream(library_) << "var Plotly = {};";
    made_ = true;
  }
  void TearDown() override {
    if (made_) fs::remove(library_);
  }
  fs::path library_;
  bool made_ = false;
  omen::test::TempDir directory_;
};

TEST_F(WriteFigure, PutsTheLibraryAndTheDataIntoOnePage) {
  write_figure(directory_.path() / "new", "costs", kFigure, table());
  const std::string page = text_of(directory_.path() / "new/costs.html");
  EXPECT_THAT(page, HasSubstr("Plotly"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(page, HasSubstr("costs.csv"));
  EXPECT_THAT(page, Not(HasSubstr("src=\"http")));
  EXPECT_EQ(text_of(directory_.path() / "new/costs.csv").substr(0, 2), "y\n");
}

TEST_F(WriteFigure, KeepsTextFromEndingTheScript) {
  write_figure(directory_.path(), "costs", kFigure, {});
  EXPECT_THAT(text_of(directory_.path() / "costs.html"), Not(HasSubstr("</script><b>")));
  EXPECT_FALSE(fs::exists(directory_.path() / "costs.csv"));
}

TEST_F(WriteFigure, RefusesWhatIsNoFigureOrNoName) {
  EXPECT_THAT(error_of([&] { write_figure(directory_.path(), "a", "[1]", {}); }),
              IsError(OMEN_INVALID_DATA, HasSubstr("'a'")));
  EXPECT_THAT(error_of([&] { write_figure(directory_.path(), "../a", kFigure, {}); }),
              IsError(OMEN_INVALID_ARGUMENT, HasSubstr("../a")));
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

// The library of the build tree stays where it is: other tests draw with it at the same time.
TEST(ChartLibrary, SaysHowToGetIt) {
  const omen::test::TempDir empty;
  EXPECT_THAT(error_of([&] { chart_library(empty.path()); }),
              IsError(OMEN_UNAVAILABLE, HasSubstr("plotly.min.js"), HasSubstr("run.sh")));
}

}  // namespace
}  // namespace omen::host
