// SPDX-License-Identifier: Apache-2.0
// Rewrites the tables so that trees can read them.
#include "sums/agg_predictor.hpp"

#include "learned/layer_columns.hpp"
#include "sums/net_sums.hpp"

namespace omen::power {
namespace {

constexpr const char* kAggId = "power.agg";

learn::GbtOptions tree_options(const AggOptions& options) {
  learn::GbtOptions made;
  made.rounds = options.rounds;
  made.depth = options.depth;
  made.eta = options.eta;
  made.subsample = options.subsample;
  return made;
}

// One row for each workload; zeros where it cannot be answered.
Table summed(const LearnedRows& rows) {
  const std::vector<std::string> names = sum_names();
  std::vector<std::vector<double>> columns(names.size());
  std::vector<std::int64_t> id;
  std::vector<std::string> group;
  for (const LearnedRow& row : rows.rows) {
    id.push_back(row.workload_id);
    group.push_back(row.group);
    const std::vector<double> values =
        row.refusal.empty() ? sums_of(rows.nets[static_cast<std::size_t>(row.net)], row)
                            : std::vector<double>(names.size(), 0);
    for (std::size_t c = 0; c < values.size(); ++c) columns[c].push_back(values[c]);
  }
  TableBuilder table;
  table.add("workload_id", std::move(id)).add_categories("group", group);
  for (std::size_t c = 0; c < names.size(); ++c) table.add(names[c], std::move(columns[c]));
  return table.finish();
}

// Rows that cannot be answered are left out, with their targets.
void put_summed(const Dataset& in, MemoryDataset& out) {
  LearnedRows rows = read_learned_rows(in);
  std::erase_if(rows.rows, [](const LearnedRow& row) { return !row.refusal.empty(); });
  if (rows.rows.empty())
    throw Error(OMEN_INVALID_DATA, "no row has layers and a legal accelerator",
                "omen data make --with power.corpus makes some that have.");
  out.put("workloads", summed(rows));
  out.put("targets", in.table("targets"));
  out.set_task(in.task_hash(), in.task_json());
}

}  // namespace

AggPredictor::AggPredictor(const AggOptions& options)
    : trees_(kAggId,
             [own = tree_options(options)] { return std::make_unique<learn::GbtLearner>(own); },
             {learn::LogMode::kOn, learn::LogMode::kOff, options.folds, {}}) {}

void AggPredictor::fit(const Dataset& train, const Dataset& valid, const Run& run) {
  MemoryDataset seen, judged;
  put_summed(train, seen);
  const bool has_valid = valid && valid.has("targets");
  if (has_valid) put_summed(valid, judged);
  run.step(-1, "trees");
  trees_.fit(seen.view(), has_valid ? judged.view() : Dataset(nullptr), run);
}

TableStream AggPredictor::predict(const Dataset& in, const Run& run) {
  const LearnedRows rows = read_learned_rows(in);
  MemoryDataset asked;
  asked.put("workloads", summed(rows));
  const Table said = trees_.predict(asked.view(), run).read_all();
  std::vector<std::int64_t> id;
  std::vector<bool> answered;
  std::vector<std::string> status;
  const StringColumn trusted = said.strings("status");
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const LearnedRow& row = rows.rows[i];
    id.push_back(row.workload_id);
    answered.push_back(row.refusal.empty());
    status.emplace_back(row.refusal.empty() ? trusted[static_cast<std::int64_t>(i)]
                                            : std::string_view(row.refusal));
  }
  TableBuilder table;
  table.add("workload_id", std::move(id));
  for (std::size_t c = 0; c < said.columns(); ++c) {
    const std::string name(said.name(c));
    if (name == "workload_id" || !is_number(said.type(c))) continue;
    Metadata notes = said.metadata(c);
    notes.emplace_back("omen.method", std::string("estimated:") + kAggId);
    table.add(name, said.numbers(c), std::move(notes)).valid(answered);
  }
  return table.add_strings("status", status).finish();
}

Component agg_component() {
  return reads_layers(predictor<AggPredictor, AggOptions>(
                          kAggId, "power and latency by boosted trees over sums of the network"))
      .writes("*")
      .caps(OMEN_CAP_BITWISE_REPEATABLE | OMEN_CAP_SEEDED_REPEATABLE | OMEN_CAP_UNCERTAINTY)
      .cite("doi:10.1145/2939672.2939785");
}

}  // namespace omen::power
