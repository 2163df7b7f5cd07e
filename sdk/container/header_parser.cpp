// SPDX-License-Identifier: Apache-2.0
// The header grammar: {"__metadata__": {text: text}, name: {"dtype", "shape", "data_offsets"}}.
#include "header_parser.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "omen/utf8.hpp"

namespace omen::container {
namespace {

using HeaderJson = nlohmann::json;

[[noreturn]] void bad_header(const std::string& what) {
  throw Error(OMEN_INVALID_DATA, what);
}

std::string in_quotes(std::string_view name) {
  return "'" + std::string(name) + "'";
}

// Names cross the C boundary as NUL-terminated text, so an embedded NUL would change them.
void refuse_nul(std::string_view text, const char* what) {
  if (text.find('\0') != std::string_view::npos)
    bad_header(std::string(what) + " contains a NUL character");
}

class HeaderEvents final : public nlohmann::json_sax<HeaderJson> {
 public:
  explicit HeaderEvents(Header& header) : header_(header) {}

  bool start_object(std::size_t) override {
    switch (state_) {
      case State::kStart:
        state_ = State::kTop;
        return true;
      case State::kTensorValue:
        state_ = State::kTensor;
        return true;
      case State::kMetadataValue:
        state_ = State::kMetadata;
        return true;
      default:
        wrong("an object");
    }
  }
  bool key(string_t& name) override {
    if (state_ == State::kTop)
      top_key(name);
    else if (state_ == State::kMetadata)
      metadata_key(name);
    else
      tensor_key(name);
    return true;
  }
  bool end_object() override {
    if (state_ == State::kTensor) finish_tensor();
    state_ = state_ == State::kTop ? State::kEnd : State::kTop;
    return true;
  }
  bool start_array(std::size_t) override {
    if (state_ == State::kShapeValue)
      state_ = State::kShape;
    else if (state_ == State::kOffsetsValue)
      state_ = State::kOffsets;
    else
      wrong("an array");
    return true;
  }
  bool end_array() override {
    if (state_ == State::kOffsets && offsets_.size() != 2)
      bad_header("tensor " + in_quotes(entry_.name) + ": data_offsets needs two numbers, not " +
                 std::to_string(offsets_.size()));
    state_ = State::kTensor;
    return true;
  }
  bool string(string_t& text) override {
    if (state_ == State::kDtypeValue) {
      if (dtype_width(text) == 0)
        bad_header("tensor " + in_quotes(entry_.name) + " has unknown dtype " + in_quotes(text));
      entry_.dtype = text;
      state_ = State::kTensor;
    } else if (state_ == State::kTextValue) {
      refuse_nul(text, "a metadata value");
      header_.metadata[key_] = text;
      state_ = State::kMetadata;
    } else {
      wrong("text");
    }
    return true;
  }
  bool number_unsigned(std::uint64_t number) override {
    if (state_ == State::kOffsets) {
      offsets_.push_back(number);
    } else if (state_ == State::kShape) {
      if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        number_float(0, "");
      entry_.shape.push_back(static_cast<std::int64_t>(number));
    } else {
      wrong("a number");
    }
    return true;
  }
  bool number_integer(std::int64_t number) override {
    if (state_ == State::kShape || state_ == State::kOffsets)
      bad_header("tensor " + in_quotes(entry_.name) + ": " + field() + " has the negative number " +
                 std::to_string(number));
    wrong("a number");
  }
  bool number_float(double, const string_t&) override {
    if (state_ == State::kShape || state_ == State::kOffsets)
      bad_header("tensor " + in_quotes(entry_.name) + ": " + field() +
                 " has a number that is no 64-bit integer");
    wrong("a number");
  }
  bool boolean(bool) override { wrong("a boolean"); }
  bool null() override { wrong("null"); }
  bool binary(binary_t&) override { wrong("bytes"); }
  bool parse_error(std::size_t position, const std::string&,
                   const HeaderJson::exception&) override {
    bad_header("header is not valid JSON at its byte " + std::to_string(position));
  }

 private:
  enum class State {
    kStart,
    kTop,
    kMetadataValue,
    kMetadata,
    kTextValue,
    kTensorValue,
    kTensor,
    kDtypeValue,
    kShapeValue,
    kShape,
    kOffsetsValue,
    kOffsets,
    kEnd
  };

  const char* field() const {
    switch (state_) {
      case State::kDtypeValue:
        return "dtype";
      case State::kShapeValue:
      case State::kShape:
        return "shape";
      default:
        return "data_offsets";
    }
  }

  [[noreturn]] void wrong(const char* got) const {
    const std::string found = std::string(", found ") + got;
    switch (state_) {
      case State::kStart:
        bad_header("header must be a JSON object" + found);
      case State::kMetadataValue:
        bad_header("__metadata__ must be an object" + found);
      case State::kTextValue:
        bad_header("metadata " + in_quotes(key_) + " must be text" + found);
      case State::kTensorValue:
        bad_header("tensor " + in_quotes(entry_.name) + " must be an object" + found);
      case State::kDtypeValue:
        bad_header("tensor " + in_quotes(entry_.name) + ": dtype must be text" + found);
      case State::kShape:
      case State::kOffsets:
        bad_header("tensor " + in_quotes(entry_.name) + ": " + field() + " must hold integers" +
                   found);
      default:
        bad_header("tensor " + in_quotes(entry_.name) + ": " + field() +
                   " must be an array of integers" + found);
    }
  }

  void top_key(const std::string& name) {
    refuse_nul(name, "a tensor name");
    if (!names_.insert(name).second)
      bad_header("name " + in_quotes(name) + " appears twice in the header");
    state_ = name == "__metadata__" ? State::kMetadataValue : State::kTensorValue;
    entry_ = Entry{};
    entry_.name = name;
    offsets_.clear();
    seen_dtype_ = seen_shape_ = seen_offsets_ = false;
  }
  void metadata_key(const std::string& name) {
    refuse_nul(name, "a metadata key");
    if (header_.metadata.count(name) != 0)
      bad_header("metadata key " + in_quotes(name) + " appears twice");
    key_ = name;
    state_ = State::kTextValue;
  }
  void tensor_key(const std::string& name) {
    bool* seen = name == "dtype"          ? &seen_dtype_
                 : name == "shape"        ? &seen_shape_
                 : name == "data_offsets" ? &seen_offsets_
                                          : nullptr;
    if (!seen)
      bad_header("tensor " + in_quotes(entry_.name) + " has the unknown field " + in_quotes(name));
    if (std::exchange(*seen, true))
      bad_header("tensor " + in_quotes(entry_.name) + " has the field " + in_quotes(name) +
                 " twice");
    state_ = seen == &seen_dtype_   ? State::kDtypeValue
             : seen == &seen_shape_ ? State::kShapeValue
                                    : State::kOffsetsValue;
  }

  void finish_tensor() {
    const std::string tensor = "tensor " + in_quotes(entry_.name);
    if (!seen_dtype_ || !seen_shape_ || !seen_offsets_)
      bad_header(tensor + " has no " +
                 (!seen_dtype_   ? "dtype"
                  : !seen_shape_ ? "shape"
                                 : "data_offsets"));
    entry_.begin = offsets_[0];
    entry_.end = offsets_[1];
    if (entry_.end < entry_.begin) bad_header(tensor + " ends before it begins");
    std::uint64_t size = dtype_width(entry_.dtype);
    for (const std::int64_t extent : entry_.shape)
      if (__builtin_mul_overflow(size, static_cast<std::uint64_t>(extent), &size))
        bad_header(tensor + " has a shape whose size overflows 64 bits");
    if (size != entry_.end - entry_.begin)
      bad_header(tensor + " needs " + std::to_string(size) + " bytes for its shape but has " +
                 std::to_string(entry_.end - entry_.begin));
    header_.entries.push_back(std::move(entry_));
  }

  Header& header_;
  State state_ = State::kStart;
  std::set<std::string> names_;
  std::string key_;
  Entry entry_;
  std::vector<std::uint64_t> offsets_;
  bool seen_dtype_ = false, seen_shape_ = false, seen_offsets_ = false;
};

}  // namespace

std::size_t dtype_width(std::string_view dtype) noexcept {
  static constexpr std::pair<std::string_view, std::size_t> kWidths[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"F8_E8M0", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},     {"U32", 4},
      {"F32", 4},  {"I64", 8}, {"U64", 8}, {"F64", 8},     {"C64", 8}};
  for (const auto& [name, width] : kWidths)
    if (name == dtype) return width;
  return 0;
}

Header parse_header(std::string_view json) {
  // The JSON parser would skip a byte order mark in front of the object; the format does not allow
  // one.
  if (json.empty() || json.front() != '{') bad_header("header does not start with '{'");
  if (const std::size_t at = find_invalid_utf8(json); at != std::string_view::npos)
    bad_header("header is not UTF-8 at its byte " + std::to_string(at));
  // The JSON parser takes a NUL for the end of its input and would ignore what follows.
  if (const std::size_t at = json.find('\0'); at != std::string_view::npos)
    bad_header("header is not valid JSON at its byte " + std::to_string(at) + ": it is a NUL");
  Header header;
  HeaderEvents events(header);
  HeaderJson::sax_parse(json.begin(), json.end(), &events);
  return header;
}

}  // namespace omen::container
