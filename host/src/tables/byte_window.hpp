// SPDX-License-Identifier: Apache-2.0
// A window over an input stream that always holds the current record in one piece.
#ifndef OMEN_HOST_BYTE_WINDOW_HPP
#define OMEN_HOST_BYTE_WINDOW_HPP

#include <algorithm>
#include <cstring>
#include <istream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "omen/error.hpp"
#include "tables/table_io.hpp"

namespace omen::host {

// A position that people can go to: both count from 1, columns in bytes.
struct Place {
  std::int64_t line = 1;
  std::int64_t column = 1;
};

inline std::string to_text(const std::string& file, Place place) {
  return file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

// A value as an error message shows it: short and printable.
inline std::string show_value(std::string_view value) {
  constexpr std::size_t kLimit = 40;
  std::string out = "'";
  for (const char c : value.substr(0, kLimit))
    out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return out + (value.size() > kLimit ? "...'" : "'");
}

// Throws once the user gave up; whoever reads text asks every so many bytes and fields.
inline void stop_if_cancelled(const std::string& name) {
  if (const auto asked = reading_cancelled.load(); asked && asked())
    throw Error(OMEN_CANCELLED, "reading '" + name + "' was interrupted");
}

class ByteWindow {
 public:
  // One record may not outgrow this, so that an unclosed quote does not read a pipe into memory.
  static constexpr std::size_t kMaxRecord = std::size_t{64} << 20;

  ByteWindow(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  const std::string& name() const noexcept { return name_; }
  // The record starts at data(); size() bytes of it and what follows are there so far.
  const char* data() const noexcept { return bytes_.data() + first_; }
  std::size_t size() const noexcept { return last_ - first_; }

  // Reads on; false at the end of the stream. Invalidates data().
  bool more() {
    constexpr std::size_t kChunk = std::size_t{1} << 16;
    stop_if_cancelled(name_);
    if (first_ > 0 && !mark_) {
      std::memmove(bytes_.data(), bytes_.data() + first_, size());
      last_ -= first_;
      first_ = 0;
    }
    if (bytes_.size() - last_ < kChunk) bytes_.resize(std::max(bytes_.size() * 2, last_ + kChunk));
    in_.read(bytes_.data() + last_, kChunk);
    const auto count = static_cast<std::size_t>(in_.gcount());
    if (in_.bad())
      throw Error(OMEN_IO, "cannot read '" + name_ + "'",
                  "Check the device or the program that writes the pipe.");
    last_ += count;
    return count > 0;
  }
  void advance(std::size_t count) noexcept { first_ += count; }

  // Everything from here on is kept until rewind() goes back to it.
  void mark() noexcept { mark_ = first_; }
  std::size_t marked_bytes() const noexcept { return first_ - *mark_; }
  void rewind() noexcept {
    first_ = *mark_;
    mark_.reset();
  }

 private:
  std::istream& in_;
  std::string name_;
  std::vector<char> bytes_;
  std::size_t first_ = 0, last_ = 0;
  std::optional<std::size_t> mark_;
};

}  // namespace omen::host

#endif  // OMEN_HOST_BYTE_WINDOW_HPP
