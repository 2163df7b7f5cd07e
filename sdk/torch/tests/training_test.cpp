// SPDX-License-Identifier: Apache-2.0
// Optimiser, early stopping, cancellation, and resuming after cancel, kill and damage.
#include "omen/torch/training.hpp"
#include "omen/testing/temp_dir.hpp"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>

namespace omen::torch_kit {
namespace {

namespace fs = std::filesystem;

at::Tensor index_of(const std::vector<std::int64_t>& items) {
  at::Tensor t =
      at::empty({static_cast<std::int64_t>(items.size())}, at::TensorOptions().dtype(at::kLong));
  std::copy(items.begin(), items.end(), t.mutable_data_ptr<std::int64_t>());
  return t;
}

/// A regression with one hidden layer, dropout and a running mean: everything that a resumed run
/// must restore has a part in its result.
struct Regression {
  at::Tensor x, y, hidden, out, seen;
  bool training = false;
  std::int64_t losses = 0;  // calls of the loss function

  Regression() {
    at::manual_seed(11);
    x = at::randn({60, 5});
    y = x.sum(1, true).tanh() * 2 + at::randn({60, 1}) * 0.1;
    hidden = at::randn({5, 16}) * 0.5;
    out = at::randn({16, 1}) * 0.5;
    seen = at::zeros({1});
  }

  at::Tensor predict(const at::Tensor& rows) const {
    return at::dropout(rows.matmul(hidden).tanh(), 0.2, training).matmul(out);
  }

  TrainingTask task() {
    TrainingTask t;
    t.state.add_parameter("hidden", hidden);
    t.state.add_parameter("out", out);
    t.state.add_buffer("seen", seen);
    t.items = 48;
    t.loss = [this](const std::vector<std::int64_t>& items) {
      ++losses;
      seen.mul_(0.9).add_(static_cast<double>(items[0]));
      const at::Tensor rows = index_of(items);
      return (predict(x.index_select(0, rows)) - y.index_select(0, rows)).pow(2).mean();
    };
    t.validate = [this] {
      return (predict(x.narrow(0, 48, 12)) - y.narrow(0, 48, 12)).pow(2).mean().item<double>();
    };
    t.set_training = [this](bool on) { training = on; };
    return t;
  }
};

TrainingOptions short_options() {
  TrainingOptions o;
  o.max_epochs = 12;
  o.batch_items = 10;
  o.adam.learning_rate = 0.02;
  o.clip_norm = 5;
  o.patience = 0;
  o.seed = 3;
  o.threads = 1;
  o.checkpoint_seconds = 0;
  o.fingerprint = "regression";
  return o;
}

class Training : public ::testing::Test {
 protected:
  const omen::test::TempDir temporary_;
  const std::string dir_ = temporary_.path().string();
};

void expect_same(const Regression& a, const Regression& b, const TrainingResult& ra,
                 const TrainingResult& rb) {
  EXPECT_TRUE(at::equal(a.hidden, b.hidden));
  EXPECT_TRUE(at::equal(a.out, b.out));
  EXPECT_TRUE(at::equal(a.seen, b.seen));
  EXPECT_EQ(ra.train_loss, rb.train_loss);
  EXPECT_EQ(ra.valid_loss, rb.valid_loss);
  EXPECT_EQ(ra.best_epoch, rb.best_epoch);
  EXPECT_EQ(ra.best_loss, rb.best_loss);
  EXPECT_EQ(ra.epochs, rb.epochs);
}

TEST_F(Training, BatchesHoldItemAndCostLimits) {
  using Plan = std::vector<std::vector<std::int64_t>>;
  EXPECT_EQ(plan_batches({3, 1, 0, 2}, {}, 3, 0), (Plan{{3, 1, 0}, {2}}));
  EXPECT_EQ(plan_batches({0, 1, 2, 3}, {5, 5, 20, 1}, 10, 10), (Plan{{0, 1}, {2}, {3}}));
  EXPECT_EQ(plan_batches({}, {}, 3, 0), Plan{});
}

TEST_F(Training, AdamEqualsThePublishedFormula) {
  for (const bool decoupled : {false, true}) {
    AdamOptions o;
    o.weight_decay = 0.1;
    o.decoupled_decay = decoupled;
    at::Tensor p = at::tensor({1.0, -2.0, 0.5}).set_requires_grad(true);
    at::Tensor idle = at::ones({2}).set_requires_grad(true);
    Adam adam({p, idle}, o);
    std::vector<double> theta = {1.0, -2.0, 0.5}, m(3, 0), v(3, 0);
    for (int t = 1; t <= 25; ++t) {
      adam.zero_grad();
      p.pow(4).sum().backward();
      adam.step(0.01);
      for (int i = 0; i < 3; ++i) {
        double g = 4 * std::pow(theta[i], 3);
        if (decoupled)
          theta[i] -= 0.01 * 0.1 * theta[i];
        else
          g += 0.1 * theta[i];
        m[i] = 0.9 * m[i] + 0.1 * g;
        v[i] = 0.999 * v[i] + 0.001 * g * g;
        theta[i] -= 0.01 * (m[i] / (1 - std::pow(0.9, t))) /
                    (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-8);
      }
    }
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(p[i].item<double>(), theta[i], 1e-9);
    EXPECT_TRUE(at::equal(idle, at::ones({2})));
  }
}

TEST_F(Training, GradientsAreClippedToTheirCommonNorm) {
  at::Tensor a = at::zeros({2}).set_requires_grad(true);
  at::Tensor b = at::zeros({1}).set_requires_grad(true);
  Adam adam({a, b}, {});
  (a.sum() * 2 + b.sum() * 1).backward();  // gradients 2, 2, 1: norm 3
  EXPECT_NEAR(adam.clip_gradients(1.5), 3, 1e-6);
  EXPECT_TRUE(at::allclose(a.grad(), at::ones({2})));
  EXPECT_NEAR(b.grad().item<float>(), 0.5, 1e-6);
  EXPECT_NEAR(adam.clip_gradients(10), 1.5, 1e-6);
  EXPECT_NEAR(b.grad().item<float>(), 0.5, 1e-6);
}

TEST_F(Training, LearnsAndReportsItsCurve) {
  Regression model;
  TrainingTask task = model.task();
  TrainingOptions options = short_options();
  options.max_epochs = 150;
  std::vector<double> curve;
  double last = -1;
  TrainingHooks hooks;
  hooks.metric = [&](const char* name, std::int64_t step, double value) {
    if (std::string(name) != "train_loss") return;
    curve.push_back(value);
    EXPECT_EQ(step, static_cast<std::int64_t>(curve.size()));
  };
  hooks.progress = [&](double fraction, const std::string&) {
    EXPECT_GE(fraction, last);
    EXPECT_LE(fraction, 1);
    last = fraction;
  };
  const TrainingResult result = train(task, options, hooks);
  EXPECT_EQ(curve, result.train_loss);
  EXPECT_LT(result.best_loss, 0.3 * result.valid_loss[0]);
  EXPECT_GT(last, 0.9);
  EXPECT_FALSE(result.resumed);
}

TEST_F(Training, SameSeedSameBitsAndOtherSeedOtherBits) {
  Regression a, b, c;
  TrainingTask ta = a.task(), tb = b.task(), tc = c.task();
  TrainingOptions options = short_options();
  const TrainingResult ra = train(ta, options);
  at::manual_seed(999);  // the state of the shared generator must not matter
  const TrainingResult rb = train(tb, options);
  expect_same(a, b, ra, rb);
  options.seed = 4;
  train(tc, options);
  EXPECT_FALSE(at::equal(a.hidden, c.hidden));
}

TEST_F(Training, StopsEarlyAndRestoresTheBestWeights) {
  Regression model;
  TrainingTask task = model.task();
  const std::vector<double> script = {5, 3, 4, 2, 2.5, 2.4, 2.3, 9, 9};
  std::vector<at::Tensor> weights;
  task.validate = [&] {
    weights.push_back(model.hidden.detach().clone());
    return script[weights.size() - 1];
  };
  TrainingOptions options = short_options();
  options.patience = 3;
  const TrainingResult result = train(task, options);
  EXPECT_TRUE(result.stopped_early);
  EXPECT_EQ(result.epochs, 7);
  EXPECT_EQ(result.best_epoch, 4);
  EXPECT_EQ(result.best_loss, 2);
  EXPECT_TRUE(at::equal(model.hidden, weights[3]));
  EXPECT_FALSE(at::equal(model.hidden, weights[6]));
  EXPECT_FALSE(model.training);
}

TEST_F(Training, MinimumGainCountsAsProgress) {
  Regression model;
  TrainingTask task = model.task();
  double loss = 1.1;
  task.validate = [&] { return loss -= 0.01; };
  TrainingOptions options = short_options();
  options.patience = 3;
  options.min_delta = 0.5;
  EXPECT_EQ(train(task, options).epochs, 4);
}

TEST_F(Training, WithoutValidationTheLastWeightsStay) {
  Regression model;
  TrainingTask task = model.task();
  task.validate = nullptr;
  TrainingOptions options = short_options();
  options.patience = 1;
  const TrainingResult result = train(task, options);
  EXPECT_EQ(result.epochs, 12);
  EXPECT_EQ(result.best_epoch, 12);
  EXPECT_TRUE(result.valid_loss.empty());
  EXPECT_EQ(result.best_loss, result.train_loss.back());
}

TEST_F(Training, CancelledAtEveryStepItResumesToTheSameBits) {
  Regression straight;
  TrainingTask reference_task = straight.task();
  const TrainingResult reference = train(reference_task, short_options());

  TrainingOptions options = short_options();
  options.state_dir = dir_ + "/made/on/demand";
  options.checkpoint_seconds = 1e9;  // only the cancellation itself saves
  int runs = 0;
  for (;; ++runs) {
    ASSERT_LT(runs, 100);
    Regression model;  // fresh weights: everything must come from the checkpoint
    TrainingTask task = model.task();
    TrainingHooks hooks;
    hooks.is_cancelled = [&] { return model.losses == 1; };
    try {
      const TrainingResult result = train(task, options, hooks);
      EXPECT_TRUE(result.resumed);
      expect_same(straight, model, reference, result);
      break;
    } catch (const Error& e) {
      ASSERT_EQ(e.code(), OMEN_CANCELLED);
      ASSERT_EQ(model.losses, 1);
      EXPECT_FALSE(e.hint().empty());
    }
  }
  EXPECT_EQ(runs, 12 * 5);  // one step a run
}

TEST_F(Training, CancelsWithinOneStep) {
  Regression model;
  TrainingTask task = model.task();
  TrainingHooks hooks;
  hooks.is_cancelled = [&] { return model.losses >= 7; };
  try {
    train(task, short_options(), hooks);
    FAIL() << "the training was not cancelled";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), OMEN_CANCELLED);
    EXPECT_STREQ(e.what(), "training was cancelled in epoch 2/12");
    EXPECT_EQ(e.hint(), "");
  }
  EXPECT_EQ(model.losses, 7);
}

/// Runs in a process of its own, which kills itself in the middle of an epoch.
void train_until_killed(const std::string& dir) {
  Regression model;
  TrainingTask task = model.task();
  TrainingOptions options = short_options();
  options.state_dir = dir;
  const auto loss = task.loss;
  task.loss = [&](const std::vector<std::int64_t>& items) {
    if (model.losses == 23) ::kill(::getpid(), SIGKILL);
    return loss(items);
  };
  train(task, options);
}

TEST_F(Training, KilledItResumesToTheSameBits) {
  if (const char* dir = std::getenv("OMEN_TEST_STATE_DIR")) return train_until_killed(dir);
  Regression straight;
  TrainingTask reference_task = straight.task();
  const TrainingResult reference = train(reference_task, short_options());

  const std::string variable = "OMEN_TEST_STATE_DIR=" + dir_;
  std::string program = fs::read_symlink("/proc/self/exe").string();
  std::string filter = "--gtest_filter=Training.KilledItResumesToTheSameBits";
  char* argv[] = {program.data(), filter.data(), nullptr};
  std::vector<char*> environment;
  for (char** e = ::environ; *e; ++e) environment.push_back(*e);
  environment.push_back(const_cast<char*>(variable.c_str()));
  environment.push_back(nullptr);
  pid_t child = 0;
  ASSERT_EQ(::posix_spawn(&child, program.c_str(), nullptr, nullptr, argv, environment.data()), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

  Regression model;
  TrainingTask task = model.task();
  TrainingOptions options = short_options();
  options.state_dir = dir_;
  const TrainingResult result = train(task, options);
  EXPECT_TRUE(result.resumed);
  EXPECT_EQ(model.losses, 12 * 5 - 23);
  expect_same(straight, model, reference, result);
}

TEST_F(Training, AFinishedTrainingIsNotRepeated) {
  TrainingOptions options = short_options();
  options.state_dir = dir_;
  Regression first, second;
  TrainingTask t1 = first.task(), t2 = second.task();
  const TrainingResult r1 = train(t1, options);
  const TrainingResult r2 = train(t2, options);
  EXPECT_EQ(second.losses, 0);
  expect_same(first, second, r1, r2);
}

TEST_F(Training, CheckpointsOfOthersAndDamagedOnesAreNotUsed) {
  TrainingOptions options = short_options();
  options.state_dir = dir_;
  std::vector<std::string> notes;
  TrainingHooks hooks;
  hooks.log = [&](const std::string& text) { notes.push_back(text); };
  const auto run = [&] {
    Regression model;
    TrainingTask task = model.task();
    return train(task, options, hooks).resumed;
  };
  EXPECT_FALSE(run());
  EXPECT_TRUE(notes.empty());
  options.adam.learning_rate = 0.01;
  EXPECT_FALSE(run());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0], "checkpoint is not used: it belongs to another training");

  fs::path file;
  for (const auto& entry : fs::directory_iterator(dir_)) file = entry.path();
  std::fstream(file, std::ios::in | std::ios::out).seekp(-5, std::ios::end).put('\x55');
  EXPECT_FALSE(run());
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_FALSE(run());
  EXPECT_EQ(notes.size(), 3u);
  EXPECT_TRUE(run());
}

TEST_F(Training, LossesThatAreNotFiniteEndIt) {
  Regression model;
  TrainingTask task = model.task();
  task.validate = [] { return std::numeric_limits<double>::quiet_NaN(); };
  EXPECT_THROW(train(task, short_options()), Error);
  task = model.task();
  model.y.fill_(std::numeric_limits<float>::infinity());
  try {
    train(task, short_options());
    FAIL() << "an infinite loss was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), OMEN_INVALID_DATA);
    EXPECT_STREQ(e.what(), "training loss is inf in epoch 1/12");
  }
}

TEST_F(Training, BadArgumentsAreNamed) {
  Regression model;
  TrainingTask task = model.task();
  task.items = 0;
  EXPECT_THROW(train(task, short_options()), Error);
  task = model.task();
  task.cost = {1, 2};
  EXPECT_THROW(train(task, short_options()), Error);
  task = model.task();
  task.state = {};
  EXPECT_THROW(train(task, short_options()), Error);
}

TEST_F(Training, CosineWithWarmUpFollowsItsFormula) {
  at::Tensor w = at::zeros({1}).set_requires_grad(true);
  TrainingTask task;
  task.state.add_parameter("w", w);
  task.items = 1;
  task.loss = [&](const auto&) { return w.sum(); };  // a constant gradient: steps equal the rate
  TrainingOptions options = short_options();
  options.max_epochs = 4;
  options.schedule = Schedule::kCosine;
  options.warmup_epochs = 2;
  options.adam.learning_rate = 1;
  train(task, options);
  const double expected =
      0.5 * 1 + 1 * 0.5 * (1 + std::sqrt(0.5)) + 0.5 + 0.5 * (1 - std::sqrt(0.5));
  EXPECT_NEAR(w.item<double>(), -expected, 1e-5);
}

TEST_F(Training, ThreadBudgetEndsWithItsScope) {
  const int before = at::get_num_threads();
  {
    const ThreadBudget budget(before + 1);
    EXPECT_EQ(at::get_num_threads(), before + 1);
    const ThreadBudget unchanged(0);
    EXPECT_EQ(at::get_num_threads(), before + 1);
  }
  EXPECT_EQ(at::get_num_threads(), before);
}

}  // namespace
}  // namespace omen::torch_kit
