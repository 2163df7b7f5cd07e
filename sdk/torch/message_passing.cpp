// SPDX-License-Identifier: Apache-2.0
// Autograd functions over compressed rows: a gradient is the same kind of sum on transposed edges.
#include "omen/torch/message_passing.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/diff.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "omen/error.hpp"
#include "omen/torch/recorded.hpp"
#include "row_ops.hpp"

namespace omen::torch_kit {
namespace {

using row_ops::head_count;
using ::torch::autograd::AutogradContext;
using ::torch::autograd::Function;
using ::torch::autograd::variable_list;

// ------------------------------------------------------------------------------------- helpers

/// Carries the edges through an autograd node without turning them into saved tensors.
struct AdjacencyHolder : ::torch::CustomClassHolder {
  explicit AdjacencyHolder(Adjacency a) : adjacency(std::move(a)) {}
  Adjacency adjacency;
};

void keep(AutogradContext* ctx, const Adjacency& adjacency) {
  ctx->saved_data["edges"] =
      c10::IValue::make_capsule(c10::make_intrusive<AdjacencyHolder>(adjacency));
}

Adjacency kept(AutogradContext* ctx) {
  return static_cast<AdjacencyHolder*>(ctx->saved_data["edges"].toCapsule().get())->adjacency;
}

/// Autograd takes an absent tensor only as an empty optional.
std::optional<at::Tensor> if_defined(const at::Tensor& t) {
  return t.defined() ? std::optional(t) : std::nullopt;
}

at::Tensor to_transposed(const Adjacency& adjacency, const at::Tensor& per_edge) {
  return per_edge.defined() ? per_edge.index_select(0, adjacency.by_source().peer) : at::Tensor();
}

void require(bool ok, const std::string& message) {
  if (!ok) throw Error(OMEN_INVALID_ARGUMENT, message);
}

std::string shape_text(const at::Tensor& t) {
  if (!t.defined()) return "none";
  std::string text = "[";
  for (std::int64_t i = 0; i < t.dim(); ++i) text += (i ? ", " : "") + std::to_string(t.size(i));
  return text + "]";
}

void require_rows(const at::Tensor& x, std::int64_t rows, const char* what) {
  require(x.defined() && x.dim() == 2 && x.size(0) == rows, std::string(what) + " has shape " +
                                                                shape_text(x) + ", expected [" +
                                                                std::to_string(rows) + ", width]");
}

void require_segments(const at::Tensor& x, const at::Tensor& offsets) {
  require(offsets.defined() && offsets.dim() == 1 && offsets.numel() >= 1 &&
              offsets.scalar_type() == at::kLong && offsets.is_contiguous(),
          "segment offsets are not contiguous int64 [segments + 1]");
  if (!offsets.device().is_cpu()) return;  // reading the ends would wait for the device
  const std::int64_t first = offsets.const_data_ptr<std::int64_t>()[0];
  const std::int64_t last = offsets.const_data_ptr<std::int64_t>()[offsets.numel() - 1];
  require(first == 0 && last == x.size(0), "segment offsets span " + std::to_string(first) + ".." +
                                               std::to_string(last) + " of " +
                                               std::to_string(x.size(0)) + " rows");
}

void require_weights(const Adjacency& adjacency, const at::Tensor& weights, std::int64_t width) {
  if (!weights.defined()) return;
  require((weights.dim() == 1 || weights.dim() == 2) && weights.size(0) == adjacency.num_edges(),
          "edge weights have shape " + shape_text(weights) + " for " +
              std::to_string(adjacency.num_edges()) + " edges");
  const std::int64_t heads = head_count(weights);
  require(heads > 0 && width % heads == 0, "width " + std::to_string(width) +
                                               " does not divide into " + std::to_string(heads) +
                                               " heads");
}

void require_gates(const Adjacency& adjacency, const at::Tensor& gates, const at::Tensor& gate,
                   std::int64_t width) {
  require(gates.defined() && gates.dim() == 2 && gates.size(1) == width,
          "gates have shape " + shape_text(gates) + ", expected [gates, " + std::to_string(width) +
              "]");
  require(gate.defined() && gate.scalar_type() == at::kLong && gate.dim() == 1 &&
              gate.is_contiguous() && gate.numel() == adjacency.num_edges(),
          "gate numbers are not contiguous int64 [" + std::to_string(adjacency.num_edges()) + "]");
  if (!gate.device().is_cpu() || gate.numel() == 0) return;
  const std::int64_t* begin = gate.const_data_ptr<std::int64_t>();
  const auto [low, high] = std::minmax_element(begin, begin + gate.numel());
  require(*low >= 0 && *high < gates.size(0), "gate numbers span " + std::to_string(*low) + ".." +
                                                  std::to_string(*high) + " of " +
                                                  std::to_string(gates.size(0)) + " gates");
}

// --------------------------------------------------------------------------------- aggregation

struct AggregateSum : Function<AggregateSum> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x,
                            const std::optional<at::Tensor>& given, const Adjacency& adjacency) {
    keep(ctx, adjacency);
    const at::Tensor weights = given.value_or(at::Tensor());
    const bool weights_learn = weights.defined() && weights.requires_grad();
    ctx->save_for_backward({weights_learn ? x : at::Tensor(), weights});
    return row_ops::sum_rows(adjacency.by_target(), x, weights);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const Adjacency adjacency = kept(ctx);
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor& weights = saved[1];
    at::Tensor grad_x;
    at::Tensor grad_weights;
    if (ctx->needs_input_grad(0))
      grad_x = aggregate_sum(adjacency.transposed(), grads[0], to_transposed(adjacency, weights));
    if (weights.defined() && ctx->needs_input_grad(1))
      grad_weights =
          edge_dot(adjacency, grads[0], saved[0], weights.dim() == 2 ? head_count(weights) : 0);
    return {grad_x, grad_weights, {}};
  }
};

struct AggregateMean : Function<AggregateMean> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const Adjacency& adjacency) {
    keep(ctx, adjacency);
    return row_ops::mean_rows(adjacency.by_target(), x);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const Adjacency adjacency = kept(ctx);
    const at::Tensor weights =
        row_ops::inverse_degree(adjacency.by_target(), grads[0].scalar_type())
            .index_select(0, adjacency.by_source().neighbours);
    return {aggregate_sum(adjacency.transposed(), grads[0], weights), {}};
  }
};

struct EdgeDot : Function<EdgeDot> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& a, const at::Tensor& b,
                            const Adjacency& adjacency, std::int64_t heads) {
    keep(ctx, adjacency);
    ctx->save_for_backward({a, b});
    return row_ops::dot_rows(adjacency.by_target(), a, b, heads);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const Adjacency adjacency = kept(ctx);
    const variable_list saved = ctx->get_saved_variables();
    at::Tensor grad_a;
    at::Tensor grad_b;
    if (ctx->needs_input_grad(0)) grad_a = aggregate_sum(adjacency, saved[1], grads[0]);
    if (ctx->needs_input_grad(1))
      grad_b = aggregate_sum(adjacency.transposed(), saved[0], to_transposed(adjacency, grads[0]));
    return {grad_a, grad_b, {}, {}};
  }
};

struct AggregateGated : Function<AggregateGated> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& gates,
                            const at::Tensor& gate, const std::optional<at::Tensor>& given,
                            const Adjacency& adjacency) {
    keep(ctx, adjacency);
    const row_ops::Gated in{adjacency.by_target(), x.contiguous(), given.value_or(at::Tensor()),
                            gates.contiguous(), gate};
    ctx->save_for_backward({in.x, in.weights, in.gates, in.gate});
    return row_ops::gated_sum(in);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    if (at::GradMode::is_enabled())
      throw Error(OMEN_UNSUPPORTED, "aggregate_gated can be differentiated only once",
                  "use gather_sources and segment_pool for second derivatives");
    const Adjacency adjacency = kept(ctx);
    const variable_list saved = ctx->get_saved_variables();
    const row_ops::Gated in{adjacency.by_target(), saved[0], saved[1], saved[2], saved[3]};
    const at::Tensor grad = grads[0].contiguous();
    at::Tensor grad_x;
    at::Tensor grad_gates;
    if (ctx->needs_input_grad(0))
      grad_x =
          row_ops::gated_sum({adjacency.by_source(), grad, to_transposed(adjacency, in.weights),
                              in.gates, to_transposed(adjacency, in.gate)});
    if (ctx->needs_input_grad(1)) grad_gates = row_ops::gates_gradient(in, grad);
    return {grad_x, grad_gates, {}, {}, {}};
  }
};

// ----------------------------------------------------------------- nodes to edges, and segments

at::Tensor scatter_sources(const Adjacency& adjacency, const at::Tensor& messages);
at::Tensor segment_sum(const at::Tensor& x, const at::Tensor& offsets);

struct GatherSources : Function<GatherSources> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const Adjacency& adjacency) {
    keep(ctx, adjacency);
    return x.index_select(0, adjacency.sources());
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    return {scatter_sources(kept(ctx), grads[0]), {}};
  }
};

/// The adjoint of gather_sources: sums edge rows into their sources.
struct ScatterSources : Function<ScatterSources> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& messages,
                            const Adjacency& adjacency) {
    keep(ctx, adjacency);
    CompressedRows rows = adjacency.by_source();
    rows.neighbours = rows.peer;  // the rows to sum are edges here
    return row_ops::sum_rows(rows, messages, {});
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    return {gather_sources(kept(ctx), grads[0]), {}};
  }
};

at::Tensor scatter_sources(const Adjacency& adjacency, const at::Tensor& messages) {
  return recorded<ScatterSources>(messages, adjacency);
}

struct SegmentExpand : Function<SegmentExpand> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& offsets,
                            std::int64_t total) {
    ctx->save_for_backward({offsets});
    return row_ops::expand_segments(x, offsets, total);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    return {segment_sum(grads[0], ctx->get_saved_variables()[0]), {}, {}};
  }
};

struct SegmentSum : Function<SegmentSum> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& offsets) {
    ctx->save_for_backward({offsets});
    ctx->saved_data["rows"] = x.size(0);
    return row_ops::sum_segments(x, offsets);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::Tensor offsets = ctx->get_saved_variables()[0];
    return {recorded<SegmentExpand>(grads[0], offsets, ctx->saved_data["rows"].toInt()), {}};
  }
};

at::Tensor segment_sum(const at::Tensor& x, const at::Tensor& offsets) {
  return recorded<SegmentSum>(x, offsets);
}

struct SegmentSoftmax : Function<SegmentSoftmax> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& offsets) {
    at::Tensor y = row_ops::softmax_segments(x, offsets);
    ctx->save_for_backward({y, offsets});
    return y;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor weighted = grads[0] * saved[0];
    const at::Tensor total = segment_sum(weighted, saved[1]);
    return {weighted - saved[0] * recorded<SegmentExpand>(total, saved[1], weighted.size(0)), {}};
  }
};

}  // namespace

// -------------------------------------------------------------------------------------- public

at::Tensor aggregate_sum(const Adjacency& adjacency, const at::Tensor& x,
                         const at::Tensor& weights) {
  require_rows(x, adjacency.num_sources(), "node matrix");
  require_weights(adjacency, weights, x.size(1));
  return recorded<AggregateSum>(x, if_defined(weights), adjacency);
}

at::Tensor aggregate_mean(const Adjacency& adjacency, const at::Tensor& x) {
  require_rows(x, adjacency.num_sources(), "node matrix");
  return recorded<AggregateMean>(x, adjacency);
}

at::Tensor aggregate_gated(const Adjacency& adjacency, const at::Tensor& x, const at::Tensor& gates,
                           const at::Tensor& gate, Reduce reduce) {
  require_rows(x, adjacency.num_sources(), "node matrix");
  require_gates(adjacency, gates, gate, x.size(1));
  at::Tensor weights;
  if (reduce == Reduce::kMean)
    weights = row_ops::inverse_degree(adjacency.by_target(), x.scalar_type())
                  .index_select(0, adjacency.targets());
  return recorded<AggregateGated>(x, gates, gate, if_defined(weights), adjacency);
}

at::Tensor gather_sources(const Adjacency& adjacency, const at::Tensor& x) {
  require_rows(x, adjacency.num_sources(), "node matrix");
  return recorded<GatherSources>(x, adjacency);
}

at::Tensor gather_targets(const Adjacency& adjacency, const at::Tensor& x) {
  require_rows(x, adjacency.num_targets(), "node matrix");
  return recorded<SegmentExpand>(x, adjacency.by_target().offsets, adjacency.num_edges());
}

at::Tensor edge_dot(const Adjacency& adjacency, const at::Tensor& a, const at::Tensor& b,
                    std::int64_t heads) {
  require_rows(a, adjacency.num_targets(), "target matrix");
  require_rows(b, adjacency.num_sources(), "source matrix");
  const std::int64_t parts = std::max<std::int64_t>(1, heads);
  require(a.size(1) == b.size(1) && a.size(1) % parts == 0,
          "target width " + std::to_string(a.size(1)) + " and source width " +
              std::to_string(b.size(1)) + " do not divide into " + std::to_string(parts) +
              " heads");
  const at::Tensor products = recorded<EdgeDot>(a, b, adjacency, parts);
  return heads > 0 ? products : products.squeeze(1);
}

at::Tensor segment_softmax(const at::Tensor& values, const at::Tensor& offsets) {
  require(values.dim() == 1 || values.dim() == 2,
          "softmax values have shape " + shape_text(values) + ", expected [rows] or [rows, heads]");
  require_segments(values, offsets);
  if (values.dim() == 2) return recorded<SegmentSoftmax>(values, offsets);
  return recorded<SegmentSoftmax>(values.unsqueeze(1), offsets).squeeze(1);
}

at::Tensor segment_pool(const at::Tensor& x, const at::Tensor& offsets, Pool pool) {
  require(x.dim() == 2, "pooled matrix has shape " + shape_text(x) + ", expected [rows, width]");
  require_segments(x, offsets);
  if (pool == Pool::kSum) return segment_sum(x, offsets);
  const at::Tensor length = at::diff(offsets).unsqueeze(1);
  if (pool == Pool::kMean) return segment_sum(x, offsets) / length.clamp_min(1).to(x.scalar_type());
  if (x.size(0) == 0) return segment_sum(x, offsets);  // no row to take, all segments are empty
  return x.gather(0, row_ops::first_maximum(x.detach(), offsets)).masked_fill(length == 0, 0);
}

at::Tensor segment_expand(const at::Tensor& x, const at::Tensor& offsets) {
  require_rows(x, offsets.numel() - 1, "segment matrix");
  return recorded<SegmentExpand>(x, offsets, offsets[-1].item<std::int64_t>());
}

}  // namespace omen::torch_kit
