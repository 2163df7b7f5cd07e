// SPDX-License-Identifier: Apache-2.0
// Networks from files with the published state dictionary.
#pragma once

#include <memory>
#include <string>

#include "nets/network.hpp"

namespace omen::driple {

// A gcn network with the weights of a torch.save or safetensors file; its number of outputs and its
// width follow from their shapes. OMEN_INVALID_DATA with the tensor that is missing or misshapen,
// or that the network does not have.
std::unique_ptr<Network> published_network(const std::string& path);

}  // namespace omen::driple
