// SPDX-License-Identifier: Apache-2.0
// Networks from whatever names them: a description, a layer table, a model file, or a name.
#pragma once

#include <omen/opgraph/op_graph.hpp>
#include <optional>
#include <string>
#include <vector>

#include "nets/net.hpp"

namespace omen::power {

// What model files leave open. 0: batch 1, a prompt of 1024 tokens, 128 for open sizes of ONNX, and
// in decoding as many tokens in the cache as the prompt has.
struct NetRun {
  opgraph::Mode mode = opgraph::Mode::prefill;  // or decode or infer
  std::int64_t batch = 0, sequence = 0, cached = 0;
  std::optional<opgraph::Precision> weights;  // in memory, where they are narrower than in the file
};

// `warnings` gets what was not understood.
std::vector<Net> read_nets(const std::string& path_or_name, const NetRun& run = {},
                           std::vector<std::string>* warnings = nullptr);

// Whether the head of a file is that of a config.json of a transformer.
bool is_transformer_config(std::string_view head);
bool is_onnx_path(std::string_view path);

}  // namespace omen::power
