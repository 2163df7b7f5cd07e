// SPDX-License-Identifier: Apache-2.0
// CPU time of one answer of driple.step, graph and tables included, and its growth with the graph.
//   driple_step_speed MODEL.omen CONFIG.json
// With OMEN_SHOW_BREAK=1 every answer is asked for sixteen times.
#include <omen/tables.h>
#include <sys/resource.h>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <omen/container.hpp>
#include <omen/opgraph/tables.hpp>
#include <omen/opgraph/transformer.hpp>
#include <omen/opgraph/zoo.hpp>

#include "omen/testing/ready_run.hpp"
#include "omen/testing/show.hpp"
#include "step/step_predictor.hpp"

namespace {

using namespace omen::driple;
namespace opgraph = omen::opgraph;
namespace test = omen::test;

constexpr int kRepeats = 50;
constexpr double kMostMilliseconds = 5, kMostGrowth = 1.5;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_of(const std::function<void()>& work) {
  const double begin = cpu_seconds();
  for (int i = 0; i < (test::broken() ? 16 : 1); ++i) work();
  return cpu_seconds() - begin;
}

double median_of(int repeats, const std::function<void()>& work) {
  std::vector<double> each;
  for (int i = 0; i < repeats; ++i) each.push_back(seconds_of(work));
  std::sort(each.begin(), each.end());
  return each[each.size() / 2];
}

// The figures of an A100, so that no registry is asked.
void ask(StepPredictor& predictor, const opgraph::Job& job) {
  const std::span<const opgraph::Job> jobs(&job, 1);
  omen::TableBuilder workloads = opgraph::workload_columns(jobs);
  const std::pair<const char*, double> figures[] = {{"fp32_flops", 19.5e12},
                                                    {"tf32_flops", 156e12},
                                                    {"bf16_flops", 312e12},
                                                    {"multiprocessors", 108},
                                                    {"bandwidth_bytes_per_s", 1.555e12},
                                                    {"memory_bytes", 42.9e9}};
  for (const auto& [name, value] : figures) workloads.add(name, std::vector<double>{value});
  omen::MemoryDataset data;
  data.put(OMEN_TABLE_WORKLOADS, workloads.finish());
  data.put(OMEN_TABLE_NODES, opgraph::node_columns(jobs).finish());
  data.put(OMEN_TABLE_EDGES, opgraph::edge_columns(jobs).finish());
  const test::ReadyRun run(1, 1);
  const omen::Table said = predictor.predict(data.view(), omen::Run(run.c())).read_all();
  if (!(said.numbers("step_ms")[0] > 0)) throw std::runtime_error("no answer");
}

// The operations of one network over and over, each behind the one before.
opgraph::Job chain_of(const opgraph::Job& job, std::size_t nodes) {
  opgraph::Job chain = job;
  chain.graph.ops.resize(nodes);
  chain.graph.edges.clear();
  for (std::size_t i = 0; i < nodes; ++i) {
    chain.graph.ops[i] = job.graph.ops[i % job.graph.ops.size()];
    if (i > 0)
      chain.graph.edges.push_back({static_cast<std::int32_t>(i - 1), static_cast<std::int32_t>(i)});
  }
  return chain;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::puts("usage: driple_step_speed MODEL.omen CONFIG.json");
    return 2;
  }
  StepPredictor predictor{StepPredictorOptions{}};
  const omen::container::Reader model = omen::container::Reader::open(argv[1]);
  predictor.load(omen::ArtifactReader(model.source()));
  const opgraph::TransformerConfig config = opgraph::load_config(argv[2], "");
  opgraph::TransformerRun llama;
  llama.prompt = 4096;
  const double resnet =
      median_of(kRepeats, [&] { ask(predictor, opgraph::zoo_job("resnet50", {})); });
  const double language =
      median_of(kRepeats, [&] { ask(predictor, opgraph::transformer_job(config, llama)); });
  int missed = test::show("resnet50_answer", 1e3 * resnet, "ms", "<=", kMostMilliseconds);
  missed |= test::show("llama_answer", 1e3 * language, "ms", "<=", kMostMilliseconds);
  const opgraph::Job network = opgraph::zoo_job("resnet50", {});
  const opgraph::Job small = chain_of(network, 10'000), large = chain_of(network, 1'000'000);
  const double short_node = median_of(9, [&] { ask(predictor, small); }) / 1e4;
  const double long_node = seconds_of([&] { ask(predictor, large); }) / 1e6;
  test::show("node_of_10000", 1e6 * short_node, "us");
  test::show("node_of_1000000", 1e6 * long_node, "us");
  // Sixteen times the same answers grow alike, so the control breaks the large one alone.
  missed |= test::show("growth", (test::broken() ? 16 : 1) * long_node / short_node, "x",
                       "<=", kMostGrowth);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  test::show("peak_memory", static_cast<double>(used.ru_maxrss) / 1024, "MiB");
  return missed;
}
