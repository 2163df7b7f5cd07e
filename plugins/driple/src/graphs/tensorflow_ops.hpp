// SPDX-License-Identifier: Apache-2.0
// Operations of TensorFlow as operations of a step.
#pragma once

#include <omen/opgraph/costs.hpp>
#include <span>
#include <string_view>

#include "graphdef.hpp"

namespace omen::driple {

// Nothing for an operation that is not known; it then counts as `other`.
const opgraph::OpClass* class_of_tensorflow(std::string_view op);

// Sizes that costs can be computed from: unknown ones are replaced by `unknown`, and what has no
// rank has no numbers.
opgraph::Shape known_shape(const TensorShape& shape, std::int64_t unknown);

// Class, phase, arithmetic and traffic of a node from its output and its inputs.
opgraph::Op op_of_node(const GraphNode& node, const opgraph::Shape& output,
                       std::span<const opgraph::Shape> inputs);

}  // namespace omen::driple
