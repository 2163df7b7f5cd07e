// SPDX-License-Identifier: Apache-2.0
// A Gaussian process over all features as a predictor: the learner is here, the rest is
// Omen::learn.
#include <array>
#include <cmath>
#include <memory>
#include <omen/learn/gaussian_process.hpp>
#include <omen/learn/tabular_predictor.hpp>
#include <omen/plugin.hpp>
#include <optional>
#include <string>

namespace {

using omen::learn::Index;
using omen::learn::Matrix;
using omen::learn::Vector;

constexpr std::array<double, 4> kLengths = {0.25, 0.5, 1, 2};  // tried where none is given
constexpr Index kAnswers = 1;                                  // a number for each head

struct ProcessOptions {
  double length = 0;
  double noise = 0.01;

  static auto spec() {
    using O = ProcessOptions;
    return omen::options(
        omen::opt(&O::length, "length", "distance at which rows are alike; 0: the most likely one")
            .range(0, 1e3),
        omen::opt(&O::noise, "noise", "variance of a measurement, of the target's own")
            .range(1e-6, 1e3));
  }
};

// One target on zero mean and unit deviation, which the kernel's variance of 1 stands for.
class Process {
 public:
  Process(double length, double noise)
      : length_(length),
        process_(omen::learn::Kernel::matern("all", length) + omen::learn::Kernel::linear("all"),
                 noise) {}

  void fit(const Matrix& x, const Vector& y) {
    mean_ = y.mean();
    deviation_ = std::sqrt((y.array() - mean_).square().mean());
    if (!(deviation_ > 0)) deviation_ = 1;
    process_.fit({{"all", x}}, (y.array() - mean_) / deviation_, Vector::Ones(y.size()));
  }

  Matrix predict(const Matrix& x) const {
    return process_.predict({{"all", x}}).mean * deviation_ +
           Matrix::Constant(x.rows(), kAnswers, mean_);
  }

  double likelihood() const { return process_.log_likelihood(); }
  double length() const { return length_; }

  void save(omen::learn::StateWriter& out, const std::string& prefix) const {
    out.put_numbers(prefix + ".scale", Vector{{length_, mean_, deviation_}});
    process_.save(out, prefix);
  }

  static Process load(const omen::learn::StateReader& in, const std::string& prefix, double noise,
                      Index features) {
    const Vector scale = in.numbers(prefix + ".scale", 3);
    Process process(scale[0], noise);
    process.mean_ = scale[1];
    process.deviation_ = scale[2];
    process.process_.load(in, prefix, {{"all", features}}, kAnswers);
    return process;
  }

 private:
  double length_, mean_ = 0, deviation_ = 1;
  omen::learn::GaussianProcess process_;
};

class ProcessLearner final : public omen::learn::Learner {
 public:
  explicit ProcessLearner(ProcessOptions options) : options_(options) {}

  omen::learn::Scaling scaling() const override { return omen::learn::Scaling::kStandardised; }

  std::vector<omen::learn::HeadReport> fit(const Matrix& x,
                                           const std::vector<omen::learn::Head>& heads,
                                           const omen::learn::Folds& folds,
                                           const omen::learn::Context& context) override {
    std::vector<omen::learn::HeadReport> reports;
    for (const omen::learn::Head& head : heads) {
      if (head.classes > 0)
        throw omen::Error(OMEN_UNSUPPORTED, "process.matern predicts numbers, not classes",
                          "use baseline.gbt for classes");
      context.step(-1, "fit");
      const omen::learn::Sample sample(x, head, folds);
      heads_.push_back(most_likely(sample.x, sample.y));
      const double length = heads_.back().length();
      const Matrix held_out = omen::learn::cross_validate(
          sample.x, sample.y, sample.folds, head.outputs(),
          [&](const Matrix& seen, const Vector& y, const Matrix& asked) {
            Process part(length, options_.noise);
            part.fit(seen, y);
            return part.predict(asked);
          });
      reports.push_back(sample.report(held_out, head, "length " + std::to_string(length)));
    }
    return reports;
  }

  std::vector<Matrix> predict(const Matrix& x, const omen::learn::Context&) const override {
    std::vector<Matrix> answers;
    for (const Process& head : heads_) answers.push_back(head.predict(x));
    return answers;
  }

  void save(omen::learn::StateWriter& out) const override {
    out.put_numbers("process.noise", Vector{{options_.noise}});
    for (std::size_t i = 0; i < heads_.size(); ++i)
      heads_[i].save(out, "process." + std::to_string(i));
  }

  void load(const omen::learn::StateReader& in, const omen::learn::Shape& shape) override {
    options_.noise = in.numbers("process.noise", 1)[0];
    for (std::size_t i = 0; i < shape.classes.size(); ++i)
      heads_.push_back(
          Process::load(in, "process." + std::to_string(i), options_.noise, shape.features));
  }

 private:
  Process most_likely(const Matrix& x, const Vector& y) const {
    std::optional<Process> best;
    for (const double tried : kLengths) {
      Process process(options_.length > 0 ? options_.length : tried, options_.noise);
      process.fit(x, y);
      if (!best || process.likelihood() > best->likelihood()) best = std::move(process);
      if (options_.length > 0) break;
    }
    return std::move(*best);
  }

  ProcessOptions options_;
  std::vector<Process> heads_;
};

class MaternPredictor final : public omen::learn::TabularPredictor {
 public:
  explicit MaternPredictor(const ProcessOptions& options)
      : TabularPredictor("process.matern",
                         [options] { return std::make_unique<ProcessLearner>(options); }, {}) {}
};

}  // namespace

OMEN_PLUGIN("process", "0.1.0", "Apache-2.0",
            omen::predictor<MaternPredictor, ProcessOptions>("process.matern",
                                                             "a Gaussian process over all features")
                .reads("workloads.*", "nodes:optional", "edges:optional")
                .writes("*")
                .caps(OMEN_CAP_BITWISE_REPEATABLE | OMEN_CAP_SEEDED_REPEATABLE |
                      OMEN_CAP_UNCERTAINTY))
