// SPDX-License-Identifier: Apache-2.0
// Own parser of JSON, because errors need their place and duplicates count.
#include "tables/json_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "omen/utf8.hpp"
#include "text/number_text.hpp"

namespace omen::host {

const char* kind_words(JsonValue::Kind kind) {
  static constexpr const char* kNames[] = {"null",     "a boolean", "an integer",
                                           "a number", "text",      "a list"};
  return kNames[kind];
}

JsonRows::JsonRows(std::istream& in, const std::string& name, Layout layout)
    : window_(in, name), layout_(layout) {
  while (window_.size() < 3 && window_.more()) continue;
  if (std::string_view(window_.data(), window_.size()).substr(0, 3) == "\xEF\xBB\xBF")
    window_.advance(3);
  if (layout == Layout::kArray) open_array();
}

bool JsonRows::next() {
  count_ = 0;
  if (layout_ == Layout::kArray ? !next_item() : !next_line()) return false;
  parse_object();
  if (layout_ == Layout::kLines) {
    skip_space();
    if (at_ < text_.size())
      fail(at_, "text follows the object", "Put every object on a line of its own.");
  }
  return true;
}

[[noreturn]] void JsonRows::fail(std::size_t at, const std::string& what,
                                 const std::string& hint) const {
  const std::string_view before = text_.substr(0, at);
  const std::size_t newline = before.rfind('\n');
  const std::int64_t lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t column = newline == std::string_view::npos ? at + 1 : at - newline;
  throw Error(
      OMEN_INVALID_DATA,
      to_text(window_.name(), {line_ + lines, static_cast<std::int64_t>(column)}) + ": " + what,
      hint);
}

void JsonRows::mark() {
  marked_at_ = at_;
  if (layout_ == Layout::kLines) window_.mark();
}

std::size_t JsonRows::marked_bytes() const {
  return layout_ == Layout::kLines ? window_.marked_bytes() : at_ - marked_at_;
}

void JsonRows::rewind() {
  at_ = marked_at_;
  first_item_ = true;
  closed_ = false;
  if (layout_ == Layout::kArray) return;
  window_.rewind();
  length_ = 0;
  line_ = 1;
  lines_ = 0;
}

std::int64_t JsonRows::line() {
  if (layout_ == Layout::kLines) return line_;
  const std::size_t here = count_ > 0 ? members_[0].name_at : at_;
  const std::string_view passed = text_.substr(counted_to_, here - counted_to_);
  counted_to_ = here;
  return counted_ += std::count(passed.begin(), passed.end(), '\n');
}

bool JsonRows::next_line() {
  do {
    window_.advance(length_);
    line_ += std::exchange(lines_, 0);
    std::size_t searched = 0;
    const void* found = nullptr;
    while (!(found = std::memchr(window_.data() + searched, '\n', window_.size() - searched))) {
      searched = window_.size();
      if (searched > ByteWindow::kMaxRecord) fail_too_long();
      if (!window_.more()) break;
    }
    length_ = found ? static_cast<std::size_t>(static_cast<const char*>(found) - window_.data()) + 1
                    : window_.size();
    if (length_ == 0) return false;
    lines_ = 1;
    take_text(length_ - (found ? 1 : 0));
  } while (at_ == text_.size());
  return true;
}

[[noreturn]] void JsonRows::fail_too_long() {
  text_ = {};
  fail(0, "line is longer than 64 MiB", "Put every object on a line of its own.");
}

void JsonRows::take_text(std::size_t size) {
  text_ = {window_.data(), size};
  at_ = 0;
  if (const std::size_t bad = find_invalid_utf8(text_); bad != std::string_view::npos)
    fail(bad, "file is not UTF-8", "Save the file as UTF-8.");
  skip_space();
}

void JsonRows::open_array() {
  while (window_.more()) continue;
  take_text(window_.size());
  if (at_ < text_.size() && text_[at_] == '{') {
    single_ = true;
    return;
  }
  expect('[', "an array of row objects");
}

bool JsonRows::next_item() {
  skip_space();
  const bool first = std::exchange(first_item_, false);
  if (single_) {
    if (!first && at_ < text_.size())
      fail(at_, "text follows the object", "Put several objects into an array.");
    return first;
  }
  if (closed_) return false;
  if (peek() == ']') {
    ++at_;
    skip_space();
    if (at_ < text_.size()) fail(at_, "text follows the array", kSyntaxHint);
    closed_ = true;
    return false;
  }
  if (!first) expect(',', "',' or ']'");
  skip_space();
  return true;
}

void JsonRows::skip_space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n'))
    ++at_;
}

void JsonRows::expect(char wanted, const std::string& what) {
  if (peek() != wanted) fail(at_, "expected " + what, kSyntaxHint);
  ++at_;
}

JsonMember& JsonRows::new_member() {
  if (count_ == members_.size()) members_.emplace_back();
  return members_[count_++];
}

void JsonRows::parse_object() {
  expect('{', "an object");
  skip_space();
  if (peek() == '}') {
    ++at_;
    return;
  }
  for (;;) {
    skip_space();
    JsonMember& member = new_member();
    member.name_at = at_;
    parse_string(member.name);
    skip_space();
    expect(':', "':'");
    skip_space();
    member.value_at = at_;
    parse_value(member);
    skip_space();
    if (peek() == '}') break;
    expect(',', "',' or '}'");
  }
  ++at_;
}

void JsonRows::parse_value(JsonMember& member) {
  JsonValue& value = member.value;
  const char c = peek();
  if (c == '"') {
    value.kind = JsonValue::kText;
    parse_string(value.text);
  } else if (c == '[') {
    parse_list(member);
  } else if (c == '{') {
    fail(at_, "member '" + member.name + "' is an object",
         "Rows are flat; use names such as '" + member.name + ".part' instead.");
  } else if (take("true") || take("false")) {
    value.kind = JsonValue::kBool;
    value.flag = c == 't';
  } else if (take("null")) {
    value.kind = JsonValue::kNull;
  } else {
    parse_number_into(value);
  }
}

bool JsonRows::take(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

void JsonRows::parse_number_into(JsonValue& value) {
  const std::size_t first = at_;
  if (!take("NaN") && !take("Infinity") && !take("-Infinity"))
    while (at_ < text_.size() &&
           std::string_view("+-.0123456789eE").find(text_[at_]) != std::string_view::npos)
      ++at_;
  const std::string_view token = text_.substr(first, at_ - first);
  if (token.empty() || token[0] == '+') fail(first, "expected a value", kSyntaxHint);
  value.text = token;
  value.kind = JsonValue::kInteger;
  if (const auto integer = parse_integer(token)) {
    value.integer = *integer;
    value.number = static_cast<double>(*integer);
    return;
  }
  value.kind = JsonValue::kNumber;
  const NumberText result = parse_number(token, value.number);
  if (result == NumberText::kNotANumber)
    fail(first, show_value(token) + " is not a number", kSyntaxHint);
  if (result == NumberText::kTooLarge)
    fail(first, show_value(token) + " is too large", "The largest number is about 1.8e308.");
}

void JsonRows::parse_list(JsonMember& member) {
  JsonValue& list = member.value;
  list.kind = JsonValue::kList;
  list.items.clear();
  list.integer_items = true;
  ++at_;
  skip_space();
  if (peek() == ']')
    fail(at_, "member '" + member.name + "' is an empty list",
         "Use null where there are no values.");
  for (;;) {
    skip_space();
    const std::size_t first = at_;
    if (peek() == '"' || peek() == '[' || peek() == '{' || peek() == 'n' || peek() == 't' ||
        peek() == 'f')
      fail(first, "list '" + member.name + "' holds something else than numbers",
           "Lists are flat lists of numbers.");
    parse_number_into(item_);
    list.integer_items &= item_.kind == JsonValue::kInteger &&
                          item_.integer >= std::numeric_limits<std::int32_t>::min() &&
                          item_.integer <= std::numeric_limits<std::int32_t>::max();
    if (std::isfinite(item_.number) && std::abs(item_.number) > std::numeric_limits<float>::max())
      fail(first, show_value(item_.text) + " is too large for a list",
           "Lists hold 32-bit numbers.");
    list.items.push_back(item_.number);
    skip_space();
    if (peek() == ']') break;
    expect(',', "',' or ']'");
  }
  ++at_;
}

void JsonRows::parse_string(std::string& out) {
  const std::size_t opened = at_;
  expect('"', "a quoted name");
  out.clear();
  for (;;) {
    const std::size_t first = at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
           static_cast<unsigned char>(text_[at_]) >= 0x20)
      ++at_;
    out.append(text_, first, at_ - first);
    if (at_ == text_.size()) fail(opened, "the text that starts here does not end", kSyntaxHint);
    const char c = text_[at_++];
    if (c == '"') return;
    if (c != '\\')
      fail(at_ - 1, "a control character stands in a text", "Escape it, as in \\n or \\u0009.");
    parse_escape(out);
  }
}

void JsonRows::parse_escape(std::string& out) {
  static constexpr std::string_view kCodes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  const std::size_t opened = at_ - 1;
  const char c = peek();
  ++at_;
  if (const std::size_t known = kCodes.find(c); c != '\0' && known != std::string_view::npos) {
    out += kMeanings[known];
    return;
  }
  if (c != 'u') fail(opened, "unknown escape", kSyntaxHint);
  unsigned code = hex4(opened);
  if (code >= 0xD800 && code < 0xDC00 && take("\\u")) {
    const unsigned low = hex4(opened);
    code =
        low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : 0xD800;
  }
  if (code >= 0xD800 && code < 0xE000) fail(opened, "half of a surrogate pair", kSyntaxHint);
  if (code == 0)
    fail(opened, "a text holds a NUL character", "Remove it; texts end at the first NUL.");
  append_utf8(out, code);
}

unsigned JsonRows::hex4(std::size_t opened) {
  unsigned code = 0;
  const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (error != std::errc() || end != digits.data() + 4)
    fail(opened, "\\u needs four hexadecimal digits", kSyntaxHint);
  at_ += 4;
  return code;
}

void JsonRows::append_utf8(std::string& out, unsigned code) {
  const auto put = [&out](unsigned byte) { out += static_cast<char>(byte); };
  const auto rest = [&](int shift) { put(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    rest(6);
  } else {
    put(0xF0 | code >> 18);
    rest(12);
    rest(6);
  }
  rest(0);
}

}  // namespace omen::host
