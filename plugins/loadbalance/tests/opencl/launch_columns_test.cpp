// SPDX-License-Identifier: Apache-2.0
// Launches in tables: sizes that are none are named, and global and local sizes count.
#include "opencl/launch_columns.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

Table one_column(const char* name, std::vector<double> values) {
  std::vector<std::int64_t> ids(values.size());
  return TableBuilder().add("workload_id", ids).add(name, std::move(values)).finish();
}

Table one_text(const char* name, const char* text) {
  return TableBuilder()
      .add("workload_id", std::vector<std::int64_t>{0})
      .add_strings(name, {text})
      .finish();
}

std::string complaint(const Table& workloads) {
  try {
    launch_figures(workloads);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), OMEN_INVALID_ARGUMENT);
    return e.what();
  }
  return "none";
}

TEST(LaunchColumns, WhatIsNoSizeIsNamed) {
  EXPECT_EQ(complaint(one_text("wgsize", "abc")), "--wgsize is 'abc', not a size");
  EXPECT_EQ(complaint(one_text("input_size", "-1M")), "--input-size is '-1M', not a size");
  EXPECT_EQ(complaint(one_column("input_size", {-5})), "--input-size is '-5', not a size");
  EXPECT_EQ(complaint(one_column("wgsize", {3.5})), "--wgsize is '3.5', not a size");
  EXPECT_EQ(complaint(one_column("wgsize", {0})), "--wgsize is '0', not a size");
  EXPECT_EQ(complaint(one_text("global", "64,x")), "--global is 'x', not a size");
  EXPECT_EQ(complaint(one_column("wgsize", {0, 64})), "none") << "0 is unknown in a table";
}

TEST(LaunchColumns, GlobalAndLocalSizesCount) {
  const Table workloads = TableBuilder()
                              .add("workload_id", std::vector<std::int64_t>{0})
                              .add_strings("global", {"1024,512"})
                              .add_strings("local", {"16,8"})
                              .finish();
  const LaunchFigures figures = launch_figures(workloads)[0];
  EXPECT_EQ(figures.wgsize, 128);
  EXPECT_EQ(figures.input_size, 4 * 1024 * 512);
  EXPECT_EQ(figures.local.count, 2u);
  EXPECT_TRUE(std::isnan(launch_figures(one_column("other", {1}))[0].wgsize));
}

}  // namespace
}  // namespace omen::loadbalance
