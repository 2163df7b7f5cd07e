// SPDX-License-Identifier: Apache-2.0
// One pass over the operations for each column.
#include "graph_sums.hpp"

namespace omen::driple {
namespace {

using opgraph::Op;
using opgraph::OpClass;

enum class Kind : std::uint8_t { small_conv, other_conv, product, update, rest };

Kind kind_of(const Op& op) {
  constexpr std::int64_t kThreeByThree = 9;
  if (op.phase == opgraph::Phase::update) return Kind::update;
  if (op.kind == OpClass::conv)
    return op.kernel == kThreeByThree && op.stride == 1 ? Kind::small_conv : Kind::other_conv;
  return op.kind == OpClass::matmul ? Kind::product : Kind::rest;
}

double flops_of(const Op& op) {
  return op.flops;
}
double bytes_of(const Op& op) {
  return op.bytes_read + op.bytes_written;
}

struct Sum {
  const char* name;
  const char* unit;
  Kind kind;
  double (*of)(const Op&);
};
constexpr Sum kSums[] = {
    {"sum_conv3x3_flops", "FLOP", Kind::small_conv, flops_of},
    {"sum_conv3x3_bytes", "B", Kind::small_conv, bytes_of},
    {"sum_other_conv_flops", "FLOP", Kind::other_conv, flops_of},
    {"sum_other_conv_bytes", "B", Kind::other_conv, bytes_of},
    {"sum_product_flops", "FLOP", Kind::product, flops_of},
    {"sum_product_bytes", "B", Kind::product, bytes_of},
    {"sum_update_bytes", "B", Kind::update, bytes_of},
    {"sum_other_bytes", "B", Kind::rest, bytes_of},
};

}  // namespace

void add_graph_sums(TableBuilder& workloads, std::span<const opgraph::Job> jobs) {
  for (const Sum& sum : kSums) {
    std::vector<double> values;
    for (const opgraph::Job& job : jobs) {
      double total = 0;
      for (const Op& op : job.graph.ops)
        if (kind_of(op) == sum.kind) total += sum.of(op);
      values.push_back(total);
    }
    workloads.add(sum.name, std::move(values), {{"omen.unit", sum.unit}});
  }
  std::vector<double> launches;
  for (const opgraph::Job& job : jobs) {
    double total = 0;
    for (const Op& op : job.graph.ops) total += op.kernels;
    launches.push_back(total);
  }
  workloads.add("sum_launches", std::move(launches));
}

}  // namespace omen::driple
