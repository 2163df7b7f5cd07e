// SPDX-License-Identifier: Apache-2.0
// Every element takes at least one byte, so a document cannot ask for more memory than its size
// justifies.
#include "ubjson.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "omen/error.hpp"

namespace omen::learn {
namespace {

constexpr int kDeepest = 32;

class UbjParser {
 public:
  explicit UbjParser(std::string_view bytes) : bytes_(bytes) {}

  UbjValue document() {
    UbjValue value = parse(take(), 0);
    if (at_ != bytes_.size()) fail("bytes follow its end");
    return value;
  }

 private:
  [[noreturn]] static void fail(const char* what) {
    throw Error(OMEN_INVALID_DATA, std::string("the model's trees cannot be read: ") + what,
                "Train the model again.");
  }

  char take() {
    if (at_ == bytes_.size()) fail("they end early");
    return bytes_[at_++];
  }
  char peek() const {
    if (at_ == bytes_.size()) fail("they end early");
    return bytes_[at_];
  }
  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - at_) fail("they end early");
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }

  // Numbers lie with their highest byte first.
  template <class T>
  double take_number() {
    std::string bytes(take(sizeof(T)));
    std::reverse(bytes.begin(), bytes.end());
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return static_cast<double>(value);
  }
  double number(char type) {
    switch (type) {
      case 'i':
        return take_number<std::int8_t>();
      case 'U':
        return take_number<std::uint8_t>();
      case 'I':
        return take_number<std::int16_t>();
      case 'l':
        return take_number<std::int32_t>();
      case 'L':
        return take_number<std::int64_t>();
      case 'd':
        return take_number<float>();
      case 'D':
        return take_number<double>();
      default:
        fail("a type is unknown");
    }
  }
  std::size_t length() {
    if (take() != 'L') fail("a length has another type than int64");
    const double count = number('L');
    if (count < 0 || count > static_cast<double>(bytes_.size() - at_)) fail("a length is wrong");
    return static_cast<std::size_t>(count);
  }

  UbjValue parse(char type, int depth) {
    if (depth > kDeepest) fail("they are nested too deeply");
    UbjValue value;
    if (type == '{') {
      take_members(value, depth);
    } else if (type == '[') {
      take_elements(value, depth);
    } else if (type == 'S') {
      value.kind = UbjValue::Kind::kText;
      value.text = take(length());
    } else if (type == 'T' || type == 'F') {
      value.kind = UbjValue::Kind::kNumber;
      value.number = type == 'T' ? 1 : 0;
    } else if (type != 'Z') {
      value.kind = UbjValue::Kind::kNumber;
      value.number = number(type);
    }
    return value;
  }

  void take_members(UbjValue& value, int depth) {
    value.kind = UbjValue::Kind::kObject;
    while (peek() != '}') {
      std::string key(take(length()));
      if (value.find(key)) fail("a name stands twice");
      value.list.push_back(parse(take(), depth + 1));
      value.names.push_back(std::move(key));
    }
    take();
  }

  void take_elements(UbjValue& value, int depth) {
    value.kind = UbjValue::Kind::kList;
    if (peek() == '$') {
      take();
      const char type = take();
      if (take() != '#') fail("an array has a type and no length");
      value.kind = UbjValue::Kind::kNumbers;
      value.numbers.resize(length());
      for (double& element : value.numbers) element = number(type);
    } else if (peek() == '#') {
      take();
      for (std::size_t left = length(); left > 0; --left)
        value.list.push_back(parse(take(), depth + 1));
    } else {
      while (peek() != ']') value.list.push_back(parse(take(), depth + 1));
      take();
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace

const UbjValue* UbjValue::find(std::string_view key) const {
  const auto at = std::find(names.begin(), names.end(), key);
  return at == names.end() ? nullptr : &list[static_cast<std::size_t>(at - names.begin())];
}

UbjValue parse_ubjson(std::string_view bytes) {
  return UbjParser(bytes).document();
}

}  // namespace omen::learn
