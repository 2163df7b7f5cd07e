// SPDX-License-Identifier: Apache-2.0
// The published load-balance networks (pyg_programl, Apache-2.0) as models of ours.
#pragma once

#include <string>
#include <vector>

#include "graph/vocabulary.hpp"
#include "network/model.hpp"
#include "omen/torch/state_dict.hpp"

namespace omen::loadbalance {

// Named tensors of a checkpoint: a file that torch.save wrote ({"model": state_dict}), or a
// directory with manifest.txt (name, type and dimensions a line) and one NAME.bin for each tensor.
// OMEN_NOT_FOUND, or OMEN_INVALID_DATA with what is wrong.
std::vector<torch_kit::NamedTensor> read_checkpoint(const std::string& path);

struct ConvertedCheckpoint {
  NetworkModel model;
  std::int64_t parameters = 0;      // numbers that were trained
  std::vector<std::string> unused;  // tensors that no answer depends on
};

// The network that the names and shapes of the tensors describe: skips and the extended readout,
// one output for the share or five for its class. OMEN_INVALID_DATA where they describe another one
// or the vocabulary has another size.
ConvertedCheckpoint convert_checkpoint(const std::vector<torch_kit::NamedTensor>& tensors,
                                       const Vocabulary& words);

}  // namespace omen::loadbalance
