// SPDX-License-Identifier: Apache-2.0
// A TensorFlow GraphDef, as much of it as costs need.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace omen::driple {

struct TensorShape {
  bool known_rank = false;
  std::vector<std::int64_t> sizes;  // -1: not known
};

struct GraphAttribute {
  std::vector<TensorShape> shapes;
  std::vector<std::int64_t> numbers;
  std::string text;
  bool flag = false;
};

struct GraphNode {
  std::string name, op, device;
  std::vector<std::string> inputs;
  std::map<std::string, GraphAttribute, std::less<>> attributes;

  const GraphAttribute* find(std::string_view name) const {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : &found->second;
  }
};

// Text or binary, whichever it is. OMEN_INVALID_DATA for anything else.
std::vector<GraphNode> read_graphdef(std::string_view content, const std::string& source);
bool looks_like_graphdef_text(std::string_view head);

// Numbers of output 0 as the published predictor counts them: scalars and unknown ranks give 0, and
// an unknown size starts the product again.
std::int64_t published_tensor_size(const TensorShape& shape);

// Output 0 of a node; unknown where nothing tells it.
TensorShape output_shape(const GraphNode& node);

}  // namespace omen::driple
