// SPDX-License-Identifier: Apache-2.0
// Networks to and from artifacts: their options as text, their tensors at a chosen precision.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "omen/artifact.hpp"
#include "omen/torch/nn/network.hpp"

namespace omen::torch_kit::nn {

// Matrices as floats, half floats, or bytes with a scale for each row; the latter two change
// answers by less than what training leaves open.
enum class Precision { kSingle, kHalf, kByte };

// single, half or byte; OMEN_INVALID_ARGUMENT for another name.
Precision precision_named(const std::string& name);

// Every tensor of a network as `state.NAME`, and back into the tensors whatever the precision was.
void save_weights(const Network& network, ArtifactWriter& out, Precision precision);
void load_weights(const Network& network, const ArtifactReader& in);

// What the data do not decide: all options but words, edge kinds, auxiliary columns and outputs.
// OMEN_INVALID_DATA for options that are missing, out of range or of another layout.
void save_options(const NetworkOptions& options, ArtifactWriter& out);
NetworkOptions load_options(const ArtifactReader& in);

// Numbers as text that reads back to the same bits, counts up to `largest`, and lists of lines.
void put_number(ArtifactWriter& out, const std::string& key, double value);
double get_number(const ArtifactReader& in, const std::string& key);
std::int64_t get_count(const ArtifactReader& in, const std::string& key, std::int64_t largest);
void put_lines(ArtifactWriter& out, const std::string& name, const std::vector<std::string>& lines);
std::vector<std::string> get_lines(const ArtifactReader& in, const std::string& name);

}  // namespace omen::torch_kit::nn
