// SPDX-License-Identifier: Apache-2.0
// CSV in one pass over a byte window, and out again.
#include <algorithm>
#include <array>
#include <memory>
#include <ostream>
#include <unordered_map>

#include "byte_window.hpp"
#include "column_buffer.hpp"
#include "omen/utf8.hpp"
#include "tables/table_io.hpp"
#include "text/number_text.hpp"

namespace omen::host {
namespace {

// Splits the input into records of fields and knows where each one stands.
class CsvScanner {
 public:
  struct Field {
    std::size_t at, size;  // without the quotes
    bool quoted, escaped;
  };

  CsvScanner(std::istream& in, const std::string& name, char delimiter)
      : window_(in, name), delimiter_(delimiter) {
    for (const char c : {delimiter, '\n', '\r', '"', '\0'})
      stops_[static_cast<unsigned char>(c)] = true;
    skip_byte_order_mark();
  }

  // The next record that is not a blank line; false at the end.
  bool next() {
    do {
      window_.advance(length_);
      line_ += lines_;
      length_ = 0;
      lines_ = 0;
      walked_ = {};
      fields_.clear();
      if (peek(0) < 0) return false;
      scan_record();
    } while (fields_.size() == 1 && fields_[0].size == 0 && !fields_[0].quoted);
    return true;
  }

  const std::vector<Field>& fields() const noexcept { return fields_; }
  // Valid until the next call of text or next.
  std::string_view text(const Field& field) {
    const std::string_view raw(window_.data() + field.at, field.size);
    if (!field.escaped) return raw;
    unescaped_.clear();
    for (std::size_t i = 0; i < raw.size(); ++i) {
      unescaped_ += raw[i];
      if (raw[i] == '"') ++i;
    }
    return unescaped_;
  }
  // Goes on from where it was asked last, so that to ask for every field takes one pass.
  Place place(std::size_t at) const {
    if (at < walked_.at) walked_ = {};
    const std::string_view before(window_.data(), at);
    for (std::size_t end; (end = before.find('\n', walked_.at)) != std::string_view::npos;
         walked_.at = walked_.line_start = end + 1)
      ++walked_.lines;
    walked_.at = at;
    return {line_ + walked_.lines, static_cast<std::int64_t>(at - walked_.line_start) + 1};
  }
  Place place(const Field& field) const { return place(field.at - (field.quoted ? 1 : 0)); }
  Place record_place() const { return {line_, 1}; }

  template <class Failure = Error>
  [[noreturn]] void fail(Place place, const std::string& what, const std::string& hint) const {
    throw Failure(OMEN_INVALID_DATA, to_text(window_.name(), place) + ": " + what, hint);
  }

  // Scanning from here on can be repeated after rewind().
  void mark() {
    window_.advance(std::exchange(length_, 0));
    line_ += std::exchange(lines_, 0);
    walked_ = {};
    marked_line_ = line_;
    window_.mark();
  }
  std::size_t marked_bytes() const noexcept { return window_.marked_bytes() + length_; }
  void rewind() {
    window_.rewind();
    length_ = 0;
    lines_ = 0;
    walked_ = {};
    line_ = marked_line_;
  }
  const std::string& name() const noexcept { return window_.name(); }
  std::size_t record_bytes() const noexcept { return length_; }

 private:
  int peek(std::size_t at) {
    if (at == window_.size()) {
      if (at > ByteWindow::kMaxRecord)
        fail(record_place(), "row is longer than 64 MiB", "Look for a quote that is not closed.");
      if (!window_.more()) return -1;
    }
    return static_cast<unsigned char>(window_.data()[at]);
  }

  void skip_byte_order_mark() {
    const int first = peek(0);
    if ((first == 0xFF && peek(1) == 0xFE) || (first == 0xFE && peek(1) == 0xFF))
      fail({1, 1}, "file is UTF-16", "Save it as UTF-8.");
    if (first == 0xEF && peek(1) == 0xBB && peek(2) == 0xBF) window_.advance(3);
  }

  void scan_record() {
    std::size_t at = 0;
    for (;;) {
      at = peek(at) == '"' ? scan_quoted(at + 1) : scan_plain(at);
      const int stop = peek(at);
      if (stop == delimiter_) {
        ++at;
        continue;
      }
      if (stop == '\r' && peek(at + 1) != '\n')
        fail(place(at), "a carriage return stands alone",
             "Convert the line ends to LF or CRLF, or quote the field.");
      length_ = at + (stop < 0 ? 0 : stop == '\r' ? 2 : 1);
      ++lines_;
      return;
    }
  }

  std::size_t scan_plain(const std::size_t first) {
    std::size_t at = first;
    do {
      const char* const bytes = window_.data();
      const std::size_t size = window_.size();
      while (at < size && !stops_[static_cast<unsigned char>(bytes[at])]) ++at;
    } while (at == window_.size() && peek(at) >= 0);
    if (at < window_.size()) refuse_in_plain(at, window_.data()[at]);
    fields_.push_back({first, at - first, false, false});
    return at;
  }

  void refuse_in_plain(std::size_t at, char stop) const {
    if (stop == '"')
      fail(place(at), "a quote stands inside a field that is not quoted",
           "Quote the whole field and double the quotes inside it.");
    if (stop == '\0')
      fail(place(at), "the file holds a NUL byte",
           "It may be binary or UTF-16; save it as UTF-8 text.");
  }

  std::size_t scan_quoted(const std::size_t first) {
    bool escaped = false;
    for (std::size_t at = first;; ++at) {
      const int c = peek(at);
      if (c < 0)
        fail(place(first - 1), "the quote that opens here is never closed",
             "Add the closing quote.");
      if (c == '\0') refuse_in_plain(at, '\0');
      if (c == '\n') ++lines_;
      if (c != '"') continue;
      const int after = peek(at + 1);
      if (after == '"') {
        escaped = true;
        ++at;
        continue;
      }
      if (after >= 0 && after != delimiter_ && after != '\n' && after != '\r')
        fail(place(at + 1), "text follows a closing quote",
             "Double the quotes inside a quoted field.");
      fields_.push_back({first, at - first, true, escaped});
      return at + 1;
    }
  }

  ByteWindow window_;
  char delimiter_;
  std::array<bool, 256> stops_{};
  std::vector<Field> fields_;
  std::string unescaped_;
  std::size_t length_ = 0;  // of the current record
  std::int64_t line_ = 1, lines_ = 0, marked_line_ = 1;
  struct Walked {
    std::size_t at = 0, line_start = 0;
    std::int64_t lines = 0;
  };
  mutable Walked walked_;  // of the current record
};

bool is_bool(std::string_view text, bool& value) {
  for (const char* yes : {"true", "True", "TRUE"})
    if (text == yes) return value = true;
  value = false;
  return text == "false" || text == "False" || text == "FALSE";
}

// What the values of a column have in common so far.
struct CsvGuess {
  std::int64_t values = 0, numbers = 0;
  bool integers = true, bools = true;
  Place odd_place;  // the first value that is no number
  std::string odd_value;

  void see(std::string_view text, const CsvScanner& scanner, const CsvScanner::Field& field) {
    ++values;
    double number;
    const bool integer = integers && parse_integer(text);
    integers = integer;
    if (integer || parse_number(text, number) != NumberText::kNotANumber) {
      bools = false;
      ++numbers;
      return;
    }
    bool flag;
    bools = bools && is_bool(text, flag);
    if (!odd_value.empty()) return;
    odd_place = scanner.place(field);
    odd_value = text;
  }
  bool mostly_numbers() const noexcept { return numbers >= 20 && numbers * 10 >= values * 9; }
};

class CsvReader {
 public:
  CsvReader(std::istream& in, const std::string& name, ReadOptions options)
      : scanner_(in, name, options.delimiter), options_(std::move(options)) {
    read_header();
    settle_types();
  }

  std::optional<Table> next() {
    if (done_) return std::nullopt;
    std::size_t bytes = 0;
    std::int64_t rows = 0;
    while (rows < options_.batch_rows && bytes < options_.batch_bytes && next_row()) {
      const auto& fields = scanner_.fields();
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        look_up(c);
        add(columns_[c], fields[c]);
      }
      if (!options_.line_column.empty()) lines_.push_back(scanner_.record_place().line);
      bytes += scanner_.record_bytes();
      ++rows;
    }
    done_ = rows == 0;
    if (done_ && started_) return std::nullopt;
    started_ = true;
    TableBuilder builder;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      look_up(c);
      columns_[c].flush(builder);
    }
    if (!options_.line_column.empty()) builder.add(options_.line_column, std::exchange(lines_, {}));
    return builder.finish();
  }

 private:
  using Field = CsvScanner::Field;

  // A row of a million columns takes longer than a user waits for an answer to Ctrl-C.
  void look_up(std::size_t column) const {
    if (column % 4096 == 4095) stop_if_cancelled(scanner_.name());
  }

  void read_header() {
    if (!scanner_.next())
      scanner_.fail({1, 1}, "file is empty", "The first line names the columns.");
    std::unordered_map<std::string, std::size_t> seen;
    for (const Field& field : scanner_.fields()) {
      look_up(names_.size());
      std::string name(scanner_.text(field));
      if (name.empty()) name = options_.unnamed_column;
      if (name.empty())
        scanner_.fail(scanner_.place(field),
                      "column " + std::to_string(names_.size() + 1) + " has no name",
                      "Every field of the first line names a column.");
      check_utf8(name, field);
      const auto [before, fresh] = seen.emplace(name, names_.size() + 1);
      if (!fresh)
        scanner_.fail(scanner_.place(field),
                      "columns " + std::to_string(before->second) + " and " +
                          std::to_string(names_.size() + 1) + " are both named " + show_value(name),
                      "Rename one of them.");
      names_.push_back(name);
    }
    for (const auto* wanted : {&options_.text_columns, &options_.number_columns})
      for (const std::string& name : *wanted)
        if (seen.count(name) == 0)
          throw Error(OMEN_NOT_FOUND, "'" + scanner_.name() + "' has no column '" + name + "'",
                      "Check the spelling against the first line of the file.");
  }

  bool next_row() {
    if (!scanner_.next()) return false;
    if (scanner_.fields().size() != names_.size())
      scanner_.fail(scanner_.record_place(),
                    "row has " + std::to_string(scanner_.fields().size()) +
                        " fields, the header has " + std::to_string(names_.size()),
                    "Quote fields that contain the delimiter, and leave empty fields in place.");
    return true;
  }

  void settle_types() {
    std::vector<CsvGuess> guesses(names_.size());
    scanner_.mark();
    for (std::int64_t rows = 0;
         rows < options_.batch_rows && scanner_.marked_bytes() < options_.batch_bytes; ++rows) {
      if (!next_row()) break;
      for (std::size_t c = 0; c < names_.size(); ++c) {
        look_up(c);
        const Field& field = scanner_.fields()[c];
        const std::string_view text = trim(scanner_.text(field));
        if (!text.empty()) guesses[c].see(text, scanner_, field);
      }
    }
    scanner_.rewind();
    for (std::size_t c = 0; c < names_.size(); ++c) {
      look_up(c);
      columns_.emplace_back(names_[c], type_of_column(names_[c], guesses[c]));
    }
  }

  Type type_of_column(const std::string& name, const CsvGuess& guess) const {
    const auto listed = [&name](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (listed(options_.text_columns)) return Type::kDictionary;
    if (guess.numbers < guess.values) {
      if (listed(options_.number_columns) || guess.mostly_numbers())
        scanner_.fail(
            guess.odd_place,
            show_value(guess.odd_value) + " is not a number; " + std::to_string(guess.numbers) +
                " of " + std::to_string(guess.values) + " values of column '" + name + "' are",
            "Correct the value or leave the field empty; read the column as text to keep it.");
      return guess.bools ? Type::kBool : Type::kDictionary;
    }
    return guess.integers && guess.values > 0 && !listed(options_.number_columns) ? Type::kInt64
                                                                                  : Type::kFloat64;
  }

  void add(ColumnBuffer& column, const Field& field) {
    const std::string_view text = scanner_.text(field);
    if (column.type() == Type::kDictionary) {
      if (text.empty() && !field.quoted) return column.add_null();
      if (column.add_text(text)) check_utf8(text, field);
      return;
    }
    const std::string_view value = trim(text);
    if (value.empty()) return column.add_null();
    if (column.type() == Type::kInt64) return column.add_integer(integer(column, field, value));
    if (column.type() == Type::kFloat64) return column.add_number(number(column, field, value));
    bool flag;
    if (!is_bool(value, flag)) misfit(column, field, value, "true or false");
    column.add_bool(flag);
  }

  std::int64_t integer(const ColumnBuffer& column, const Field& field, std::string_view value) {
    if (const auto parsed = parse_integer(value)) return *parsed;
    misfit(column, field, value, "a 64-bit integer");
  }
  double number(const ColumnBuffer& column, const Field& field, std::string_view value) {
    double parsed;
    const NumberText kind = parse_number(value, parsed);
    if (kind == NumberText::kNotANumber) misfit(column, field, value, "a number");
    if (kind == NumberText::kTooLarge)
      scanner_.fail(scanner_.place(field),
                    show_value(value) + " is too large for column '" + column.name() + "'",
                    "The largest number is about 1.8e308; write inf for more.");
    return parsed;
  }

  [[noreturn]] void misfit(const ColumnBuffer& column, const Field& field, std::string_view value,
                           const char* wanted) {
    scanner_.fail<ColumnTypeError>(
        scanner_.place(field),
        show_value(value) + " is not " + wanted + ", as column '" + column.name() +
            "' is by its first rows",
        "Correct the value, read the column as text, or move such a row to the front of the file.");
  }
  void check_utf8(std::string_view text, const Field& field) const {
    if (find_invalid_utf8(text) != std::string_view::npos)
      scanner_.fail(scanner_.place(field), "field is not UTF-8 text", "Save the file as UTF-8.");
  }

  CsvScanner scanner_;
  ReadOptions options_;
  std::vector<std::string> names_;
  std::vector<ColumnBuffer> columns_;
  std::vector<std::int64_t> lines_;
  bool started_ = false, done_ = false;
};

// ----------------------------------------------------------------------------------------- writing

void append_csv_text(std::string& out, std::string_view text) {
  const bool plain = !text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos;
  if (plain) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out += '"';
}

void append_csv_cell(std::string& out, const Table& table, std::size_t c, std::int64_t row) {
  const Type type = table.type(c);
  const bool null = table.is_null(c, row);
  if (is_list(type)) {
    for (std::int64_t i = 0; i < table.list_size(c); ++i) {
      if (i > 0) out += ',';
      if (null) continue;
      if (type == Type::kFloatList)
        append_number(out, table.list<float>(c)[row][i]);
      else
        append_number(out, table.list<std::int32_t>(c)[row][i]);
    }
  } else if (null) {
    if (table.columns() == 1) out += "\"\"";
  } else if (is_text(type)) {
    append_csv_text(out, table.strings(c)[row]);
  } else if (type == Type::kBool) {
    out += table.boolean(c, row) ? "true" : "false";
  } else {
    omen::detail::visit_number(
        type, [&](auto zero) { append_number(out, table.column<decltype(zero)>(c)[row]); });
  }
}

void append_header(std::string& out, const Table& table) {
  for (std::size_t c = 0; c < table.columns(); ++c) {
    const std::string name(table.name(c));
    if (c > 0) out += ',';
    if (!is_list(table.type(c))) append_csv_text(out, name);
    for (std::int64_t i = 0; is_list(table.type(c)) && i < table.list_size(c); ++i) {
      if (i > 0) out += ',';
      append_csv_text(out, name + "." + std::to_string(i));
    }
  }
  out += '\n';
}

}  // namespace

TableStream stream_csv(std::istream& in, const std::string& name, const ReadOptions& options) {
  auto reader = std::make_shared<CsvReader>(in, name, options);
  auto first = std::make_shared<std::optional<Table>>(reader->next());
  const Table schema = **first;
  return TableStream(schema, [reader, first]() -> std::optional<Table> {
    if (*first) return std::exchange(*first, std::nullopt);
    return reader->next();
  });
}

void write_csv(std::ostream& out, const Table& table) {
  constexpr std::size_t kFlushAt = std::size_t{1} << 16;
  std::string text;
  append_header(text, table);
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    for (std::size_t c = 0; c < table.columns(); ++c) {
      if (c > 0) text += ',';
      append_csv_cell(text, table, c, row);
    }
    text += '\n';
    if (text.size() < kFlushAt) continue;
    out << text;
    text.clear();
  }
  out << text;
}

}  // namespace omen::host
