// SPDX-License-Identifier: Apache-2.0
// Tiles, reloads and shared reads of a loop nest.
#include "sim/loop_nest.hpp"

#include <algorithm>
#include <optional>

namespace omen::power {
namespace {

using Bounds = std::array<double, kLoopDims>;

double& of(Bounds& bounds, LoopDim dim) {
  return bounds[static_cast<std::size_t>(dim)];
}
double of(const Bounds& bounds, LoopDim dim) {
  return bounds[static_cast<std::size_t>(dim)];
}

bool matters(LoopDim dim, Tensor tensor) {
  switch (tensor) {
    case Tensor::weights:
      return dim == LoopDim::r || dim == LoopDim::s || dim == LoopDim::c || dim == LoopDim::m;
    case Tensor::inputs:
      return dim != LoopDim::m;
    default:
      return dim == LoopDim::p || dim == LoopDim::q || dim == LoopDim::m || dim == LoopDim::n;
  }
}

// All loops of a nest in one row.
class FlatNest {
 public:
  explicit FlatNest(const LoopNest& nest) : nest_(nest) {
    for (const NestLevel& level : nest.levels) {
      begin_.push_back(loops_.size());
      loops_.insert(loops_.end(), level.loops.begin(), level.loops.end());
    }
    begin_.push_back(loops_.size());  // the arithmetic, inside of everything
  }
  const std::vector<Loop>& loops() const { return loops_; }
  std::size_t begin(std::size_t level) const { return begin_[level]; }

  Bounds inside(std::size_t from) const {
    Bounds bounds;
    bounds.fill(1);
    for (std::size_t i = from; i < loops_.size(); ++i) of(bounds, loops_[i].dim) *= loops_[i].bound;
    return bounds;
  }
  double input_height(const Bounds& b) const {
    return (of(b, LoopDim::p) - 1) * nest_.stride_h + of(b, LoopDim::r);
  }
  double input_width(const Bounds& b) const {
    return (of(b, LoopDim::q) - 1) * nest_.stride_w + of(b, LoopDim::s);
  }
  double tile(Tensor tensor, std::size_t from) const {
    const Bounds b = inside(from);
    switch (tensor) {
      case Tensor::weights:
        return of(b, LoopDim::r) * of(b, LoopDim::s) * of(b, LoopDim::c) * of(b, LoopDim::m);
      case Tensor::inputs:
        return input_height(b) * input_width(b) * of(b, LoopDim::c) * of(b, LoopDim::n);
      default:
        return of(b, LoopDim::p) * of(b, LoopDim::q) * of(b, LoopDim::m) * of(b, LoopDim::n);
    }
  }
  // Words loaded into one instance over the whole run.
  double loaded(Tensor tensor, std::size_t from) const {
    double times = 1;
    bool stationary = true;
    std::optional<std::size_t> innermost;
    for (std::size_t i = from; i-- > 0;) {
      const Loop& loop = loops_[i];
      if (loop.spatial || loop.bound == 1) continue;
      if (!innermost) innermost = i;
      if (stationary && !matters(loop.dim, tensor)) continue;
      stationary = false;
      times *= loop.bound;
    }
    const double whole = tile(tensor, from);
    if (!innermost || tensor != Tensor::inputs) return whole * times;
    return slide(from, *innermost, whole, times);
  }
  double product(std::size_t from, std::size_t to, bool spatial,
                 std::optional<Tensor> of_tensor) const {
    double made = 1;
    for (std::size_t i = from; i < to; ++i)
      if (loops_[i].spatial == spatial && (!of_tensor || matters(loops_[i].dim, *of_tensor)))
        made *= loops_[i].bound;
    return made;
  }

 private:
  double slide(std::size_t from, std::size_t at, double whole, double times) const {
    const Loop& loop = loops_[at];
    const bool down = loop.dim == LoopDim::p, across = loop.dim == LoopDim::q;
    if (!down && !across) return whole * times;
    const Bounds tile_bounds = inside(from);
    const double length = down ? input_height(tile_bounds) : input_width(tile_bounds);
    const double step = of(inside(at + 1), loop.dim) * (down ? nest_.stride_h : nest_.stride_w);
    const double fresh = std::min(length, step);
    return whole / length * (length + (loop.bound - 1) * fresh) * times / loop.bound;
  }

  const LoopNest& nest_;
  std::vector<Loop> loops_;
  std::vector<std::size_t> begin_;
};

// The next level inside `level` that keeps the tensor; the arithmetic where none does.
std::size_t child_of(const LoopNest& nest, std::size_t level, Tensor tensor) {
  std::size_t child = level + 1;
  while (child < nest.levels.size() && !nest.levels[child].keeps[static_cast<std::size_t>(tensor)])
    ++child;
  return child;
}

Accesses count_level(const LoopNest& nest, const FlatNest& flat, std::size_t level, Tensor tensor) {
  const std::size_t child = child_of(nest, level, tensor);
  const std::size_t here = flat.begin(level), inner = flat.begin(child);
  const bool arithmetic = child == nest.levels.size();
  const bool outermost = level == 0;
  const double children = flat.product(here, inner, true, tensor);
  const double from_child =
      arithmetic ? flat.product(0, inner, false, std::nullopt) : flat.loaded(tensor, inner);
  Accesses made;
  made.tile = flat.tile(tensor, here);
  made.instances = flat.product(0, here, true, std::nullopt);
  if (tensor != Tensor::outputs) {
    made.reads = from_child * children;
    made.fills = outermost ? 0 : flat.loaded(tensor, here);
    return made;
  }
  // Sums that come back a second time are read before they are added to.
  const double first = made.tile * flat.product(0, here, false, tensor);
  made.updates = from_child * children;
  made.reads = made.updates - first;
  made.fills = outermost ? 0 : flat.loaded(tensor, here) - first;
  return made;
}

}  // namespace

NestCounts analyse(const LoopNest& nest) {
  const FlatNest flat(nest);
  NestCounts counts;
  counts.levels.resize(nest.levels.size());
  for (std::size_t level = 0; level < nest.levels.size(); ++level)
    for (std::size_t tensor = 0; tensor < kTensors; ++tensor)
      if (nest.levels[level].keeps[tensor])
        counts.levels[level][tensor] = count_level(nest, flat, level, static_cast<Tensor>(tensor));
  for (const Loop& loop : flat.loops()) {
    counts.computes *= loop.bound;
    if (!loop.spatial) counts.cycles *= loop.bound;
  }
  return counts;
}

}  // namespace omen::power
