// SPDX-License-Identifier: Apache-2.0
// Divides work and memory, and adds the collectives.
#include "step/divide.hpp"

#include <algorithm>
#include <omen/opgraph/costs.hpp>

namespace omen::driple {
namespace {

using opgraph::Op;
using opgraph::OpClass;
using opgraph::Phase;

std::int64_t part_of_extent(std::int64_t extent, std::int64_t ranks) {
  return extent <= 1 ? extent : std::max<std::int64_t>(extent / ranks, 1);
}

bool stays_whole(const Op& op) {
  return op.kind == OpClass::norm || op.kind == OpClass::input || op.kind == OpClass::view;
}

void scale(Op& op, double part) {
  op.flops *= part;
  op.bytes_read *= part;
  op.bytes_written *= part;
  op.output_bytes *= part;
  op.parameter_bytes *= part;
}

void cut(Op& op, std::int64_t ranks) {
  if (stays_whole(op)) return;
  scale(op, 1.0 / static_cast<double>(ranks));
  // Heads are divided, and of weights the longer side.
  if (op.kind == OpClass::attention || op.batch > 1)
    op.batch = part_of_extent(op.batch, ranks);
  else
    (op.n >= op.k ? op.n : op.k) = part_of_extent(op.n >= op.k ? op.n : op.k, ranks);
}

void divide_states(opgraph::StepFacts& facts, double parts) {
  facts.weight_bytes /= parts;
  facts.gradient_bytes /= parts;
  facts.optimizer_bytes /= parts;
  facts.cache_bytes /= parts;
}

void cut_tensors(opgraph::Job& job, std::int64_t ranks) {
  std::vector<Op> sums;
  for (Op& op : job.graph.ops) {
    if (op.kind == OpClass::norm && op.bytes_written > 0) {
      Op sum = opgraph::collective_op(OpClass::all_reduce, op.precision, op.bytes_written, ranks);
      sums.push_back(std::move(sum));
    }
    cut(op, ranks);
  }
  // Behind everything else: they keep no tensor alive, and a step is the sum of its parts.
  job.graph.ops.insert(job.graph.ops.end(), sums.begin(), sums.end());
  divide_states(job.facts, static_cast<double>(ranks));
  job.facts.tensor_ranks *= static_cast<double>(ranks);
}

// Each stage runs its share of the operations; a stage's tensor goes to the next.
void cut_pipeline(opgraph::Job& job, std::int64_t ranks) {
  double handed = 0;
  for (Op& op : job.graph.ops) {
    if (op.kind == OpClass::norm) handed = std::max(handed, op.bytes_written);
    if (op.kind == OpClass::input) continue;
    scale(op, 1.0 / static_cast<double>(ranks));
    op.kernels /= static_cast<double>(ranks);
  }
  Op send = opgraph::collective_op(OpClass::send, job.facts.precision, handed, 2);
  send.output_bytes = 0;
  job.graph.ops.push_back(std::move(send));
  divide_states(job.facts, static_cast<double>(ranks));
  job.facts.pipeline_ranks *= static_cast<double>(ranks);
  job.facts.in_flight =
      std::max(job.facts.in_flight, std::min(job.facts.micro_batches, static_cast<double>(ranks)));
}

void repeat_data(opgraph::Job& job, std::int64_t ranks) {
  if (job.facts.gradient_bytes > 0) {
    Op sum = opgraph::collective_op(OpClass::all_reduce, job.facts.precision,
                                    job.facts.gradient_bytes, ranks);
    sum.phase = Phase::update;
    job.graph.ops.push_back(std::move(sum));
  }
  job.facts.data_ranks *= static_cast<double>(ranks);
}

}  // namespace

bool can_cut(const opgraph::Job& job) {
  return job.facts.tokens > 0;
}

opgraph::Job divide(opgraph::Job job, const Split& split) {
  if (split.tensor > 1) cut_tensors(job, split.tensor);
  if (split.pipeline > 1) cut_pipeline(job, split.pipeline);
  if (split.data > 1) repeat_data(job, split.data);
  return job;
}

}  // namespace omen::driple
