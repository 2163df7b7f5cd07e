// SPDX-License-Identifier: Apache-2.0
// Jobs survive the way through tables, and bad tables are named.
#include "omen/opgraph/tables.hpp"

#include <gmock/gmock.h>

#include <omen/testing/errors.hpp>

#include "omen/opgraph/words.hpp"
#include "omen/opgraph/zoo.hpp"

namespace omen::opgraph {
namespace {

using ::testing::HasSubstr;

void fill(const std::vector<Job>& jobs, MemoryDataset& data) {
  TableCollector collector;
  put_jobs(jobs, TablesOut(collector.c()));
  for (auto& [name, table] : collector.take()) data.put(name, std::move(table));
}

bool same(const Op& a, const Op& b) {
  return a.kind == b.kind && a.phase == b.phase && a.precision == b.precision &&
         a.flops == b.flops && a.bytes_read == b.bytes_read && a.bytes_written == b.bytes_written &&
         a.output_bytes == b.output_bytes && a.parameter_bytes == b.parameter_bytes &&
         a.batch == b.batch && a.m == b.m && a.n == b.n && a.k == b.k && a.kernel == b.kernel &&
         a.stride == b.stride && a.groups == b.groups && a.ranks == b.ranks &&
         a.kernels == b.kernels && a.shape == b.shape && a.name == b.name;
}

TEST(StepTables, ComeBackAsTheyWere) {
  std::vector<Job> jobs;
  for (const char* name : {"resnet20", "lenet", "gan"}) {
    ZooRun run;
    run.optimizer = Optimizer::adam;
    jobs.push_back(zoo_job(name, run));
  }
  MemoryDataset data;
  fill(jobs, data);
  const std::vector<Job> back = read_jobs(data.view());
  ASSERT_EQ(back.size(), jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(back[i].name, jobs[i].name);
    EXPECT_EQ(back[i].facts.parameters, jobs[i].facts.parameters);
    EXPECT_EQ(back[i].facts.optimizer_bytes, jobs[i].facts.optimizer_bytes);
    EXPECT_EQ(back[i].facts.optimizer, "adam");
    ASSERT_EQ(back[i].graph.ops.size(), jobs[i].graph.ops.size());
    for (std::size_t n = 0; n < jobs[i].graph.ops.size(); ++n)
      EXPECT_TRUE(same(back[i].graph.ops[n], jobs[i].graph.ops[n])) << jobs[i].graph.ops[n].name;
    ASSERT_EQ(back[i].graph.edges.size(), jobs[i].graph.edges.size());
    for (std::size_t n = 0; n < jobs[i].graph.edges.size(); ++n) {
      EXPECT_EQ(back[i].graph.edges[n].src, jobs[i].graph.edges[n].src);
      EXPECT_EQ(back[i].graph.edges[n].dst, jobs[i].graph.edges[n].dst);
    }
  }
}

TEST(StepTables, EdgesMustLeadForward) {
  Job job;
  job.graph.ops.resize(2);
  job.graph.edges = {{1, 0}};
  MemoryDataset data;
  fill({job}, data);
  EXPECT_THAT(
      test::error_of([&] { read_jobs(data.view()); }),
      test::IsError(OMEN_INVALID_DATA, HasSubstr("does not lead forward"), HasSubstr("driple")));
}

TEST(StepWords, AreReadBack) {
  for (const std::string_view text : op_class_words()) EXPECT_EQ(word(*op_class_of(text)), text);
  for (const std::string_view text : precision_words()) EXPECT_EQ(word(*precision_of(text)), text);
  for (const std::string_view text : mode_words()) EXPECT_EQ(word(*mode_of(text)), text);
  for (const std::string_view text : phase_words()) EXPECT_EQ(word(*phase_of(text)), text);
  EXPECT_FALSE(op_class_of("teleport"));
}

}  // namespace
}  // namespace omen::opgraph
