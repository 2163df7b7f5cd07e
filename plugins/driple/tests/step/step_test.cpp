// SPDX-License-Identifier: Apache-2.0
// Bounds, efficiencies, divided jobs, and the predictor around them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <omen/learn/random.hpp>
#include <omen/opgraph/costs.hpp>
#include <omen/opgraph/tables.hpp>
#include <omen/opgraph/zoo.hpp>

#include "omen/testing/errors.hpp"
#include "omen/testing/memory_artifact.hpp"
#include "omen/testing/ready_run.hpp"
#include "step/memory.hpp"
#include "step/step_predictor.hpp"
#include "step/step_rows.hpp"

namespace omen::driple {
namespace {

using ::testing::HasSubstr;

Device some_device(double scale = 1) {
  Device device;
  device.fp32 = device.matrix32 = device.tf32 = device.half = device.fp8 = device.fp4 =
      1e13 * scale;
  device.bandwidth = 5e11 * scale;
  device.memory = 12e9;
  device.multiprocessors = 40;
  device.link = device.interconnect = 1e10;
  return device;
}

opgraph::Job small_job(std::int64_t batch, const std::string& name = "resnet20") {
  opgraph::ZooRun run;
  run.batch = batch;
  run.classes = 11;
  return opgraph::zoo_job(name, run);
}

TEST(OpWork, WinogradLowersTheBoundOfPlainConvolutionsOnly) {
  const auto seconds = [](std::int64_t kernel, std::int64_t stride) {
    const opgraph::Op op =
        opgraph::conv_op(opgraph::Precision::fp32, {32, 256, 256, 784, 784, kernel, stride, 1});
    return bound_of(op, some_device()).compute * some_device().fp32 / op.flops;
  };
  EXPECT_DOUBLE_EQ(seconds(9, 1), 0.25);
  EXPECT_DOUBLE_EQ(seconds(9, 2), 1);
  EXPECT_DOUBLE_EQ(seconds(25, 1), 1);
}

TEST(OpWork, RingsSendLessThanTwiceTheBytes) {
  using opgraph::OpClass;
  const auto volume = [](OpClass kind) {
    return collective_volume(opgraph::collective_op(kind, opgraph::Precision::bf16, 800, 8));
  };
  EXPECT_DOUBLE_EQ(volume(OpClass::all_reduce), 1400);
  EXPECT_DOUBLE_EQ(volume(OpClass::all_gather), 700);
}

TEST(DeviceFigures, ModulesAreDividedByTheirChips) {
  const std::map<std::string, double> module = {{"fp32_flops", 2e13},
                                                {"bandwidth_bytes_per_s", 1e12},
                                                {"multiprocessors", 80},
                                                {"memory_bytes", 64e9},
                                                {"chips", 2}};
  const auto device = device_of([&](const std::string& name) -> std::optional<double> {
    const auto at = module.find(name);
    return at == module.end() ? std::nullopt : std::optional(at->second);
  });
  ASSERT_TRUE(device);
  EXPECT_EQ(device->fp32, 1e13);
  EXPECT_EQ(device->memory, 32e9);
  EXPECT_EQ(device->matrix_peak(opgraph::Precision::fp8), 1e13);
  EXPECT_FALSE(device_of([](const std::string&) { return std::optional<double>(); }));
}

TEST(EfficiencyNetwork, LearnsAUtilisationAndNeverBeatsTheBound) {
  learn::Random random(3);
  EfficiencyNet::Rows rows;
  rows.x = EfficiencyNet::Floats::Zero(2000, 2);
  rows.bound.resize(2000), rows.seconds.resize(2000);
  rows.weight = learn::Vector::Ones(2000);
  for (learn::Index r = 0; r < 2000; ++r) {
    const double x = random.uniform();
    rows.x(r, 0) = static_cast<float>(x);
    rows.bound[r] = std::exp(random.uniform() * 6) * 1e-6;
    rows.seconds[r] = 3e-6 + rows.bound[r] / (0.3 + 0.5 * x);
  }
  EfficiencyNet net;
  net.fit(rows, {});
  const learn::Vector said = net.seconds(rows.x, rows.bound);
  double off = 0;
  for (learn::Index r = 0; r < said.size(); ++r) {
    EXPECT_GT(said[r], rows.bound[r]);
    off += std::abs(said[r] / rows.seconds[r] - 1) / 2000;
  }
  EXPECT_LT(off, 0.05);
  learn::MemoryState kept;
  net.save(kept, "net");
  EfficiencyNet again;
  again.load(kept, "net", 2);
  EXPECT_EQ(again.seconds(rows.x, rows.bound), said);
}

TEST(Memory, GrowsWithTheBatchAndRefusesWhatIsTooLarge) {
  const MemoryNeed small = memory_need(small_job(8)), large = memory_need(small_job(64));
  EXPECT_EQ(small.fixed, large.fixed);
  EXPECT_GT(large.moving, 7 * small.moving);
  Device device = some_device();
  device.memory = large.total() - 1;
  EXPECT_FALSE(large.fits(device));
  const double most = large.largest_batch(device, 64);
  EXPECT_GE(most, 32);
  EXPECT_LT(most, 64);
}

TEST(Divide, RepeatsImagesAndSumsTheirGradients) {
  const opgraph::Job one = small_job(8);
  EXPECT_FALSE(can_cut(one));
  const opgraph::Job four = divide(one, {1, 1, 4});
  ASSERT_EQ(four.graph.ops.size(), one.graph.ops.size() + 1);
  EXPECT_EQ(four.graph.ops.back().kind, opgraph::OpClass::all_reduce);
  EXPECT_EQ(four.graph.ops.back().bytes_read, one.facts.gradient_bytes);
}

// Steps of a machine whose every operation takes three times its bound.
class StepData {
 public:
  explicit StepData(const std::vector<double>& scales, const std::string& gpu_names = "") {
    std::vector<double> fp32, bandwidth, multiprocessors, memory, ms;
    for (const double scale : scales)
      for (const char* name : {"resnet20", "lenet", "densenet40-k12"})
        for (const std::int64_t batch : {8, 16, 32}) {
          const Device device = some_device(scale);
          jobs_.push_back(small_job(batch, name));
          fp32.push_back(device.fp32), bandwidth.push_back(device.bandwidth);
          multiprocessors.push_back(device.multiprocessors), memory.push_back(device.memory);
          double seconds = 0;
          for (const opgraph::Op& op : jobs_.back().graph.ops)
            if (family_of(op)) seconds += 3 * bound_of(op, device).seconds() + 5e-6;
          ms.push_back(1e3 * seconds);
        }
    if (!gpu_names.empty())
      for (opgraph::Job& job : jobs_) {
        job.name = gpu_names;
        for (opgraph::Op& op : job.graph.ops) op.name = gpu_names;
      }
    columns_ = {{"fp32_flops", fp32},
                {"bandwidth_bytes_per_s", bandwidth},
                {"multiprocessors", multiprocessors},
                {"memory_bytes", memory}};
    put_workloads(gpu_names);
    data.put("nodes", opgraph::node_columns(jobs_).finish());
    data.put("edges", opgraph::edge_columns(jobs_).finish());
    truth = ms;
    data.put("targets", targets().finish());
  }
  // A run of ten epochs over 10,000 images.
  void tell_lengths() {
    columns_["epochs"] = std::vector<double>(jobs_.size(), 10);
    columns_["samples"] = std::vector<double>(jobs_.size(), 10000);
    put_workloads("");
  }
  void tell_use(double idle, double peak) {
    data.put("targets", targets()
                            .add("gpu_idle_pct", std::vector<double>(jobs_.size(), idle))
                            .add("gpu_peak_pct", std::vector<double>(jobs_.size(), peak))
                            .finish());
  }
  MemoryDataset data;
  std::vector<double> truth;

 private:
  void put_workloads(const std::string& gpu_names) {
    TableBuilder workloads = opgraph::workload_columns(jobs_);
    for (const auto& [name, values] : columns_) workloads.add(name, values);
    workloads.add_strings("gpu", std::vector<std::string>(jobs_.size(), gpu_names));
    data.put("workloads", workloads.finish());
  }
  TableBuilder targets() const {
    std::vector<std::int64_t> ids(jobs_.size());
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i);
    TableBuilder table;
    table.add("workload_id", ids).add("step_ms", truth);
    return table;
  }
  std::map<std::string, std::vector<double>> columns_;
  std::vector<opgraph::Job> jobs_;
};

std::vector<double> said_by(StepPredictor& predictor, const StepData& asked) {
  test::ReadyRun run(1, 1);
  return predictor.predict(asked.data.view(), run.view()).read_all().numbers("step_ms");
}

TEST(StepPredictor, LearnsFromJobsAndForgetsNothingInItsFile) {
  const StepData data({1, 1.4, 2});
  StepPredictor predictor({});
  test::ReadyRun run(1, 1);
  EXPECT_THAT(test::error_of([&] { said_by(predictor, data); }),
              test::IsError(OMEN_INVALID_STATE, HasSubstr("driple.step")));
  predictor.fit(data.data.view(), Dataset(nullptr), run.view());
  const std::vector<double> said = said_by(predictor, data);
  for (std::size_t r = 0; r < said.size(); ++r) EXPECT_NEAR(said[r] / data.truth[r], 1, 0.1);
  StepPredictor again({});
  test::round_trip(predictor, again);
  EXPECT_EQ(said_by(again, data), said);
}

TEST(StepPredictor, SeesNoNames) {
  const StepData data({1, 2}), renamed({1, 2}, "anything");
  StepPredictor predictor({});
  test::ReadyRun run(1, 1);
  predictor.fit(data.data.view(), Dataset(nullptr), run.view());
  EXPECT_EQ(said_by(predictor, renamed), said_by(predictor, data));
}

TEST(StepPredictor, MarksUnknownDevicesAndLearnsThemByObservation) {
  const StepData data({1, 1.4}), other({6});
  StepPredictor predictor({});
  test::ReadyRun run(1, 1);
  predictor.fit(data.data.view(), Dataset(nullptr), run.view());
  const Table before = predictor.predict(other.data.view(), run.view()).read_all();
  EXPECT_EQ(before.strings("status")[0], "extrapolating");
  EXPECT_GE(before.numbers("step_ms.lo")[0], 0);
  predictor.observe(other.data.view(), run.view());
  const std::vector<double> after = said_by(predictor, other);
  double off_before = 0, off_after = 0;
  for (std::size_t r = 0; r < after.size(); ++r) {
    off_before += std::abs(std::log(before.numbers("step_ms")[r] / other.truth[r]));
    off_after += std::abs(std::log(after[r] / other.truth[r]));
  }
  EXPECT_LE(off_after, off_before);
}

// Networks of any size, on devices unlike those of training.
TEST(StepPredictor, NoAnswerIsBelowTheBound) {
  const StepData data({1, 1.4});
  StepPredictor predictor({});
  test::ReadyRun run(1, 1);
  predictor.fit(data.data.view(), Dataset(nullptr), run.view());
  learn::Random random(5);
  for (int draw = 0; draw < 8; ++draw) {
    const StepData asked({std::exp(6 * random.uniform() - 3)});
    const Table said = predictor.predict(asked.data.view(), run.view()).read_all();
    for (const double use : said.numbers("utilisation")) EXPECT_LE(use, 1 + 1e-12);
  }
}

TEST(StepModel, UnknownDevicesHaveWiderIntervals) {
  learn::Random random(9);
  std::vector<JobRow> rows;
  for (int r = 0; r < 60; ++r) {
    JobRow row;
    row.device = some_device(1 + 0.4 * (r % 2));
    row.costs.seconds[static_cast<std::size_t>(Part::product)] = 0.01 + 0.01 * random.uniform();
    row.costs.kernels = 100;
    row.seconds = row.costs.total() * (1 + 0.1 * random.uniform());
    row.group = r % 6;
    rows.push_back(row);
  }
  StepModel model;
  model.fit(rows, {});
  JobRow elsewhere = rows[0];
  elsewhere.device = some_device(7);
  const std::vector<StepAnswer> answers = model.ask({rows[0], elsewhere}, 0.9);
  EXPECT_FALSE(answers[0].extrapolates);
  EXPECT_TRUE(answers[1].extrapolates);
  EXPECT_GT(answers[1].half_width, answers[0].half_width);
}

// Steps of servers have launches and weights of their own.
TEST(StepModel, ServersAreAnotherKindOfJob) {
  learn::Random random(7);
  std::vector<JobRow> rows;
  for (int r = 0; r < 60; ++r) {
    JobRow row;
    row.device = some_device();
    row.costs.seconds[static_cast<std::size_t>(Part::narrow_product)] = 0.001 + random.uniform();
    row.costs.seconds[static_cast<std::size_t>(Part::attention)] = 0.001 + random.uniform();
    row.costs.passes = r % 2;
    row.seconds = row.costs.total() * (row.costs.passes > 0 ? 0.5 : 1);
    row.group = r % 5;
    rows.push_back(row);
  }
  StepModel model;
  model.fit(rows, {});
  const std::vector<StepAnswer> answers = model.ask(rows, 0.9);
  for (std::size_t r = 0; r < rows.size(); ++r)
    EXPECT_NEAR(answers[r].seconds / rows[r].seconds, 1, 0.1);
}

// A start of 5 s and 10 ms for each kernel; steps of long kernels leave no pause.
UseRow use_of(double kernels, double microseconds, double steps) {
  UseRow row;
  row.kernels = kernels;
  row.step = 1e-6 * microseconds * kernels;
  row.steps = steps;
  row.framework = "tensorflow";
  const double start = 5 + 0.01 * kernels;
  row.idle = start / (start + steps * row.step);
  row.peak = microseconds > 50 ? 1 - row.idle : 0;
  return row;
}

TEST(UseModel, SeparatesTheStartFromTheSteps) {
  std::vector<UseRow> rows;
  for (const double kernels : {100, 300, 900})
    for (const double microseconds : {10, 30, 100, 300}) {
      rows.push_back(use_of(kernels, microseconds, 1e5));
      rows.push_back(use_of(kernels, microseconds, 2e5));
    }
  rows[3].idle = 0.5;  // a plateau that was cut in two
  UseModel model;
  EXPECT_FALSE(model.fitted());
  model.fit(rows);
  for (const double microseconds : {10.0, 300.0}) {
    const UseRow asked = use_of(500, microseconds, 4e5);
    const UseShares said = model.ask(asked, 0.9).value();
    EXPECT_NEAR(said.idle / asked.idle, 1, 0.05);
    EXPECT_DOUBLE_EQ(said.idle + said.burst, 1);
    EXPECT_NEAR(said.peak, asked.peak, 0.1);
  }
  UseRow other = rows[0], versioned = rows[0];
  other.framework = "pytorch";
  versioned.framework = "TensorFlow 1.15";
  EXPECT_FALSE(model.ask(other, 0.9));
  EXPECT_TRUE(model.ask(versioned, 0.9));
  learn::MemoryState kept;
  model.save(kept);
  UseModel again;
  again.load(kept);
  EXPECT_EQ(again.ask(rows[1], 0.9)->peak, model.ask(rows[1], 0.9)->peak);
  EXPECT_EQ(again.ask(rows[1], 0.9)->peak_off, model.ask(rows[1], 0.9)->peak_off);
}

TEST(StepPredictor, OffersSharesWhereTheyWereMeasuredAndTheJobHasALength) {
  StepData data({1, 1.4}), other({1});
  StepPredictor predictor({}), again({});
  test::ReadyRun run(1, 1);
  predictor.fit(data.data.view(), Dataset(nullptr), run.view());
  data.tell_lengths();
  EXPECT_FALSE(predictor.predict(data.data.view(), run.view()).read_all().has("gpu_idle_pct"));
  data.tell_use(40, 30);
  predictor.fit(data.data.view(), Dataset(nullptr), run.view());
  test::round_trip(predictor, again);
  const Table said = again.predict(data.data.view(), run.view()).read_all();
  const std::vector<double> idle = said.numbers("gpu_idle_pct"),
                            busy = said.numbers("gpu_burst_pct"),
                            peak = said.numbers("gpu_peak_pct");
  for (std::size_t r = 0; r < idle.size(); ++r) {
    EXPECT_DOUBLE_EQ(idle[r] + busy[r], 100);
    EXPECT_LE(peak[r], busy[r]);
    EXPECT_LE(said.numbers("gpu_idle_pct.lo")[r], idle[r]);
    EXPECT_GE(said.numbers("gpu_peak_pct.hi")[r], peak[r]);
  }
  EXPECT_FALSE(again.predict(other.data.view(), run.view()).read_all().has("gpu_idle_pct"));
  data.tell_use(140, 30);
  EXPECT_THAT(
      test::error_of([&] { predictor.fit(data.data.view(), Dataset(nullptr), run.view()); }),
      test::IsError(OMEN_INVALID_DATA, HasSubstr("gpu_idle_pct")));
}

TEST(StepPredictor, PartsAddUpToTheStep) {
  const StepData data({1});
  StepPredictor predictor({});
  test::ReadyRun run(1, 1);
  predictor.fit(data.data.view(), Dataset(nullptr), run.view());
  const Table said = predictor.predict(data.data.view(), run.view()).read_all();
  for (std::size_t r = 0; r < data.truth.size(); ++r) {
    double sum = 0;
    for (const char* part : {"forward_ms", "backward_ms", "update_ms", "communication_ms"})
      sum += said.numbers(part)[r];
    EXPECT_NEAR(sum, said.numbers("step_ms")[r], 1e-9 * sum);
  }
}

}  // namespace
}  // namespace omen::driple
