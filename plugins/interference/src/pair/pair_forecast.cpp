// SPDX-License-Identifier: Apache-2.0
// From rows to cells, from cells to speeds with intervals.
#include "pair/pair_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <omen/learn/errors.hpp>
#include <omen/learn/intervals.hpp>
#include <set>

#include "pair/pair_process.hpp"

namespace omen::interference {
namespace {

using learn::Index;
using learn::Matrix;
using learn::Vector;

constexpr double kLeastSpeed = 0.02, kMostSpeed = 1;
constexpr std::size_t kMostRefitRows = 20000;  // beyond, families are not held out in turn
constexpr const char* kUtilColumn = "util_pct";
constexpr learn::CorrectionScales kCorrectionScales{0.1, 1, 0.2, 0.5};

double clamped(double speed) {
  return std::clamp(speed, kLeastSpeed, kMostSpeed);
}

double share_of(const PairRows& rows, std::int32_t job) {
  for (std::size_t c = 0; c < rows.numbers.size(); ++c)
    if (rows.numbers[c] == kUtilColumn)
      return rows.jobs[static_cast<std::size_t>(job)].numbers[c] / 100;
  return learn::kUnknown;
}

// Jobs are told apart by name and, without one, by everything that is known of them.
std::vector<std::string> unique_names(const PairRows& rows) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const JobProfile& job : rows.jobs) {
    std::string name = job.name;
    if (name.empty())
      for (const std::string& text : job.texts) name += text + "/";
    for (const double number : job.numbers)
      if (job.name.empty() && std::isfinite(number)) name += std::to_string(number) + "/";
    while (!taken.insert(name).second) name += "'";
    names.push_back(name);
  }
  return names;
}

struct Scores {
  std::vector<double> values;
  void add(const HeldOut& held, const Vector& rho) {
    for (std::size_t i = 0; i < held.row.size(); ++i) {
      const double truth = rho[static_cast<Index>(held.row[i])];
      values.push_back(std::abs(truth - clamped(held.mean[i])) / std::max(held.deviation[i], 1e-9));
    }
  }
};

Cells subset(const Cells& all, const std::vector<std::size_t>& rows) {
  Cells some{all.jobs, all.contexts, all.names, all.families, {}, all.shares};
  for (const std::size_t row : rows) some.cells.push_back(all.cells[row]);
  return some;
}

// Fits without each part in turn. `in_part(row, part)` says which rows a part holds.
template <class InPart>
HeldOut refit_without(int parts, const InPart& in_part, const Cells& cells, const Vector& rho,
                      const std::vector<std::int32_t>& group, Method method,
                      const PairSettings& settings, const learn::Context& context) {
  HeldOut held;
  for (int part = 0; part < parts; ++part) {
    std::vector<std::size_t> seen, asked;
    for (std::size_t row = 0; row < cells.cells.size(); ++row)
      (in_part(row, part) ? asked : seen).push_back(row);
    if (seen.size() < 2 || asked.empty()) continue;
    Vector known(static_cast<Index>(seen.size()));
    std::vector<std::int32_t> groups;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      known[static_cast<Index>(i)] = rho[static_cast<Index>(seen[i])];
      groups.push_back(group[seen[i]]);
    }
    const std::unique_ptr<PairModel> model = make_pair_model(method, settings);
    model->fit(subset(cells, seen), known, groups, context);
    const Estimates said = model->estimate(subset(cells, asked));
    for (std::size_t i = 0; i < asked.size(); ++i) {
      held.row.push_back(asked[i]);
      held.mean.push_back(said.mean[static_cast<Index>(i)]);
      held.deviation.push_back(said.deviation.size() > 0 ? said.deviation[static_cast<Index>(i)]
                                                         : 1);
    }
  }
  return held;
}

HeldOut refit_without_families(const Cells& cells, const Vector& rho,
                               const std::vector<std::int32_t>& group, Method method,
                               const PairSettings& settings, const learn::Context& context) {
  const std::set<std::string> unique(cells.families.begin(), cells.families.end());
  const std::vector<std::string> families(unique.begin(), unique.end());
  if (families.size() < 2 || cells.cells.size() > kMostRefitRows) return {};
  const auto in_family = [&](std::size_t row, int part) {
    const std::string& family = families[static_cast<std::size_t>(part)];
    return cells.families[static_cast<std::size_t>(cells.cells[row].victim)] == family ||
           cells.families[static_cast<std::size_t>(cells.cells[row].partner)] == family;
  };
  return refit_without(static_cast<int>(families.size()), in_family, cells, rho, group, method,
                       settings, context);
}

SpeedIntervals calibrate_speeds(const PairModel& model, const Cells& cells, const Vector& rho,
                                const std::vector<std::int32_t>& group, Method method,
                                const PairSettings& settings, const learn::Context& context) {
  Scores known, foreign;
  if (const std::optional<HeldOut> held = model.without_pair()) {
    known.add(*held, rho);
  } else {
    const learn::Folds folds = learn::make_folds(rho.size(), group, 5, context.seed);
    known.add(refit_without(
                  folds.count, [&](std::size_t row, int part) { return folds.of_row[row] == part; },
                  cells, rho, group, method, settings, context),
              rho);
  }
  if (const std::optional<HeldOut> held = model.without_family())
    foreign.add(*held, rho);
  else
    foreign.add(refit_without_families(cells, rho, group, method, settings, context), rho);
  return {std::move(known.values), std::move(foreign.values)};
}

}  // namespace

SpeedIntervals::SpeedIntervals(std::vector<double> known, std::vector<double> foreign)
    : known_(std::move(known)), foreign_(std::move(foreign)) {
  std::sort(known_.begin(), known_.end());
  std::sort(foreign_.begin(), foreign_.end());
}

double SpeedIntervals::half_width(double level, bool is_foreign) const {
  const double known = learn::ResidualQuantiles(known_).half_width(level);
  if (!is_foreign) return known;
  const double foreign = learn::ResidualQuantiles(foreign_).half_width(level);
  // What nobody ever held out is at least twice as uncertain as what was.
  return std::isfinite(foreign) ? std::max(foreign, known) : 2 * known;
}

void SpeedIntervals::save(learn::StateWriter& out, const std::string& prefix) const {
  const auto put = [&](const std::string& name, const std::vector<double>& values) {
    out.put_numbers(name,
                    Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size())));
  };
  put(prefix + "intervals.known", known_);
  put(prefix + "intervals.foreign", foreign_);
}

void SpeedIntervals::load(const learn::StateReader& in, const std::string& prefix) {
  const auto get = [&](const std::string& name) {
    const Vector values = in.numbers(name);
    if (!values.allFinite())
      learn::throw_bad_data("the model's intervals are damaged", "Train the model again.");
    std::vector<double> sorted(values.data(), values.data() + values.size());
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  };
  known_ = get(prefix + "intervals.known");
  foreign_ = get(prefix + "intervals.foreign");
}

double combined_speed(const std::vector<double>& beside_each) {
  double delay = 0;
  for (const double speed : beside_each) delay += 1 / clamped(speed) - 1;
  return 1 / (1 + delay);
}

Cells PairForecast::cells_of(const PairRows& rows) const {
  Cells cells{encoder_.jobs(rows), encoder_.contexts(rows), unique_names(rows), {}, {}, {}};
  for (std::size_t job = 0; job < rows.jobs.size(); ++job) {
    cells.families.push_back(family_of(rows.jobs[job]));
    cells.shares.push_back(share_of(rows, static_cast<std::int32_t>(job)));
  }
  for (const PairRow& row : rows.rows)
    for (const std::int32_t partner : row.partners)
      cells.cells.push_back({row.victim, partner, row.context,
                             utilisation_prior(cells.shares[static_cast<std::size_t>(row.victim)],
                                               cells.shares[static_cast<std::size_t>(partner)])});
  return cells;
}

PairForecast PairForecast::fit(const PairRows& rows, const std::vector<double>& rho, Method method,
                               PairSettings settings, const learn::Context& context) {
  PairRows measured = rows;
  std::vector<double> speeds;
  measured.rows.clear();
  for (std::size_t row = 0; row < rows.rows.size(); ++row) {
    if (!std::isfinite(rho[row]) || rows.rows[row].partners.size() != 1) continue;
    measured.rows.push_back(rows.rows[row]);
    speeds.push_back(std::min(rho[row], kMostSpeed));
  }
  if (speeds.size() < 2)
    learn::throw_bad_data("fewer than two rows have a partner and a speed",
                          "Give rows with columns of the job, the same with partner_ in front, and "
                          "the target rho.");
  PairForecast made;
  made.method_ = method;
  made.encoder_.fit(measured);
  settings.job_spans = made.encoder_.job_spans();
  settings.context_spans = made.encoder_.context_spans();
  made.settings_ = settings;
  const Cells cells = made.cells_of(measured);
  const Vector y = Eigen::Map<const Vector>(speeds.data(), static_cast<Index>(speeds.size()));
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> pairs;
  std::vector<std::int32_t> group;
  for (std::size_t i = 0; i < cells.cells.size(); ++i) {
    const Cell& cell = cells.cells[i];
    const auto key = std::minmax(cell.victim, cell.partner);
    group.push_back(pairs.emplace(key, static_cast<std::int32_t>(pairs.size())).first->second);
  }
  made.model_ = make_pair_model(method, settings);
  made.model_->fit(cells, y, group, context);
  made.intervals_ = calibrate_speeds(*made.model_, cells, y, group, method, settings, context);
  made.correction_ = learn::Correction(kCorrectionScales);
  return made;
}

Matrix PairForecast::correction_rows(const Cells& cells) const {
  const Index jobs = cells.jobs.cols(), contexts = cells.contexts.cols();
  Matrix rows(static_cast<Index>(cells.cells.size()), 2 * jobs + contexts);
  for (Index i = 0; i < rows.rows(); ++i) {
    const Cell& cell = cells.cells[static_cast<std::size_t>(i)];
    rows.row(i) << cells.jobs.row(cell.victim), cells.jobs.row(cell.partner),
        cells.contexts.row(cell.context);
  }
  return rows;
}

Vector PairForecast::means(const Cells& cells) const {
  const auto* process = dynamic_cast<const PairProcess*>(model_.get());
  Vector mean = process ? process->means(cells) : model_->estimate(cells).mean;
  if (correction_.count() > 0) mean += correction_.of(correction_rows(cells)).col(0);
  return mean.cwiseMax(kLeastSpeed).cwiseMin(kMostSpeed);
}

std::vector<Speed> PairForecast::ask(const PairRows& rows, double level) const {
  const Cells cells = cells_of(rows);
  std::vector<Speed> answers;
  if (cells.cells.empty()) return std::vector<Speed>(rows.rows.size());
  Estimates said = model_->estimate(cells);
  if (correction_.count() > 0) said.mean += correction_.of(correction_rows(cells)).col(0);
  std::vector<bool> foreign_job, foreign_context;
  for (const JobProfile& job : rows.jobs) foreign_job.push_back(encoder_.is_foreign(job));
  for (const auto& context : rows.contexts) foreign_context.push_back(encoder_.is_foreign(context));
  Index next = 0;
  for (const PairRow& row : rows.rows) {
    std::vector<double> mean, low, high;
    Speed speed;
    for (const std::int32_t partner : row.partners) {
      const bool foreign = foreign_job[static_cast<std::size_t>(row.victim)] ||
                           foreign_job[static_cast<std::size_t>(partner)] ||
                           foreign_context[static_cast<std::size_t>(row.context)];
      const double unit = said.deviation.size() > 0 ? said.deviation[next] : 1;
      const double half = intervals_.half_width(level, foreign) * unit;
      const double middle = clamped(said.mean[next]);
      mean.push_back(middle);
      low.push_back(middle - half);
      high.push_back(middle + half);
      speed.is_extrapolating |= foreign;
      ++next;
    }
    // Beyond two jobs nothing was measured: the rule of combined_speed() is all there is.
    speed.is_extrapolating |= row.partners.size() > 1;
    speed.mean = combined_speed(mean);
    speed.low = combined_speed(low);
    speed.high = combined_speed(high);
    answers.push_back(speed);
  }
  return answers;
}

void PairForecast::observe(const PairRows& rows, const std::vector<double>& rho) {
  PairRows single = rows;
  single.rows.clear();
  std::vector<double> measured;
  for (std::size_t row = 0; row < rows.rows.size(); ++row)
    if (rows.rows[row].partners.size() == 1 && std::isfinite(rho[row])) {
      single.rows.push_back(rows.rows[row]);
      measured.push_back(std::min(rho[row], kMostSpeed));
    }
  if (measured.empty())
    learn::throw_bad_data("no row has one partner and a speed",
                          "Measured rows need the partner's columns and rho.");
  const Cells cells = cells_of(single);
  Matrix residual(static_cast<Index>(measured.size()), 1);
  const Vector said = model_->estimate(cells).mean;
  for (Index i = 0; i < residual.rows(); ++i)
    residual(i, 0) = measured[static_cast<std::size_t>(i)] - clamped(said[i]);
  correction_.add(correction_rows(cells), residual);
}

void PairForecast::save(learn::StateWriter& out) const {
  out.put_strings("method", {method_name(method_)});
  encoder_.save(out);
  model_->save(out);
  intervals_.save(out);
  out.put_integers("observed_count", {correction_.count()});
  if (correction_.count() > 0) correction_.save(out, "observed");
}

PairForecast PairForecast::load(const learn::StateReader& in) {
  PairForecast made;
  const std::vector<std::string> method = in.strings("method");
  if (method.size() != 1)
    learn::throw_bad_data("the model names no method", "Train the model again.");
  made.method_ = parse_method(method[0]);
  made.encoder_.load(in);
  made.settings_.job_spans = made.encoder_.job_spans();
  made.settings_.context_spans = made.encoder_.context_spans();
  made.model_ = make_pair_model(made.method_, made.settings_);
  made.model_->load(in);
  made.intervals_.load(in);
  const auto width = [](const std::vector<JobEncoder::Span>& spans) {
    return spans.empty() ? Index{0} : spans.back().first + spans.back().count;
  };
  made.correction_ = learn::Correction(kCorrectionScales);
  const std::vector<std::int64_t> observed = in.integers("observed_count");
  if (observed.size() == 1 && observed[0] > 0)
    made.correction_.load(in, "observed",
                          2 * width(made.settings_.job_spans) + width(made.settings_.context_spans),
                          1);
  return made;
}

}  // namespace omen::interference
