// SPDX-License-Identifier: Apache-2.0
// Recursive descent over names, scalars and messages.
#include "text_proto.hpp"

#include <algorithm>
#include <omen/error.hpp>

namespace omen::driple {
namespace {

constexpr int kDeepest = 64;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-' || c == '+' || c == '/';
}

class TextReader {
 public:
  TextReader(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  std::vector<TextField> file() {
    std::vector<TextField> fields;
    for (skip(); at_ < text_.size(); skip()) field(fields, 0);
    return fields;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    const auto lines =
        std::count(text_.begin(),
                   text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), '\n');
    throw Error(OMEN_INVALID_DATA, source_ + ":" + std::to_string(lines + 1) + ": " + what,
                "Write the graph again, for example with tf.io.write_graph.");
  }
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == ',' || c == ';') {
        ++at_;
      } else {
        return;
      }
    }
  }
  std::string word(const char* what) {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (start == at_)
      fail(at_ >= text_.size() ? "the file ends too early" : std::string("expected ") + what);
    return std::string(text_.substr(start, at_ - start));
  }
  std::string name() {
    if (next() != '[') return word("a field");
    const std::size_t end = text_.find(']', at_);
    if (end == text_.npos) fail("the file ends too early");
    std::string inner(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return inner;
  }

  void field(std::vector<TextField>& to, int depth) {
    if (depth > kDeepest) fail("messages lie too deep within each other");
    TextField field;
    field.name = name();
    skip();
    const bool colon = next() == ':';
    if (colon) ++at_;
    skip();
    if (next() == '[') return list(to, field, depth);
    if (next() == '{' || next() == '<') {
      message(field, depth);
    } else {
      if (!colon) fail("expected ':' or '{' behind " + field.name);
      field.value = scalar();
    }
    to.push_back(std::move(field));
  }

  void list(std::vector<TextField>& to, const TextField& like, int depth) {
    ++at_;
    for (skip(); next() != ']'; skip()) {
      if (at_ >= text_.size()) fail("the file ends too early");
      TextField item;
      item.name = like.name;
      if (next() == '{' || next() == '<')
        message(item, depth);
      else
        item.value = scalar();
      to.push_back(std::move(item));
    }
    ++at_;
  }

  void message(TextField& field, int depth) {
    const char close = text_[at_++] == '{' ? '}' : '>';
    field.message = true;
    for (skip(); next() != close; skip()) {
      if (at_ >= text_.size()) fail("the file ends too early");
      TextReader::field(field.fields, depth + 1);
    }
    ++at_;
  }

  std::string scalar() {
    if (next() != '"' && next() != '\'') return word("a value");
    std::string value;
    // Strings behind each other are one.
    while (next() == '"' || next() == '\'') {
      quoted(value);
      skip();
    }
    return value;
  }

  void quoted(std::string& value) {
    const char quote = text_[at_++];
    while (true) {
      if (at_ >= text_.size()) fail("the file ends within a text");
      const char c = text_[at_++];
      if (c == quote) return;
      if (c == '\\')
        escape(value);
      else
        value.push_back(c);
    }
  }

  void escape(std::string& value) {
    if (at_ >= text_.size()) fail("the file ends within a text");
    const char c = text_[at_++];
    const auto digits = [&](int base, int most, int code, int seen) {
      for (; seen < most && at_ < text_.size(); ++seen, ++at_) {
        const char d = text_[at_];
        const int digit = d >= '0' && d <= '9'   ? d - '0'
                          : d >= 'a' && d <= 'f' ? d - 'a' + 10
                          : d >= 'A' && d <= 'F' ? d - 'A' + 10
                                                 : 99;
        if (digit >= base) break;
        code = code * base + digit;
      }
      value.push_back(static_cast<char>(code));
    };
    if (c >= '0' && c <= '7') return digits(8, 3, c - '0', 1);
    if (c == 'x' || c == 'X') return digits(16, 2, 0, 0);
    constexpr std::string_view kLetters = "nrtabfv", kMeant = "\n\r\t\a\b\f\v";
    const std::size_t found = kLetters.find(c);
    value.push_back(found == kLetters.npos ? c : kMeant[found]);
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<TextField> parse_text_proto(std::string_view text, const std::string& source) {
  return TextReader(text, source).file();
}

const TextField* find_field(const std::vector<TextField>& fields, std::string_view name) {
  for (const TextField& field : fields)
    if (field.name == name) return &field;
  return nullptr;
}

}  // namespace omen::driple
