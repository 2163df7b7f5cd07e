// SPDX-License-Identifier: Apache-2.0
// Whether the names and types of a table fit into the header of its file.
#pragma once

#include <string>
#include <string_view>

#include "omen/container.hpp"
#include "omen/error.hpp"
#include "omen/table.hpp"

namespace omen::container {

// Too many columns show before hours of reading, not after; the estimate is a lower bound.
inline void check_header_room(const std::string& table, const Table& batch) {
  constexpr std::string_view kEntry = R"(,".":{"dtype":"U8","shape":[0],"data_offsets":[,]})";
  constexpr std::string_view kSchema = R"(,{\"name\":\"\",\"type\":\"bool\",\"metadata\":{}})";
  constexpr std::size_t kTextTensors = 2;  // offsets and bytes; words have a third
  std::size_t bytes = 0, tensors = 0;
  for (std::size_t c = 0; c < batch.columns(); ++c) {
    const std::size_t own = is_text(batch.type(c)) ? kTextTensors : 1;
    tensors += own;
    // Every tensor holds a byte or more, so its number is a lower bound of where it begins.
    const std::size_t digits = 2 * std::to_string(tensors).size();
    bytes += own * (kEntry.size() + digits + table.size() + batch.name(c).size()) + kSchema.size() +
             batch.name(c).size();
  }
  if (bytes > kMaxHeaderBytes)
    throw Error(OMEN_UNSUPPORTED,
                "table '" + table + "' has " + std::to_string(batch.columns()) +
                    " columns, whose names and types do not fit into the " +
                    std::to_string(kMaxHeaderBytes / 1'000'000) + " MB of a file's header",
                "Take fewer columns, or put numbers that belong together into lists: JSON lines "
                "can hold them.");
}

}  // namespace omen::container
