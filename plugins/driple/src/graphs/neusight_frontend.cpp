// SPDX-License-Identifier: Apache-2.0
// A graph for each model, mode, batch and length that was measured on any GPU.
#include "neusight_frontend.hpp"

#include <omen/tables.h>
#include <charconv>
#include <filesystem>
#include <map>
#include <omen/opgraph/tables.hpp>

#include "graph_file.hpp"
#include "graph_sums.hpp"
#include "neusight_steps.hpp"

namespace omen::driple {
namespace {

constexpr const char* kId = "driple.neusight";
constexpr const char* kHint = "Give labels.csv of NeuSight, with models.csv beside it.";

std::int64_t whole_number(const NamedCells& labels, std::size_t row, const char* column) {
  const std::string& text = labels.cell(row, column);
  std::int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || value < 1)
    throw Error(OMEN_INVALID_DATA,
                "labels.csv row " + std::to_string(row + 1) + ": " + column + " is '" + text + "'",
                kHint);
  return value;
}

}  // namespace

void NeusightFrontend::lower(const char* path, const TablesOut& out, const Run& run) {
  const NamedCells labels(read_graph_file(path, kId, kHint), "labels.csv");
  const std::string beside = (std::filesystem::path(path).parent_path() / "models.csv").string();
  const auto models =
      neusight_models(NamedCells(read_graph_file(beside.c_str(), kId, kHint), "models.csv"));
  std::map<std::string, opgraph::Job> distinct;
  for (std::size_t row = 0; row < labels.rows(); ++row) {
    run.step(double(row) / double(labels.rows()), "networks");
    const std::string& model = labels.cell(row, "model");
    const std::string& mode = labels.cell(row, "mode");
    const std::string name =
        model + "-" + mode + "-" + labels.cell(row, "batch") + "-" + labels.cell(row, "seq_len");
    const auto config = models.find(model);
    if (config == models.end())
      throw Error(OMEN_INVALID_DATA, "models.csv does not know the model '" + model + "'", kHint);
    if (distinct.count(name) > 0) continue;
    opgraph::Job& job = distinct[name];
    job = neusight_job(config->second, mode == "training", whole_number(labels, row, "batch"),
                       whole_number(labels, row, "seq_len"));
    job.name = name;
  }
  std::vector<opgraph::Job> jobs;
  for (auto& [name, job] : distinct) jobs.push_back(std::move(job));
  TableBuilder workloads = opgraph::workload_columns(jobs);
  add_graph_sums(workloads, jobs);
  out.put(OMEN_TABLE_WORKLOADS, workloads.finish());
  out.put(OMEN_TABLE_NODES, opgraph::node_columns(jobs).finish());
  out.put(OMEN_TABLE_EDGES, opgraph::edge_columns(jobs).finish());
}

}  // namespace omen::driple
