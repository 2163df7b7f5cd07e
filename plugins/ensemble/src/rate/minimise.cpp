// SPDX-License-Identifier: Apache-2.0
// Reflects, stretches and shrinks a simplex.
#include "rate/minimise.hpp"

#include <algorithm>
#include <cmath>

namespace omen::ensemble {
namespace {

using Cost = std::function<double(const std::vector<double>&)>;
constexpr int kMaxMoves = 3000, kMaxRestarts = 6;
constexpr double kFlat = 1e-10;

struct Corner {
  std::vector<double> at;
  double cost;
};

class Simplex {
 public:
  Simplex(const Cost& cost, const std::vector<double>& start, double step) : cost_(cost) {
    corners_.push_back({start, cost(start)});
    for (std::size_t i = 0; i < start.size(); ++i) {
      std::vector<double> moved = start;
      moved[i] += step;
      const double value = cost(moved);
      corners_.push_back({std::move(moved), value});
    }
  }

  Corner run() {
    for (int move = 0; move < kMaxMoves; ++move) {
      std::stable_sort(corners_.begin(), corners_.end(),
                       [](const Corner& a, const Corner& b) { return a.cost < b.cost; });
      if (corners_.back().cost - corners_.front().cost < kFlat) break;
      step();
    }
    return *std::min_element(corners_.begin(), corners_.end(),
                             [](const Corner& a, const Corner& b) { return a.cost < b.cost; });
  }

 private:
  // The worst corner moved by `factor` of its distance from the middle of the others.
  Corner moved(double factor) const {
    const std::vector<double>& worst = corners_.back().at;
    std::vector<double> at(worst.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      double middle = 0;
      for (std::size_t c = 0; c + 1 < corners_.size(); ++c) middle += corners_[c].at[i];
      middle /= static_cast<double>(corners_.size() - 1);
      at[i] = middle + factor * (worst[i] - middle);
    }
    const double value = cost_(at);
    return {std::move(at), value};
  }

  void step() {
    Corner& worst = corners_.back();
    Corner reflected = moved(-1);
    if (reflected.cost < corners_.front().cost) {
      Corner stretched = moved(-2);
      worst = stretched.cost < reflected.cost ? std::move(stretched) : std::move(reflected);
    } else if (reflected.cost < corners_[corners_.size() - 2].cost) {
      worst = std::move(reflected);
    } else {
      Corner pulled = moved(reflected.cost < worst.cost ? -0.5 : 0.5);
      if (pulled.cost < std::min(reflected.cost, worst.cost))
        worst = std::move(pulled);
      else
        shrink();
    }
  }

  void shrink() {
    for (std::size_t c = 1; c < corners_.size(); ++c) {
      for (std::size_t i = 0; i < corners_[c].at.size(); ++i)
        corners_[c].at[i] = (corners_[c].at[i] + corners_[0].at[i]) / 2;
      corners_[c].cost = cost_(corners_[c].at);
    }
  }

  const Cost& cost_;
  std::vector<Corner> corners_;
};

}  // namespace

std::vector<double> minimise(const Cost& cost, std::vector<double> start, double step) {
  Corner best{start, cost(start)};
  for (int restart = 0; restart < kMaxRestarts; ++restart) {
    Corner found = Simplex(cost, best.at, restart % 2 == 0 ? step : -step).run();
    const double gain = best.cost - found.cost;
    if (found.cost < best.cost) best = std::move(found);
    if (!(gain > 1e-7)) break;
  }
  return best.at;
}

}  // namespace omen::ensemble
