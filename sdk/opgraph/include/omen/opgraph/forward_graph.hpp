// SPDX-License-Identifier: Apache-2.0
// A forward pass under construction, with what its gradients will need.
#ifndef OMEN_OPGRAPH_FORWARD_GRAPH_HPP
#define OMEN_OPGRAPH_FORWARD_GRAPH_HPP

#include <span>
#include <string>
#include <vector>

#include "omen/opgraph/costs.hpp"

namespace omen::opgraph {

using OpId = std::int32_t;

// How the gradient of an operation follows from that of its output.
enum class Gradient : std::uint8_t {
  none,         // nothing behind it is learnt
  pass,         // it is the same tensor: sums and views
  split,        // readers take parts of it, whose gradients are put side by side
  same,         // the same traffic in the other direction: copies, scalings, averages
  from_input,   // reads the input again: norms and most activations
  from_output,  // reads the output again: relu, softmax, losses
  from_both,    // reads both: maximum over windows
  mask,         // reads one byte for each number: dropout
  factors,      // each factor needs the others
  matmul,
  conv,
  attention,
  gather,
  all_reduce,  // nothing forward, a sum over ranks backward
  sent_back,   // to the rank where it came from
};

// Parameters that an operation reads.
struct Parameters {
  double count = 0;      // numbers in them
  double variables = 0;  // tensors that they form
  double bias = 0;       // numbers of `count` that are added to the output
  bool shared = false;   // an earlier operation has them, too
};

// Operations from..to are run again before their gradients, instead of keeping their outputs.
struct Recomputed {
  OpId first = 0, last = 0;
};

class ForwardGraph {
 public:
  explicit ForwardGraph(double activation_width) : width_(activation_width) {}

  OpId add(std::string name, Op op, Gradient gradient, std::initializer_list<OpId> inputs,
           Parameters parameters = {});
  OpId add(std::string name, Op op, Gradient gradient, std::span<const OpId> inputs,
           Parameters parameters = {});
  // Numbers that an operation adds to its output and that are learnt with its other parameters.
  void add_bias(OpId id, double count);
  void recompute(OpId first, OpId last) { recomputed_.push_back({first, last}); }
  void reserve(std::size_t ops);

  double width() const { return width_; }
  OpId size() const { return static_cast<OpId>(graph_.ops.size()); }
  const Op& op(OpId id) const { return graph_.ops[static_cast<std::size_t>(id)]; }
  Op& op(OpId id) { return graph_.ops[static_cast<std::size_t>(id)]; }
  Gradient gradient(OpId id) const { return gradients_[static_cast<std::size_t>(id)]; }
  const Parameters& parameters(OpId id) const { return parameters_[static_cast<std::size_t>(id)]; }
  std::span<const Edge> inputs(OpId id) const;
  const std::vector<Recomputed>& recomputed() const { return recomputed_; }
  // Bytes of what an operation gives, also where it changes its input in place.
  double size_of(OpId id) const { return elements_of(op(id).shape) * width_; }
  double parameter_count() const;

  const OpGraph& graph() const { return graph_; }
  OpGraph take() { return std::move(graph_); }

 private:
  double width_;
  OpGraph graph_;
  std::vector<Gradient> gradients_;
  std::vector<Parameters> parameters_;
  std::vector<std::size_t> first_edge_;
  std::vector<Recomputed> recomputed_;
};

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_FORWARD_GRAPH_HPP
