// SPDX-License-Identifier: Apache-2.0
// One layer a line.
#include "nets/topology_csv.hpp"

#include <algorithm>
#include <charconv>
#include <omen/error.hpp>
#include <sstream>
#include <vector>

namespace omen::power {
namespace {

constexpr const char* kTopologyHint =
    "Columns are: name, input height and width, filter height and width, channels, filters, "
    "stride; "
    "or name, M, N, K.";
constexpr std::int64_t kLargestExtent = 1 << 24;

std::string lowered(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return made;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  std::string field;
  while (std::getline(stream, field, ',')) {
    const std::size_t first = field.find_first_not_of(" \t\r");
    const std::size_t last = field.find_last_not_of(" \t\r");
    fields.push_back(first == std::string::npos ? "" : field.substr(first, last - first + 1));
  }
  while (!fields.empty() && fields.back().empty()) fields.pop_back();
  return fields;
}

// Measured products have such columns too, but only here the first names a layer.
bool names_products(const std::vector<std::string>& header) {
  return header.size() >= 4 && lowered(header[0]).rfind("layer", 0) == 0 &&
         lowered(header[1]) == "m" && lowered(header[2]) == "n" && lowered(header[3]) == "k";
}

bool names_convolutions(const std::vector<std::string>& header) {
  return header.size() >= 8 && lowered(header[1]).rfind("ifmap h", 0) == 0 &&
         lowered(header[3]).rfind("filter h", 0) == 0;
}

class LineReader {
 public:
  LineReader(std::vector<std::string> fields, std::string where)
      : fields_(std::move(fields)), where_(std::move(where)) {}
  std::int64_t size(std::size_t column) const {
    if (column >= fields_.size())
      throw Error(OMEN_INVALID_DATA,
                  where_ + " has only " + std::to_string(fields_.size()) + " columns",
                  kTopologyHint);
    const std::string& text = fields_[column];
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1 ||
        value > kLargestExtent)
      throw Error(OMEN_INVALID_DATA, where_ + ": '" + text + "' is not a size from 1",
                  kTopologyHint);
    return value;
  }
  std::size_t columns() const { return fields_.size(); }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(OMEN_INVALID_DATA, where_ + ": " + what, kTopologyHint);
  }

 private:
  std::vector<std::string> fields_;
  std::string where_;
};

// What is streamed past the second operand are the rows, so the product becomes a linear layer.
Primitive product_of(const LineReader& line) {
  Primitive layer;
  layer.type = BlockType::linear;
  layer.h = layer.ho = line.size(1);
  layer.cout = line.size(2);
  layer.cin = line.size(3);
  return layer;
}

Primitive convolution_of(const LineReader& line) {
  Primitive layer;
  layer.h = line.size(1);
  layer.w = line.size(2);
  layer.kh = line.size(3);
  layer.kw = line.size(4);
  layer.cin = line.size(5);
  layer.cout = line.size(6);
  layer.stride_h = layer.stride_w = line.size(7);
  layer.ho = slid(layer.h, layer.kh, layer.stride_h, 0, 1);
  layer.wo = slid(layer.w, layer.kw, layer.stride_w, 0, 1);
  if (layer.ho < 1 || layer.wo < 1) line.fail("the filter is larger than the input");
  return layer;
}

}  // namespace

bool is_topology(std::string_view head) {
  const std::vector<std::string> header = fields_of(std::string(head.substr(0, head.find('\n'))));
  return names_products(header) || names_convolutions(header);
}

Net parse_topology(const std::string& text, const std::string& source) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> header = fields_of(line);
  const bool products = names_products(header);
  if (!products && !names_convolutions(header))
    throw Error(OMEN_INVALID_DATA, source + " is no layer table of SCALE-Sim", kTopologyHint);
  Net net;
  net.name = source.substr(0, source.rfind('.'));
  std::size_t number = 1;
  while (std::getline(lines, line)) {
    ++number;
    const std::vector<std::string> fields = fields_of(line);
    if (fields.empty()) continue;
    const LineReader reader(fields, source + ": line " + std::to_string(number));
    Primitive layer = products ? product_of(reader) : convolution_of(reader);
    layer.block = static_cast<std::int32_t>(net.layers.size());
    if (layer.block > 0) net.edges.emplace_back(layer.block - 1, layer.block);
    net.layers.push_back(layer);
  }
  if (net.layers.empty()) throw Error(OMEN_INVALID_DATA, source + " has no layers", kTopologyHint);
  net.input = net.layers.front().in();
  return net;
}

}  // namespace omen::power
