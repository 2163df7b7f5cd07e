// SPDX-License-Identifier: Apache-2.0
// The comparison's page in headless Chromium: what it draws, how it reacts, what it never does.
#include <gmock/gmock.h>

#include <fstream>

#include "browser.hpp"
#include "report/report.hpp"
#include "support/sample_comparison.hpp"
#include "worker/machine.hpp"

namespace omen::test {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// One browser for all tests of this program, and each page written once.
class ReportPage : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::filesystem::path program = find_browser();
    if (program.empty() || !std::filesystem::exists(host::share_directory() / "plotly.min.js"))
      return;
    directory_ = new TempDir;
    browser_ = new Browser(program);
  }
  static void TearDownTestSuite() {
    delete browser_;
    delete directory_;
    browser_ = nullptr;
    directory_ = nullptr;
  }
  void SetUp() override {
    if (find_browser().empty())
      GTEST_SKIP() << "no browser: install chromium, or name one in OMEN_BROWSER";
    if (!browser_) GTEST_SKIP() << "no plotly.min.js: run ./run.sh once, which fetches it";
  }
  void TearDown() override {
    if (!browser_) return;
    EXPECT_THAT(browser_->complaints(), IsEmpty());
    EXPECT_THAT(browser_->requests(), IsEmpty());
  }

  static std::filesystem::path page(const std::string& name) {
    const std::filesystem::path file = directory_->path() / (name + ".html");
    if (!std::filesystem::exists(file))
      std::ofstream(file) << host::report_html(sample_comparison(sample_shape(name)));
    return file;
  }
  static void open(const std::string& name, int width = 1200, bool dark = false) {
    browser_->open(page(name), width, dark);
  }
  static int count(const std::string& selector) {
    return browser_->evaluate("document.querySelectorAll(" + json(selector).dump() + ").length");
  }
  static std::string text(const std::string& selector) {
    return browser_->evaluate("document.querySelector(" + json(selector).dump() + ").innerText");
  }
  static std::size_t pairs(const std::string& name) {
    return json::parse(host::report_json(sample_comparison(sample_shape(name))))["pairs"].size();
  }
  // Chooses, types or presses as a person would, and lets the page react.
  static void choose(const std::string& selector, const std::string& value) {
    browser_->evaluate("(() => { const n = document.querySelector(" + json(selector).dump() +
                       "); n.value = " + json(value).dump() +
                       "; n.dispatchEvent(new Event('change', {bubbles: true})); })()");
  }
  static void type(const std::string& selector, const std::string& value) {
    browser_->evaluate("(() => { const n = document.querySelector(" + json(selector).dump() +
                       "); n.value = " + json(value).dump() +
                       "; n.dispatchEvent(new Event('input', {bubbles: true})); })()");
  }
  static void press(const std::string& selector) {
    browser_->evaluate("document.querySelector(" + json(selector).dump() + ").click()");
  }
  // Points that Plotly holds in the chart of a section.
  static int points(const std::string& section) {
    return browser_->evaluate("document.querySelector('#" + section +
                              " .chart').data.filter(t => t.mode === 'markers' || t.type === 'box')"
                              ".reduce((n, t) => n + (t.x || t.y).length, 0)");
  }

  static Browser* browser_;
  static TempDir* directory_;
};
Browser* ReportPage::browser_ = nullptr;
TempDir* ReportPage::directory_ = nullptr;

// Proves that the checks after every test can fail.
class BadPage : public ReportPage {
 protected:
  void TearDown() override {}
};

TEST_F(BadPage, IsSeenByTheBrowser) {
  const auto file = directory_->write(
      "bad.html",
      "<html data-ready='yes'><body style='width: 3000px'><img src='http://127.0.0.1:9/x.png'>"
      "<script>console.error('said'); missing();</script></body></html>");
  browser_->open(file, 400, false);
  browser_->wait_for("document.readyState === 'complete'");
  EXPECT_THAT(browser_->complaints(), Contains(HasSubstr("said")));
  EXPECT_THAT(browser_->complaints(), Contains(HasSubstr("missing is not defined")));
  EXPECT_THAT(browser_->requests(), Contains("http://127.0.0.1:9/x.png"));
  EXPECT_GT(browser_->evaluate("document.documentElement.scrollWidth - window.innerWidth"), 0);
}

TEST_F(ReportPage, DrawsOneForestMarkForEveryPairOfTheJson) {
  for (const char* name : {"two", "many"}) {
    open(name);
    EXPECT_EQ(count(".forest-mark"), static_cast<int>(pairs(name))) << name;
  }
}

TEST_F(ReportPage, SaysTheAnswerFirst) {
  open("two");
  EXPECT_EQ(text("h1"), "driple.gin cannot be told apart from driple.gcn");
  open("class");
  EXPECT_EQ(text("h1"), "driple.gin is better than driple.gcn");
  open("many");
  EXPECT_EQ(text("h1"), "driple.gin is better than driple.gcn on 3 of 6 targets");
}

TEST_F(ReportPage, ShowsEverySectionThatTheComparisonHasDataFor) {
  open("many");
  for (const char* id : {"forest", "results-table", "ranking", "duplicates", "parity", "cdf",
                         "residuals", "metrics", "timing", "curves", "workloads", "provenance"})
    EXPECT_EQ(count("section#" + std::string(id) + ":not([hidden])"), 1) << id;
  EXPECT_EQ(count("#parity .plot-container") + count("#cdf .plot-container") +
                count("#residuals .plot-container") + count("#curves .plot-container"),
            4);
  for (const char* id : {"cdf", "residuals", "curves"})
    EXPECT_EQ(browser_->evaluate("document.querySelector('#" + std::string(id) +
                                 " .chart')._fullLayout.xaxis.type"),
              "linear")
        << id;
  EXPECT_EQ(count("#ranking svg circle"), 6);
  EXPECT_EQ(count("#confusion:not([hidden])"), 0);
}

TEST_F(ReportPage, AFilterChangesForestPlotsAndTable) {
  open("many");
  const int all_points = points("parity"), all_boxes = points("residuals");
  choose("#pick-view", "1");
  EXPECT_EQ(count(".forest-mark"), 5);
  choose("#pick-view", "0");
  press(".toggle:nth-child(2)");
  EXPECT_EQ(count(".forest-mark"), 8) << "five contestants less one, as split and regrouped";
  press(".toggle:nth-child(2)");
  choose("#pick-group", "bert");
  EXPECT_EQ(text("#count"), "20 of 240 workloads");
  EXPECT_LT(points("parity"), all_points / 8);
  EXPECT_EQ(points("residuals"), all_boxes / 12) << "one group of twelve";
  choose("#pick-group", "");
  type("#search", "vgg batch 16");
  browser_->wait_for("document.querySelector('#count').innerText.includes(' of ')");
  const int rows = count("#workloads tbody tr");
  EXPECT_GT(rows, 0);
  EXPECT_LT(rows, 25);
  type("#search", "no such workload");
  browser_->wait_for("document.querySelector('#count').innerText.startsWith('0 of')");
  EXPECT_EQ(count("#workloads tbody tr"), 0);
}

TEST_F(ReportPage, ShowsConfusionForClassesAndRegretForDecisions) {
  open("many");
  choose("#pick-view", "4");
  EXPECT_EQ(count("#confusion:not([hidden]) .matrix"), 6);
  EXPECT_EQ(count("#parity:not([hidden])"), 0);
  choose("#pick-view", "5");
  EXPECT_EQ(count("#confusion:not([hidden])"), 0);
  EXPECT_EQ(text("#cdf h2"), "Regret");
}

TEST_F(ReportPage, SortsAndTurnsPages) {
  open("two");
  EXPECT_EQ(count("#workloads tbody tr"), 25);
  const std::string unsorted = text("#workloads tbody tr");
  press("#workloads thead tr:last-child th:nth-child(3) button");
  EXPECT_EQ(count("#workloads th[aria-sort=descending]"), 1);
  const double high = browser_->evaluate(
      "Number(document.querySelector('#workloads tbody td:nth-child(3)').innerText)");
  press("#workloads thead tr:last-child th:nth-child(3) button");
  const double low = browser_->evaluate(
      "Number(document.querySelector('#workloads tbody td:nth-child(3)').innerText)");
  EXPECT_LT(low, high);
  const std::string first = text("#workloads tbody tr");
  press("#workloads .pager button:last-child");
  EXPECT_NE(text("#workloads tbody tr"), first);
  EXPECT_NE(first, unsorted);
}

TEST_F(ReportPage, FitsNarrowAndWideScreensInBothThemes) {
  for (const char* name : {"two", "many", "hostile"})
    for (const int width : {400, 1600})
      for (const bool dark : {false, true}) {
        open(name, width, dark);
        const int overflow =
            browser_->evaluate("document.documentElement.scrollWidth - window.innerWidth");
        EXPECT_LE(overflow, 0) << name << " at " << width;
        const std::string paper =
            browser_->evaluate("getComputedStyle(document.body).backgroundColor");
        EXPECT_EQ(paper, dark ? "rgb(15, 19, 23)" : "rgb(246, 246, 243)");
        if (const char* shots = std::getenv("OMEN_SCREENSHOTS"))
          browser_->screenshot(std::filesystem::path(shots) /
                               (std::string(name) + "-" + std::to_string(width) +
                                (dark ? "-dark" : "-light") + ".png"));
      }
}

TEST_F(ReportPage, TheButtonOverridesTheSystemsTheme) {
  open("two", 1200, true);
  press("#theme");
  EXPECT_EQ(browser_->evaluate("getComputedStyle(document.body).backgroundColor"),
            "rgb(246, 246, 243)");
  EXPECT_EQ(browser_->evaluate("document.querySelector('#cdf .chart').layout.font.color"),
            "#1d2530");
  press("#theme");
  EXPECT_EQ(browser_->evaluate("getComputedStyle(document.body).backgroundColor"),
            "rgb(15, 19, 23)");
  browser_->evaluate("localStorage.clear()");
}

TEST_F(ReportPage, KeepsHostileNamesAsText) {
  open("hostile");
  EXPECT_EQ(count("main img, main script, main b, main svg[onload]"), 0);
  EXPECT_EQ(count(".forest-mark"), static_cast<int>(pairs("hostile")));
  type("#search", "alert(1)");
  browser_->wait_for("document.querySelector('#count').innerText.startsWith('2 of')");
  EXPECT_THAT(text("#workloads tbody"), HasSubstr("</script><script>alert(1)</script>"));
  EXPECT_EQ(browser_->evaluate("document.title.startsWith('driple.gcn vs </script><b>gin')"), true);
}

TEST_F(ReportPage, CanBeUsedFromTheKeyboard) {
  open("two");
  const json nameless = browser_->evaluate(
      "[...document.querySelectorAll('button, select, input, a')].filter(n => n.tabIndex < 0 || "
      "!(n.innerText || n.getAttribute('aria-label') || '').trim()).map(n => n.outerHTML)");
  EXPECT_EQ(nameless.dump(), "[]");
}

// What `omen compare` itself writes, on the bundled task.
TEST_F(ReportPage, ShowsARealComparison) {
  const std::filesystem::path run = directory_->path() / "run";
  const std::string command = "'" OMEN_PROGRAM
                              "' compare baseline.ridge baseline.knn --task '" OMEN_TASK
                              "' --quiet --json --run-dir '" +
                              run.string() + "' > '" + run.string() + ".json'";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  const json document = json::parse(std::ifstream(run.string() + ".json"));
  browser_->open(run / host::kReportPage, 1200, false);
  EXPECT_EQ(count(".forest-mark"), static_cast<int>(document["pairs"].size()));
  EXPECT_EQ(count("#results-table tbody tr"), static_cast<int>(document["contestants"].size()));
  EXPECT_GT(points("parity"), 0);
  EXPECT_EQ(text("#provenance dd"), document["command_line"].get<std::string>());
}

TEST_F(ReportPage, TakesThirtyThousandWorkloads) {
  open("large");
  EXPECT_EQ(text("#count"), "20,000 workloads");
  EXPECT_EQ(count("#workloads tbody tr"), 25);
  EXPECT_EQ(browser_->evaluate("document.querySelector('#parity .chart').data[1].type"),
            "scattergl");
  EXPECT_THAT(text("#workloads header p"), HasSubstr("20,000 of 30,000 workloads"));
}

}  // namespace
}  // namespace omen::test
