// SPDX-License-Identifier: Apache-2.0
// Reports as text: the terminal's table, JSON, CSV and Markdown of made-up comparisons.
#include "report/report.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "omen/testing/temp_dir.hpp"
#include "report/page_parts.hpp"
#include "report/wording.hpp"
#include "support/sample_comparison.hpp"
#include "tables/table_io.hpp"

namespace omen::host {
namespace {

using nlohmann::json;
using omen::test::sample_comparison;
using omen::test::sample_shape;
using omen::test::SampleShape;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

Comparison sample(const std::string& name) {
  return sample_comparison(sample_shape(name));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string csv_of(const Comparison& comparison) {
  std::ostringstream out;
  report_csv(out, comparison);
  return out.str();
}

// What every renderer must survive: one contestant without a single answer, NaN everywhere.
Comparison without_answers() {
  SampleShape shape = sample_shape("two");
  shape.crashed = true;
  return sample_comparison(shape);
}

TEST(ReportWording, RoundsToThreeDigitsAndKeepsTheWholePart) {
  EXPECT_EQ(report::short_number(9.1234), "9.12");
  EXPECT_EQ(report::short_number(0.012345), "0.0123");
  EXPECT_EQ(report::short_number(123456.7), "123457");
  EXPECT_EQ(report::short_number(0), "0");
  EXPECT_EQ(report::short_number(1.5e-7), "1.50e-07");
  EXPECT_EQ(report::short_number(std::nan("")), "-");
  EXPECT_EQ(report::quantity(12.34, "%"), "12.3 %");
  EXPECT_EQ(report::quantity(12.34, "1"), "12.3");
}

TEST(ReportWording, GivesAnIntervalTheDigitsOfItsWidestNumber) {
  stats::PairedResult result;
  result.rows = 10;
  result.difference = -2.4;
  result.lo = -3.31;
  result.hi = -0.0612;
  EXPECT_EQ(report::change_words(result, "%"), "-2.40 pp [-3.31, -0.06]");
  EXPECT_EQ(report::change_words(result, "ms"), "-2.40 ms [-3.31, -0.06]");
  result.difference = 0;
  result.lo = -0.001;
  EXPECT_EQ(report::change_words(result, "%"), "0.0000 pp [-0.0010, -0.0612]");
  result.difference = -2.4;
  result.lo = result.hi = std::nan("");
  EXPECT_EQ(report::change_words(result, ""), "-2.40");
  result.rows = 0;
  EXPECT_EQ(report::change_words(result, ""), "no paired workloads");
}

TEST(ReportWording, NamesPairsOfEveryTargetAndOfGroupedFolds) {
  const Comparison comparison = sample("many");
  const auto pairs = report::pairs_of(comparison);
  // Six tasks and one grouped result, with six contestants of which one is the baseline.
  ASSERT_EQ(pairs.size(), 7u * 5u);
  EXPECT_STREQ(pairs[0].folds, report::kAsSplit);
  EXPECT_STREQ(pairs[5].folds, report::kDuplicatesTogether);
  EXPECT_EQ(pairs[5].task, &comparison.tasks[0]);
}

TEST(ReportText, HasTheColumnsVerdictsCostsAndPlaces) {
  const std::string text = report_text(sample("two"), {});
  EXPECT_THAT(text, HasSubstr("task v100-p1w2  sha256:41c0a2b3  240 workloads, 12 groups"));
  EXPECT_THAT(text, HasSubstr("target gpu_util_burst_ms (ms), loss: absolute % error"));
  EXPECT_THAT(text, ContainsRegex("coverage +median +mean +paired change .95% CI. +wins/ties/losses"
                                  " +p .Holm. +verdict"));
  EXPECT_THAT(text, ContainsRegex("driple.gcn +240/240 +[0-9.]+ % +[0-9.]+ % +baseline\n"));
  EXPECT_THAT(text, ContainsRegex("driple.gin +238/240 .* pp \\[.*\\] +[0-9]+ / [0-9]+ / [0-9]+"));
  EXPECT_THAT(text, ContainsRegex("baseline.constant .*WORSE\n"));
  EXPECT_THAT(text, HasSubstr("2 workloads refused by driple.gin (op 'CudnnRNN' unknown); excluded "
                              "from the pairing, counted in coverage"));
  EXPECT_THAT(text, HasSubstr("cost: load 300 ms / 310 ms, fit 8.5 s / 11.0 s, predict p50 4.10 / "
                              "5.10 ms per workload, peak memory 412 MB / 437 MB"));
  EXPECT_THAT(text, HasSubstr("report: runs/2031a7/compare.html   data: runs/2031a7/losses.csv   "
                              "repeat: omen rerun runs/2031a7/run.json"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
}

TEST(ReportText, ColoursVerdictsByBetterAndWorse) {
  const std::string text = report_text(sample("two"), {true, true, 200});
  EXPECT_THAT(text, HasSubstr("\033[31mWORSE\033[0m"));
  Comparison better = sample("two");
  better.tasks[0].targets[0].contestants[1].versus_baseline.verdict = stats::Verdict::kBetter;
  EXPECT_THAT(report_text(better, {true, true, 200}), HasSubstr("\033[32mBETTER\033[0m"));
}

TEST(ReportText, StacksTablesThatDoNotFitInsteadOfCuttingNumbers) {
  const std::string text = report_text(sample("two"), {true, false, 80});
  for (const std::string& line : lines_of(text))
    if (line.find("report: ") == std::string::npos) {
      EXPECT_LE(display_width(line), 80) << line;
    }
  EXPECT_THAT(text, ContainsRegex("driple.gin +238/240 +[0-9.]+ % +[0-9.]+ % +[A-Z]+\n"));
  EXPECT_THAT(text, ContainsRegex("driple.gin +.[0-9.]+ pp \\[.*\\] "));
}

TEST(ReportText, ExplainsCrashesLeaksRanksAndModes) {
  Comparison comparison = sample("many");
  comparison.self_check = comparison.shuffled_labels = true;
  comparison.warnings = {"threads were limited to 1"};
  const std::string text = report_text(comparison, {});
  EXPECT_THAT(text, HasSubstr("driple.gat crashed in folds 0, 1, 2, 3 and 4: signal 11"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "240 workloads without an answer from driple.gat, which crashed; excluded from the "));
  EXPECT_THAT(text, ContainsRegex("driple.gat +0/240 +- +- +no paired workloads +NO ANSWERS"));
  EXPECT_THAT(text, HasSubstr("warning: 12 of 240 test rows have a near-duplicate"));
  EXPECT_THAT(text, HasSubstr("duplicates kept together\n"));
  EXPECT_THAT(text, HasSubstr("mean ranks over 6 tasks: driple.gin 1.33, driple.gat 2.00"));
  EXPECT_THAT(text, HasSubstr("cannot be told apart: driple.gin and driple.gat"));
  EXPECT_THAT(text, HasSubstr("self-check"));
  EXPECT_THAT(text, HasSubstr("labels were shuffled"));
  EXPECT_THAT(text, HasSubstr("warning: threads were limited to 1"));
}

TEST(ReportText, ListsCostsOfManyContestantsAsATable) {
  SampleShape shape = sample_shape("two");
  shape.entrants = 5;
  const std::string text = report_text(sample_comparison(shape), {});
  EXPECT_THAT(text, ContainsRegex("cost +load +fit +predict p50 +p95 +peak memory"));
  EXPECT_THAT(text, ContainsRegex("ensemble.stack +330 ms +16.0 s +7.10 ms"));
}

TEST(ReportJson, HoldsEveryPairAndNullsForWhatIsNotDefined) {
  const Comparison comparison = sample("many");
  const json document = json::parse(report_json(comparison));
  EXPECT_EQ(document["format_version"], 1);
  EXPECT_EQ(document["baseline"], "driple.gcn");
  ASSERT_EQ(document["pairs"].size(), report::pairs_of(comparison).size());
  const json& gin = document["pairs"][0];
  const stats::PairedResult& own = comparison.tasks[0].targets[0].contestants[1].versus_baseline;
  EXPECT_EQ(gin["contestant"], "driple.gin");
  EXPECT_EQ(gin["difference"].get<double>(), own.difference);
  EXPECT_EQ(gin["wins"], own.wins);
  const json& crashed = document["pairs"][1];
  EXPECT_EQ(crashed["rows"], 0);
  EXPECT_TRUE(crashed["difference"].is_null());
  EXPECT_EQ(document["tasks"].size(), 6u);
  EXPECT_EQ(document["tasks"][0]["targets"].size(), 2u);
  EXPECT_EQ(document["tasks"][4]["targets"][0]["results"][0]["confusion"]["counts"].size(), 9u);
  EXPECT_EQ(document["ranking"]["indistinguishable"][0][1], "driple.gat");
  EXPECT_EQ(document["contestants"][1]["options"]["hidden"], 128);
  EXPECT_EQ(document["machine"]["cores"], 2);
}

TEST(ReportJson, SaysNullWithoutARanking) {
  EXPECT_TRUE(json::parse(report_json(sample("two")))["ranking"].is_null());
}

TEST(ReportCsv, HoldsOneLinePerWorkloadAndContestant) {
  const Comparison comparison = sample("two");
  const auto lines = lines_of(csv_of(comparison));
  ASSERT_EQ(lines.size(), 1u + 240u * 5u);
  EXPECT_EQ(lines[0],
            "task,target,folds,contestant,workload_id,name,group,truth,predicted,lo,hi,loss,unit,"
            "loss_unit,status,best,pick");
  EXPECT_THAT(lines[1], AllOf(HasSubstr("v100-p1w2,gpu_util_burst_ms,as-split,driple.gcn,0,"),
                              HasSubstr(",ms,%,ok,,")));
}

// Our own reader takes it back, with hostile names whole and missing answers as nulls.
TEST(ReportCsv, ReadsBack) {
  const Comparison comparison = sample("hostile");
  omen::test::TempDir directory;
  const Table table = read_table(directory.write("losses.csv", csv_of(comparison)));
  ASSERT_EQ(table.rows(), 240 * 5);
  const std::int64_t row = 4 * 5;
  EXPECT_EQ(table.strings("name")[row], comparison.tasks[0].targets[0].rows[4].name);
  EXPECT_TRUE(table.is_null(table.index("loss"), 7 * 5 + 1));
  EXPECT_EQ(table.strings("status")[7 * 5 + 1], "op 'CudnnRNN' unknown");
}

TEST(ReportCsv, NamesClasses) {
  SampleShape shape;
  shape.tasks = {omen::test::SampleKind::kClass};
  EXPECT_THAT(lines_of(csv_of(sample_comparison(shape)))[1], ContainsRegex(",cpu,(cpu|gpu),,,"));
}

TEST(ReportCsv, NamesWhatADecisionPicked) {
  SampleShape shape;
  shape.tasks = {omen::test::SampleKind::kDecision};
  EXPECT_THAT(lines_of(csv_of(sample_comparison(shape)))[1], ContainsRegex(",a100,(a100|t4)$"));
}

TEST(ReportMarkdown, HasATablePerTargetAndEscapesNames) {
  const std::string text = report_markdown(sample("hostile"));
  EXPECT_THAT(text, HasSubstr("| driple.gcn | 240/240 |"));
  EXPECT_THAT(text, HasSubstr("| &lt;/script>&lt;b>gin | 238/240 |"));
  EXPECT_THAT(text, HasSubstr("baseline.constant (reference)"));
  EXPECT_THAT(text, HasSubstr("**WORSE**"));
  EXPECT_THAT(text, HasSubstr("gpu\\_util\\_burst\\_ms"));
  EXPECT_THAT(text, Not(HasSubstr("<img")));
}

// The page without the chart library, whose text is not ours to look into.
std::string own_page(const Comparison& comparison) {
  std::string page = report_html(comparison);
  const std::string library = chart_library_or_nothing();
  if (!library.empty()) page.erase(page.find(library), library.size());
  return page;
}

int occurrences(const std::string& text, const std::string& word) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size())
    ++count;
  return count;
}

json data_of(const std::string& page, const std::string& id) {
  const std::string open = "id=\"" + id + "\">";
  const std::size_t from = page.find(open) + open.size();
  return json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(ReportHtml, IsOnePageWithEveryPlaceFilled) {
  const std::string page = own_page(sample("many"));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_EQ(occurrences(page, "<script"), 4);
  EXPECT_EQ(occurrences(page, "</script>"), 4);
  EXPECT_THAT(page, Not(ContainsRegex("(src|href)=\"(http|//)")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
}

TEST(ReportHtml, HoldsTheDocumentAndTheRowsOfEveryTask) {
  const Comparison comparison = sample("many");
  const std::string page = own_page(comparison);
  EXPECT_EQ(data_of(page, "comparison"), json::parse(report_json(comparison)));
  const json rows = data_of(page, "rows");
  ASSERT_EQ(rows["tables"].size(), 6u);
  const json& first = rows["tables"][0];
  const TargetResult& target = comparison.tasks[0].targets[0];
  EXPECT_EQ(first["names"][5], target.rows[5].name);
  EXPECT_NEAR(first["truth"][5].get<double>(), target.rows[5].truth, 1e-3);
  EXPECT_EQ(first["groups"][first["group"][5].get<std::size_t>()], target.rows[5].group);
  EXPECT_TRUE(first["contestants"][1]["predicted"][7].is_null());
  const auto status = first["contestants"][1]["status"][7].get<std::size_t>();
  EXPECT_EQ(first["statuses"][status], "op 'CudnnRNN' unknown");
  const json& classes = rows["tables"][4];
  EXPECT_EQ(classes["classes"], json({"cpu", "gpu", "either"}));
  const json& decision = rows["tables"][5];
  EXPECT_EQ(decision["classes"][decision["best"][0].get<std::size_t>()], "a100");
  EXPECT_EQ(rows["notes"][0]["jobs"].size(), 1u);
}

TEST(ReportHtml, KeepsHostileNamesInsideTheirStrings) {
  const Comparison comparison = sample("hostile");
  const std::string page = own_page(comparison);
  EXPECT_EQ(occurrences(page, "</script>"), 4);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("<title>driple.gcn vs &lt;/script&gt;&lt;b&gt;gin"));
  EXPECT_EQ(data_of(page, "rows")["tables"][0]["names"][3],
            comparison.tasks[0].targets[0].rows[3].name);
}

TEST(ReportHtml, SamplesWhatABrowserCouldNotHold) {
  SampleShape shape;
  shape.references = false;
  shape.workloads = 21000;
  const json table = data_of(own_page(sample_comparison(shape)), "rows")["tables"][0];
  EXPECT_EQ(table["total"], 21000);
  EXPECT_EQ(table["ids"].size(), 20000u);
  EXPECT_EQ(table["contestants"][1]["loss"].size(), 20000u);
}

TEST(Report, EveryFormTakesAContestantWithoutAnswers) {
  const Comparison comparison = without_answers();
  EXPECT_THAT(report_text(comparison, {}), ContainsRegex("driple.gin +0/240"));
  EXPECT_TRUE(json::parse(report_json(comparison))["pairs"][0]["loss"].is_null());
  EXPECT_THAT(report_markdown(comparison), HasSubstr("| driple.gin | 0/240 | - | - |"));
  EXPECT_EQ(lines_of(csv_of(comparison)).size(), 1u + 240u * 5u);
}

}  // namespace
}  // namespace omen::host
