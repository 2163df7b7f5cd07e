// SPDX-License-Identifier: Apache-2.0
// One row a cell: the victim, its partner, where they differ, the context and the prior.
#include "pair/tree_model.hpp"

#include <cmath>

namespace omen::interference {
namespace {

using learn::Index;
using learn::Matrix;

learn::GbtOptions tree_options() {
  learn::GbtOptions options;
  options.rounds = 150;
  options.depth = 5;
  options.eta = 0.1;
  options.subsample = 0.8;
  options.min_child_weight = 3;
  return options;
}

Index width_of(const std::vector<JobEncoder::Span>& spans) {
  return spans.empty() ? 0 : spans.back().first + spans.back().count;
}

}  // namespace

TreeModel::TreeModel(const PairSettings& settings)
    : width_(3 * width_of(settings.job_spans) + width_of(settings.context_spans) + 1),
      trees_(tree_options()) {}

Matrix TreeModel::design(const Cells& cells) const {
  Matrix x(static_cast<Index>(cells.cells.size()), width_);
  for (Index i = 0; i < x.rows(); ++i) {
    const Cell& cell = cells.cells[static_cast<std::size_t>(i)];
    x.row(i) << cells.jobs.row(cell.victim), cells.jobs.row(cell.partner),
        cells.jobs.row(cell.victim) - cells.jobs.row(cell.partner),
        cells.contexts.row(cell.context), (std::isfinite(cell.prior) ? cell.prior : -1);
  }
  return x;
}

void TreeModel::fit(const Cells& cells, const learn::Vector& rho,
                    const std::vector<std::int32_t>& group, const learn::Context& context) {
  const learn::Folds folds = learn::make_folds(rho.size(), group, 5, context.seed);
  const std::vector<learn::HeadReport> reports =
      trees_.fit(design(cells), {{rho, 0}}, folds, context);
  HeldOut held;
  for (Index row = 0; row < reports[0].held_out.rows(); ++row) {
    if (!std::isfinite(reports[0].held_out(row, 0))) continue;
    held.row.push_back(static_cast<std::size_t>(row));
    held.mean.push_back(reports[0].held_out(row, 0));
    held.deviation.push_back(1);
  }
  held_out_ = std::move(held);
}

Estimates TreeModel::estimate(const Cells& cells) const {
  return {trees_.predict(design(cells), {})[0].col(0), {}};
}

void TreeModel::save(learn::StateWriter& out) const {
  trees_.save(out);
}
void TreeModel::load(const learn::StateReader& in) {
  trees_.load(in, {width_, {0}});
}

}  // namespace omen::interference
