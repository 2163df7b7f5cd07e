// SPDX-License-Identifier: Apache-2.0
// The closed form keeps its promises, and what is learnt comes back.
#include <gmock/gmock.h>

#include <cmath>

#include "llm/llm_model.hpp"
#include "omen/testing/errors.hpp"

namespace omen::power {
namespace {

Serving usual_serving() {
  Serving s;
  s.model = *published_shape("meta-llama/Meta-Llama-3-8B");
  s.gpu = {"gpu", 989e12, 3.35e12, 80e9, 9e11, 700, 77};
  s.framework = "a";
  s.batch = 16, s.input = 1024, s.output = 256;
  return s;
}

TEST(Analytic, energy_is_power_times_time) {
  for (const double cap : {0.0, 350.0}) {
    for (const Batching batching : {Batching::kStatic, Batching::kContinuous}) {
      Serving s = usual_serving();
      s.gpus = 2, s.cap = cap, s.batching = batching;
      const Forecast f = forecast_of(s, {}, {});
      EXPECT_NEAR(f.joules, f.watts * s.gpus * f.seconds, 1e-9 * f.joules);
      EXPECT_NEAR(f.joules, f.prefill.joules + f.decode.joules, 1e-9 * f.joules);
      EXPECT_NEAR(f.joules_per_token(s) * s.batch * s.output, f.joules, 1e-9 * f.joules);
      EXPECT_LE(f.watts, (cap > 0 ? cap : s.gpu.tdp) * (1 + 1e-9));
      EXPECT_GE(f.watts, s.gpu.idle);
    }
  }
}

TEST(Analytic, an_interior_cap_costs_the_fewest_joules) {
  Serving s = usual_serving();
  const auto joules = [&](double cap) {
    s.cap = cap;
    return forecast_of(s, {}, {}).joules;
  };
  EXPECT_LT(joules(350), joules(0));
  EXPECT_GT(joules(110), joules(350)) << "idle power is paid for the stretched time";
}

TEST(Analytic, a_cap_makes_nothing_faster) {
  Serving s = usual_serving();
  double before = forecast_of(s, {}, {}).token_s;
  for (double cap = 700; cap > 120; cap -= 20) {
    s.cap = cap;
    const double now = forecast_of(s, {}, {}).token_s;
    EXPECT_GE(now, before * (1 - 1e-12));
    before = now;
  }
}

TEST(Analytic, larger_batches_cost_fewer_joules_a_token_and_wait_longer) {
  Serving s = usual_serving();
  double joules = INFINITY, token = 0;
  for (const double batch : {1.0, 4.0, 16.0, 64.0}) {
    s.batch = batch;
    const Forecast f = forecast_of(s, {}, {});
    EXPECT_LT(f.joules_per_token(s), joules);
    EXPECT_GT(f.token_s, token);
    joules = f.joules_per_token(s), token = f.token_s;
  }
}

TEST(Analytic, experts_save_at_one_request_and_less_at_many) {
  Serving dense = usual_serving(), experts = usual_serving();
  experts.model = *published_shape("mistralai/Mixtral-8x7B-v0.1");
  dense.model = experts.model;
  dense.model.active = dense.model.parameters;
  dense.model.experts = 0;
  dense.gpus = experts.gpus = 2;
  const auto ratio = [&](double batch) {
    dense.batch = experts.batch = batch;
    return forecast_of(experts, {}, {}).decode.seconds / forecast_of(dense, {}, {}).decode.seconds;
  };
  EXPECT_LT(ratio(1), 0.5);
  EXPECT_GT(ratio(32), 0.8) << "nearly all experts are read";
}

TEST(Analytic, narrow_weights_cost_fewer_joules) {
  Serving s = usual_serving();
  const double wide = forecast_of(s, {}, {}).joules;
  s.weight_bytes = 1;
  s.gpu.flops *= 2;
  EXPECT_LT(forecast_of(s, {}, {}).joules, wide);
}

TEST(Analytic, longer_prompts_cost_more_but_less_than_in_proportion) {
  Serving s = usual_serving();
  const double before = forecast_of(s, {}, {}).joules;
  s.input *= 1.1;
  const double after = forecast_of(s, {}, {}).joules;
  EXPECT_GT(after, before);
  EXPECT_LT(after, 1.1 * before);
}

TEST(Analytic, more_gpus_are_faster_and_cost_more_joules) {
  Serving s = usual_serving();
  s.batch = 1;
  const Forecast one = forecast_of(s, {}, {});
  s.gpus = 4;
  const Forecast four = forecast_of(s, {}, {});
  EXPECT_LT(four.token_s, one.token_s);
  EXPECT_GT(four.joules, one.joules);
}

TEST(Analytic, what_does_not_fit_at_once_runs_in_waves) {
  Serving s = usual_serving();
  s.batch = 4000;
  const Forecast f = forecast_of(s, {}, {});
  EXPECT_LT(f.at_once, 4000);
  EXPECT_NEAR(f.at_once, sequences_that_fit(s), 1e-6 * f.at_once);
}

TEST(PublishedShape, variants_keep_the_shape_of_their_model) {
  const auto shape = published_shape("meta-llama/Llama-3.1-70B");
  ASSERT_TRUE(shape);
  for (const char* name : {"meta-llama/Llama-3.1-70B-Instruct", "llama-3.1-70b",
                           "meta-llama/Llama-3.1-70B-Instruct-FP8"})
    EXPECT_EQ(published_shape(name)->parameters, shape->parameters) << name;
  const auto experts = published_shape("Qwen/Qwen3-30B-A3B-Thinking-2507");
  ASSERT_TRUE(experts);
  EXPECT_EQ(experts->experts, 128);
  EXPECT_LT(experts->active, experts->parameters / 8);
  EXPECT_FALSE(published_shape("meta-llama/Llama-3.1-71B"));
  EXPECT_TRUE(published_shape("meta-llama/Llama-2-7b-chat-hf"));
  EXPECT_FALSE(published_shape("-instruct"));
}

// Runs of two pieces of software on two GPUs, as the closed form with these constants gives them.
std::vector<MeasuredRun> made_runs() {
  std::vector<MeasuredRun> runs;
  const char* models[] = {"meta-llama/Llama-2-7b-hf", "meta-llama/Meta-Llama-3-8B",
                          "huggyllama/llama-13b", "Qwen/Qwen2-7B"};
  for (std::int32_t m = 0; m < 4; ++m)
    for (const bool second : {false, true})
      for (const char* framework : {"a", "b"})
        for (const double batch : {1.0, 8.0, 32.0})
          for (const double tokens : {128.0, 1024.0}) {
            MeasuredRun run;
            Serving& s = run.serving;
            s = usual_serving();
            s.model = *published_shape(models[m]);
            if (second) s.gpu = {"old", 312e12, 2.0e12, 80e9, 6e11, 400, 56};
            s.framework = framework;
            s.batch = batch, s.input = tokens, s.output = tokens;
            Efficiency e;
            e.step_us = *framework == 'a' ? 60 : 150;
            const Forecast f = forecast_of(s, e, {0.2, 1.3, 0.6, 1.1, 1});
            run.seconds = f.seconds, run.watts = f.watts, run.group = m;
            runs.push_back(run);
          }
  return runs;
}

TEST(LlmModel, learns_constants_back_from_runs) {
  LlmModel model;
  LlmFitOptions options;
  options.folds = 4;
  const std::vector<MeasuredRun> runs = made_runs();
  model.fit(runs, options);
  for (const MeasuredRun& run : runs) {
    const Forecast f = model.ask(run.serving);
    EXPECT_NEAR(f.seconds / run.seconds, 1, 0.06);
    EXPECT_NEAR(f.watts / run.watts, 1, 0.06);
  }
  EXPECT_EQ(model.frameworks()[model.best_framework()], "a");
  EXPECT_LT(model.energy_width(0.9), 0.2);
}

TEST(LlmModel, knows_what_it_does_not_know) {
  LlmModel model;
  model.fit(made_runs(), {0, false, 1, [](double) {}});
  Serving s = made_runs()[0].serving;
  EXPECT_FALSE(model.extrapolates(s));
  for (const auto& change : std::vector<std::function<void(Serving&)>>{
           [](Serving& x) { x.framework = "never seen"; }, [](Serving& x) { x.batch = 4096; },
           [](Serving& x) { x.gpu.bandwidth = 8e12; }, [](Serving& x) { x.cap = 200; },
           [](Serving& x) { x.weight_bytes = 1; },
           [](Serving& x) { x.batching = Batching::kContinuous; },
           [](Serving& x) { x.model = *published_shape("mistralai/Mixtral-8x7B-v0.1"); }}) {
    Serving changed = s;
    change(changed);
    EXPECT_TRUE(model.extrapolates(changed));
  }
}

TEST(LlmModel, observing_a_slower_machine_moves_its_answers) {
  LlmModel model;
  model.fit(made_runs(), {0, false, 1, [](double) {}});
  std::vector<MeasuredRun> slow;
  for (const MeasuredRun& run : made_runs())
    if (run.serving.batch == 8) {
      slow.push_back(run);
      slow.back().seconds *= 1.4;
      slow.back().watts *= 0.9;
    }
  slow.resize(8);
  const Serving asked = made_runs()[2].serving;
  const Forecast before = model.ask(asked);
  model.observe(slow);
  const Forecast after = model.ask(asked);
  EXPECT_NEAR(after.seconds / before.seconds, 1.4, 0.1);
  EXPECT_NEAR(after.watts / before.watts, 0.9, 0.05);
  EXPECT_NEAR(after.joules, after.watts * after.seconds, 1e-9 * after.joules);
}

TEST(LlmModel, comes_back_from_its_file) {
  LlmModel model, loaded;
  model.fit(made_runs(), {4, false, 1, [](double) {}});
  model.observe({made_runs()[5]});
  learn::MemoryState state;
  model.save(state);
  loaded.load(state);
  const Serving asked = made_runs()[9].serving;
  EXPECT_DOUBLE_EQ(model.ask(asked).joules, loaded.ask(asked).joules);
  EXPECT_EQ(model.extrapolates(asked), loaded.extrapolates(asked));
  state.put_integers("best", {7});
  EXPECT_THAT(test::error_of([&] { LlmModel().load(state); }),
              test::IsError(OMEN_INVALID_DATA, testing::HasSubstr("software"), testing::_));
}

TEST(LlmModel, refuses_to_learn_from_too_little) {
  EXPECT_THAT(test::error_of([] { LlmModel().fit({}, {}); }),
              test::IsError(OMEN_INVALID_DATA, testing::HasSubstr("at least 8"), testing::_));
}

}  // namespace
}  // namespace omen::power
