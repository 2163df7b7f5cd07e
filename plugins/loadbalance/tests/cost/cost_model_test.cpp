// SPDX-License-Identifier: Apache-2.0
// The cost model learns a rule, knows what it has not seen, and moves to other devices.
#include "cost/cost_model.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "cost/answer_table.hpp"
#include "cost/grewe_predictors.hpp"
#include "cost/process_kernel.hpp"
#include "omen/testing/memory_artifact.hpp"
#include "omen/testing/ready_run.hpp"

namespace omen::loadbalance::cost {
namespace {

using ::testing::HasSubstr;

Run quiet() {
  static const test::ReadyRun run;
  return run;
}

// Kernels of few or many double operations at several sizes; many of them suit the CPU.
KernelRows kernels(const char* gpu = "NVIDIA GeForce GTX 970") {
  KernelRows rows;
  rows.groups = {"a", "b", "c", "d", "e", "f"};
  for (int i = 0; i < 60; ++i) {
    const double wide = 1 + i % 10;
    rows.graphs.push_back({{"instructions", 20 + wide},
                           {"op.fmul", wide},
                           {"class.fp64.0", wide},
                           {"class.load.0", 4},
                           {"memory.double", 4}});
    KernelRow row;
    row.workload_id = i;
    row.graph = i;
    row.wgsize = 64;
    row.input_size = 1e6 * (1 + i % 7);
    row.group = i % 6;
    row.cpu = "Intel Core i7-3820";
    row.gpu = gpu;
    row.t_cpu_ms = 10 * (1 + i % 7);
    row.t_gpu_ms = row.t_cpu_ms * wide / 5;
    row.grewe = {wide, 1, 4, 0, 4, 0};
    rows.rows.push_back(row);
  }
  return rows;
}

CostOptions small() {
  CostOptions options;
  options.trees.rounds = 40;
  options.inner_folds = 3;
  return options;
}

TEST(CostModel, LearnsTimesAndShares) {
  const KernelRows rows = kernels();
  CostModel model;
  model.fit(rows, small(), 1, quiet());
  EXPECT_TRUE(model.has_times());
  double error = 0;
  const std::vector<CostRow> answers = model.predict(rows, 0.9, std::nullopt);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const KernelRow& row = rows.rows[i];
    const double truth = 100 * row.t_gpu_ms / (row.t_gpu_ms + row.t_cpu_ms);
    error += std::abs(answers[i].share - truth) / 60;
    EXPECT_LE(answers[i].share_lo, answers[i].share);
    EXPECT_GE(answers[i].share_hi, answers[i].share);
    EXPECT_FALSE(answers[i].extrapolating);
    EXPECT_NEAR(answers[i].t_gpu_ms / (answers[i].t_gpu_ms + answers[i].t_cpu_ms),
                answers[i].share / 100, 0.02)
        << "times and share agree";
    EXPECT_EQ(answers[i].t_gpu_ms<answers[i].t_cpu_ms, answers[i].devices[1]> answers[i].devices[0])
        << "the device has the shorter time";
  }
  EXPECT_LT(error, 5);
}

TEST(CostModel, TheSameSeedGivesTheSameAnswers) {
  const KernelRows rows = kernels();
  CostModel first, second;
  first.fit(rows, small(), 3, quiet());
  second.fit(rows, small(), 3, quiet());
  const auto a = first.predict(rows, 0.9, std::nullopt),
             b = second.predict(rows, 0.9, std::nullopt);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].share, b[i].share);
}

TEST(CostModel, SaysWhatItHasNotSeen) {
  KernelRows rows = kernels();
  CostModel model;
  model.fit(rows, small(), 1, quiet());
  rows.rows.resize(3);
  rows.rows[0].input_size = 1e15;
  rows.rows[1].graph = -1;
  const std::vector<CostRow> answers = model.predict(rows, 0.9, std::nullopt);
  EXPECT_TRUE(answers[0].extrapolating);
  EXPECT_THAT(answers[1].refusal, HasSubstr("no graph"));
  EXPECT_FALSE(answers[2].extrapolating);
}

TEST(CostModel, FlagsKernelsWithoutNeighbours) {
  KernelRows rows = kernels();
  rows.rows.resize(20);
  CostModel model;
  model.fit(rows, small(), 1, quiet());
  rows.graphs.push_back({{"instructions", 90}, {"op.load", 50}, {"memory.double", 300}});
  rows.rows.resize(2);
  rows.rows[0].graph = static_cast<std::int32_t>(rows.graphs.size()) - 1;
  const std::vector<CostRow> answers = model.predict(rows, 0.9, std::nullopt);
  EXPECT_TRUE(answers[0].extrapolating) << "none of its operations was learnt";
  EXPECT_FALSE(answers[1].extrapolating);
}

TEST(CostModel, WithoutTheProcessAModelKeepsNoSizes) {
  CostOptions options = small();
  options.with_process = false;
  CostModel model;
  model.fit(kernels(), options, 1, quiet());
  test::MemoryArtifact kept;
  const omen_sink sink = kept.sink();
  ArtifactWriter writer(&sink);
  model.save(writer);
  const omen_source source = kept.source();
  const std::vector<float> rows = ArtifactReader(&source).get<float>("machine.0.density.rows");
  constexpr std::size_t kWidth = kPlaces + 2;
  ASSERT_EQ(rows.size(), 60 * kWidth);
  for (std::size_t at = kWidth - 1; at < rows.size(); at += kWidth)
    EXPECT_NEAR(std::remainder(rows[at], 0.05), 0, 1e-6) << "bytes to a factor of about two";
  for (const CostRow& row : model.predict(kernels(), 0.9, std::nullopt))
    EXPECT_FALSE(row.extrapolating);
}

double share_error(const CostModel& model, const KernelRows& rows) {
  const std::vector<CostRow> answers = model.predict(rows, 0.9, std::nullopt);
  double error = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const KernelRow& row = rows.rows[i];
    error += std::abs(answers[i].share - 100 * row.t_gpu_ms / (row.t_gpu_ms + row.t_cpu_ms));
  }
  return error / static_cast<double>(answers.size());
}

using Places = std::vector<std::size_t>;

// Everything takes ten times as long on the GPU of this machine, which no registry knows.
KernelRows strange_machine() {
  KernelRows rows = kernels("a GPU of tomorrow");
  for (KernelRow& row : rows.rows) row.t_gpu_ms *= 10;
  return rows;
}

TEST(CostModel, MeasurementsOfAnotherMachineCorrectIt) {
  CostModel model;
  model.fit(kernels(), small(), 1, quiet());
  const KernelRows strangers = strange_machine();
  EXPECT_THAT(model.predict(strangers, 0.9, std::nullopt)[0].refusal, HasSubstr("no figures"));
  const std::vector<CostRow> before = model.predict(kernels(), 0.9, std::nullopt);
  EXPECT_EQ(model.observe(strangers.subset(Places{0, 7})), 2u);
  const double two = share_error(model, strangers);
  EXPECT_EQ(model.observe(strangers.subset(Places{13, 21, 34, 48, 55})), 5u);
  const double seven = share_error(model, strangers);
  EXPECT_LT(seven, two);
  EXPECT_LT(seven, 12);
  const std::vector<CostRow> after = model.predict(kernels(), 0.9, std::nullopt);
  EXPECT_EQ(after[5].share, before[5].share) << "the machine of training keeps its answers";

  test::MemoryArtifact kept;
  const omen_sink sink = kept.sink();
  ArtifactWriter writer(&sink);
  model.save(writer);
  const omen_source source = kept.source();
  CostModel again;
  again.load(ArtifactReader(&source));
  EXPECT_NEAR(share_error(again, strangers), seven, 1e-3);
}

TEST(CostModel, MovesToDevicesThatItHasFiguresOf) {
  KernelRows rows = kernels();
  CostModel model;
  model.fit(rows, small(), 1, quiet());
  rows.rows.resize(3);
  rows.rows[0].gpu = "HD 7970";
  rows.rows[1].gpu = "a GPU that nobody knows";
  rows.rows[2].gpu = "GTX 970";
  const std::vector<CostRow> answers = model.predict(rows, 0.9, std::nullopt);
  EXPECT_TRUE(answers[0].refusal.empty());
  EXPECT_TRUE(answers[0].extrapolating);
  EXPECT_GT(answers[0].t_gpu_ms, 0);
  EXPECT_THAT(answers[1].refusal, HasSubstr("a GPU that nobody knows"));
  EXPECT_FALSE(answers[2].extrapolating) << "another spelling of the same GPU";
}

TEST(CostModel, ACalibrationMovesRowsThatNameNoGpu) {
  KernelRows rows = kernels();
  CostModel model;
  model.fit(rows, small(), 1, quiet());
  rows.rows.resize(2);
  rows.rows[0].gpu = rows.rows[0].cpu = "";
  rows.rows[1] = rows.rows[0];
  rows.rows[1].gpu = "GTX 970";
  Calibration here;
  here.log_gpu = std::log(2);
  const auto plain = model.predict(rows, 0.9, std::nullopt), moved = model.predict(rows, 0.9, here);
  EXPECT_NEAR(moved[0].t_gpu_ms, 2 * plain[0].t_gpu_ms, 1e-9);
  EXPECT_NEAR(moved[0].t_cpu_ms, plain[0].t_cpu_ms, 1e-9);
  EXPECT_GT(moved[0].share, plain[0].share);
  EXPECT_EQ(moved[1].share, plain[1].share);
}

TEST(CostModel, SharesAloneAreEnough) {
  KernelRows rows = kernels();
  for (KernelRow& row : rows.rows) {
    row.share = 100 * row.t_gpu_ms / (row.t_gpu_ms + row.t_cpu_ms);
    row.t_cpu_ms = row.t_gpu_ms = kUnknown;
  }
  CostModel model;
  model.fit(rows, small(), 1, quiet());
  EXPECT_FALSE(model.has_times());
  for (KernelRow& row : rows.rows) row.share = kUnknown;
  EXPECT_THROW(model.fit(rows, small(), 1, quiet()), Error);
}

TEST(GaussianProcess, AsksAllOtherRowsAboutEach) {
  const KernelRows all = kernels();
  KernelEncoder encoder;
  encoder.fit(all, {});
  const auto answers = [](const KernelRows& rows) {
    Matrix y(static_cast<Index>(rows.rows.size()), 1);
    for (Index i = 0; i < y.rows(); ++i) {
      const KernelRow& row = rows.rows[static_cast<std::size_t>(i)];
      y(i, 0) = row.t_gpu_ms / row.t_cpu_ms;
    }
    return y;
  };
  learn::GaussianProcess process = make_process({}, encoder.with_grewe());
  const learn::Opinions others =
      process.fit(encoder.encode(all).blocks, answers(all), Vector::Ones(60));
  for (const std::size_t left_out : {std::size_t{7}, std::size_t{59}}) {
    KernelRows rest = all, one = all;
    rest.rows.erase(rest.rows.begin() + static_cast<std::ptrdiff_t>(left_out));
    one.rows = {all.rows[left_out]};
    learn::GaussianProcess without = make_process({}, encoder.with_grewe());
    without.fit(encoder.encode(rest).blocks, answers(rest), Vector::Ones(59));
    const learn::Opinions said = without.predict(encoder.encode(one).blocks);
    const auto at = static_cast<Index>(left_out);
    // The mean that both start from holds the row here, and does not there.
    EXPECT_NEAR(others.mean(at, 0), said.mean(0, 0), 0.01);
    EXPECT_NEAR(others.variance[at], said.variance[0], 1e-5);
  }
}

TEST(GaussianProcess, IsSureOfWhatItHasSeenOnly) {
  KernelRows rows = kernels();
  KernelEncoder encoder;
  encoder.fit(rows, {});
  learn::GaussianProcess process = make_process({}, encoder.with_grewe());
  process.fit(encoder.encode(rows).blocks, Matrix::Zero(60, 2), Vector::Ones(60));
  rows.rows.resize(2);
  rows.rows[1].input_size = 1e12;
  const learn::Opinions said = process.predict(encoder.encode(rows).blocks);
  EXPECT_LT(said.variance[0], 0.1);
  EXPECT_GT(said.variance[1], 1.0);
}

TEST(Answers, TablesHaveUnitsAndAPlan) {
  KernelRows rows = kernels();
  rows.rows.resize(3);
  for (KernelRow& row : rows.rows) row.divisible = kDivisible;
  std::vector<CostRow> answers(3);
  answers[0].share = 50;
  answers[0].t_cpu_ms = answers[0].t_gpu_ms = 10;
  answers[1].share = 99;
  answers[1].t_cpu_ms = 1;
  answers[1].t_gpu_ms = 99;
  answers[2].refusal = "no graph for this workload";
  AnswerColumns columns;
  columns.least_gain = 1.05;
  const Table table = answer_table(rows, answers, columns);
  EXPECT_EQ(table.strings("plan")[0], "split");
  EXPECT_EQ(table.strings("plan")[1], "CPU only");
  EXPECT_EQ(table.metadata(table.index("share"), "omen.unit"), "%");
  EXPECT_TRUE(table.is_null(table.index("share"), 2));
  EXPECT_EQ(table.strings("status")[2], "no graph for this workload");
  EXPECT_NEAR(table.numbers("gain")[0], 2, 1e-9);
  EXPECT_EQ(table.metadata(table.index("share"), "omen.direction"), "none");
}

TEST(Answers, AKernelThatCannotBeDividedSaysWhy) {
  KernelRows rows = kernels();
  rows.rows.resize(2);
  rows.rows[0].divisible = "atomic_add on 'bins' (line 9)";
  rows.rows[1].divisible = "yes";
  std::vector<CostRow> answers(2);
  for (CostRow& row : answers) row.t_cpu_ms = row.t_gpu_ms = 10;
  const Table table = answer_table(rows, answers, {});
  EXPECT_EQ(table.strings("plan")[0], "not divisible");
  EXPECT_EQ(table.strings("reason")[0], "atomic_add on 'bins' (line 9)");
  EXPECT_EQ(table.numbers("gain")[0], 1);
  EXPECT_EQ(table.strings("plan")[1], "split");
  EXPECT_TRUE(table.strings("reason").is_null(1));
}

TEST(Answers, ASplitThatNobodyJudgedIsNotPromised) {
  KernelRows rows = kernels();
  rows.rows.resize(3);
  rows.rows[2].divisible = kDivisible;
  std::vector<CostRow> answers(3);
  for (CostRow& row : answers) row.t_cpu_ms = row.t_gpu_ms = 10;
  answers[1].t_cpu_ms = 99;  // one device is better either way
  AnswerColumns columns;
  columns.least_gain = 1.2;
  const Table table = answer_table(rows, answers, columns);
  EXPECT_EQ(table.strings("plan")[0], "not judged");
  EXPECT_THAT(std::string(table.strings("reason")[0]), HasSubstr("OpenCL sources"));
  EXPECT_EQ(table.numbers("gain")[0], 1);
  EXPECT_EQ(table.strings("plan")[1], "GPU only");
  EXPECT_EQ(table.numbers("gain")[1], 1);
  EXPECT_TRUE(table.strings("reason").is_null(1));
  EXPECT_EQ(table.strings("plan")[2], "split");
}

TEST(Answers, TimesHaveTwoDigitsAndTellTheDevice) {
  KernelRows rows = kernels();
  rows.rows.resize(2);
  std::vector<CostRow> answers(2);
  answers[0].t_cpu_ms = 123.4;
  answers[0].t_gpu_ms = 0.01749;
  answers[1].t_cpu_ms = 10.01;
  answers[1].t_gpu_ms = 10.02;
  const Table table = answer_table(rows, answers, {});
  EXPECT_NEAR(table.numbers("t_cpu_ms")[0], 120, 1e-9);
  EXPECT_NEAR(table.numbers("t_gpu_ms")[0], 0.017, 1e-9);
  EXPECT_NEAR(table.numbers("t_cpu_ms")[1], 10, 1e-9);
  EXPECT_NEAR(table.numbers("t_gpu_ms")[1], 11, 1e-9);
}

TEST(Answers, TheMachineIsNamed) {
  KernelRows rows = kernels();
  rows.rows.resize(2);
  std::vector<CostRow> answers(2);
  for (CostRow& row : answers) {
    row.cpu = "Intel Core i7-3820";
    row.gpu = "NVIDIA GeForce GTX 970";
  }
  answers[1].measured_here = true;
  const Table table = answer_table(rows, answers, {});
  EXPECT_EQ(table.strings("machine")[0],
            "Intel Core i7-3820 + NVIDIA GeForce GTX 970, not this one");
  EXPECT_EQ(table.strings("machine")[1], "Intel Core i7-3820 + NVIDIA GeForce GTX 970");
}

TEST(Grewe, RatiosNeedAllCounts) {
  KernelRow row = kernels().rows[0];
  const auto x = grewe_features(row);
  ASSERT_TRUE(x);
  EXPECT_EQ((*x)[1], 1) << "every access is coalesced";
  row.grewe[kMem] = kUnknown;
  EXPECT_FALSE(grewe_features(row));
}

}  // namespace
}  // namespace omen::loadbalance::cost
