// SPDX-License-Identifier: Apache-2.0
// ONNX models of image networks, written field by field: sizes without weights.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace omen::power {

// Encodes messages of protocol buffers: numbers, texts and messages by their field numbers.
class ProtoText {
 public:
  ProtoText& number(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  ProtoText& text(int field, const std::string& value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtoText& message(int field, const ProtoText& value) { return text(field, value.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

class OnnxModel {
 public:
  using Names = std::vector<std::string>;
  using Sizes = std::vector<std::int64_t>;

  // A first size of 0 is left open.
  explicit OnnxModel(const Sizes& input) {
    graph_.text(2, "net");
    graph_.message(11, tensor_of("x", input));
  }

  std::string conv(const std::string& from, std::int64_t in, std::int64_t out, std::int64_t kernel,
                   std::int64_t stride, std::int64_t groups = 1) {
    const std::int64_t pad = kernel / 2;
    return node("Conv", {from, weight({out, in / groups, kernel, kernel}), weight({out})},
                {{"kernel_shape", {kernel, kernel}},
                 {"strides", {stride, stride}},
                 {"pads", {pad, pad, pad, pad}}},
                {{"group", groups}});
  }
  std::string linear(const std::string& from, std::int64_t in, std::int64_t out) {
    return node("Gemm", {from, weight({out, in}), weight({out})}, {}, {{"transB", 1}});
  }
  std::string pool(const std::string& from, std::int64_t kernel, std::int64_t stride) {
    const std::int64_t pad = kernel / 2;
    return node("MaxPool", {from},
                {{"kernel_shape", {kernel, kernel}},
                 {"strides", {stride, stride}},
                 {"pads", {pad, pad, pad, pad}}});
  }
  std::string weight(const Sizes& sizes) {
    const std::string name = "w" + std::to_string(made_++);
    ProtoText tensor;
    for (const std::int64_t size : sizes) tensor.number(1, static_cast<std::uint64_t>(size));
    constexpr int kFloat = 1, kExternal = 1;
    tensor.number(2, kFloat).text(8, name);
    tensor.message(13, ProtoText().text(1, "location").text(2, "weights.bin"));
    graph_.message(5, tensor.number(14, kExternal));
    return name;
  }
  std::string node(const std::string& op, const Names& from,
                   const std::vector<std::pair<std::string, Sizes>>& lists = {},
                   const std::vector<std::pair<std::string, std::int64_t>>& numbers = {}) {
    constexpr int kInt = 2, kInts = 7;
    const std::string name = "t" + std::to_string(made_++);
    ProtoText made;
    for (const std::string& input : from) made.text(1, input);
    made.text(2, name).text(4, op);
    for (const auto& [key, values] : lists) {
      ProtoText attribute;
      attribute.text(1, key);
      for (const std::int64_t value : values)
        attribute.number(8, static_cast<std::uint64_t>(value));
      made.message(5, attribute.number(20, kInts));
    }
    for (const auto& [key, value] : numbers)
      made.message(
          5,
          ProtoText().text(1, key).number(3, static_cast<std::uint64_t>(value)).number(20, kInt));
    graph_.message(1, made);
    return name;
  }
  std::string finish(const std::string& output) {
    graph_.message(12, ProtoText().text(1, output));
    return ProtoText()
        .number(1, 8)
        .message(7, graph_)
        .message(8, ProtoText().text(1, "").number(2, 13))
        .bytes();
  }

 private:
  static ProtoText tensor_of(const std::string& name, const Sizes& sizes) {
    ProtoText shape;
    for (const std::int64_t size : sizes)
      shape.message(1, size > 0 ? ProtoText().number(1, static_cast<std::uint64_t>(size))
                                : ProtoText().text(2, "batch"));
    return ProtoText().text(1, name).message(
        2, ProtoText().message(1, ProtoText().number(1, 1).message(2, shape)));
  }

  ProtoText graph_;
  int made_ = 0;
};

inline std::string mobilenet_v2_onnx(std::int64_t batch) {
  OnnxModel model({batch, 3, 224, 224});
  const auto clipped = [&](const std::string& from) { return model.node("Clip", {from}); };
  std::string at = clipped(model.conv("x", 3, 32, 3, 2));
  std::int64_t channels = 32;
  constexpr std::int64_t kStages[][4] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2},
                                         {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2},
                                         {6, 320, 1, 1}};
  for (const auto& [expand, out, repeats, stride] : kStages)
    for (std::int64_t i = 0; i < repeats; ++i) {
      const std::int64_t wide = expand * channels, step = i == 0 ? stride : 1;
      std::string inner = at;
      if (expand > 1) inner = clipped(model.conv(inner, channels, wide, 1, 1));
      inner = clipped(model.conv(inner, wide, wide, 3, step, wide));
      inner = model.conv(inner, wide, out, 1, 1);
      at = step == 1 && channels == out ? model.node("Add", {at, inner}) : inner;
      channels = out;
    }
  at = clipped(model.conv(at, channels, 1280, 1, 1));
  at = model.node("Flatten", {model.node("GlobalAveragePool", {at})});
  return model.finish(model.linear(at, 1280, 1000));
}

inline std::string resnet50_onnx(std::int64_t batch) {
  OnnxModel model({batch, 3, 224, 224});
  const auto bent = [&](const std::string& from) { return model.node("Relu", {from}); };
  std::string at = model.pool(bent(model.conv("x", 3, 64, 7, 2)), 3, 2);
  std::int64_t channels = 64;
  constexpr int kRepeats[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage)
    for (int i = 0; i < kRepeats[stage]; ++i) {
      const std::int64_t mid = std::int64_t{64} << stage, step = i == 0 && stage > 0 ? 2 : 1;
      std::string inner = bent(model.conv(at, channels, mid, 1, 1));
      inner = bent(model.conv(inner, mid, mid, 3, step));
      inner = model.conv(inner, mid, 4 * mid, 1, 1);
      if (i == 0) at = model.conv(at, channels, 4 * mid, 1, step);
      at = bent(model.node("Add", {at, inner}));
      channels = 4 * mid;
    }
  at = model.node("Flatten", {model.node("GlobalAveragePool", {at})});
  return model.finish(model.linear(at, 2048, 1000));
}

}  // namespace omen::power
