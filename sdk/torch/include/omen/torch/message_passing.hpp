// SPDX-License-Identifier: Apache-2.0
// Differentiable gather, aggregation, attention and pooling over graphs.
#pragma once

#include <ATen/core/Tensor.h>

#include "omen/torch/adjacency.hpp"

namespace omen::torch_kit {

// Node matrices are [N, d]. Edge tensors are in slot order (see Adjacency). Rows without edges
// give 0. float32 and float64 on the CPU run on compressed rows in both directions, so that no
// [E, d] matrix is made; other types and devices take ATen's index operations. Results do not
// depend on scheduling: the same thread count gives the same bits. Functions can be
// differentiated repeatedly unless their comment says once.

/// y[t] = sum of w[e] * x[source(e)] over the incoming edges e of t.
/// `weights` is undefined (all 1), [E], or [E, H] for H heads: then d is a multiple of H and
/// head h scales its own d / H columns. Gradients reach x and weights.
at::Tensor aggregate_sum(const Adjacency& adjacency, const at::Tensor& x,
                         const at::Tensor& weights = {});

/// y[t] = mean of x[source(e)] over the incoming edges of t.
at::Tensor aggregate_mean(const Adjacency& adjacency, const at::Tensor& x);

/// How aggregate_gated combines the messages of a node.
enum class Reduce { kSum, kMean };

/// y[t] = reduction of x[source(e)] * gates[gate(e)] (element by element) over incoming edges.
/// gates [P, d] holds one row per edge position or kind, gate [E] int64 names the row of each
/// slot. Gradients reach x and gates, once.
at::Tensor aggregate_gated(const Adjacency& adjacency, const at::Tensor& x, const at::Tensor& gates,
                           const at::Tensor& gate, Reduce reduce);

/// Rows of x for the source (target) of each slot, [E, d]; gradients are summed on compressed
/// rows.
at::Tensor gather_sources(const Adjacency& adjacency, const at::Tensor& x);
at::Tensor gather_targets(const Adjacency& adjacency, const at::Tensor& x);

/// Dot products of target rows a[N_t, d] and source rows b[N_s, d] along each edge: [E], or
/// [E, heads] when heads > 0, each over its own d / heads columns.
at::Tensor edge_dot(const Adjacency& adjacency, const at::Tensor& a, const at::Tensor& b,
                    std::int64_t heads = 0);

// Segments are consecutive rows: segment s holds rows offsets[s] .. offsets[s+1]-1, with offsets
// int64 [S + 1] on the device of the values. They serve graphs of a batch (Batch::graph_offsets)
// and incoming edges of a node (Adjacency::by_target().offsets).

/// Softmax within each segment; values are [n] or [n, H], each column on its own. Stable for
/// large values; a segment whose values are all -inf gives 0.
at::Tensor segment_softmax(const at::Tensor& values, const at::Tensor& offsets);

enum class Pool { kSum, kMean, kMax };

/// Pools the rows of each segment: [n, d] to [S, d]. An empty segment gives 0. The gradient of a
/// maximum goes to the first row that attains it.
at::Tensor segment_pool(const at::Tensor& x, const at::Tensor& offsets, Pool pool);

/// Repeats row s for every row of segment s: [S, d] to [n, d].
at::Tensor segment_expand(const at::Tensor& x, const at::Tensor& offsets);

}  // namespace omen::torch_kit
