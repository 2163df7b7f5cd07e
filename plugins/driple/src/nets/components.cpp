// SPDX-License-Identifier: Apache-2.0
// Describes the components that are made of the published networks.
#include "nets/components.hpp"

#include "nets/convert_command.hpp"
#include "nets/net_predictor.hpp"

namespace omen::driple {
namespace {

Component described(Component component) {
  return std::move(component)
      .reads("nodes@step/1", "edges")
      .writes("*")
      .caps(OMEN_CAP_SEEDED_REPEATABLE)
      .cite("doi:10.1145/3530895");
}

}  // namespace

Component gcn_component() {
  return described(predictor<GcnPredictor, NetOptions>(
      "driple.gcn", "resource use of a job by the published graph convolutions"));
}

Component gat_component() {
  return described(predictor<GatPredictor, NetOptions>(
      "driple.gat", "the published network with attention to neighbours"));
}

Component gin_component() {
  return described(predictor<GinPredictor, NetOptions>(
      "driple.gin", "the published network with isomorphism layers"));
}

Component pna_component() {
  return described(predictor<PnaPredictor, PnaOptions>(
      "driple.pna", "the published network with towers of neighbourhood aggregation"));
}

Component convert_component() {
  return command<ConvertCommand, ConvertOptions>(
      "driple.convert", "turns a published state dictionary into a model of driple.gcn");
}

}  // namespace omen::driple
