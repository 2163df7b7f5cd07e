// SPDX-License-Identifier: Apache-2.0
// Sizes of image networks against published ones.
#include "omen/opgraph/zoo.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <omen/testing/errors.hpp>

#include "omen/opgraph/liveness.hpp"

namespace omen::opgraph {
namespace {

using ::testing::HasSubstr;

double products_of(const Job& job, Phase phase) {
  double flops = 0;
  for (const Op& op : job.graph.ops)
    if (op.phase == phase && (op.kind == OpClass::conv || op.kind == OpClass::matmul))
      flops += op.flops;
  return flops;
}

Job inferred(const char* name, std::int64_t classes) {
  ZooRun run;
  run.mode = Mode::infer;
  run.batch = 1;
  run.classes = classes;
  return zoo_job(name, run);
}

struct Size {
  const char* name;
  std::int64_t classes;
  double parameters, gigamacs, tolerance;
};

TEST(Zoo, SizesAreThosePublished) {
  const Size sizes[] = {
      {"vgg11", 1000, 132863336, 7.61, 0.01},      {"vgg16", 1000, 138357544, 15.47, 0.01},
      {"vgg19", 1000, 143667240, 19.63, 0.01},     {"googlenet", 1000, 6998552, 1.58, 0.02},
      {"resnet50", 1000, 25557032, 3.86, 0.02},    {"resnet101", 1000, 44549160, 7.58, 0.02},
      {"inception3", 1000, 23834568, 5.73, 0.02},  {"inception4", 1000, 42679816, 12.27, 0.02},
      {"resnet20", 10, 0.27e6, 0.0408, 0.02},      {"resnet56", 10, 0.85e6, 0.1257, 0.02},
      {"resnet110", 10, 1.7e6, 0.2532, 0.02},      {"densenet40-k12", 10, 1.02e6, 0.27, 0.1},
      {"densenet100-k12", 10, 6.98e6, 1.74, 0.03}, {"alexnet", 1000, 61.1e6, 0.714, 0.06},
  };
  for (const Size& size : sizes) {
    const Job job = inferred(size.name, size.classes);
    EXPECT_NEAR(job.facts.parameters / size.parameters, 1,
                size.parameters > 2e6 && size.tolerance < 0.05 ? 0.005 : 0.05)
        << size.name << ' ' << job.facts.parameters;
    EXPECT_NEAR(products_of(job, Phase::forward) / 2e9 / size.gigamacs, 1, size.tolerance)
        << size.name << ' ' << products_of(job, Phase::forward) / 2e9;
  }
  EXPECT_EQ(inferred("vgg16", 1000).facts.parameters, 138357544);
  EXPECT_EQ(inferred("resnet50", 1000).facts.parameters, 25557032);
}

TEST(Zoo, GradientsTakeTwiceTheForwardPassButForTheFirstLayer) {
  for (const std::string& name : profiled_names()) {
    ZooRun run;
    run.batch = 4;
    const Job job = zoo_job(name, run);
    double first = 0;
    for (const Op& op : job.graph.ops)
      if (first == 0 && op.kind == OpClass::conv) first = op.flops;
    EXPECT_NEAR(products_of(job, Phase::backward) / (2 * products_of(job, Phase::forward) - first),
                1, 1e-12)
        << name;
  }
}

TEST(Zoo, EveryNetworkIsAGraphThatCanRun) {
  for (const std::string& name : zoo_names()) {
    for (const Mode mode : {Mode::train, Mode::infer}) {
      ZooRun run;
      run.mode = mode;
      run.batch = 8;
      run.optimizer = Optimizer::adam;
      const Job job = zoo_job(name, run);
      for (const Edge& edge : job.graph.edges) ASSERT_LT(edge.src, edge.dst) << name;
      double updated = 0;
      for (const Op& op : job.graph.ops)
        if (op.kind == OpClass::update) updated += op.bytes_read / 16;
      EXPECT_NEAR(updated, mode == Mode::train ? job.facts.parameters : 0, 1) << name;
      EXPECT_GT(liveness(job.graph).peak_bytes, 0) << name;
    }
  }
}

TEST(Zoo, MemoryOfTrainingGrowsWithTheBatch) {
  ZooRun run;
  run.batch = 64;
  const double vgg16 = step_bytes(zoo_job("vgg16", run));
  EXPECT_GT(vgg16, 4e9);
  EXPECT_LT(vgg16, 9e9);
  run.batch = 32;
  EXPECT_LT(step_bytes(zoo_job("vgg16", run)), vgg16);
}

TEST(Zoo, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(test::error_of([] { zoo_job("vgg17", {}); }),
              test::IsError(OMEN_NOT_FOUND, HasSubstr("vgg17"), HasSubstr("vgg16")));
  ZooRun run;
  run.image_size = 16;
  EXPECT_THAT(
      test::error_of([&] { zoo_job("inception3", run); }),
      test::IsError(OMEN_INVALID_ARGUMENT, HasSubstr("does not fit"), HasSubstr("image_size")));
}

}  // namespace
}  // namespace omen::opgraph
