// SPDX-License-Identifier: Apache-2.0
// Makes kernel arguments from texts and from the signature.
#include "opencl/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <random>

#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

[[noreturn]] void invalid_argument(const std::string& message, const std::string& hint) {
  throw Error(OMEN_INVALID_ARGUMENT, message, hint);
}

// Writes a number as the scalar of a parameter.
void put_scalar(const Parameter& parameter, double real, std::int64_t whole, unsigned char* out) {
  const auto copy = [out](auto value) { std::memcpy(out, &value, sizeof value); };
  const std::size_t width = parameter.scalar_bytes;
  if (parameter.scalar == ScalarKind::kFloat) {
    if (width == 8)
      copy(real);
    else if (width == 4)
      copy(static_cast<float>(real));
    else
      copy(static_cast<std::uint16_t>(real == 0 ? 0 : 0x3C00));  // a half: nothing or one
  } else {
    std::memcpy(out, &whole, std::min<std::size_t>(width, sizeof whole));
  }
}

bool is_whole(const Parameter& parameter) {
  return parameter.kind == ParameterKind::kValue && parameter.bytes <= sizeof(std::int64_t) &&
         (parameter.scalar == ScalarKind::kSigned || parameter.scalar == ScalarKind::kUnsigned);
}

// Random contents that are harmless as values and as indices: floats in [0, 1), whole numbers
// below `bound`.
std::vector<unsigned char> random_bytes(const Parameter& parameter, std::size_t bytes,
                                        std::uint64_t seed, std::size_t bound) {
  std::vector<unsigned char> data(bytes);
  std::mt19937_64 random(seed);
  const std::size_t width = std::max<std::size_t>(parameter.scalar_bytes, 1);
  const std::uint64_t most =
      width >= 8 ? bound : std::min<std::uint64_t>(bound, std::uint64_t{1} << (8 * width - 1));
  for (std::size_t at = 0; at + width <= bytes; at += width) {
    const std::uint64_t draw = random();
    const double real = static_cast<double>(draw >> 11) * 0x1p-53;
    put_scalar(parameter, real, static_cast<std::int64_t>(draw % std::max<std::uint64_t>(most, 1)),
               &data[at]);
  }
  return data;
}

std::vector<unsigned char> file_bytes(const std::string& path, std::size_t bytes,
                                      const std::string& what) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw Error(OMEN_NOT_FOUND, what + ": there is no file " + path,
                "write zero, random or the path of a file");
  std::vector<unsigned char> data(bytes);
  in.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(bytes));
  if (static_cast<std::size_t>(in.gcount()) != bytes)
    invalid_argument(what + ": " + path + " holds " + std::to_string(in.gcount()) + " bytes, not " +
                         std::to_string(bytes),
                     "give the size of the file");
  return data;
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// The dimension that the name of a count speaks of.
unsigned dimension_of(const std::string& name, unsigned dimensions) {
  const std::string text = lower(name);
  const auto any = [&text](std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return text.find(word) != std::string::npos; });
  };
  const auto is = [&text](std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(), [&](const char* word) { return text == word; });
  };
  if (dimensions > 2 && (any({"depth", "slice", "nz"}) || is({"d", "z", "k"}))) return 2;
  if (dimensions > 1 && (any({"height", "row", "ny"}) || is({"h", "y", "m"}))) return 1;
  return 0;
}

class Maker {
 public:
  Maker(const Signature& signature, const ArgumentRequest& request)
      : signature_(signature), request_(request) {
    std::size_t buffers = 0;
    for (const Parameter& parameter : signature.parameters)
      buffers += parameter.kind == ParameterKind::kBuffer;
    share_bytes_ = buffers ? request.input_bytes / buffers : 0;
    for (const std::string& text : request.given) add_given(text);
    bound_ = index_bound();
  }

  double wanted() const {
    double bytes = 0;
    for (std::size_t i = 0; i < signature_.parameters.size(); ++i)
      if (signature_.parameters[i].kind == ParameterKind::kBuffer)
        bytes += std::max(static_cast<double>(buffer_bytes(i)), reached_bytes(i));
    return bytes;
  }

  std::vector<Argument> make() const {
    std::vector<Argument> arguments;
    for (std::size_t i = 0; i < signature_.parameters.size(); ++i) {
      const auto given = given_.find(i);
      arguments.push_back(given == given_.end() ? from_signature(i) : from_text(i, given->second));
    }
    return arguments;
  }

 private:
  std::string what(std::size_t i) const {
    return "argument " + std::to_string(i) + " ('" + signature_.parameters[i].name + "' of " +
           signature_.kernel + ")";
  }

  void add_given(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    if (equals == std::string::npos || key.empty())
      invalid_argument("'" + text + "' is no argument",
                       "write --arg INDEX=VALUE or --arg INDEX=buffer:BYTES[:FILE|zero|random]");
    std::size_t index = signature_.parameters.size();
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (error != std::errc() || end != key.data() + key.size()) {
      index = signature_.parameters.size();
      for (std::size_t i = 0; i < signature_.parameters.size(); ++i)
        if (signature_.parameters[i].name == key) index = i;
    }
    if (index >= signature_.parameters.size())
      invalid_argument("kernel " + signature_.kernel + " has no argument '" + key + "'",
                       "its arguments are " + names());
    given_[index] = text.substr(equals + 1);
  }

  std::string names() const {
    std::string text;
    for (std::size_t i = 0; i < signature_.parameters.size(); ++i)
      text += (i ? ", " : "") + std::to_string(i) + " " + signature_.parameters[i].name;
    return text.empty() ? "none" : text;
  }

  // Random whole numbers may be used as indices: they stay below the smallest buffer's length.
  std::size_t index_bound() const {
    std::size_t bound = std::numeric_limits<std::size_t>::max();
    for (std::size_t i = 0; i < signature_.parameters.size(); ++i)
      if (signature_.parameters[i].kind == ParameterKind::kBuffer)
        bound = std::min(bound, buffer_bytes(i) / signature_.parameters[i].bytes);
    return std::max<std::size_t>(bound, 1);
  }

  std::size_t buffer_bytes(std::size_t i) const {
    const Parameter& parameter = signature_.parameters[i];
    if (const auto given = given_.find(i); given != given_.end()) {
      const std::string& text = given->second;
      if (text.rfind("buffer:", 0) != 0)
        invalid_argument(what(i) + " is a buffer, not '" + text + "'",
                         "write " + std::to_string(i) + "=buffer:BYTES[:FILE|zero|random]");
      return parse_size(std::string_view(text).substr(7, text.find(':', 7) - 7), what(i));
    }
    const std::size_t elements =
        share_bytes_ ? std::max<std::size_t>(share_bytes_ / parameter.bytes, 1) : 0;
    const std::size_t least = parameter.bytes * std::max(elements, request_.range.items());
    const double reached = reached_bytes(i);
    return reached > static_cast<double>(kMostReached)
               ? least
               : std::max(least, static_cast<std::size_t>(reached));
  }

  // As far as the kernel is known to reach into a buffer, in whole elements.
  double reached_bytes(std::size_t i) const {
    const auto number = [this](std::size_t argument) { return whole_number(argument); };
    double bytes = 0;
    for (const Bound& bound : signature_.parameters[i].reach)
      bytes = std::max(bytes, largest_value(bound, request_.range, number).value_or(0));
    const auto element = static_cast<double>(signature_.parameters[i].bytes);
    return std::ceil(bytes / element) * element;
  }

  std::optional<std::int64_t> whole_number(std::size_t i) const {
    const Parameter& parameter = signature_.parameters.at(i);
    if (!is_whole(parameter)) return std::nullopt;
    const auto given = given_.find(i);
    return loadbalance::whole_number(
        parameter, given == given_.end() ? from_signature(i) : from_text(i, given->second));
  }

  Argument buffer(std::size_t i, const std::string& contents) const {
    const Parameter& parameter = signature_.parameters[i];
    Argument argument;
    argument.kind = ParameterKind::kBuffer;
    const std::size_t bytes = buffer_bytes(i);
    if (contents == "zero")
      argument.bytes.assign(bytes, 0);
    else if (contents == "random")
      argument.bytes = random_bytes(parameter, bytes, request_.seed * 1000003 + i + 1, bound_);
    else
      argument.bytes = file_bytes(contents, bytes, what(i));
    argument.meaning = "buffer of " + std::to_string(bytes) + " bytes, " + contents;
    return argument;
  }

  Argument local(std::size_t bytes) const {
    Argument argument;
    argument.kind = ParameterKind::kLocal;
    argument.local_bytes = bytes;
    argument.meaning = "local memory of " + std::to_string(bytes) + " bytes";
    return argument;
  }

  Argument value(const Parameter& parameter, double real, std::int64_t whole,
                 std::string meaning) const {
    Argument argument;
    argument.bytes.assign(parameter.bytes, 0);
    if (parameter.scalar != ScalarKind::kOpaque)
      for (std::size_t at = 0; at + parameter.scalar_bytes <= parameter.bytes;
           at += parameter.scalar_bytes)
        put_scalar(parameter, real, whole, &argument.bytes[at]);
    argument.meaning = std::move(meaning);
    return argument;
  }

  Argument from_signature(std::size_t i) const {
    const Parameter& parameter = signature_.parameters[i];
    Argument argument;
    switch (parameter.kind) {
      case ParameterKind::kBuffer:
        argument = buffer(i, "random");
        break;
      case ParameterKind::kLocal:
        argument = local(parameter.bytes * request_.range.group_items());
        break;
      case ParameterKind::kUnsupported:
        throw Error(
            OMEN_UNSUPPORTED,
            what(i) + " is of type " + parameter.type + ", for which no argument can be made",
            "kernels with buffers, local memory and values can be run");
      case ParameterKind::kValue: {
        const auto count = static_cast<std::int64_t>(
            request_.range.global[dimension_of(parameter.name, request_.range.dimensions)]);
        const std::string text = parameter.scalar == ScalarKind::kFloat    ? "0.5"
                                 : parameter.scalar == ScalarKind::kOpaque ? "zeros"
                                                                           : std::to_string(count);
        argument = value(parameter, 0.5, count, text);
      }
    }
    argument.made = true;
    return argument;
  }

  Argument from_text(std::size_t i, const std::string& text) const {
    const Parameter& parameter = signature_.parameters[i];
    if (parameter.kind == ParameterKind::kBuffer) {
      const std::size_t colon = text.find(':', 7);
      return buffer(i, colon == std::string::npos ? "random" : text.substr(colon + 1));
    }
    if (parameter.kind == ParameterKind::kLocal) {
      if (text.rfind("local:", 0) != 0)
        invalid_argument(what(i) + " is local memory, not '" + text + "'",
                         "write " + std::to_string(i) + "=local:BYTES");
      return local(parse_size(std::string_view(text).substr(6), what(i)));
    }
    if (parameter.kind == ParameterKind::kUnsupported) return from_signature(i);
    return from_numbers(i, text);
  }

  // One number for all components, or one for each.
  Argument from_numbers(std::size_t i, const std::string& text) const {
    const Parameter& parameter = signature_.parameters[i];
    if (parameter.scalar == ScalarKind::kOpaque)
      invalid_argument(what(i) + " is of type " + parameter.type + ", which no number can give",
                       "leave it out: its bytes are then zero");
    Argument argument = value(parameter, 0, 0, text);
    std::size_t at = 0, filled = 0;
    for (; at <= text.size() && filled < parameter.bytes; filled += parameter.scalar_bytes) {
      const std::size_t comma = std::min(text.find(',', at), text.size());
      double real = 0;
      std::int64_t whole = 0;
      read_number(text.substr(at, comma - at), parameter, i, real, whole);
      if (filled == 0) argument = value(parameter, real, whole, text);
      put_scalar(parameter, real, whole, &argument.bytes[filled]);
      at = comma + 1;
    }
    if (at <= text.size())
      invalid_argument(what(i) + " takes fewer numbers than '" + text + "' has",
                       "its type is " + parameter.type);
    return argument;
  }

  void read_number(const std::string& text, const Parameter& parameter, std::size_t i, double& real,
                   std::int64_t& whole) const {
    const char* const last = text.data() + text.size();
    const auto as_real = std::from_chars(text.data(), last, real);
    const auto as_whole = std::from_chars(text.data(), last, whole);
    const bool fits = parameter.scalar == ScalarKind::kFloat
                          ? as_real.ec == std::errc() && as_real.ptr == last
                          : as_whole.ec == std::errc() && as_whole.ptr == last;
    if (fits && !text.empty()) return;
    if (parameter.scalar != ScalarKind::kFloat && as_real.ptr != last && !text.empty()) {
      whole = static_cast<std::int64_t>(parse_size(text, what(i)));
      return;
    }
    invalid_argument(what(i) + " is '" + text + "', not a value of type " + parameter.type,
                     "write a number, such as " + std::to_string(i) + "=1");
  }

  const Signature& signature_;
  const ArgumentRequest& request_;
  std::map<std::size_t, std::string> given_;
  std::size_t share_bytes_ = 0, bound_ = 1;
};

}  // namespace

std::optional<std::int64_t> whole_number(const Parameter& parameter, const Argument& argument) {
  if (!is_whole(parameter)) return std::nullopt;
  std::int64_t value = 0;
  std::memcpy(&value, argument.bytes.data(), argument.bytes.size());
  const std::size_t unused = 64 - 8 * argument.bytes.size();
  return parameter.scalar == ScalarKind::kSigned
             ? static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >>
                   static_cast<int>(unused)
             : value;
}

std::vector<Argument> make_arguments(const Signature& signature, const ArgumentRequest& request) {
  return Maker(signature, request).make();
}

double wanted_bytes(const Signature& signature, const ArgumentRequest& request) {
  return Maker(signature, request).wanted();
}

}  // namespace omen::loadbalance
