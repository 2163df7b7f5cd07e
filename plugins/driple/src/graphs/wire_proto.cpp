// SPDX-License-Identifier: Apache-2.0
// Tags, lengths and variable-length numbers.
#include "wire_proto.hpp"

#include <omen/error.hpp>

namespace omen::driple {

void WireReader::fail(const char* what) const {
  throw Error(OMEN_INVALID_DATA, source_ + ": " + what + " at byte " + std::to_string(at_),
              "Is it a GraphDef? A SavedModel has to be frozen first.");
}

std::uint64_t WireReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ >= bytes_.size()) fail("the file ends within a number");
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  fail("a number is too long");
}

std::string_view WireReader::take(std::uint64_t size) {
  if (size > bytes_.size() - at_) fail("the file ends within a field");
  const std::string_view part = bytes_.substr(at_, size);
  at_ += size;
  return part;
}

bool WireReader::next(WireField& field) {
  if (at_ >= bytes_.size()) return false;
  const std::uint64_t tag = varint();
  field = {static_cast<std::uint32_t>(tag >> 3), 0, {}};
  if (field.number == 0) fail("this is no field");
  switch (tag & 7) {
    case 0:
      field.value = varint();
      return true;
    case 1:
      take(8);
      return true;
    case 2:
      field.bytes = take(varint());
      return true;
    case 5:
      take(4);
      return true;
    default:
      fail("a field is of no known kind");
  }
}

}  // namespace omen::driple
