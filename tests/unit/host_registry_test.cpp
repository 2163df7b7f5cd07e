// SPDX-License-Identifier: Apache-2.0
// What a plugin of any language looks up by name: figures of devices, inputs of datasets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/host_services.hpp"
#include "data/import.hpp"
#include "omen/dataset.hpp"
#include "omen/ext/registry.h"
#include "omen/testing/errors.hpp"
#include "omen/testing/temp_dir.hpp"

namespace omen::host {
namespace {

using test::error_of;
using test::IsError;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class HostRegistry : public ::testing::Test {
 protected:
  template <class Extension>
  const Extension& extension(const char* id) const {
    return *static_cast<const Extension*>(host()->get_extension(host(), id));
  }
  const omen_host* host() const { return services_.c(); }
  const omen_devices_ext& devices() const { return extension<omen_devices_ext>(OMEN_EXT_DEVICES); }

  HostServices services_{Manifest{}};
};

TEST_F(HostRegistry, GivesFiguresWithTheirSources) {
  ErrorOut error;
  const char* name = nullptr;
  error.check(devices().find(host(), "Tesla V100-SXM2-16GB", &name, error));
  EXPECT_STREQ(name, "NVIDIA Tesla V100 SXM2 16 GB");
  double value = 0;
  const char* source = nullptr;
  error.check(devices().figure(host(), "v100", "bandwidth_bytes_per_s", &value, &source, error));
  EXPECT_EQ(value, 9e11);
  EXPECT_THAT(source, StartsWith("https://"));
  error.check(devices().figure(host(), "B200", "fp8_flops", &value, &source, error));
  EXPECT_THAT(source, HasSubstr("(not opened)"));
  error.check(devices().figure(host(), "B200", "fp8_flops", &value, nullptr, error));
}

TEST_F(HostRegistry, AMissingFigureIsNoZero) {
  double value = 7;
  const auto missing = [&](const char* device, const char* key) {
    return error_of([&] {
      ErrorOut error;
      error.check(devices().figure(host(), device, key, &value, nullptr, error));
    });
  };
  EXPECT_THAT(missing("GTX 970", "fp8_flops"), IsError(OMEN_NOT_FOUND, HasSubstr("fp8_flops")));
  EXPECT_THAT(missing("GTX 971", "fp32_flops"),
              IsError(OMEN_NOT_FOUND, HasSubstr("GTX 971"), HasSubstr("GTX 970")));
  EXPECT_EQ(value, 7);
}

TEST_F(HostRegistry, HasAllDevicesInOneTable) {
  ArrowArrayStream stream{};
  ErrorOut error;
  error.check(devices().table(host(), &stream, error));
  const Table table = TableStream::import(&stream).read_all();
  EXPECT_GT(table.rows(), 70);
  EXPECT_TRUE(table.is_null(table.index("fp8_flops"), 0)) << "a K20X knows no such numbers";
  EXPECT_EQ(table.numbers("tdp_w")[0], 235);
}

TEST_F(HostRegistry, ADatasetComesWithoutItsAnswers) {
  const test::TempDir dir;
  DatasetInfo info;
  info.name = "jobs";
  info.targets = {parse_target("time_ms:ms:lower")};
  TableBuilder rows, targets;
  rows.add("batch", std::vector<double>{1, 2}).add("time_ms", std::vector<double>{3, 4});
  targets.add("workload_id", std::vector<std::int64_t>{0, 1}).add("j", std::vector<double>{5, 6});
  write_dataset_directory(info, {{"workloads", rows.finish()}, {"targets", targets.finish()}},
                          dir.path() / "jobs");
  TableCollector tables;
  ErrorOut error;
  const auto& datasets = extension<omen_datasets_ext>(OMEN_EXT_DATASETS);
  error.check(datasets.open(host(), (dir.path() / "jobs").c_str(), tables.c(), error));
  const auto given = tables.take();
  EXPECT_EQ(given.count("targets"), 0u);
  EXPECT_EQ(given.at("workloads").rows(), 2);
  EXPECT_TRUE(given.at("workloads").has("batch"));
  EXPECT_FALSE(given.at("workloads").has("time_ms"));
  EXPECT_THAT(
      error_of([&] { error.check(datasets.open(host(), "no-such-dataset", tables.c(), error)); }),
      IsError(OMEN_NOT_FOUND, HasSubstr("no-such-dataset")));
}

TEST_F(HostRegistry, WhatAFrontEndMeasuredIsWhatTheDatasetMeasured) {
  const test::TempDir dir;
  DatasetInfo info;
  info.name = "jobs";
  TableBuilder rows, targets;
  rows.add("batch", std::vector<double>{1, 2});
  targets.add("workload_id", std::vector<std::int64_t>{0, 1});
  targets.add("score", std::vector<double>{5, 6},
              {{"omen.unit", "J"}, {"omen.direction", "higher"}});
  const DatasetInfo written = write_dataset_directory(
      info, {{"workloads", rows.finish()}, {"targets", targets.finish()}}, dir.path() / "jobs");
  ASSERT_EQ(written.targets.size(), 1u);
  EXPECT_EQ(written.targets[0].name, "score");
  EXPECT_EQ(written.targets[0].unit, "J");
  EXPECT_EQ(written.targets[0].direction, Direction::kHigher);
}

}  // namespace
}  // namespace omen::host
