// SPDX-License-Identifier: Apache-2.0
// Measured runs kept in a table file.
#include "opencl/record.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "omen/container.hpp"

namespace omen::loadbalance {
namespace {

MeasuredRun measured(double first, double second, double split, double share) {
  MeasuredRun run;
  run.samples = {{100, {first, first, 0}, SearchStep::kFirstAlone},
                 {0, {second, 0, second}, SearchStep::kSecondAlone},
                 {share, {split, split, split}, SearchStep::kStart}};
  run.split_ms = split;
  run.best_share = share;
  return run;
}

std::map<std::string, Table> kernel(const std::string& name) {
  const std::vector<std::int64_t> zero{0};
  return {{"workloads", TableBuilder()
                            .add("workload_id", zero)
                            .add("graph_id", zero)
                            .add_categories("group", {name + ".cl"})
                            .add_strings("name", {name})
                            .finish()},
          {"nodes", TableBuilder()
                        .add("graph_id", zero)
                        .add("node_id", std::vector<std::int32_t>{0})
                        .add_categories("op", {"[external]"})
                        .metadata("omen.dialect", "programl/1")
                        .finish()}};
}

class RecordTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }
  std::filesystem::path file_ = std::filesystem::temp_directory_path() /
                                ("omen_record_test_" + std::to_string(::getpid()) + ".omt");
};

TEST_F(RecordTest, RunsFollowEachOther) {
  record_run(file_, kernel("a"), measured(10, 30, 8, 75));
  record_run(file_, kernel("b"), measured(9, 3, 3, 0));
  const container::Reader reader = container::Reader::open(file_);
  const Table workloads = container::get_table(reader, "workloads");
  ASSERT_EQ(workloads.rows(), 2);
  EXPECT_EQ(workloads.column<std::int64_t>("workload_id")[1], 1);
  EXPECT_EQ(workloads.strings("group")[1], "b.cl");
  const Table nodes = container::get_table(reader, "nodes");
  EXPECT_EQ(nodes.column<std::int64_t>("graph_id")[1], 1);
  EXPECT_EQ(nodes.metadata("omen.dialect"), "programl/1");
  const Table targets = container::get_table(reader, "targets");
  EXPECT_EQ(targets.column<std::int64_t>("workload_id")[1], 1);
  EXPECT_EQ(targets.column<double>("t_cpu_ms")[0], 10);
  EXPECT_EQ(targets.column<double>("t_gpu_ms")[0], 30);
  EXPECT_EQ(targets.column<double>("gain")[0], 1.25);
  EXPECT_EQ(targets.strings("share_class")[0], "75");
  EXPECT_EQ(targets.strings("device")[1], "GPU");
}

TEST_F(RecordTest, OtherFilesAreNotTouched) {
  container::Writer writer;
  container::put_table(writer, "nodes", kernel("a").at("nodes"));
  writer.write(file_);
  EXPECT_THROW(record_run(file_, kernel("a"), measured(1, 1, 1, 50)), Error);
}

}  // namespace
}  // namespace omen::loadbalance
