// SPDX-License-Identifier: Apache-2.0
// Lists the columns by strength and draws how all of them hang together.
#include "characterise/characterise_command.hpp"

#include <cmath>
#include <omen/figure.hpp>

#include "characterise/feature_choice.hpp"

namespace omen::interference {
namespace {

constexpr std::size_t kLeastJobs = 3;

Table choice_table(const std::vector<FeatureChoice>& all) {
  std::vector<std::string> feature, before, with;
  std::vector<double> value, r2;
  std::vector<std::int64_t> rows;
  std::vector<bool> known, chosen;
  for (const FeatureChoice& one : all) {
    feature.push_back(one.feature);
    known.push_back(std::isfinite(one.with_target.value));
    value.push_back(known.back() ? one.with_target.value : 0);
    r2.push_back(known.back() ? one.equivalent * one.equivalent : 0);
    rows.push_back(static_cast<std::int64_t>(one.with_target.rows));
    before.emplace_back(one.is_known_before ? "before" : "by running");
    chosen.push_back(one.is_chosen);
    with.push_back(one.redundant_with);
  }
  return TableBuilder()
      .add_strings("feature", feature)
      .add("coefficient", std::move(value))
      .valid(known)
      .add("r2_equivalent", std::move(r2))
      .valid(known)
      .add("rows", std::move(rows))
      .add_strings("known", before)
      .add_bools("chosen", chosen)
      .add_strings("redundant_with", with)
      .finish();
}

void draw_heat_map(const JobTable& table, const std::vector<FeatureChoice>& all,
                   const std::string& target, learn::Correlation kind, const Run& run) {
  std::vector<std::string> names = {target};
  std::vector<std::vector<double>> columns = {table.column(target)};
  for (const FeatureChoice& one : all)
    if (std::isfinite(one.with_target.value)) {
      names.push_back(one.feature);
      columns.push_back(table.column(one.feature));
    }
  const std::vector<double> matrix =
      learn::correlation_matrix(kind, columns, std::max(run.threads(), 1U));
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < names.size(); ++i)
    rows.emplace_back(matrix.begin() + static_cast<std::ptrdiff_t>(i * names.size()),
                      matrix.begin() + static_cast<std::ptrdiff_t>((i + 1) * names.size()));
  Figure figure("correlations");
  figure.heat_map("coefficient", names, names, rows);
  put_figure(run, "correlations", figure.json());
}

}  // namespace

int CharacteriseCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                             const Run& run) {
  if (args.empty())
    throw Error(OMEN_INVALID_ARGUMENT, "characterise needs a table of jobs or recordings",
                "Use: omen interference characterise JOBS.csv --target util_pct, or name what omen "
                "profile -o recorded of several runs.");
  const JobTable table = JobTable::of(args);
  if (table.rows() < kLeastJobs)
    throw Error(OMEN_INVALID_DATA,
                "correlations need " + std::to_string(kLeastJobs) + " jobs, and there are " +
                    std::to_string(table.rows()),
                "Name the recordings of more runs, or a table with more rows.");
  ChoiceRules rules;
  rules.kind = parse_coefficient(options_.coefficient);
  rules.least_r2 = options_.least_r2;
  rules.most_shared = options_.most_shared;
  rules.without = listed_columns(options_.without);
  const std::vector<FeatureChoice> all = choose_features(table, options_.target, rules);
  out.put("features", choice_table(all));
  draw_heat_map(table, all, options_.target, rules.kind, run);
  return 0;
}

Component characterise_component() {
  return command<CharacteriseCommand, CharacteriseOptions>(
      "interference.characterise", "which columns of a table of jobs tell about a target");
}

}  // namespace omen::interference
