// SPDX-License-Identifier: Apache-2.0
// What a model_type implies without saying so in its config.json.
#ifndef OMEN_OPGRAPH_TRANSFORMER_FAMILIES_HPP
#define OMEN_OPGRAPH_TRANSFORMER_FAMILIES_HPP

#include <span>
#include <string_view>

#include "omen/opgraph/transformer_config.hpp"

namespace omen::opgraph {

struct TransformerFamily {
  std::string_view model_type;
  void (*set)(TransformerConfig&);  // before the fields are read
  bool learned_positions = false;
  std::int64_t position_offset = 0;
};

std::span<const TransformerFamily> families();
const TransformerFamily* find_family(std::string_view model_type);

}  // namespace omen::opgraph

#endif  // OMEN_OPGRAPH_TRANSFORMER_FAMILIES_HPP
