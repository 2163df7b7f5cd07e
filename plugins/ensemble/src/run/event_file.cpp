// SPDX-License-Identifier: Apache-2.0
// The few messages of TensorBoard's protocol buffers that scalars need, written by hand.
#include "run/event_file.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <omen/pending_file.hpp>

namespace omen::ensemble {
namespace {

// CRC-32C, bit by bit into a table.
std::uint32_t crc32c(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82f63b78u : 0);
      made[i] = value;
    }
    return made;
  }();
  std::uint32_t sum = ~0u;
  for (const char byte : bytes)
    sum = sum >> 8 ^ table[(sum ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~sum;
}
// Stored rotated, so that the checksum of a checksum is not trivial.
std::uint32_t masked(std::uint32_t sum) {
  return (sum >> 15 | sum << 17) + 0xa282ead8u;
}

template <class Number>
std::string raw(Number value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

enum class Wire : unsigned { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
std::string key(unsigned field, Wire wire) {
  return varint(field << 3 | static_cast<unsigned>(wire));
}
std::string message(unsigned field, const std::string& body) {
  return key(field, Wire::kBytes) + varint(body.size()) + body;
}

// Event: wall_time 1, step 2, file_version 3, summary 5; Value: tag 1, simple_value 2.
std::string event(double wall_time, std::int64_t step, const std::string& rest) {
  return key(1, Wire::kFixed64) + raw(wall_time) + key(2, Wire::kVarint) +
         varint(static_cast<std::uint64_t>(step)) + rest;
}
std::string scalar(const std::string& tag, double value) {
  const std::string body =
      message(1, tag) + key(2, Wire::kFixed32) + raw(static_cast<float>(value));
  return message(5, message(1, body));
}

std::string record(const std::string& body) {
  const std::string length = raw(static_cast<std::uint64_t>(body.size()));
  return length + raw(masked(crc32c(length))) + body + raw(masked(crc32c(body)));
}

}  // namespace

void write_event_file(const std::filesystem::path& path, const std::vector<Curve>& curves,
                      double wall_time) {
  std::string all = record(event(wall_time, 0, message(3, "brain.Event:2")));
  for (const Curve& curve : curves)
    for (std::size_t step = 0; step < curve.values.size(); ++step)
      if (!std::isnan(curve.values[step]))
        all += record(event(wall_time, static_cast<std::int64_t>(step),
                            scalar(curve.tag, curve.values[step])));
  replace_file(path, all);
}

}  // namespace omen::ensemble
