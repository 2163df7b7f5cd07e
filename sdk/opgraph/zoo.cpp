// SPDX-License-Identifier: Apache-2.0
// The table of networks.
#include "omen/opgraph/zoo.hpp"

#include <omen/error.hpp>
#include <omen/join.hpp>

#include "zoo_networks.hpp"

namespace omen::opgraph {
namespace {

using Body = Image (*)(ImageNetwork&, Image);
using Whole = void (*)(ImageNetwork&);

struct ZooEntry {
  const char* name;
  std::int64_t size;
  bool profiled;
  Body body;    // followed by a classifier
  Whole whole;  // or a network with its own losses
};

constexpr ZooEntry kZoo[] = {
    {"vgg11", 224, true,
     [](ImageNetwork& n, Image x) {
       return vgg(n, x, {1, 1, 2, 2, 2});
     },
     nullptr},
    {"vgg16", 224, true,
     [](ImageNetwork& n, Image x) {
       return vgg(n, x, {2, 2, 3, 3, 3});
     },
     nullptr},
    {"vgg19", 224, true,
     [](ImageNetwork& n, Image x) {
       return vgg(n, x, {2, 2, 4, 4, 4});
     },
     nullptr},
    {"googlenet", 224, true, googlenet, nullptr},
    {"lenet", 28, true, lenet, nullptr},
    {"densenet40-k12", 32, true, [](ImageNetwork& n, Image x) { return densenet(n, x, 12, 12); },
     nullptr},
    {"densenet100-k12", 32, true, [](ImageNetwork& n, Image x) { return densenet(n, x, 32, 12); },
     nullptr},
    {"inception3", 299, true, inception3, nullptr},
    {"inception4", 299, true, inception4, nullptr},
    {"resnet20", 32, true, [](ImageNetwork& n, Image x) { return resnet_small(n, x, 3, false); },
     nullptr},
    {"resnet50", 224, true,
     [](ImageNetwork& n, Image x) {
       return resnet_large(n, x, {3, 4, 6, 3});
     },
     nullptr},
    {"resnet101", 224, true,
     [](ImageNetwork& n, Image x) {
       return resnet_large(n, x, {3, 4, 23, 3});
     },
     nullptr},
    {"alexnet", 227, false, alexnet, nullptr},
    {"resnet20_v2", 32, false, [](ImageNetwork& n, Image x) { return resnet_small(n, x, 3, true); },
     nullptr},
    {"resnet32", 32, false, [](ImageNetwork& n, Image x) { return resnet_small(n, x, 5, false); },
     nullptr},
    {"resnet44", 32, false, [](ImageNetwork& n, Image x) { return resnet_small(n, x, 7, false); },
     nullptr},
    {"resnet56", 32, false, [](ImageNetwork& n, Image x) { return resnet_small(n, x, 9, false); },
     nullptr},
    {"resnet110", 32, false, [](ImageNetwork& n, Image x) { return resnet_small(n, x, 18, false); },
     nullptr},
    {"trivial", 227, false, trivial, nullptr},
    {"gan", 28, false, nullptr, gan},
    {"dcgan", 28, false, nullptr, dcgan},
    {"conditionalgan", 28, false, nullptr, conditional_gan},
    {"cvae", 28, false, nullptr, cvae},
};

const ZooEntry& entry_of(const std::string& name) {
  for (const ZooEntry& entry : kZoo)
    if (name == entry.name) return entry;
  throw Error(OMEN_NOT_FOUND, "there is no network '" + name + "'",
              "Known: " + join(zoo_names(), ", ") + ".");
}

}  // namespace

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  for (const ZooEntry& entry : kZoo) names.emplace_back(entry.name);
  return names;
}

std::vector<std::string> profiled_names() {
  std::vector<std::string> names;
  for (const ZooEntry& entry : kZoo)
    if (entry.profiled) names.emplace_back(entry.name);
  return names;
}

std::int64_t zoo_image_size(const std::string& name) {
  return entry_of(name).size;
}

Job zoo_job(const std::string& name, const ZooRun& run) {
  const ZooEntry& entry = entry_of(name);
  if (run.batch < 1 || run.classes < 1 || run.image_size < 0)
    throw Error(OMEN_INVALID_ARGUMENT, name + ": batch and classes must be at least 1",
                "Use --batch 32.");
  ImageNetwork net(run);
  if (entry.whole != nullptr) {
    entry.whole(net);
    return net.finish(name);
  }
  const std::int64_t channels = name == "lenet" ? 1 : 3;
  const Image x = net.input(channels, run.image_size > 0 ? run.image_size : entry.size);
  const Image out = net.linear(entry.body(net, x), run.classes);
  if (net.training()) net.loss({out});
  return net.finish(name);
}

}  // namespace omen::opgraph
