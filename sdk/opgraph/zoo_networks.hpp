// SPDX-License-Identifier: Apache-2.0
// The networks of the zoo; each takes the image and gives what the classifier reads.
#ifndef OMEN_OPGRAPH_ZOO_NETWORKS_HPP
#define OMEN_OPGRAPH_ZOO_NETWORKS_HPP

#include "image_network.hpp"

namespace omen::opgraph {

Image vgg(ImageNetwork& net, Image x, const std::vector<int>& convs);
Image alexnet(ImageNetwork& net, Image x);
Image lenet(ImageNetwork& net, Image x);
Image trivial(ImageNetwork& net, Image x);
Image googlenet(ImageNetwork& net, Image x);
Image densenet(ImageNetwork& net, Image x, int layers_each, int growth);
Image resnet_small(ImageNetwork& net, Image x, int blocks_each, bool before);
Image resnet_large(ImageNetwork& net, Image x, const std::vector<int>& blocks);
Image inception3(ImageNetwork& net, Image x);
Image inception4(ImageNetwork& net, Image x);

// Generative ones have losses of their own.
void gan(ImageNetwork& net);
void conditional_gan(ImageNetwork& net);
void dcgan(ImageNetwork& net);
void cvae(ImageNetwork& net);

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_ZOO_NETWORKS_HPP
