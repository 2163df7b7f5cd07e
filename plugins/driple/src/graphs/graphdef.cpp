// SPDX-License-Identifier: Apache-2.0
// Both forms of a GraphDef to the same nodes.
#include "graphdef.hpp"

#include <charconv>
#include <limits>
#include <omen/error.hpp>

#include "text_proto.hpp"
#include "wire_proto.hpp"

namespace omen::driple {
namespace {

std::int64_t number_in(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

TensorShape shape_of_text(const std::vector<TextField>& fields) {
  TensorShape shape{true, {}};
  for (const TextField& field : fields) {
    if (field.name == "unknown_rank" && field.value == "true") shape.known_rank = false;
    if (field.name != "dim") continue;
    const TextField* size = find_field(field.fields, "size");
    shape.sizes.push_back(size != nullptr ? number_in(size->value) : 0);
  }
  return shape;
}

void attribute_of_text(const std::vector<TextField>& fields, GraphAttribute& to) {
  for (const TextField& field : fields) {
    if (field.name == "list") attribute_of_text(field.fields, to);
    if (field.name == "shape") to.shapes.push_back(shape_of_text(field.fields));
    if (field.name == "i") to.numbers.push_back(number_in(field.value));
    if (field.name == "s" && to.text.empty()) to.text = field.value;
    if (field.name == "b") to.flag = field.value == "true";
    if (field.name != "tensor") continue;
    const TextField* shape = find_field(field.fields, "tensor_shape");
    if (shape != nullptr) to.shapes.push_back(shape_of_text(shape->fields));
  }
}

GraphNode node_of_text(const std::vector<TextField>& fields) {
  GraphNode node;
  for (const TextField& field : fields) {
    if (field.name == "name") node.name = field.value;
    if (field.name == "op") node.op = field.value;
    if (field.name == "device") node.device = field.value;
    if (field.name == "input") node.inputs.push_back(field.value);
    if (field.name != "attr") continue;
    const TextField* key = find_field(field.fields, "key");
    const TextField* value = find_field(field.fields, "value");
    if (key != nullptr && value != nullptr)
      attribute_of_text(value->fields, node.attributes[key->value]);
  }
  return node;
}

TensorShape shape_of_wire(WireReader in) {
  TensorShape shape{true, {}};
  WireField field, part;
  while (in.next(field)) {
    if (field.number == 3 && field.value != 0) shape.known_rank = false;
    if (field.number != 2) continue;
    std::int64_t size = 0;
    for (WireReader dim = in.inner(field.bytes); dim.next(part);)
      if (part.number == 1) size = static_cast<std::int64_t>(part.value);
    shape.sizes.push_back(size);
  }
  return shape;
}

void attribute_of_wire(WireReader in, GraphAttribute& to, bool within_list) {
  WireField field, part;
  while (in.next(field)) {
    if (field.number == 1 && !within_list) attribute_of_wire(in.inner(field.bytes), to, true);
    if (field.number == 2 && to.text.empty()) to.text = field.bytes;
    if (field.number == 3 && field.bytes.empty())
      to.numbers.push_back(static_cast<std::int64_t>(field.value));
    // Lists of numbers are packed.
    if (field.number == 3 && !field.bytes.empty()) {
      std::uint64_t value = 0;
      int shift = 0;
      for (const char c : field.bytes) {
        value |= static_cast<std::uint64_t>(static_cast<unsigned char>(c) & 0x7f) << shift;
        shift = (c & 0x80) != 0 && shift < 56 ? shift + 7 : 0;
        if ((c & 0x80) != 0) continue;
        to.numbers.push_back(static_cast<std::int64_t>(value));
        value = 0;
      }
    }
    if (field.number == 5) to.flag = field.value != 0;
    if (field.number == 7) to.shapes.push_back(shape_of_wire(in.inner(field.bytes)));
    if (field.number != 8) continue;
    for (WireReader tensor = in.inner(field.bytes); tensor.next(part);)
      if (part.number == 2) to.shapes.push_back(shape_of_wire(in.inner(part.bytes)));
  }
}

GraphNode node_of_wire(WireReader in) {
  GraphNode node;
  WireField field, part;
  while (in.next(field)) {
    if (field.number == 1) node.name = field.bytes;
    if (field.number == 2) node.op = field.bytes;
    if (field.number == 3) node.inputs.emplace_back(field.bytes);
    if (field.number == 4) node.device = field.bytes;
    if (field.number != 5) continue;
    std::string key;
    std::string_view value;
    for (WireReader entry = in.inner(field.bytes); entry.next(part);) {
      if (part.number == 1) key = part.bytes;
      if (part.number == 2) value = part.bytes;
    }
    attribute_of_wire(in.inner(value), node.attributes[key], false);
  }
  return node;
}

}  // namespace

bool looks_like_graphdef_text(std::string_view head) {
  std::size_t at = 0;
  while (at < head.size()) {
    const char c = head[at];
    if (c == '#')
      at = std::min(head.find('\n', at), head.size());
    else if (c == ' ' || c == '\n' || c == '\r' || c == '\t')
      ++at;
    else
      break;
  }
  for (const std::string_view word : {"node", "versions", "library"}) {
    if (head.substr(at, word.size()) != word) continue;
    const std::size_t behind = head.find_first_not_of(" \t\r\n:", at + word.size());
    if (behind != head.npos && (head[behind] == '{' || head[behind] == '<')) return true;
  }
  return false;
}

std::vector<GraphNode> read_graphdef(std::string_view content, const std::string& source) {
  std::vector<GraphNode> nodes;
  if (looks_like_graphdef_text(content)) {
    for (const TextField& field : parse_text_proto(content, source))
      if (field.name == "node" && field.message) nodes.push_back(node_of_text(field.fields));
  } else {
    WireReader in(content, source);
    WireField field;
    while (in.next(field))
      if (field.number == 1) nodes.push_back(node_of_wire(in.inner(field.bytes)));
  }
  bool named = !nodes.empty();
  for (const GraphNode& node : nodes) named = named && !node.name.empty() && !node.op.empty();
  if (!named)
    throw Error(OMEN_INVALID_DATA, source + ": holds no nodes with a name and an op",
                "Is it a GraphDef? A SavedModel has to be frozen first.");
  return nodes;
}

std::int64_t published_tensor_size(const TensorShape& shape) {
  if (!shape.known_rank) return 0;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t size = 0;
  for (const std::int64_t each : shape.sizes) {
    if (size == 0) size = 1;
    if (each < 0)
      size = 0;
    else if (each > 0 && size > kMost / each)
      size = kMost;
    else
      size *= each;
  }
  return size;
}

TensorShape output_shape(const GraphNode& node) {
  for (const char* name : {"_output_shapes", "value", "shape"}) {
    const GraphAttribute* found = node.find(name);
    if (found != nullptr && !found->shapes.empty()) return found->shapes.front();
  }
  return {};
}

}  // namespace omen::driple
