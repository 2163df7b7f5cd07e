// SPDX-License-Identifier: Apache-2.0
// Labels of traces without times, against the published answers where the public data is there.
#include "sweep/trace_labels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "omen/testing/temp_dir.hpp"

namespace omen::driple {
namespace {

using ::testing::ElementsAre;

const ResourceLabels& of(const TraceLabels& labels, Resource resource) {
  for (const ResourceLabels& each : labels.resources)
    if (each.resource == resource) return each;
  throw std::runtime_error("no such resource");
}

TEST(TraceLabelsTest, BurstIsTheHigherCluster) {
  const test::TempDir dir;
  const auto path = dir.path() / "A_net_8_sgd_10_c.csv";
  std::ofstream file(path);
  file << "GPU Util%,GPU Memory\n";
  for (int i = 0; i < 5; ++i) file << "0,100\n";
  for (int i = 0; i < 15; ++i) file << "95,7800\n";
  file.close();
  const TraceLabels labels = labels_of_trace(path, {.memory_bytes = 8192.0 * 0x1p20});
  EXPECT_DOUBLE_EQ(of(labels, Resource::gpu_util).burst, 0.75);
  EXPECT_DOUBLE_EQ(of(labels, Resource::gpu_util).idle, 0.25);
  EXPECT_DOUBLE_EQ(of(labels, Resource::gpu_util).peak, 0.75);
  EXPECT_DOUBLE_EQ(of(labels, Resource::gpu_memory).peak, 0.75);
  EXPECT_EQ(labels.resources.size(), 2U);
  const TraceLabels unknown = labels_of_trace(path, {});
  EXPECT_DOUBLE_EQ(of(unknown, Resource::gpu_memory).peak, 0);
}

TEST(JobOfFileTest, ModelsMayHoldUnderscores) {
  EXPECT_THAT(job_of_file("TitanX_resnet20_v2_64_sgd_10_cifar10.csv"),
              ElementsAre("TitanX", "resnet20_v2", "64", "sgd", "10", "cifar10"));
  EXPECT_TRUE(job_of_file("trace.csv").empty());
}

TEST(SampleTracesTest, SharesAreThePublishedAnswers) {
  const char* data = std::getenv("OMEN_DATA");
  if (!data) GTEST_SKIP() << "OMEN_DATA does not name the public data";
  const std::string directory = std::string(data) + "/driple/traces/";
  std::ifstream answers(directory + "sample_expected.csv");
  if (!answers) GTEST_SKIP() << "the public data has no sample_expected.csv";
  std::string line;
  std::getline(answers, line);
  int compared = 0;
  while (std::getline(answers, line)) {
    std::istringstream in(line);
    std::vector<std::string> fields;
    for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
    const bool titan = fields[0].starts_with("TitanX");
    const TraceLabels labels = labels_of_trace(directory + "sample/" + fields[0],
                                               {.memory_bytes = (titan ? 12288 : 8192) * 0x1p20});
    const Resource resource = fields[1] == "GPU Util%"    ? Resource::gpu_util
                              : fields[1] == "GPU Memory" ? Resource::gpu_memory
                                                          : Resource::cpu_util;
    EXPECT_NEAR(of(labels, resource).burst, std::stod(fields[7]), 1e-8) << line;
    EXPECT_NEAR(of(labels, resource).idle, 1 - std::stod(fields[7]), 1e-8) << line;
    EXPECT_NEAR(of(labels, resource).peak, std::stod(fields[10]), 1e-8) << line;
    ++compared;
  }
  EXPECT_EQ(compared, 52);
}

}  // namespace
}  // namespace omen::driple
