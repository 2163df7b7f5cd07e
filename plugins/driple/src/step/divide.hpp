// SPDX-License-Identifier: Apache-2.0
// A job on several devices, from the graph of one: what each rank does and says to the others.
#pragma once

#include <omen/opgraph/op_graph.hpp>

namespace omen::driple {

struct Split {
  std::int64_t tensor = 1, pipeline = 1, data = 1;
  std::int64_t ranks() const { return tensor * pipeline * data; }
};

// Graphs without sequences are never cut, only repeated.
bool can_cut(const opgraph::Job& job);

// One rank of the split; its batch stays as it is, so `data` ranks do so many times the work.
// Norms stay whole where tensors are cut, and two sums over the ranks frame what is cut, as in
// doi:10.48550/arXiv.1909.08053. Stages of a pipeline are equal.
opgraph::Job divide(opgraph::Job job, const Split& split);

}  // namespace omen::driple
