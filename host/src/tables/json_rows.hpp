// SPDX-License-Identifier: Apache-2.0
// Flat JSON objects, one after the other, with the place of every name and value.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "tables/byte_window.hpp"

namespace omen::host {

struct JsonValue {
  enum Kind { kNull, kBool, kInteger, kNumber, kText, kList } kind = kNull;
  bool flag = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;  // the text itself, or a number as it was written
  std::vector<double> items;
  bool integer_items = false;  // every item fits an int32
};

struct JsonMember {
  std::string name;
  JsonValue value;
  std::size_t name_at = 0, value_at = 0;  // in the current record
};

// "an integer", as messages call it.
const char* kind_words(JsonValue::Kind kind);

// Takes one object at a time out of the input. In the layout of lines a record is a line; in an
// array it is everything.
class JsonRows {
 public:
  enum class Layout { kLines, kArray };

  JsonRows(std::istream& in, const std::string& name, Layout layout);

  // Fills members() with the next object; false at the end.
  bool next();
  std::size_t size() const noexcept { return count_; }
  const JsonMember& member(std::size_t i) const { return members_[i]; }

  [[noreturn]] void fail(std::size_t at, const std::string& what, const std::string& hint) const;

  void mark();
  std::size_t marked_bytes() const;
  void rewind();
  const std::string& name() const noexcept { return window_.name(); }
  std::size_t record_bytes() const noexcept { return text_.size(); }
  // Of the current object; in an array it counts on from the object before.
  std::int64_t line();

 private:
  static constexpr const char* kSyntaxHint = "Check the JSON around this place.";

  bool next_line();
  [[noreturn]] void fail_too_long();
  void take_text(std::size_t size);
  void open_array();
  bool next_item();
  void skip_space();
  char peek() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
  void expect(char wanted, const std::string& what);
  JsonMember& new_member();
  void parse_object();
  void parse_value(JsonMember& member);
  bool take(std::string_view word);
  void parse_number_into(JsonValue& value);
  void parse_list(JsonMember& member);
  void parse_string(std::string& out);
  void parse_escape(std::string& out);
  unsigned hex4(std::size_t opened);
  static void append_utf8(std::string& out, unsigned code);

  ByteWindow window_;
  Layout layout_;
  std::string_view text_;  // the current record
  std::size_t at_ = 0, marked_at_ = 0, length_ = 0;
  std::int64_t line_ = 1, lines_ = 0, counted_ = 1;
  std::size_t counted_to_ = 0;
  bool first_item_ = true, closed_ = false, single_ = false;
  std::vector<JsonMember> members_;  // the first count_ are in use; the rest keep their memory
  std::size_t count_ = 0;
  JsonValue item_;
};

}  // namespace omen::host
