// SPDX-License-Identifier: Apache-2.0
// Binary form of protocol buffers: fields one after the other, without knowing their types.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace omen::driple {

struct WireField {
  std::uint32_t number = 0;
  std::uint64_t value = 0;  // of numbers
  std::string_view bytes;   // of texts and messages
};

class WireReader {
 public:
  WireReader(std::string_view bytes, const std::string& source) : bytes_(bytes), source_(source) {}
  // False at the end. OMEN_INVALID_DATA where a field is cut off.
  bool next(WireField& field);
  WireReader inner(std::string_view bytes) const { return {bytes, source_}; }

 private:
  [[noreturn]] void fail(const char* what) const;
  std::uint64_t varint();
  std::string_view take(std::uint64_t size);

  std::string_view bytes_;
  const std::string& source_;
  std::size_t at_ = 0;
};

}  // namespace omen::driple
