// SPDX-License-Identifier: Apache-2.0
// Writes JSON text in the order given; cheap to compile, for code that only produces documents.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "omen/json_text.hpp"

namespace omen::host {

// `JsonWriter w; w.object().key("a").value(1).end(); w.text()`.
class JsonWriter {
 public:
  JsonWriter& object() { return open('{', '}'); }
  JsonWriter& array() { return open('[', ']'); }
  JsonWriter& end() {
    const Level level = levels_.back();
    levels_.pop_back();
    if (level.count > 0) new_line();
    text_ += level.close;
    return *this;
  }
  JsonWriter& key(std::string_view name) {
    separate();
    text_ += json_quote(name) + ": ";
    after_key_ = true;
    return *this;
  }
  JsonWriter& value(std::string_view text) { return raw(json_quote(text)); }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(std::same_as<bool> auto flag) { return raw(flag ? "true" : "false"); }
  template <std::integral T>
  requires(!std::same_as<T, bool>) JsonWriter& value(T number) {
    return raw(std::to_string(number));
  }
  // The shortest text that reads back as the same number; NaN and infinities become null.
  JsonWriter& value(double number) {
    if (!std::isfinite(number)) return raw("null");
    char text[32];
    for (int digits = 15; digits <= 17; ++digits) {
      std::snprintf(text, sizeof text, "%.*g", digits, number);
      if (std::stod(text) == number) break;
    }
    return raw(text);
  }
  JsonWriter& null() { return raw("null"); }
  template <class T>
  JsonWriter& field(std::string_view name, const T& content) {
    return key(name).value(content);
  }
  template <class Strings>
  JsonWriter& strings(std::string_view name, const Strings& texts) {
    key(name).array();
    for (const auto& text : texts) value(text);
    return end();
  }
  // Text that is JSON already.
  JsonWriter& raw(std::string_view json) {
    separate();
    text_ += json;
    return *this;
  }

  std::string text() const { return text_ + "\n"; }

 private:
  struct Level {
    char close;
    int count;
  };
  JsonWriter& open(char begin, char close) {
    separate();
    text_ += begin;
    levels_.push_back({close, 0});
    return *this;
  }
  void separate() {
    if (after_key_) {
      after_key_ = false;
      return;
    }
    if (levels_.empty()) return;
    if (levels_.back().count++ > 0) text_ += ',';
    new_line();
  }
  void new_line() { text_.append("\n").append(levels_.size() * 2, ' '); }

  std::string text_;
  std::vector<Level> levels_;
  bool after_key_ = false;
};

}  // namespace omen::host
