// SPDX-License-Identifier: Apache-2.0
// Describes the components that are made of networks.
#include "network/components.hpp"

#include "network/convert_command.hpp"
#include "network/dataflow_test_command.hpp"
#include "network/network_predictor.hpp"

namespace omen::loadbalance {

Component network_component() {
  return predictor<NetworkPredictor, NetworkPredictorOptions>(
             kNetworkId, "graph networks on program graphs: the share of the work for the CPU")
      .reads("nodes@programl/1", "edges", "workloads.wgsize", "workloads.input_size",
             "workloads.compiled:optional")
      .writes("share", "share_class", "device")
      .caps(OMEN_CAP_SEEDED_REPEATABLE)
      .cite("arXiv:2003.10536");
}

Component convert_component() {
  return command<ConvertCommand, ConvertOptions>(
      "loadbalance.convert", "turns a published checkpoint into a model of loadbalance.network");
}

Component dataflow_test_component() {
  return command<DataflowTestCommand, DataflowTestOptions>(
      "loadbalance.dataflow-test",
      "precision, recall and F1 of a data-flow model on questions with answers");
}

}  // namespace omen::loadbalance
