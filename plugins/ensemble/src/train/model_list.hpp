// SPDX-License-Identifier: Apache-2.0
// Which networks train, with which learning rate, seed and optimiser each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omen::ensemble {

enum class Optimiser { kSgd, kMomentum, kAdam };
const char* optimiser_name(Optimiser optimiser);
std::optional<Optimiser> parse_optimiser(std::string_view text);

struct ModelChoice {
  std::string name;    // unique in a run
  std::string source;  // a built-in network or a TorchScript file
  double learning_rate = 0.01;
  std::uint64_t seed = 0;
  Optimiser optimiser = Optimiser::kSgd;
  std::int64_t ranks = 1;  // that divide each of its batches
};

// Built-in networks, TorchScript files ("net.pt") and sweeps ("sweep.csv" with the columns model,
// learning_rate, seed, optimiser, ranks, name of which only the first is needed), divided by
// commas; "tiny*3" is three copies with seeds of their own. `defaults` gives what a text does not
// say.
std::vector<ModelChoice> parse_models(const std::string& text, const ModelChoice& defaults);

// The networks that need no file.
std::vector<std::string> built_in_networks();
bool is_built_in(std::string_view source);

}  // namespace omen::ensemble
