// SPDX-License-Identifier: Apache-2.0
// Flat JSON objects to rows of a table: the first rows settle the types of the columns.
#include "tables/json_lines.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "tables/column_buffer.hpp"
#include "tables/json_rows.hpp"

namespace omen::host {
namespace {

// What the values of a column have in common so far.
struct MemberGuess {
  JsonValue::Kind kind = JsonValue::kNull;
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
    std::vector<MemberGuess> guesses;
    rows_.mark();
    std::int64_t row = 0;
    for (; row < options_.batch_rows && rows_.marked_bytes() < options_.batch_bytes && rows_.next();
         ++row)
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        const JsonMember& member = rows_.member(i);
        const auto [at, fresh] = index_.try_emplace(member.name, names.size());
        if (fresh) {
          names.push_back(member.name);
          guesses.emplace_back();
        }
        MemberGuess& guess = guesses[at->second];
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

  ColumnBuffer column_for(const std::string& name, const MemberGuess& guess) const {
    if (listed(options_.text_columns, name)) return {name, Type::kDictionary};
    switch (guess.kind) {
      case JsonValue::kBool:
        return {name, Type::kBool};
      case JsonValue::kText:
        return {name, Type::kDictionary};
      case JsonValue::kInteger:
        return {name, listed(options_.number_columns, name) ? Type::kFloat64 : Type::kInt64};
      case JsonValue::kList:
        return {name, guess.integer_items ? Type::kIntList : Type::kFloatList,
                static_cast<std::int64_t>(guess.width)};
      default:
        return {name, Type::kFloat64};
    }
  }

  void join(MemberGuess& guess, const JsonMember& member) const {
    const JsonValue& value = member.value;
    if (value.kind == JsonValue::kNull || listed(options_.text_columns, member.name)) return;
    if (listed(options_.number_columns, member.name) && value.kind != JsonValue::kInteger &&
        value.kind != JsonValue::kNumber)
      misfit(member, "a number");
    const auto number = [](JsonValue::Kind kind) {
      return kind == JsonValue::kInteger || kind == JsonValue::kNumber;
    };
    if (guess.kind != JsonValue::kNull && guess.kind != value.kind &&
        !(number(guess.kind) && number(value.kind)))
      misfit(member, kind_words(guess.kind));
    guess.kind = std::max(guess.kind, value.kind);
    if (value.kind != JsonValue::kList) return;
    if (guess.width == 0) guess.width = value.items.size();
    if (guess.width != value.items.size()) wrong_width(member, guess.width);
    guess.integer_items &= value.integer_items;
  }

  // Rows mostly name their members in the same order, so the place tells the column.
  std::size_t column_of(std::size_t place, const JsonMember& member) const {
    if (place < columns_.size() && columns_[place].name() == member.name) return place;
    const auto found = index_.find(member.name);
    if (found == index_.end())
      rows_.fail(member.name_at,
                 "member '" + member.name + "' is unknown: the first rows do not have it",
                 "Give every member in the first row, with null where it has no value.");
    return found->second;
  }

  void add(std::size_t place, const JsonMember& member, std::int64_t row) {
    ColumnBuffer& column = columns_[column_of(place, member)];
    if (column.rows() > row) fail_duplicate(member);
    const JsonValue& value = member.value;
    if (value.kind == JsonValue::kNull) return column.add_null();
    switch (column.type()) {
      case Type::kBool:
        if (value.kind != JsonValue::kBool) misfit(member, "a boolean");
        return column.add_bool(value.flag);
      case Type::kInt64:
        if (value.kind != JsonValue::kInteger) misfit(member, "an integer");
        return column.add_integer(value.integer);
      case Type::kFloat64:
        if (value.kind != JsonValue::kInteger && value.kind != JsonValue::kNumber)
          misfit(member, "a number");
        return column.add_number(value.number);
      case Type::kDictionary:
        return add_text(column, member);
      default:
        return add_list(column, member);
    }
  }

  void add_text(ColumnBuffer& column, const JsonMember& member) {
    const JsonValue& value = member.value;
    const bool forced = listed(options_.text_columns, member.name);
    if (value.kind == JsonValue::kBool && forced) {
      column.add_text(value.flag ? "true" : "false");
    } else if (value.kind == JsonValue::kText || (forced && value.kind != JsonValue::kList)) {
      column.add_text(value.text);
    } else {
      misfit(member, "text");
    }
  }
  void add_list(ColumnBuffer& column, const JsonMember& member) {
    const JsonValue& value = member.value;
    if (value.kind != JsonValue::kList) misfit(member, "a list");
    if (static_cast<std::int64_t>(value.items.size()) != column.list_size())
      wrong_width(member, static_cast<std::size_t>(column.list_size()));
    if (column.type() == Type::kIntList && !value.integer_items)
      misfit(member, "a list of 32-bit integers");
    column.add_list(value.items);
  }

  [[noreturn]] void misfit(const JsonMember& member, const std::string& wanted) const {
    rows_.fail(member.value_at,
               "member '" + member.name + "' is " + kind_words(member.value.kind) + " here but " +
                   wanted + " in the rows before",
               "A member has one type in all rows; null fits every type.");
  }
  [[noreturn]] void wrong_width(const JsonMember& member, std::size_t width) const {
    rows_.fail(member.value_at,
               "list '" + member.name + "' has " + std::to_string(member.value.items.size()) +
                   " values here but " + std::to_string(width) + " in the rows before",
               "All lists of a member are equally long.");
  }
  [[noreturn]] void fail_duplicate(const JsonMember& member) const {
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

}  // namespace

TableStream stream_json_lines(std::istream& in, const std::string& name,
                              const ReadOptions& options) {
  return stream_rows(in, name, JsonRows::Layout::kLines, options);
}

TableStream stream_json_array(std::istream& in, const std::string& name,
                              const ReadOptions& options) {
  return stream_rows(in, name, JsonRows::Layout::kArray, options);
}

}  // namespace omen::host
