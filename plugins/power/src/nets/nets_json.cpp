// SPDX-License-Identifier: Apache-2.0
// Blocks to layers, each checked against what feeds it.
#include "nets/nets_json.hpp"

#include <nlohmann/json.hpp>
#include <omen/error.hpp>
#include <omen/json/json_part.hpp>
#include <tuple>

#include "nets/net_builder.hpp"

namespace omen::power {
namespace {

using nlohmann::json;

constexpr const char* kNetsForm = "See \"Networks\" in plugins/power/README.md.";
constexpr std::size_t kMostNets = 100000;

const std::set<std::string>& known_keys() {
  static const std::set<std::string> keys = {
      "type",    "cin",     "cout",   "k",      "stride",       "pad",    "dil", "groups",
      "h",       "w",       "bias",   "act",    "mult",         "tokens", "m",   "n",
      "heads",   "context", "in",     "expand", "se",           "skip",   "mid", "hidden",
      "squeeze", "gated",   "factor", "ops",    "act_zero_frac"};
  return keys;
}

struct BlockReader {
  const JsonPart& part;
  NetBuilder& build;

  ConvShape window(std::int64_t cout, std::int64_t otherwise) const {
    ConvShape made;
    made.cout = cout;
    std::tie(made.kh, made.kw) = part.pair("k", otherwise);
    std::tie(made.stride_h, made.stride_w) = part.pair("stride", 1);
    std::tie(made.pad_h, made.pad_w) = part.pair("pad", 0, 0);
    std::tie(made.dilation_h, made.dilation_w) = part.pair("dil", 1);
    made.bias = part.flag("bias", false);
    return made;
  }
  std::int64_t square(const char* key, std::int64_t otherwise) const {
    const auto [high, wide] = part.pair(key, otherwise);
    if (high != wide) part.fail(key, "must be the same in both directions here");
    return high;
  }
  Place conv(const Place& in) const {
    ConvShape shape = window(part.count("cout"), 1);
    shape.groups = part.count("groups", 1);
    return build.conv(in, shape);
  }
  Place dwconv(const Place& in) const {
    ConvShape shape = window(in.shape.c * part.count("mult", 1), 3);
    shape.groups = in.shape.c;
    return build.conv(in, shape);
  }
  Place matmul(const std::vector<Place>& in) const {
    const std::int64_t heads = part.count("heads", 1);
    const Place& left = in[0];
    if (left.shape.c % heads != 0) part.fail("heads", "does not divide the channels");
    return build.product(left, in.size() > 1 ? in[1] : left, left.shape.h * left.shape.w,
                         left.shape.c / heads, part.count("n"), heads);
  }
  Place place(BlockType type, const std::vector<Place>& in) const {
    const Place& from = in[0];
    switch (type) {
      case BlockType::conv:
        return conv(from);
      case BlockType::dwconv:
        return dwconv(from);
      case BlockType::linear:
        return build.linear(from, part.count("cout"), part.flag("bias", false));
      case BlockType::matmul:
        return matmul(in);
      case BlockType::pool:
        return build.pool(from, window(from.shape.c, 2));
      case BlockType::globalpool:
        return build.global_pool(from);
      case BlockType::add:
        if (in.size() != 2) part.fail("in", "must name two blocks that are added");
        return build.add(in[0], in[1]);
      case BlockType::concat:
        if (in.size() < 2) part.fail("in", "must name the blocks that are joined");
        return build.concat(in);
      case BlockType::upsample:
        return build.upsample(from, part.count("factor", 2));
      case BlockType::norm:
        return build.elementwise(from, type, 2);
      case BlockType::act:
        return build.elementwise(from, type, part.number("ops", 0, 1000, 1));
      default:
        return composite(type, from);
    }
  }
  Place composite(BlockType type, const Place& from) const {
    const std::int64_t stride = square("stride", 1);
    switch (type) {
      case BlockType::mbconv:
        return build.mbconv(from, part.count("cout"), square("k", 3), stride,
                            part.number("expand", 1, 64, 1), part.number("se", 0, 1, 0),
                            part.flag("skip", false));
      case BlockType::bottleneck: {
        const std::int64_t cout = part.count("cout");
        return build.bottleneck(from, cout, part.count("mid", std::max<std::int64_t>(1, cout / 4)),
                                square("k", 3), stride);
      }
      case BlockType::basic:
        return build.basic(from, part.count("cout"), square("k", 3), stride);
      case BlockType::shuffle:
        return build.shuffle(from, part.count("cout"), square("k", 3), stride);
      case BlockType::fire:
        return build.fire(from, part.count("cout"), part.count("squeeze"));
      case BlockType::attention:
        return build.attention(from, part.count("heads", 1),
                               part.count("context", from.shape.h * from.shape.w),
                               part.flag("bias", false));
      default:
        return build.ffn(from, part.count("hidden"), part.flag("gated", false),
                         part.flag("bias", false));
    }
  }
};

// Sizes that the description repeats must be those of what feeds the block.
Place checked_input(const JsonPart& part, BlockType type, Place from) {
  const bool flat = type == BlockType::linear || type == BlockType::attention ||
                    type == BlockType::ffn || type == BlockType::matmul;
  if (flat) {
    const std::int64_t tokens = part.count("tokens", 0);
    if (tokens > 0) {
      if (from.layer >= 0 && from.shape.h * from.shape.w != tokens)
        part.fail("tokens", "is " + std::to_string(tokens) + ", but " +
                                std::to_string(from.shape.h * from.shape.w) + " arrive");
    } else if (part.has("cin") && part.count("cin") == from.shape.c * from.shape.h * from.shape.w) {
      from.shape = {part.count("cin"), 1, 1};
    }
  }
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"cin", from.shape.c}, {"h", from.shape.h}, {"w", from.shape.w}};
  for (const auto& [key, arrives] : sizes)
    if (part.has(key) && part.count(key) != arrives)
      part.fail(key, "is " + std::to_string(part.count(key)) + ", but " + std::to_string(arrives) +
                         " arrives from the block before");
  return from;
}

std::vector<Place> inputs_of(const JsonPart& part, const std::vector<Place>& blocks,
                             const Place& input) {
  if (!part.has("in")) return {blocks.empty() ? input : blocks.back()};
  const json& list = part.at("in");
  if (!list.is_array() || list.empty() || list.size() > 64)
    part.fail("in", "is not a list of 1 to 64 blocks");
  std::vector<Place> from;
  for (const json& one : list) {
    const double index = one.is_number() ? one.get<double>() : -2;
    if (!(index >= -1) || index >= static_cast<double>(blocks.size()) ||
        index != static_cast<double>(static_cast<std::int64_t>(index)))
      part.fail("in", "names a block that does not come before; -1 is the input");
    from.push_back(index < 0 ? input : blocks[static_cast<std::size_t>(index)]);
  }
  return from;
}

Place read_block(const json& value, const JsonPart& whole, const std::string& path,
                 NetBuilder& build, const std::vector<Place>& blocks, const Place& input,
                 double share) {
  const JsonPart part = whole.part_at(value, path, known_keys());
  const std::string name = part.text("type", "");
  const auto type = parse_type(name);
  if (!type) part.fail("type", "'" + name + "' is no type of block");
  std::vector<Place> from = inputs_of(part, blocks, input);
  from[0] = checked_input(part, *type, from[0]);
  build.begin_block(static_cast<std::int32_t>(blocks.size()), share,
                    part.number("act_zero_frac", 0, 1, 0));
  const BlockReader reader{part, build};
  try {
    return reader.place(*type, from);
  } catch (const Error& error) {
    const std::string said = error.what();
    if (said.rfind(part.source(), 0) == 0) throw;
    throw Error(OMEN_INVALID_DATA, part.source() + ": " + path + ": " + said, error.hint());
  }
}

// Options that a search still weighs: each runs with its probability, and all end alike.
Place read_choice(const json& value, const JsonPart& whole, const std::string& path,
                  NetBuilder& build, const std::vector<Place>& blocks, const Place& input) {
  const JsonPart part = whole.part_at(value, path, {"type", "options", "probabilities"});
  const json& choices = part.at("options");
  const json& shares = part.at("probabilities");
  if (!choices.is_array() || choices.empty() || choices.size() > 256)
    part.fail("options", "is not a list of 1 to 256 blocks");
  if (!shares.is_array() || shares.size() != choices.size())
    part.fail("probabilities", "is not a list with a number for each option");
  double sum = 0;
  Place made;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const double share = shares[i].is_number() ? shares[i].get<double>() : -1;
    if (!(share >= 0 && share <= 1)) part.fail("probabilities", "holds what is no probability");
    sum += share;
    const Place one = read_block(choices[i], whole, path + ".options[" + std::to_string(i) + "]",
                                 build, blocks, input, share);
    if (i > 0 && !(one.shape == made.shape))
      part.fail("options", "end in different shapes, so the next block fits only one of them");
    made = one;
  }
  if (sum < 1 - 1e-6 || sum > 1 + 1e-6) part.fail("probabilities", "do not sum up to 1");
  return made;
}

Net read_net(const json& value, const JsonPart& document, const std::string& path) {
  const JsonPart part =
      document.part_at(value, path, {"id", "name", "batch", "input", "bits", "blocks"});
  Net net;
  net.id = part.count("id", 0, 0);
  net.name = part.text("name", "net_" + std::to_string(net.id));
  net.batch = static_cast<int>(part.count("batch", 1));
  const JsonPart input = part.part("input", {"c", "h", "w", "tokens"});
  net.input = {input.count("c"), input.count("h", input.count("tokens", 1)), input.count("w", 1)};
  if (part.has("bits")) {
    const JsonPart bits = part.part("bits", {"weight", "act", "psum"});
    net.bits.weight = static_cast<int>(bits.number("weight", 1, 64, net.bits.weight));
    net.bits.act = static_cast<int>(bits.number("act", 1, 64, net.bits.act));
    net.bits.psum = static_cast<int>(bits.number("psum", 1, 64, net.bits.psum));
  }
  const json& blocks = part.at("blocks");
  if (!blocks.is_array() || blocks.empty()) part.fail("blocks", "is not a list of blocks");
  NetBuilder build(net);
  std::vector<Place> places;
  const Place start{-1, net.input};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::string where = path + ".blocks[" + std::to_string(i) + "]";
    const bool choice = blocks[i].is_object() && blocks[i].value("type", json()) == "choice";
    places.push_back(choice ? read_choice(blocks[i], document, where, build, places, start)
                            : read_block(blocks[i], document, where, build, places, start, 1));
  }
  return net;
}

}  // namespace

std::vector<Net> parse_nets(const std::string& text, const std::string& source) {
  const json parsed = parse_json(text, source);
  const JsonPart document(parsed, source, kNetsForm, {"format", "nets"});
  if (document.text("format", "") != kNetsFormat)
    document.fail("format", std::string("is not '") + kNetsFormat + "'");
  const json& list = document.at("nets");
  if (!list.is_array() || list.empty() || list.size() > kMostNets)
    document.fail("nets", "is not a list of 1 to " + std::to_string(kMostNets) + " networks");
  std::vector<Net> nets;
  for (std::size_t i = 0; i < list.size(); ++i)
    nets.push_back(read_net(list[i], document, "nets[" + std::to_string(i) + "]"));
  return nets;
}

}  // namespace omen::power
