// SPDX-License-Identifier: Apache-2.0
// Layers of image networks behind each other.
#ifndef OMEN_OPGRAPH_IMAGE_NETWORK_HPP
#define OMEN_OPGRAPH_IMAGE_NETWORK_HPP

#include "omen/opgraph/zoo.hpp"

namespace omen::opgraph {

struct Image {
  OpId id = 0;
  std::int64_t channels = 0, height = 1, width = 1;
  std::int64_t numbers() const { return channels * height * width; }
};

enum class Padding : std::uint8_t { same, valid };
enum class Pool : std::uint8_t { largest, average };

class ImageNetwork {
 public:
  explicit ImageNetwork(const ZooRun& run);

  Image input(std::int64_t channels, std::int64_t size);
  // Without normalisation a bias follows, with it the norm and, unless `linear`, a relu.
  struct ConvShape {
    std::int64_t outputs = 0, height = 1, width = 1, stride = 1;
    Padding padding = Padding::same;
  };
  Image conv(Image x, const ConvShape& shape);  // the product alone
  Image bias(Image x);
  Image batch_norm(Image x);
  Image relu(Image x);
  Image conv_bias_relu(Image x, const ConvShape& shape);
  Image conv_norm_relu(Image x, const ConvShape& shape);
  Image conv_norm(Image x, const ConvShape& shape);
  Image pool(Image x, Pool kind, std::int64_t window, std::int64_t stride, Padding padding);
  Image global_pool(Image x);
  Image concat(const std::vector<Image>& parts);
  Image add(Image a, Image b);
  Image pad_channels(Image x, std::int64_t channels);
  Image linear(Image x, std::int64_t outputs);
  Image dropout(Image x);
  Image activation(Image x);  // tanh, sigmoid
  // Twice as large, by products as a convolution in reverse, or by copies.
  Image conv_transposed(Image x, std::int64_t outputs, std::int64_t kernel, std::int64_t stride);
  Image upsample(Image x);
  Image reshape(Image x, std::int64_t channels, std::int64_t height, std::int64_t width);
  // The same tensor, through which no gradient passes.
  Image detached(Image x);
  void loss(const std::vector<Image>& outputs);

  // While it is on, layers take the parameters of earlier ones.
  void share_parameters(bool on) { shared_ = on; }
  bool training() const { return run_.mode == Mode::train; }
  const ZooRun& run() const { return run_; }
  Job finish(const std::string& name);

 private:
  std::string numbered(const char* what);
  Shape shape_of_image(const Image& x) const;
  Image put(const char* what, Op op, Gradient gradient, std::initializer_list<OpId> inputs,
            Image out, Parameters parameters = {});

  ZooRun run_;
  ForwardGraph graph_;
  int count_ = 0;
  bool shared_ = false;
};

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_IMAGE_NETWORK_HPP
