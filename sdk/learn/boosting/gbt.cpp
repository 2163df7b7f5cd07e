// SPDX-License-Identifier: Apache-2.0
// Boosting in lockstep over the folds, and the search for depth, learning rate and rounds.
#include "omen/boosting/gbt.hpp"

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "omen/learn/errors.hpp"

namespace omen::learn {
namespace {

constexpr int kDefaultRounds = 100, kDefaultDepth = 6;  // without folds to choose by
constexpr double kDefaultEta = 0.1;
constexpr int kPatience = 30;               // rounds without a better loss before a search stops
constexpr int kRoundsPerChunk = 8;          // between two comparisons of the folds
constexpr Index kRowsPerPrediction = 8192;  // between two looks at the cancel flag

struct Knobs {
  int rounds;
  int depth;
  double eta;
};

std::string format(const char* pattern, double value) {
  char text[32];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string describe(const Knobs& knobs) {
  return "rounds " + std::to_string(knobs.rounds) + ", depth " + std::to_string(knobs.depth) +
         ", eta " + format("%.3g", knobs.eta);
}

/// A target as the trees see it, with the parameters that follow from it.
struct Task {
  int classes;
  double mean = 0, scale = 1;
  Vector y;
  Booster::Parameters parameters;

  Task(const Vector& target, int class_count, const GbtOptions& options, std::uint64_t seed)
      : classes(class_count), y(target) {
    parameters = {{"verbosity", "0"},
                  {"nthread", "1"},
                  {"tree_method", "hist"},
                  {"seed", std::to_string(seed % 2147483647U)},
                  // The generator belongs to a thread; this makes a round's draws its own.
                  {"seed_per_iteration", "true"},
                  {"subsample", format("%.17g", options.subsample)},
                  {"min_child_weight", format("%.17g", options.min_child_weight)},
                  {"lambda", format("%.17g", options.l2)}};
    if (classes == 0) {
      mean = y.mean();
      const double deviation = std::sqrt((y.array() - mean).square().mean());
      if (deviation > 0) scale = deviation;
      y = (y.array() - mean) / scale;
      add("objective", "reg:squarederror", "rmse", "0");
    } else if (classes == 2) {
      add("objective", "binary:logistic", "logloss",
          format("%.17g", std::clamp(y.mean(), 1e-3, 1 - 1e-3)));
    } else {
      add("objective", "multi:softprob", "mlogloss", "0.5");
      parameters.emplace_back("num_class", std::to_string(classes));
    }
  }

  Index outputs() const { return classes == 0 ? 1 : classes; }

  Booster::Parameters with(const Knobs& knobs) const {
    Booster::Parameters all = parameters;
    all.emplace_back("max_depth", std::to_string(knobs.depth));
    all.emplace_back("eta", format("%.17g", knobs.eta));
    return all;
  }

  /// From the booster's columns to one number or to one probability per class.
  Matrix answer(const Booster& booster, const BoosterData& data, int rounds) const {
    return finish(booster.predict(data, rounds, classes > 2 ? classes : 1), classes, mean, scale);
  }

  static Matrix finish(const Matrix& raw, int classes, double mean, double scale) {
    if (classes == 0) return (raw.array() * scale + mean).matrix();
    if (classes > 2) return raw;
    Matrix both(raw.rows(), 2);
    both << (1 - raw.array()).matrix(), raw;
    return both;
  }

 private:
  void add(const char* key, const char* objective, const char* metric, const std::string& base) {
    parameters.emplace_back(key, objective);
    parameters.emplace_back("eval_metric", metric);
    parameters.emplace_back("base_score", base);
  }
};

/// The folds of one target as XGBoost data, shared by every setting that is tried.
struct FoldData {
  std::vector<BoosterData> training, held_out;
  std::vector<std::vector<Index>> rows;

  FoldData(const Sample& sample, const Task& task) {
    for (int fold = 0; fold < sample.folds.count; ++fold) {
      const std::vector<Index> in = sample.folds.training_rows(fold);
      rows.push_back(sample.folds.held_out_rows(fold));
      training.emplace_back(take_rows(sample.x, in), take_rows(task.y, in));
      held_out.emplace_back(take_rows(sample.x, rows.back()), take_rows(task.y, rows.back()));
    }
  }
  std::size_t count() const { return training.size(); }
  Index total_rows() const {
    Index total = 0;
    for (const BoosterData& data : held_out) total += data.rows();
    return total;
  }
};

/// What one setting gives on the folds.
struct Trial {
  Knobs knobs{};
  double loss = std::numeric_limits<double>::infinity();
  Matrix held_out;
};

// Mean over all rows of the folds' losses; RMSE is squared first, because means of roots mislead.
double combine(const FoldData& folds, const std::vector<double>& losses, bool squared) {
  double sum = 0, rows = 0;
  for (std::size_t fold = 0; fold < folds.count(); ++fold) {
    const auto weight = static_cast<double>(folds.held_out[fold].rows());
    sum += weight * (squared ? losses[fold] * losses[fold] : losses[fold]);
    rows += weight;
  }
  return sum / rows;
}

/// Adds rounds to all folds together until their common loss stops improving, or to `most` when
/// `fixed`. A booster's caches belong to the thread that made it, so a fold never changes threads.
class Lockstep {
 public:
  Lockstep(const FoldData& folds, const Task& task, const Knobs& knobs, int most, bool fixed,
           const Context& context)
      : folds_(folds),
        task_(task),
        most_(most),
        fixed_(fixed),
        context_(context),
        losses_(kRoundsPerChunk, std::vector<double>(folds.count())) {
    trial_.knobs = knobs;
    trial_.held_out.resize(folds.total_rows(), task.outputs());
  }

  Trial run() {
    const std::size_t workers =
        std::min<std::size_t>(std::max(context_.threads, 1U), folds_.count());
    std::barrier meeting(static_cast<std::ptrdiff_t>(workers), [this]() noexcept { compare(); });
    {
      std::vector<std::jthread> helpers;
      for (std::size_t worker = 1; worker < workers; ++worker) {
        helpers.emplace_back([&, worker] { work(worker, workers, meeting); });
      }
      work(0, workers, meeting);
    }
    if (failure_) std::rethrow_exception(failure_);
    return std::move(trial_);
  }

 private:
  // Takes every `stride`-th fold. Whatever goes wrong, it comes to every meeting.
  template <class Meeting>
  void work(std::size_t first, std::size_t stride, Meeting& meeting) {
    std::map<std::size_t, Booster> boosters;
    guarded([&] {
      for (std::size_t fold = first; fold < folds_.count(); fold += stride) {
        const std::vector<const BoosterData*> cached{&folds_.training[fold],
                                                     &folds_.held_out[fold]};
        boosters.emplace(fold, Booster(cached, task_.with(trial_.knobs)));
      }
    });
    while (!stop_) {
      guarded([&] {
        if (first == 0) context_.step(static_cast<double>(done_) / most_, "gbt");
        for (auto& [fold, booster] : boosters) add_rounds(fold, booster);
      });
      meeting.arrive_and_wait();
    }
    guarded([&] {
      for (const auto& [fold, booster] : boosters) {
        put_rows(task_.answer(booster, folds_.held_out[fold], trial_.knobs.rounds),
                 folds_.rows[fold], trial_.held_out);
      }
    });
  }

  void add_rounds(std::size_t fold, Booster& booster) {
    const int end = std::min(most_, done_ + kRoundsPerChunk);
    for (int round = done_; round < end && !context_.cancelled(); ++round) {
      booster.update(round, folds_.training[fold]);
      losses_[static_cast<std::size_t>(round - done_)][fold] =
          booster.evaluate(round, folds_.held_out[fold]);
    }
  }

  void compare() noexcept {
    const int end = std::min(most_, done_ + kRoundsPerChunk);
    for (int round = done_; round < end; ++round) {
      const double loss =
          combine(folds_, losses_[static_cast<std::size_t>(round - done_)], task_.classes == 0);
      if (loss < trial_.loss || (fixed_ && round + 1 == most_)) {
        trial_.loss = loss;
        trial_.knobs.rounds = round + 1;
      }
    }
    done_ = end;
    const bool settled = !fixed_ && done_ - trial_.knobs.rounds >= kPatience;
    stop_ = failure_ || done_ >= most_ || settled;
  }

  template <class Body>
  void guarded(const Body& body) {
    try {
      const bool failed = [this] {
        const std::lock_guard lock(mutex_);
        return static_cast<bool>(failure_);
      }();
      if (!failed) body();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  const FoldData& folds_;
  const Task& task_;
  const int most_;
  const bool fixed_;
  const Context& context_;
  std::vector<std::vector<double>> losses_;  ///< per round of the chunk, per fold
  int done_ = 0;
  bool stop_ = false;
  Trial trial_;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

// Depth first at one learning rate, then the learning rate at the best depth.
Trial search(const FoldData& folds, const Task& task, const GbtOptions& options,
             const Context& context) {
  const bool fixed = options.rounds > 0;
  const int most = fixed ? options.rounds : options.max_rounds;
  const std::vector<int> depths =
      options.depth > 0 ? std::vector<int>{options.depth} : std::vector<int>{2, 4, 6, 8};
  Trial best;
  std::size_t tried = 0;
  const std::size_t trials = depths.size() + (options.eta > 0 ? 0 : 2);
  const auto attempt = [&](int depth, double eta) {
    const Context own = context.part(tried++, trials + 1);  // one more for the fit of all rows
    Trial trial = Lockstep(folds, task, {most, depth, eta}, most, fixed, own).run();
    if (trial.loss < best.loss) best = std::move(trial);
  };
  for (const int depth : depths) attempt(depth, options.eta > 0 ? options.eta : kDefaultEta);
  if (options.eta > 0) return best;
  const int depth = best.knobs.depth;
  attempt(depth, 0.3);
  attempt(depth, 0.03);
  return best;
}

Knobs without_folds(const GbtOptions& options) {
  return {options.rounds > 0 ? options.rounds : kDefaultRounds,
          options.depth > 0 ? options.depth : kDefaultDepth,
          options.eta > 0 ? options.eta : kDefaultEta};
}

Booster fit_all(const Matrix& x, const Task& task, const Knobs& knobs, const Context& context) {
  const BoosterData data(x, task.y);
  Booster booster({&data}, task.with(knobs));
  for (int round = 0; round < knobs.rounds; ++round) {
    context.step(static_cast<double>(round) / knobs.rounds, "gbt");
    booster.update(round, data);
  }
  // A booster keeps pointers to the data it was made with, so hand out a copy without them.
  return Booster(booster.save(), x.cols());
}

}  // namespace

std::vector<HeadReport> GbtLearner::fit(const Matrix& x, const std::vector<Head>& heads,
                                        const Folds& folds, const Context& context) {
  heads_.clear();
  std::vector<HeadReport> reports;
  for (const Head& head : heads) {
    const Context own = context.part(reports.size(), heads.size());
    const Sample sample(x, head, folds);
    const Task task(sample.y, head.classes, options_, context.seed);
    Knobs knobs = without_folds(options_);
    Matrix held_out(0, head.outputs());
    if (sample.folds.count > 0) {
      Trial best = search(FoldData(sample, task), task, options_, own);
      knobs = best.knobs;
      held_out = std::move(best.held_out);
    }
    reports.push_back(sample.report(held_out, head, describe(knobs)));
    heads_.push_back(
        {fit_all(sample.x, task, knobs, own.part(9, 10)), head.classes, task.mean, task.scale});
  }
  return reports;
}

std::vector<Matrix> GbtLearner::predict(const Matrix& x, const Context& context) const {
  std::vector<Matrix> predictions;
  for (const FittedHead& head : heads_) {
    predictions.emplace_back(x.rows(), head.classes == 0 ? 1 : head.classes);
  }
  for (Index first = 0; first < x.rows(); first += kRowsPerPrediction) {
    context.step(static_cast<double>(first) / static_cast<double>(x.rows()), "gbt");
    const Index count = std::min(kRowsPerPrediction, x.rows() - first);
    const BoosterData data(x.middleRows(first, count));
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      const FittedHead& head = heads_[i];
      const Matrix raw = head.booster.predict(data, 0, head.classes > 2 ? head.classes : 1);
      predictions[i].middleRows(first, count) =
          Task::finish(raw, head.classes, head.mean, head.scale);
    }
  }
  return predictions;
}

void GbtLearner::save(StateWriter& out) const {
  Matrix scales(static_cast<Index>(heads_.size()), 2);
  std::vector<std::int64_t> checksums;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    scales.row(static_cast<Index>(i)) << heads_[i].mean, heads_[i].scale;
    const std::string trees = heads_[i].booster.save();
    checksums.push_back(tree_checksum(trees));
    out.put_bytes("gbt." + std::to_string(i) + ".ubj", trees);
  }
  out.put_integers("gbt.checksums", checksums);
  out.put_matrix("gbt.scales", scales);
}

void GbtLearner::load(const StateReader& in, const Shape& shape) {
  const Matrix scales = in.matrix("gbt.scales", static_cast<Index>(shape.classes.size()), 2);
  const std::vector<std::int64_t> checksums = in.integers("gbt.checksums");
  heads_.clear();
  for (std::size_t i = 0; i < shape.classes.size(); ++i) {
    const auto row = static_cast<Index>(i);
    const std::string trees = in.bytes("gbt." + std::to_string(i) + ".ubj");
    if (i >= checksums.size() || checksums[i] != tree_checksum(trees) ||
        !scales.row(row).allFinite()) {
      throw_bad_data("the model's trees are damaged", "train the model again");
    }
    heads_.push_back(
        {Booster(trees, shape.features), shape.classes[i], scales(row, 0), scales(row, 1)});
  }
}

}  // namespace omen::learn
