// SPDX-License-Identifier: Apache-2.0
// Flat JSON objects to rows of a table and back; own parser, because errors need their place and
// duplicates count.
#include "json_lines.hpp"

#include <algorithm>
#include <memory>
#include <ostream>
#include <unordered_map>

#include "byte_window.hpp"
#include "column_buffer.hpp"
#include "omen/utf8.hpp"
#include "text/number_text.hpp"

namespace omen::host {
namespace {

struct Value {
  enum Kind { kNull, kBool, kInteger, kNumber, kText, kList } kind = kNull;
  bool flag = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;  // the text itself, or a number as it was written
  std::vector<double> items;
  bool integer_items = false;  // every item fits an int32
};

struct Member {
  std::string name;
  Value value;
  std::size_t name_at = 0, value_at = 0;  // in the current record
};

const char* kind_text(Value::Kind kind) {
  static constexpr const char* kNames[] = {"null",     "a boolean", "an integer",
                                           "a number", "text",      "a list"};
  return kNames[kind];
}

// Takes one object at a time out of the input. In the layout of lines a record is a line; in an
// array it is everything.
class JsonRows {
 public:
  enum class Layout { kLines, kArray };

  JsonRows(std::istream& in, const std::string& name, Layout layout)
      : window_(in, name), layout_(layout) {
    while (window_.size() < 3 && window_.more()) continue;
    if (std::string_view(window_.data(), window_.size()).substr(0, 3) == "\xEF\xBB\xBF")
      window_.advance(3);
    if (layout == Layout::kArray) open_array();
  }

  // Fills members() with the next object; false at the end.
  bool next() {
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
  std::size_t size() const noexcept { return count_; }
  const Member& member(std::size_t i) const { return members_[i]; }

  [[noreturn]] void fail(std::size_t at, const std::string& what, const std::string& hint) const {
    const std::string_view before = text_.substr(0, at);
    const std::size_t newline = before.rfind('\n');
    const std::int64_t lines = std::count(before.begin(), before.end(), '\n');
    const std::size_t column = newline == std::string_view::npos ? at + 1 : at - newline;
    throw Error(
        OMEN_INVALID_DATA,
        to_text(window_.name(), {line_ + lines, static_cast<std::int64_t>(column)}) + ": " + what,
        hint);
  }

  void mark() {
    marked_at_ = at_;
    if (layout_ == Layout::kLines) window_.mark();
  }
  std::size_t marked_bytes() const {
    return layout_ == Layout::kLines ? window_.marked_bytes() : at_ - marked_at_;
  }
  void rewind() {
    at_ = marked_at_;
    first_item_ = true;
    closed_ = false;
    if (layout_ == Layout::kArray) return;
    window_.rewind();
    length_ = 0;
    line_ = 1;
    lines_ = 0;
  }
  const std::string& name() const noexcept { return window_.name(); }
  std::size_t record_bytes() const noexcept { return text_.size(); }
  // Of the current object; in an array it counts on from the object before.
  std::int64_t line() {
    if (layout_ == Layout::kLines) return line_;
    const std::size_t here = count_ > 0 ? members_[0].name_at : at_;
    const std::string_view passed = text_.substr(counted_to_, here - counted_to_);
    counted_to_ = here;
    return counted_ += std::count(passed.begin(), passed.end(), '\n');
  }

 private:
  static constexpr const char* kSyntaxHint = "Check the JSON around this place.";

  bool next_line() {
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
      length_ = found
                    ? static_cast<std::size_t>(static_cast<const char*>(found) - window_.data()) + 1
                    : window_.size();
      if (length_ == 0) return false;
      lines_ = 1;
      take_text(length_ - (found ? 1 : 0));
    } while (at_ == text_.size());
    return true;
  }
  [[noreturn]] void fail_too_long() {
    text_ = {};
    fail(0, "line is longer than 64 MiB", "Put every object on a line of its own.");
  }

  void take_text(std::size_t size) {
    text_ = {window_.data(), size};
    at_ = 0;
    if (const std::size_t bad = find_invalid_utf8(text_); bad != std::string_view::npos)
      fail(bad, "file is not UTF-8", "Save the file as UTF-8.");
    skip_space();
  }

  void open_array() {
    while (window_.more()) continue;
    take_text(window_.size());
    if (at_ < text_.size() && text_[at_] == '{') {
      single_ = true;
      return;
    }
    expect('[', "an array of row objects");
  }

  bool next_item() {
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

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n'))
      ++at_;
  }
  char peek() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
  void expect(char wanted, const std::string& what) {
    if (peek() != wanted) fail(at_, "expected " + what, kSyntaxHint);
    ++at_;
  }

  Member& new_member() {
    if (count_ == members_.size()) members_.emplace_back();
    return members_[count_++];
  }

  void parse_object() {
    expect('{', "an object");
    skip_space();
    if (peek() == '}') {
      ++at_;
      return;
    }
    for (;;) {
      skip_space();
      Member& member = new_member();
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

  void parse_value(Member& member) {
    Value& value = member.value;
    const char c = peek();
    if (c == '"') {
      value.kind = Value::kText;
      parse_string(value.text);
    } else if (c == '[') {
      parse_list(member);
    } else if (c == '{') {
      fail(at_, "member '" + member.name + "' is an object",
           "Rows are flat; use names such as '" + member.name + ".part' instead.");
    } else if (take("true") || take("false")) {
      value.kind = Value::kBool;
      value.flag = c == 't';
    } else if (take("null")) {
      value.kind = Value::kNull;
    } else {
      parse_number_into(value);
    }
  }

  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  void parse_number_into(Value& value) {
    const std::size_t first = at_;
    if (!take("NaN") && !take("Infinity") && !take("-Infinity"))
      while (at_ < text_.size() &&
             std::string_view("+-.0123456789eE").find(text_[at_]) != std::string_view::npos)
        ++at_;
    const std::string_view token = text_.substr(first, at_ - first);
    if (token.empty() || token[0] == '+') fail(first, "expected a value", kSyntaxHint);
    value.text = token;
    value.kind = Value::kInteger;
    if (const auto integer = parse_integer(token)) {
      value.integer = *integer;
      value.number = static_cast<double>(*integer);
      return;
    }
    value.kind = Value::kNumber;
    const NumberText result = parse_number(token, value.number);
    if (result == NumberText::kNotANumber)
      fail(first, show_value(token) + " is not a number", kSyntaxHint);
    if (result == NumberText::kTooLarge)
      fail(first, show_value(token) + " is too large", "The largest number is about 1.8e308.");
  }

  void parse_list(Member& member) {
    Value& list = member.value;
    list.kind = Value::kList;
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
      list.integer_items &= item_.kind == Value::kInteger &&
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

  void parse_string(std::string& out) {
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

  void parse_escape(std::string& out) {
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
      code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                                           : 0xD800;
    }
    if (code >= 0xD800 && code < 0xE000) fail(opened, "half of a surrogate pair", kSyntaxHint);
    if (code == 0)
      fail(opened, "a text holds a NUL character", "Remove it; texts end at the first NUL.");
    append_utf8(out, code);
  }
  unsigned hex4(std::size_t opened) {
    unsigned code = 0;
    const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || end != digits.data() + 4)
      fail(opened, "\\u needs four hexadecimal digits", kSyntaxHint);
    at_ += 4;
    return code;
  }
  static void append_utf8(std::string& out, unsigned code) {
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

  ByteWindow window_;
  Layout layout_;
  std::string_view text_;  // the current record
  std::size_t at_ = 0, marked_at_ = 0, length_ = 0;
  std::int64_t line_ = 1, lines_ = 0, counted_ = 1;
  std::size_t counted_to_ = 0;
  bool first_item_ = true, closed_ = false, single_ = false;
  std::vector<Member> members_;  // the first count_ are in use; the rest keep their memory
  std::size_t count_ = 0;
  Value item_;
};

// What the values of a column have in common so far.
struct Guess {
  Value::Kind kind = Value::kNull;
  std::size_t width = 0;
  bool integer_items = true;
  std::int64_t seen_in = -1;  // the last row that had it
};

class JsonReader {
 public:
  JsonReader(std::istream& in, const std::string& name, JsonRows::Layout layout,
             ReadOptions options)
      : rows_(in, name, layout), options_(std::move(options)) {
    settle_types();
  }

  std::optional<Table> next() {
    std::size_t bytes = 0;
    std::int64_t count = 0;
    while (count < options_.batch_rows && bytes < options_.batch_bytes && rows_.next()) {
      for (std::size_t i = 0; i < rows_.size(); ++i) add(i, rows_.member(i), count);
      if (!options_.line_column.empty()) lines_.push_back(rows_.line());
      ++count;
      for (ColumnBuffer& column : columns_)
        if (column.rows() < count) column.add_null();
      bytes += rows_.record_bytes();
    }
    if (count == 0) return std::nullopt;
    TableBuilder builder;
    for (ColumnBuffer& column : columns_) column.flush(builder);
    if (!options_.line_column.empty()) builder.add(options_.line_column, std::exchange(lines_, {}));
    return builder.finish();
  }

 private:
  static bool listed(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  void settle_types() {
    std::vector<std::string> names;
    std::vector<Guess> guesses;
    rows_.mark();
    std::int64_t row = 0;
    for (; row < options_.batch_rows && rows_.marked_bytes() < options_.batch_bytes && rows_.next();
         ++row)
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        const Member& member = rows_.member(i);
        const auto [at, fresh] = index_.try_emplace(member.name, names.size());
        if (fresh) {
          names.push_back(member.name);
          guesses.emplace_back();
        }
        Guess& guess = guesses[at->second];
        if (std::exchange(guess.seen_in, row) == row) fail_duplicate(member);
        join(guess, member);
      }
    if (names.empty())
      throw Error(OMEN_INVALID_DATA,
                  "'" + rows_.name() + "' holds no rows with members, so it has no columns",
                  "Give at least one JSON object with named values.");
    rows_.rewind();
    for (std::size_t c = 0; c < names.size(); ++c)
      columns_.push_back(column_for(names[c], guesses[c]));
  }

  ColumnBuffer column_for(const std::string& name, const Guess& guess) const {
    if (listed(options_.text_columns, name)) return {name, Type::kDictionary};
    switch (guess.kind) {
      case Value::kBool:
        return {name, Type::kBool};
      case Value::kText:
        return {name, Type::kDictionary};
      case Value::kInteger:
        return {name, listed(options_.number_columns, name) ? Type::kFloat64 : Type::kInt64};
      case Value::kList:
        return {name, guess.integer_items ? Type::kIntList : Type::kFloatList,
                static_cast<std::int64_t>(guess.width)};
      default:
        return {name, Type::kFloat64};
    }
  }

  void join(Guess& guess, const Member& member) const {
    const Value& value = member.value;
    if (value.kind == Value::kNull || listed(options_.text_columns, member.name)) return;
    if (listed(options_.number_columns, member.name) && value.kind != Value::kInteger &&
        value.kind != Value::kNumber)
      misfit(member, "a number");
    const auto number = [](Value::Kind kind) {
      return kind == Value::kInteger || kind == Value::kNumber;
    };
    if (guess.kind != Value::kNull && guess.kind != value.kind &&
        !(number(guess.kind) && number(value.kind)))
      misfit(member, kind_text(guess.kind));
    guess.kind = std::max(guess.kind, value.kind);
    if (value.kind != Value::kList) return;
    if (guess.width == 0) guess.width = value.items.size();
    if (guess.width != value.items.size()) wrong_width(member, guess.width);
    guess.integer_items &= value.integer_items;
  }

  // Rows mostly name their members in the same order, so the place tells the column.
  std::size_t column_of(std::size_t place, const Member& member) const {
    if (place < columns_.size() && columns_[place].name() == member.name) return place;
    const auto found = index_.find(member.name);
    if (found == index_.end())
      rows_.fail(member.name_at,
                 "member '" + member.name + "' is unknown: the first rows do not have it",
                 "Give every member in the first row, with null where it has no value.");
    return found->second;
  }

  void add(std::size_t place, const Member& member, std::int64_t row) {
    ColumnBuffer& column = columns_[column_of(place, member)];
    if (column.rows() > row) fail_duplicate(member);
    const Value& value = member.value;
    if (value.kind == Value::kNull) return column.add_null();
    switch (column.type()) {
      case Type::kBool:
        if (value.kind != Value::kBool) misfit(member, "a boolean");
        return column.add_bool(value.flag);
      case Type::kInt64:
        if (value.kind != Value::kInteger) misfit(member, "an integer");
        return column.add_integer(value.integer);
      case Type::kFloat64:
        if (value.kind != Value::kInteger && value.kind != Value::kNumber)
          misfit(member, "a number");
        return column.add_number(value.number);
      case Type::kDictionary:
        return add_text(column, member);
      default:
        return add_list(column, member);
    }
  }

  void add_text(ColumnBuffer& column, const Member& member) {
    const Value& value = member.value;
    const bool forced = listed(options_.text_columns, member.name);
    if (value.kind == Value::kBool && forced) {
      column.add_text(value.flag ? "true" : "false");
    } else if (value.kind == Value::kText || (forced && value.kind != Value::kList)) {
      column.add_text(value.text);
    } else {
      misfit(member, "text");
    }
  }
  void add_list(ColumnBuffer& column, const Member& member) {
    const Value& value = member.value;
    if (value.kind != Value::kList) misfit(member, "a list");
    if (static_cast<std::int64_t>(value.items.size()) != column.list_size())
      wrong_width(member, static_cast<std::size_t>(column.list_size()));
    if (column.type() == Type::kIntList && !value.integer_items)
      misfit(member, "a list of 32-bit integers");
    column.add_list(value.items);
  }

  [[noreturn]] void misfit(const Member& member, const std::string& wanted) const {
    rows_.fail(member.value_at,
               "member '" + member.name + "' is " + kind_text(member.value.kind) + " here but " +
                   wanted + " in the rows before",
               "A member has one type in all rows; null fits every type.");
  }
  [[noreturn]] void wrong_width(const Member& member, std::size_t width) const {
    rows_.fail(member.value_at,
               "list '" + member.name + "' has " + std::to_string(member.value.items.size()) +
                   " values here but " + std::to_string(width) + " in the rows before",
               "All lists of a member are equally long.");
  }
  [[noreturn]] void fail_duplicate(const Member& member) const {
    rows_.fail(member.name_at, "member '" + member.name + "' appears twice in one object",
               "Remove one of them.");
  }

  JsonRows rows_;
  ReadOptions options_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<ColumnBuffer> columns_;
  std::vector<std::int64_t> lines_;
};

TableStream stream_rows(std::istream& in, const std::string& name, JsonRows::Layout layout,
                        const ReadOptions& options) {
  auto reader = std::make_shared<JsonReader>(in, name, layout, options);
  auto first = std::make_shared<std::optional<Table>>(reader->next());
  const Table schema = **first;
  return TableStream(schema, [reader, first]() -> std::optional<Table> {
    if (*first) return std::exchange(*first, std::nullopt);
    return reader->next();
  });
}

// ----------------------------------------------------------------------------------------- writing

void append_text(std::string& out, std::string_view text) {
  out += '"';
  std::size_t valid = std::min(find_invalid_utf8(text), text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (i == valid) {
      out += "\\ufffd";
      const std::size_t next = find_invalid_utf8(text.substr(i + 1));
      valid = next == std::string_view::npos ? text.size() : i + 1 + next;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += text[i];
    } else if (c >= 0x20) {
      out += text[i];
    } else if (c == '\n') {
      out += "\\n";
    } else {
      constexpr char kDigits[] = "0123456789abcdef";
      out += "\\u00";
      out += kDigits[c >> 4];
      out += kDigits[c & 15];
    }
  }
  out += '"';
}

template <class T>
void append_json_number(std::string& out, T value) {
  if (std::is_floating_point_v<T> && !std::isfinite(static_cast<double>(value)))
    out += "null";
  else
    append_number(out, value);
}

template <class T>
void append_list(std::string& out, const ListColumn<T>& list, std::int64_t row) {
  out += '[';
  for (std::int64_t i = 0; i < list.width(); ++i) {
    if (i > 0) out += ',';
    append_json_number(out, list[row][i]);
  }
  out += ']';
}

void append_cell(std::string& out, const Table& table, std::size_t c, std::int64_t row) {
  const Type type = table.type(c);
  if (table.is_null(c, row))
    out += "null";
  else if (is_text(type))
    append_text(out, table.strings(c)[row]);
  else if (type == Type::kBool)
    out += table.boolean(c, row) ? "true" : "false";
  else if (type == Type::kFloatList)
    append_list(out, table.list<float>(c), row);
  else if (type == Type::kIntList)
    append_list(out, table.list<std::int32_t>(c), row);
  else
    omen::detail::visit_number(
        type, [&](auto zero) { append_json_number(out, table.column<decltype(zero)>(c)[row]); });
}

// The names are the same in every row, so they are escaped once.
std::vector<std::string> row_keys(const Table& table) {
  std::vector<std::string> keys;
  for (std::size_t c = 0; c < table.columns(); ++c) {
    std::string key = c > 0 ? "," : "";
    append_text(key, table.name(c));
    keys.push_back(key + ":");
  }
  return keys;
}

void append_row(std::string& out, const Table& table, const std::vector<std::string>& keys,
                std::int64_t row) {
  out += '{';
  for (std::size_t c = 0; c < table.columns(); ++c) {
    out += keys[c];
    append_cell(out, table, c, row);
  }
  out += '}';
}

}  // namespace

TableStream stream_json_lines(std::istream& in, const std::string& name,
                              const ReadOptions& options) {
  return stream_rows(in, name, JsonRows::Layout::kLines, options);
}

TableStream stream_json_array(std::istream& in, const std::string& name,
                              const ReadOptions& options) {
  return stream_rows(in, name, JsonRows::Layout::kArray, options);
}

void write_json_lines(std::ostream& out, const Table& table) {
  constexpr std::size_t kFlushAt = std::size_t{1} << 16;
  const std::vector<std::string> keys = row_keys(table);
  std::string text;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    append_row(text, table, keys, row);
    text += '\n';
    if (text.size() < kFlushAt) continue;
    out << text;
    text.clear();
  }
  out << text;
}

std::string to_json_rows(const Table& table) {
  const std::vector<std::string> keys = row_keys(table);
  std::string text = "[";
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    if (row > 0) text += ",\n ";
    append_row(text, table, keys, row);
  }
  return text + "]";
}

}  // namespace omen::host
