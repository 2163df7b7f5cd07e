// SPDX-License-Identifier: Apache-2.0
// Kernels over unique jobs, their slopes, and answers from one factorisation.
#include "pair/pair_process.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <map>
#include <omen/learn/errors.hpp>
#include <omen/learn/random.hpp>

namespace omen::interference {
namespace {

using learn::Index;
using learn::Matrix;
using learn::Vector;

constexpr double kRoot3 = 1.7320508075688772;
constexpr double kPull = 0.1;           // of the start, on the scale of log likelihood
constexpr std::size_t kMostRows = 300;  // that lengths and variances are learnt from
constexpr int kIterations = 50;
constexpr double kJitter = 1e-8;
// Lengths that were learnt from few rows know the rows that are left out: then fitting again tells
// more, and takes little time.
constexpr std::size_t kFewRows = 1000;

// Places of the variances behind the lengths.
enum Variance : Index { kConstant, kVictim, kPartner, kBoth, kLine, kNoise, kVariances };

using Spans = std::vector<JobEncoder::Span>;

// Squared distances along one span.
Matrix squared_distances(const Matrix& a, const Matrix& b, const JobEncoder::Span& span) {
  Matrix squares = Matrix::Zero(a.rows(), b.rows());
  for (Index c = span.first; c < span.first + span.count; ++c)
    for (Index i = 0; i < a.rows(); ++i)
      squares.row(i).array() += (b.col(c).transpose().array() - a(i, c)).square();
  return squares;
}

Matrix scaled_squares(const Matrix& a, const Matrix& b, const Spans& spans, const Vector& logs,
                      Index first) {
  Matrix squares = Matrix::Zero(a.rows(), b.rows());
  for (std::size_t s = 0; s < spans.size(); ++s)
    squares +=
        squared_distances(a, b, spans[s]) * std::exp(-2 * logs[first + static_cast<Index>(s)]);
  return squares;
}

Matrix matern(const Matrix& squares) {
  const Eigen::ArrayXXd r = kRoot3 * squares.array().sqrt();
  return ((1 + r) * (-r).exp()).matrix();
}

// What the slope along a length is proportional to: 3 exp(-sqrt(3) r).
Matrix matern_slope(const Matrix& squares) {
  return (3 * (-kRoot3 * squares.array().sqrt()).exp()).matrix();
}

// Resilient propagation (doi:10.1109/ICNN.1993.298623): steps follow the sign of each slope.
class SignedSteps {
 public:
  explicit SignedSteps(Index count)
      : step_(Vector::Constant(count, 0.1)), last_(Vector::Zero(count)) {}
  void move(Vector& at, const Vector& slope) {
    for (Index i = 0; i < at.size(); ++i) {
      const double turn = slope[i] * last_[i];
      step_[i] = std::clamp(step_[i] * (turn > 0 ? 1.3 : turn < 0 ? 0.5 : 1.0), 1e-3, 0.6);
      if (slope[i] != 0 && turn >= 0) at[i] += slope[i] > 0 ? step_[i] : -step_[i];
      last_[i] = turn < 0 ? 0 : slope[i];
    }
  }

 private:
  Vector step_, last_;
};

double prior_or_zero(const Cell& cell) {
  return std::isfinite(cell.prior) ? cell.prior - 0.75 : 0;
}

}  // namespace

// The kernels between unique jobs and contexts of two sets of cells.
struct PairProcess::Kernels {
  Kernels(const Cells& a, const Cells& b, const PairSettings& settings, const Vector& logs)
      : job_spans(static_cast<Index>(settings.job_spans.size())),
        context_spans(static_cast<Index>(settings.context_spans.size())),
        victim_squares(scaled_squares(a.jobs, b.jobs, settings.job_spans, logs, 0)),
        partner_squares(scaled_squares(a.jobs, b.jobs, settings.job_spans, logs, job_spans)),
        context_squares(
            scaled_squares(a.contexts, b.contexts, settings.context_spans, logs, 2 * job_spans)),
        victim(matern(victim_squares)),
        partner(matern(partner_squares)),
        context(matern(context_squares)),
        variance(logs.tail(kVariances).array().exp()) {}

  double at(const Cell& x, const Cell& y) const {
    const double v = victim(x.victim, y.victim), p = partner(x.partner, y.partner);
    return context(x.context, y.context) * (variance[kConstant] + variance[kVictim] * v +
                                            variance[kPartner] * p + variance[kBoth] * v * p) +
           variance[kLine] * prior_or_zero(x) * prior_or_zero(y);
  }

  Index job_spans, context_spans;
  Matrix victim_squares, partner_squares, context_squares;
  Matrix victim, partner, context;
  Eigen::ArrayXd variance;
};

PairProcess::PairProcess(const PairSettings& settings) : settings_(settings) {}

Vector PairProcess::start() const {
  const auto jobs = static_cast<Index>(settings_.job_spans.size());
  const auto contexts = static_cast<Index>(settings_.context_spans.size());
  Vector logs(2 * jobs + contexts + kVariances);
  logs.head(2 * jobs).setConstant(std::log(2.0));
  logs.segment(2 * jobs, contexts).setConstant(std::log(1.0));
  logs.tail(kVariances) << 0, std::log(0.3), std::log(0.3), std::log(0.3), std::log(3.0),
      std::log(0.02);
  return logs;
}

void PairProcess::fit(const Cells& cells, const Vector& rho, const std::vector<std::int32_t>& group,
                      const learn::Context& context) {
  cells_ = cells;
  rho_ = rho;
  group_ = group;
  mean_ = rho.mean();
  spread_ = std::max(std::sqrt((rho.array() - mean_).square().mean()), 1e-3);
  scales_ = start();
  learn_scales(context);
  solve();
}

void PairProcess::learn_scales(const learn::Context& context) {
  std::vector<std::size_t> rows;
  const auto count = static_cast<std::ptrdiff_t>(cells_.cells.size());
  for (const std::ptrdiff_t row : learn::Random(context.seed, 77).permutation(count))
    if (rows.size() < kMostRows) rows.push_back(static_cast<std::size_t>(row));
  SignedSteps steps(scales_.size());
  Vector best = scales_, slope(scales_.size());
  double most = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < kIterations; ++i) {
    context.step(static_cast<double>(i) / kIterations, "lengths");
    const double value = likelihood(rows, slope);
    if (value > most) {
      most = value;
      best = scales_;
    }
    steps.move(scales_, slope);
  }
  scales_ = best;
}

// Of the chosen rows (eq. 5.8), and its slope along every scale (eq. 5.9). Slopes along lengths are
// gathered for pairs of unique jobs first, because many rows share them.
double PairProcess::likelihood(const std::vector<std::size_t>& rows, Vector& slope) const {
  const auto n = static_cast<Index>(rows.size());
  const Kernels k(cells_, cells_, settings_, scales_);
  const auto cell = [&](Index i) -> const Cell& {
    return cells_.cells[rows[static_cast<std::size_t>(i)]];
  };
  Matrix gram(n, n);
  Vector y(n);
  for (Index i = 0; i < n; ++i) {
    y[i] = (rho_[static_cast<Index>(rows[static_cast<std::size_t>(i)])] - mean_) / spread_;
    for (Index j = 0; j <= i; ++j) gram(i, j) = gram(j, i) = k.at(cell(i), cell(j));
    gram(i, i) += k.variance[kNoise] + kJitter;
  }
  const Eigen::LLT<Eigen::MatrixXd> factor(gram);
  const Matrix inverse = factor.solve(Eigen::MatrixXd::Identity(n, n));
  const Vector weights = inverse * y;
  const Vector away = scales_ - start();
  const double value = -0.5 * y.dot(weights) - factor.matrixLLT().diagonal().array().log().sum() -
                       kPull * away.squaredNorm();

  const Index jobs = cells_.jobs.rows(), contexts = cells_.contexts.rows();
  Matrix by_victim = Matrix::Zero(jobs, jobs), by_partner = Matrix::Zero(jobs, jobs);
  Matrix by_context = Matrix::Zero(contexts, contexts);
  Eigen::ArrayXd by_variance = Eigen::ArrayXd::Zero(kVariances);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      const Cell &x = cell(i), &z = cell(j);
      const double w = 0.5 * (weights[i] * weights[j] - inverse(i, j));
      const double v = k.victim(x.victim, z.victim), p = k.partner(x.partner, z.partner);
      const double c = k.context(x.context, z.context);
      by_victim(x.victim, z.victim) += w * c * (k.variance[kVictim] + k.variance[kBoth] * p);
      by_partner(x.partner, z.partner) += w * c * (k.variance[kPartner] + k.variance[kBoth] * v);
      by_context(x.context, z.context) +=
          w * (k.variance[kConstant] + k.variance[kVictim] * v + k.variance[kPartner] * p +
               k.variance[kBoth] * v * p);
      by_variance[kConstant] += w * c;
      by_variance[kVictim] += w * c * v;
      by_variance[kPartner] += w * c * p;
      by_variance[kBoth] += w * c * v * p;
      by_variance[kLine] += w * prior_or_zero(x) * prior_or_zero(z);
      if (i == j) by_variance[kNoise] += w;
    }
  slope = -2 * kPull * away;
  const auto add_lengths = [&](const Matrix& gathered, const Matrix& squares, const Matrix& points,
                               const Spans& spans, Index first) {
    const Matrix inner = gathered.cwiseProduct(matern_slope(squares));
    for (std::size_t s = 0; s < spans.size(); ++s) {
      const Index at = first + static_cast<Index>(s);
      slope[at] += inner.cwiseProduct(squared_distances(points, points, spans[s])).sum() *
                   std::exp(-2 * scales_[at]);
    }
  };
  add_lengths(by_victim, k.victim_squares, cells_.jobs, settings_.job_spans, 0);
  add_lengths(by_partner, k.partner_squares, cells_.jobs, settings_.job_spans, k.job_spans);
  add_lengths(by_context, k.context_squares, cells_.contexts, settings_.context_spans,
              2 * k.job_spans);
  slope.tail(kVariances).array() += by_variance * k.variance;
  return std::isfinite(value) ? value : -std::numeric_limits<double>::infinity();
}

void PairProcess::solve() {
  Matrix gram = between(cells_);
  gram.diagonal().array() += std::exp(scales_[scales_.size() - kVariances + kNoise]) + kJitter;
  const Eigen::LLT<Eigen::MatrixXd> factor(gram);
  if (factor.info() != Eigen::Success)
    learn::throw_bad_data("the rows of the model contradict each other", "Train it again.");
  inverse_ = factor.solve(Eigen::MatrixXd::Identity(gram.rows(), gram.rows()));
  weights_ = inverse_ * ((rho_.array() - mean_) / spread_).matrix();
}

Matrix PairProcess::between(const Cells& asked) const {
  const Kernels k(asked, cells_, settings_, scales_);
  Matrix gram(static_cast<Index>(asked.cells.size()), static_cast<Index>(cells_.cells.size()));
  for (Index i = 0; i < gram.rows(); ++i)
    for (Index j = 0; j < gram.cols(); ++j)
      gram(i, j) =
          k.at(asked.cells[static_cast<std::size_t>(i)], cells_.cells[static_cast<std::size_t>(j)]);
  return gram;
}

Estimates PairProcess::estimate(const Cells& asked) const {
  const Matrix gram = between(asked);
  const Eigen::ArrayXd variance = scales_.tail(kVariances).array().exp();
  Estimates said{(gram * weights_ * spread_).array() + mean_, Vector(gram.rows())};
  const Vector known = (gram * inverse_).cwiseProduct(gram).rowwise().sum();
  for (Index i = 0; i < gram.rows(); ++i) {
    const double prior = prior_or_zero(asked.cells[static_cast<std::size_t>(i)]);
    const double own = variance[kConstant] + variance[kVictim] + variance[kPartner] +
                       variance[kBoth] + variance[kLine] * prior * prior;
    said.deviation[i] = spread_ * std::sqrt(std::max(own - known[i], 0.0) + variance[kNoise]);
  }
  return said;
}

// The part with both jobs is a sum over pairs of unique jobs, so all answers are three products.
Vector PairProcess::means(const Cells& asked) const {
  const Kernels k(asked, cells_, settings_, scales_);
  const Index contexts = cells_.contexts.rows(), jobs = cells_.jobs.rows();
  double line = 0;
  std::vector<Matrix> both(static_cast<std::size_t>(contexts));
  for (Index context = 0; context < contexts; ++context) {
    Matrix weight = Matrix::Zero(jobs, jobs);
    for (std::size_t r = 0; r < cells_.cells.size(); ++r) {
      const Cell& cell = cells_.cells[r];
      if (cell.context == context)
        weight(cell.victim, cell.partner) += weights_[static_cast<Index>(r)];
    }
    const Vector by_victim = weight.rowwise().sum(), by_partner = weight.colwise().sum();
    Matrix& sum = both[static_cast<std::size_t>(context)];
    sum = k.variance[kBoth] * (k.victim * weight * k.partner.transpose());
    sum.colwise() += Vector(k.variance[kVictim] * (k.victim * by_victim));
    sum.rowwise() += Vector(k.variance[kPartner] * (k.partner * by_partner)).transpose();
    sum.array() += k.variance[kConstant] * weight.sum();
  }
  for (std::size_t r = 0; r < cells_.cells.size(); ++r)
    line += weights_[static_cast<Index>(r)] * prior_or_zero(cells_.cells[r]);
  Vector mean(static_cast<Index>(asked.cells.size()));
  for (Index i = 0; i < mean.size(); ++i) {
    const Cell& cell = asked.cells[static_cast<std::size_t>(i)];
    double sum = k.variance[kLine] * line * prior_or_zero(cell);
    for (Index context = 0; context < contexts; ++context)
      sum += k.context(cell.context, context) *
             both[static_cast<std::size_t>(context)](cell.victim, cell.partner);
    mean[i] = mean_ + spread_ * sum;
  }
  return mean;
}

// Leaving a block of rows out needs the inverse of its block alone (eq. 5.12 for several rows).
HeldOut PairProcess::without(const std::vector<std::vector<std::size_t>>& blocks) const {
  HeldOut held;
  for (const std::vector<std::size_t>& block : blocks) {
    const auto size = static_cast<Index>(block.size());
    Eigen::MatrixXd own(size, size);
    Vector weights(size);
    for (Index i = 0; i < size; ++i) {
      const auto row = static_cast<Index>(block[static_cast<std::size_t>(i)]);
      weights[i] = weights_[row];
      for (Index j = 0; j < size; ++j)
        own(i, j) = inverse_(row, static_cast<Index>(block[static_cast<std::size_t>(j)]));
    }
    const Eigen::LLT<Eigen::MatrixXd> factor(own);
    const Vector miss = factor.solve(weights);
    const Eigen::MatrixXd variance = factor.solve(Eigen::MatrixXd::Identity(size, size));
    for (Index i = 0; i < size; ++i) {
      const std::size_t row = block[static_cast<std::size_t>(i)];
      held.row.push_back(row);
      held.mean.push_back(rho_[static_cast<Index>(row)] - spread_ * miss[i]);
      held.deviation.push_back(spread_ * std::sqrt(std::max(variance(i, i), 0.0)));
    }
  }
  return held;
}

std::optional<HeldOut> PairProcess::without_pair() const {
  if (cells_.cells.size() < kFewRows) return std::nullopt;
  std::map<std::int32_t, std::vector<std::size_t>> blocks;
  for (std::size_t row = 0; row < group_.size(); ++row) blocks[group_[row]].push_back(row);
  std::vector<std::vector<std::size_t>> all;
  for (auto& [group, rows] : blocks) all.push_back(std::move(rows));
  return without(all);
}

std::optional<HeldOut> PairProcess::without_family() const {
  if (cells_.cells.size() < kFewRows) return std::nullopt;
  std::map<std::string, std::vector<std::size_t>> blocks;
  for (std::size_t row = 0; row < cells_.cells.size(); ++row) {
    const Cell& cell = cells_.cells[row];
    const std::string& victim = cells_.families[static_cast<std::size_t>(cell.victim)];
    const std::string& partner = cells_.families[static_cast<std::size_t>(cell.partner)];
    blocks[victim].push_back(row);
    if (partner != victim) blocks[partner].push_back(row);
  }
  if (blocks.size() < 2) return std::nullopt;
  std::vector<std::vector<std::size_t>> all;
  for (auto& [family, rows] : blocks) all.push_back(std::move(rows));
  return without(all);
}

void PairProcess::save(learn::StateWriter& out) const {
  out.put_matrix("process.jobs", cells_.jobs);
  out.put_matrix("process.contexts", cells_.contexts);
  out.put_strings("process.names", cells_.names);
  out.put_strings("process.families", cells_.families);
  Matrix rows(static_cast<Index>(cells_.cells.size()), 6);
  for (Index i = 0; i < rows.rows(); ++i) {
    const Cell& cell = cells_.cells[static_cast<std::size_t>(i)];
    rows.row(i) << cell.victim, cell.partner, cell.context,
        (std::isfinite(cell.prior) ? cell.prior : -1), rho_[i], group_[static_cast<std::size_t>(i)];
  }
  out.put_matrix("process.rows", rows);
  out.put_numbers("process.scales", scales_);
}

void PairProcess::load(const learn::StateReader& in) {
  scales_ = in.numbers("process.scales", start().size());
  cells_.names = in.strings("process.names");
  cells_.families = in.strings("process.families");
  const auto jobs = static_cast<Index>(cells_.names.size());
  const auto width = [](const Spans& spans) {
    return spans.empty() ? Index{0} : spans.back().first + spans.back().count;
  };
  cells_.jobs = in.matrix("process.jobs", jobs, width(settings_.job_spans));
  cells_.contexts = in.matrix("process.contexts", -1, width(settings_.context_spans));
  const Matrix rows = in.matrix("process.rows", -1, 6);
  if (cells_.families.size() != cells_.names.size() || !rows.allFinite() || rows.rows() == 0 ||
      !scales_.allFinite() || scales_.cwiseAbs().maxCoeff() > 50)
    learn::throw_bad_data("the model's rows are damaged", "Train the model again.");
  cells_.cells.clear();
  group_.clear();
  rho_ = rows.col(4);
  for (Index i = 0; i < rows.rows(); ++i) {
    const auto victim = static_cast<std::int32_t>(rows(i, 0)),
               partner = static_cast<std::int32_t>(rows(i, 1)),
               context = static_cast<std::int32_t>(rows(i, 2));
    if (victim < 0 || partner < 0 || context < 0 || victim >= jobs || partner >= jobs ||
        context >= cells_.contexts.rows())
      learn::throw_bad_data("the model's rows name jobs that it does not have",
                            "Train the model again.");
    cells_.cells.push_back(
        {victim, partner, context, rows(i, 3) < 0 ? learn::kUnknown : rows(i, 3)});
    group_.push_back(static_cast<std::int32_t>(rows(i, 5)));
  }
  mean_ = rho_.mean();
  spread_ = std::max(std::sqrt((rho_.array() - mean_).square().mean()), 1e-3);
  solve();
}

}  // namespace omen::interference
