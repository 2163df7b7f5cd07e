// SPDX-License-Identifier: Apache-2.0
// omen/tables.h against those who follow it: the pages, the tasks of the conformance kit, the host.
#include "omen/tables.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "../sdk/conformance/synthetic.hpp"
#include "pipeline/pipeline.hpp"
#include "tables/dataset_tables.hpp"

namespace omen::host {
namespace {

using tables::ColumnSpec;
using tables::kColumns;
using ::testing::ElementsAre;

const std::string kDocsDirectory = OMEN_TEST_SOURCE_DIR "/../sdk/docs/";

std::string document_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool type_fits(Type type, std::string_view wanted) {
  if (wanted == "any") return true;
  if (wanted == "text") return is_text(type);
  if (wanted == "number") return is_number(type);
  if (wanted == "list") return is_list(type);
  if (wanted == "target") return type == Type::kFloat64 || type == Type::kDictionary;
  return wanted == type_name(type);
}

// Everything that a table promises its readers.
void expect_table_complete(const std::string& name, const Table& table) {
  for (const ColumnSpec& column : kColumns) {
    if (column.table != name || column.is_pattern()) continue;
    const auto at = table.find(std::string(column.name));
    EXPECT_TRUE(at || !column.always_there()) << name << " lacks " << column.name;
    const bool fitting = !at || type_fits(table.type(*at), column.type);
    EXPECT_TRUE(fitting) << name << "." << column.name << " is not " << column.type;
  }
}

std::string tables_page() {
  std::string text =
      "# Tables\n\n"
      "Made from `omen/tables.h`, which has the names as constants; a test compares the two.\n"
      "*Required*: who writes the table writes the column. *Completed*: where it is left out, the\n"
      "host adds the default before anyone reads it. *Optional*: a reader takes the default.\n";
  for (const tables::TableSpec& table : tables::kTables) {
    text += "\n## " + std::string(table.name) + "\n\n" + std::string(table.meaning) +
            "\n\n| Column | Type | Presence | Default | Meaning |\n|---|---|---|---|---|\n";
    for (const ColumnSpec& column : kColumns) {
      if (column.table != table.name) continue;
      text += "| `" + std::string(column.name) + "`";
      for (const std::string_view cell :
           {column.type, column.presence, column.fallback == "none" ? "" : column.fallback,
            column.meaning})
        text += cell.empty() ? " |" : " | " + std::string(cell);
      text += " |\n";
    }
  }
  return text;
}

TEST(TablesHeader, PageIsMadeFromIt) {
  const std::string made = OMEN_TEST_BUILD_DIR "/tables.md";
  std::ofstream(made) << tables_page();
  EXPECT_EQ(document_text(kDocsDirectory + "tables.md"), tables_page())
      << "copy " << made << " to sdk/docs/tables.md";
}

TEST(TablesHeader, AuthoringSaysWhatIsAlwaysThere) {
  std::ifstream in(kDocsDirectory + "authoring.md");
  const std::regex row(R"(^\| ([a-z_]+) \| (.*) \|$)"), bold(R"(\*\*([a-z_]+)\*\*)");
  std::map<std::string, std::set<std::string>> said, wanted;
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    const std::string cells = match[2];
    std::set<std::string>& names = said[match[1]];
    for (std::sregex_iterator at(cells.begin(), cells.end(), bold), end; at != end; ++at)
      names.insert((*at)[1]);
  }
  for (const ColumnSpec& column : kColumns)
    if (said.count(std::string(column.table)) && column.always_there() && !column.is_pattern())
      wanted[std::string(column.table)].emplace(column.name);
  EXPECT_EQ(said.size(), 8U);
  EXPECT_EQ(said, wanted);
}

TEST(TablesHeader, EveryColumnBelongsToATable) {
  std::set<std::string_view> names, used;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const tables::TableSpec& table : tables::kTables) names.insert(table.name);
  for (const ColumnSpec& column : kColumns) {
    used.insert(column.table);
    EXPECT_TRUE(seen.emplace(column.table, column.name).second) << column.table << column.name;
    EXPECT_EQ(column.required() && column.fallback != "none", false) << column.name;
  }
  EXPECT_EQ(names, used);
}

TEST(TablesHeader, SyntheticTasksFollowIt) {
  conformance::ComponentFacts facts;
  facts.kind = OMEN_SCORER;
  facts.id = "all.of-it";
  facts.reads = {"workloads.*", "nodes@ops/1", "edges", "counters", "candidates", "predictions"};
  const conformance::ComponentQuirks quirks;
  const conformance::Task task(facts, quirks, 1);
  EXPECT_EQ(task.tables().size(), 7U);
  for (const auto& [name, table] : task.tables()) expect_table_complete(name, table);
}

TEST(TablesHeader, HostCompletesWhatItSays) {
  Tables given = one_row({{"size", "3"}});
  complete_workloads(given);
  expect_table_complete(OMEN_TABLE_WORKLOADS, given.at(OMEN_TABLE_WORKLOADS));
  const Table& workloads = given.at(OMEN_TABLE_WORKLOADS);
  const Table choices = one_row({{"gpu", "small"}}).at(OMEN_TABLE_WORKLOADS);
  expect_table_complete(OMEN_TABLE_CANDIDATES, complete_candidates(choices, workloads));
  const Table answers = TableBuilder()
                            .add("workload_id", std::vector<std::int64_t>{0})
                            .add("t", std::vector{1.5})
                            .finish();
  const Table checked = checked_predictions(answers, workloads, "some.one", "");
  expect_table_complete(OMEN_TABLE_PREDICTIONS, checked);
  EXPECT_EQ(checked.strings(OMEN_COLUMN_STATUS)[0], OMEN_STATUS_OK);
}

TEST(TablesHeader, AnswersAreWithheld) {
  EXPECT_TRUE(tables::is_withheld(OMEN_TABLE_TARGETS));
  EXPECT_TRUE(tables::is_withheld(OMEN_TABLE_CANDIDATE_COSTS));
  EXPECT_FALSE(tables::is_withheld(OMEN_TABLE_CANDIDATES));
  EXPECT_THAT(tables::required_columns(OMEN_TABLE_COUNTERS),
              ElementsAre("workload_id", "metric", "value"));
}

}  // namespace
}  // namespace omen::host
