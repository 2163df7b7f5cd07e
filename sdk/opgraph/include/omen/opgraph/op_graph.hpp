// SPDX-License-Identifier: Apache-2.0
// The operations of one step of a job, with what each costs in arithmetic and traffic.
#ifndef OMEN_OPGRAPH_OP_GRAPH_HPP
#define OMEN_OPGRAPH_OP_GRAPH_HPP

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace omen::opgraph {

enum class OpClass : std::uint8_t {
  input,
  parameter,
  matmul,
  conv,
  depthwise_conv,
  attention,  // one fused kernel; plain attention is matmul, softmax, matmul
  softmax,
  norm,
  activation,
  elementwise,
  pool,
  reduce,
  move,    // transposes, concatenations, copies
  view,    // changes a shape and touches no memory
  gather,  // embeddings and their gradients
  loss,
  update,  // of parameters by the optimizer
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  send,
  other,
};

enum class Phase : std::uint8_t { forward, backward, update, communication };

enum class Precision : std::uint8_t { fp64, fp32, tf32, bf16, fp16, fp8, int8, fp4 };

// What a step is part of; it decides what memory outlives the step.
enum class Mode : std::uint8_t { train, infer, prefill, decode };

inline constexpr std::size_t kMostDimensions = 6;

struct Op {
  OpClass kind = OpClass::other;
  Phase phase = Phase::forward;
  Precision precision = Precision::fp32;
  double flops = 0;  // a multiplication with its addition counts two
  double bytes_read = 0;
  double bytes_written = 0;
  double output_bytes = 0;     // lives until the last reader is done; 0 for what changes in place
  double parameter_bytes = 0;  // of the parameters that it reads
  // A batch of products of m x k with k x n. Convolutions: images, output pixels, output channels
  // and inputs of one output. Attention: sequences times heads, queries, keys and width of a head.
  std::int64_t batch = 0, m = 0, n = 0, k = 0;
  std::int64_t kernel = 0;  // height times width of a convolution's or pool's window
  std::int64_t stride = 0;
  std::int64_t groups = 0;  // of a convolution; query heads per key head of an attention
  std::int64_t ranks = 0;   // that take part in a collective
  double kernels = 1;       // launched on the device; 0 for inputs, parameters and views
  std::array<std::int64_t, kMostDimensions> shape{};  // of the output, zeros behind its rank
  std::string name;                                   // for people; no model sees it
};

struct Edge {
  std::int32_t src = 0, dst = 0;
};

// Operations stand in an order in which they can run, so every edge leads forward.
struct OpGraph {
  std::vector<Op> ops;
  std::vector<Edge> edges;
};

// What holds for the whole step on one rank.
struct StepFacts {
  Mode mode = Mode::train;
  Precision precision = Precision::fp32;
  double batch = 0;                              // samples or sequences of a step
  double tokens = 0;                             // 0 where samples are no sequences
  double parameters = 0, active_parameters = 0;  // of the whole job, counted once
  double weight_bytes = 0;                       // these are of one rank, as are those below
  double gradient_bytes = 0;
  double optimizer_bytes = 0;
  double cache_bytes = 0;  // keys and values that are kept between steps
  double tensor_ranks = 1, pipeline_ranks = 1, data_ranks = 1, expert_ranks = 1;
  double micro_batches = 1;  // of which the graph holds one, and the update behind the last
  double in_flight = 1;      // micro-batches whose activations are alive at once
  std::string optimizer;     // empty outside of training
};

struct Job {
  std::string name;
  OpGraph graph;
  StepFacts facts;
};

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_OP_GRAPH_HPP
