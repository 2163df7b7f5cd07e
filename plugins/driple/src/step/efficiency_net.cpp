// SPDX-License-Identifier: Apache-2.0
// Two hidden layers, trained by Adam on the logarithm of the time.
#include "step/efficiency_net.hpp"

#include <algorithm>
#include <cmath>
#include <omen/learn/errors.hpp>
#include <omen/learn/random.hpp>

namespace omen::driple {
namespace {

using Floats = EfficiencyNet::Floats;
using learn::Index;
using learn::Vector;

// x / (1 + |x|): smooth, bounded and cheap.
Floats squash(const Floats& x) {
  return (x.array() / (1 + x.array().abs())).matrix();
}
Floats squash_slope(const Floats& squashed) {
  return (1 - squashed.array().abs()).square().matrix();
}

Floats with_bias(const Floats& x) {
  Floats wide(x.rows(), x.cols() + 1);
  wide << x, Floats::Ones(x.rows(), 1);
  return wide;
}

Floats random_layer(Index inputs, Index outputs, learn::Random& random) {
  Floats w(inputs + 1, outputs);
  const double scale = 1 / std::sqrt(static_cast<double>(inputs));
  for (Index i = 0; i < w.size(); ++i) w.data()[i] = static_cast<float>(scale * random.normal());
  w.row(inputs).setZero();
  return w;
}

// doi:10.48550/arXiv.1412.6980 with weight decay apart from the moments.
class Adam {
 public:
  void step(Floats& w, const Floats& gradient, float rate, float decay) {
    if (first_.size() == 0) first_ = second_ = Floats::Zero(w.rows(), w.cols());
    first_ = 0.9F * first_ + 0.1F * gradient;
    second_ = 0.999F * second_ + 0.001F * gradient.cwiseAbs2();
    ++count_;
    const float m = 1 / (1 - std::pow(0.9F, count_)), v = 1 / (1 - std::pow(0.999F, count_));
    w *= 1 - rate * decay;
    w.array() -= rate * m * first_.array() / ((v * second_.array()).sqrt() + 1e-8F);
  }

 private:
  Floats first_, second_;
  float count_ = 0;
};

// Beyond this the loss of a row grows no faster, so that outliers do not lead.
constexpr float kHuber = 0.3F;
constexpr double kQuantile = 0.002;
constexpr std::int64_t kMostHidden = 4096;

double quantile_of(std::vector<double> values, double level) {
  const auto at = static_cast<std::ptrdiff_t>(level * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

Floats EfficiencyNet::scaled(const Floats& x) const {
  Floats made = x;
  for (Index c = 0; c < x.cols(); ++c) {
    const auto low = static_cast<float>(low_[c]), high = static_cast<float>(high_[c]);
    made.col(c) = (made.col(c).array().max(low).min(high) - static_cast<float>(mean_[c])) /
                  static_cast<float>(deviation_[c]);
  }
  return made;
}

Eigen::VectorXf EfficiencyNet::answer(const Member& member, const Floats& x) {
  const Floats one = squash(with_bias(x) * member.w1);
  const Floats two = squash(with_bias(one) * member.w2);
  return (with_bias(two) * member.w3).col(0);
}

void EfficiencyNet::fit(const Rows& rows, const EfficiencyOptions& options) {
  const Index features = rows.x.cols();
  low_ = high_ = mean_ = deviation_ = Vector::Zero(features);
  for (Index c = 0; c < features; ++c) {
    std::vector<double> values(static_cast<std::size_t>(rows.x.rows()));
    for (Index r = 0; r < rows.x.rows(); ++r) values[static_cast<std::size_t>(r)] = rows.x(r, c);
    low_[c] = quantile_of(values, kQuantile);
    high_[c] = quantile_of(values, 1 - kQuantile);
    const Eigen::VectorXd column = rows.x.col(c).cast<double>();
    mean_[c] = column.mean();
    const double spread = std::sqrt((column.array() - mean_[c]).square().mean());
    deviation_[c] = spread > 1e-6 ? spread : 1;
  }
  const Floats x = scaled(rows.x);
  members_.clear();
  const std::size_t views = std::max<std::size_t>(options.hidden_columns.size(), 1);
  for (std::size_t member = 0; member < views * static_cast<std::size_t>(options.members);
       ++member) {
    Floats seen = x;
    if (!options.hidden_columns.empty())
      for (const int column : options.hidden_columns[member % views]) seen.col(column).setZero();
    members_.push_back(train(seen, rows, options, static_cast<std::uint64_t>(member)));
  }
}

EfficiencyNet::Member EfficiencyNet::train(const Floats& x, const Rows& rows,
                                           const EfficiencyOptions& options,
                                           std::uint64_t stream) const {
  learn::Random random(options.seed, stream);
  Member net;
  net.w1 = random_layer(x.cols(), options.hidden, random);
  // What a member does not see must not move it later either.
  for (Index c = 0; c < x.cols(); ++c)
    if (x.col(c).isZero()) net.w1.row(c).setZero();
  net.w2 = random_layer(options.hidden, options.hidden, random);
  net.w3 = random_layer(options.hidden, 1, random);
  const std::vector<double> times(rows.seconds.data(), rows.seconds.data() + rows.seconds.size());
  net.log_floor = static_cast<float>(std::log(0.5 * quantile_of(times, kQuantile)));
  Adam one, two, three, floor_step;
  Floats floor(1, 1);
  floor(0, 0) = net.log_floor;
  const Index count = x.rows(), size = std::min<Index>(options.batch, count);
  const Index batches = count / size;
  const double steps = static_cast<double>(batches) * options.epochs;
  double done = 0;
  Floats xb(size, x.cols()), gradient(size, 1), floor_gradient(1, 1);
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    const std::vector<std::ptrdiff_t> order = random.permutation(count);
    for (Index b = 0; b < batches; ++b) {
      for (Index i = 0; i < size; ++i)
        xb.row(i) = x.row(order[static_cast<std::size_t>(b * size + i)]);
      const Floats in = with_bias(xb);
      const Floats h1 = squash(in * net.w1), in2 = with_bias(h1);
      const Floats h2 = squash(in2 * net.w2), in3 = with_bias(h2);
      const Floats z = in3 * net.w3;
      floor_gradient(0, 0) = 0;
      for (Index i = 0; i < size; ++i) {
        const Index r = order[static_cast<std::size_t>(b * size + i)];
        const double bound = rows.bound[r],
                     loss = std::exp(std::min(static_cast<double>(z(i, 0)), 15.0));
        const double base = std::exp(static_cast<double>(floor(0, 0)));
        const double said = base + bound * (1 + loss);
        const auto off = static_cast<float>(std::log(said / rows.seconds[r]));
        const float slope = std::clamp(off / kHuber, -1.0F, 1.0F) *
                            static_cast<float>(rows.weight[r]) / static_cast<float>(size);
        gradient(i, 0) = slope * static_cast<float>(bound * loss / said);
        floor_gradient(0, 0) += slope * static_cast<float>(base / said);
      }
      const Floats g3 = in3.transpose() * gradient;
      Floats back =
          (gradient * net.w3.topRows(options.hidden).transpose()).cwiseProduct(squash_slope(h2));
      const Floats g2 = in2.transpose() * back;
      back = (back * net.w2.topRows(options.hidden).transpose()).cwiseProduct(squash_slope(h1));
      const Floats g1 = in.transpose() * back;
      const auto rate = static_cast<float>(
          options.rate * (0.02 + 0.98 * 0.5 * (1 + std::cos(3.14159265 * done / steps))));
      const auto decay = static_cast<float>(options.decay);
      one.step(net.w1, g1, rate, decay);
      two.step(net.w2, g2, rate, decay);
      three.step(net.w3, g3, rate, decay);
      floor_step.step(floor, floor_gradient, rate, 0);
      ++done;
    }
  }
  net.log_floor = floor(0, 0);
  return net;
}

Vector EfficiencyNet::seconds(const Floats& x, const Vector& bound) const {
  const Floats ready = scaled(x);
  Vector sum = Vector::Zero(x.rows());
  for (const Member& member : members_) {
    const Eigen::VectorXd z = answer(member, ready).cast<double>();
    const double floor = std::exp(static_cast<double>(member.log_floor));
    sum.array() += (floor + bound.array() * (1 + z.array().min(15).exp())).log();
  }
  return (sum / static_cast<double>(members_.size())).array().exp();
}

Vector EfficiencyNet::beyond(const Floats& x) const {
  Vector most = Vector::Zero(x.rows());
  for (Index c = 0; c < x.cols(); ++c) {
    const Eigen::ArrayXd column = x.col(c).cast<double>().array();
    const Eigen::ArrayXd out = (low_[c] - column).max(column - high_[c]) / deviation_[c];
    most = most.array().max(out).matrix();
  }
  return most;
}

void EfficiencyNet::save(learn::StateWriter& out, const std::string& name) const {
  learn::Matrix ranges(4, low_.size());
  ranges << low_.transpose(), high_.transpose(), mean_.transpose(), deviation_.transpose();
  out.put_matrix(name + ".ranges", ranges);
  Vector floors(static_cast<Index>(members_.size()));
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const std::string prefix = name + "." + std::to_string(m);
    out.put_floats(prefix + ".w1", members_[m].w1.cast<double>());
    out.put_floats(prefix + ".w2", members_[m].w2.cast<double>());
    out.put_floats(prefix + ".w3", members_[m].w3.cast<double>());
    floors[static_cast<Index>(m)] = members_[m].log_floor;
  }
  out.put_numbers(name + ".floors", floors);
  out.put_integers(name + ".hidden", {members_.empty() ? 0 : members_[0].w1.cols()});
}

void EfficiencyNet::load(const learn::StateReader& in, const std::string& name, Index features) {
  const learn::Matrix ranges = in.matrix(name + ".ranges", 4, features);
  low_ = ranges.row(0);
  high_ = ranges.row(1);
  mean_ = ranges.row(2);
  deviation_ = ranges.row(3);
  const Vector floors = in.numbers(name + ".floors");
  const std::vector<std::int64_t> width = in.integers(name + ".hidden");
  if (width.size() != 1 || width[0] < 1 || width[0] > kMostHidden)
    learn::throw_bad_data("the model's network '" + name + "' has no sensible width",
                          "Train it again with this version.");
  const Index hidden = width[0];
  members_.clear();
  for (Index m = 0; m < floors.size(); ++m) {
    const std::string prefix = name + "." + std::to_string(m);
    Member member;
    member.w1 = in.floats(prefix + ".w1", features + 1, hidden).cast<float>();
    member.w2 = in.floats(prefix + ".w2", hidden + 1, hidden).cast<float>();
    member.w3 = in.floats(prefix + ".w3", hidden + 1, 1).cast<float>();
    member.log_floor = static_cast<float>(floors[m]);
    members_.push_back(std::move(member));
  }
}

}  // namespace omen::driple
