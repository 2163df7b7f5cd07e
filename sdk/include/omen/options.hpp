// SPDX-License-Identifier: Apache-2.0
// Typed options: a struct with defaults, and one spec() that names its members.
#ifndef OMEN_OPTIONS_HPP
#define OMEN_OPTIONS_HPP

#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "omen/error.hpp"

namespace omen {
namespace detail {

inline std::string default_text(bool value) {
  return value ? "true" : "false";
}
inline std::string default_text(int value) {
  return std::to_string(value);
}
inline std::string default_text(std::int64_t value) {
  return std::to_string(value);
}
inline std::string default_text(const std::vector<std::string>&) {
  return {};
}
inline std::string default_text(const std::string& value) {
  return value;
}
inline std::string default_text(double value) {
  char text[32];
  for (int digits = 6; digits <= 17;
       ++digits) {  // the shortest text that reads back as the same number
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return text;
}

template <class Field>
constexpr std::uint32_t option_type() {
  if constexpr (std::is_same_v<Field, bool>)
    return OMEN_OPT_BOOL;
  else if constexpr (std::is_same_v<Field, int> || std::is_same_v<Field, std::int64_t>)
    return OMEN_OPT_INT;
  else if constexpr (std::is_same_v<Field, double>)
    return OMEN_OPT_REAL;
  else {
    static_assert(
        std::is_same_v<Field, std::string> || std::is_same_v<Field, std::vector<std::string>>,
        "options are bool, int, std::int64_t, double, std::string or a vector of strings");
    return OMEN_OPT_STRING;
  }
}

template <class Field>
void assign(Field& field, const omen_option& value) {
  if constexpr (std::is_same_v<Field, std::string>) {
    field = value.s ? value.s : "";
  } else if constexpr (std::is_same_v<Field, std::vector<std::string>>) {
    field.emplace_back(value.s ? value.s : "");
  } else if constexpr (std::is_same_v<Field, double>) {
    field = value.r;
  } else {
    field = static_cast<Field>(value.i);
    if (static_cast<std::int64_t>(field) != value.i)
      throw Error(OMEN_INVALID_ARGUMENT, "option '" + std::string(value.key) + "' is " +
                                             std::to_string(value.i) + ", which is too large");
  }
}

}  // namespace detail

// One option of struct O, bound to a member: bool, int, std::int64_t, double, std::string, or a
// vector of strings, which makes it repeatable.
template <class O>
class Option {
 public:
  template <class Field>
  Option(Field O::*member, const char* key, const char* help) {
    spec_.struct_size = sizeof spec_;
    spec_.type = detail::option_type<Field>();
    spec_.flags = std::is_same_v<Field, std::vector<std::string>> ? OMEN_OPTF_REPEATED : 0;
    spec_.key = key;
    spec_.help = help;
    spec_.min = spec_.max = std::nan("");
    apply_ = [member](O& target, const omen_option& value) {
      detail::assign(target.*member, value);
    };
    default_of_ = [member](const O& defaults) { return detail::default_text(defaults.*member); };
  }

  Option range(double min, double max) && {
    spec_.min = min;
    spec_.max = max;
    return std::move(*this);
  }
  template <class... C>
  Option choices(C... names) && {
    spec_.type = OMEN_OPT_CHOICE;
    choices_ = {names..., nullptr};
    return std::move(*this);
  }
  Option path() && {
    spec_.type = OMEN_OPT_PATH;
    return std::move(*this);
  }
  Option unit(const char* unit) && {
    spec_.unit = unit;
    return std::move(*this);
  }
  Option required() && {
    spec_.flags |= OMEN_OPTF_REQUIRED;
    return std::move(*this);
  }
  Option advanced() && {
    spec_.flags |= OMEN_OPTF_ADVANCED;
    return std::move(*this);
  }
  Option deprecated() && {
    spec_.flags |= OMEN_OPTF_DEPRECATED;
    return std::move(*this);
  }
  // The value changes how fast the answer comes, not the answer.
  Option no_effect_on_result() && {
    spec_.flags |= OMEN_OPTF_NO_EFFECT_ON_RESULT;
    return std::move(*this);
  }

  const char* key() const noexcept { return spec_.key; }

  void apply(O& target, const omen_option& value) const { apply_(target, value); }

  // Completes the C spec in place; the option must not move afterwards.
  const omen_option_spec* finish(const O& defaults) {
    default_ = default_of_(defaults);
    const bool has_default = !(spec_.flags & (OMEN_OPTF_REQUIRED | OMEN_OPTF_REPEATED));
    spec_.default_text = has_default ? default_.c_str() : nullptr;
    spec_.choices = choices_.empty() ? nullptr : choices_.data();
    return &spec_;
  }

 private:
  std::function<void(O&, const omen_option&)> apply_;
  std::function<std::string(const O&)> default_of_;
  omen_option_spec spec_{};
  std::string default_;
  std::vector<const char*> choices_;
};

template <class O, class Field>
Option<O> opt(Field O::*member, const char* key, const char* help) {
  return Option<O>(member, key, help);
}

template <class O>
std::vector<Option<O>> options(std::initializer_list<Option<O>> list) {
  return list;
}
template <class O, class... More>
std::vector<Option<O>> options(Option<O> first, More... more) {
  return {std::move(first), std::move(more)...};
}

// For components without options.
struct NoOptions {
  static std::vector<Option<NoOptions>> spec() { return {}; }
};

namespace detail {

// The declared options of O, built once and kept for ever.
template <class O>
class OptionTable {
 public:
  static const OptionTable& get() {
    static const OptionTable* const table =
        new OptionTable;  // never destroyed: descriptors live as long as the process
    return *table;
  }
  const omen_option_spec* const* specs() const noexcept { return pointers_.data(); }

  O parse(const omen_option* values, std::size_t count) const {
    O parsed{};
    for (std::size_t i = 0; i < count; ++i) {
      const Option<O>* known = find(values[i].key);
      if (!known)
        throw Error(OMEN_INVALID_ARGUMENT, "unknown option '" + std::string(values[i].key) + "'");
      known->apply(parsed, values[i]);
    }
    return parsed;
  }

 private:
  OptionTable() {
    for (Option<O>& option : O::spec()) options_.push_back(std::move(option));
    const O defaults{};
    for (Option<O>& option : options_) pointers_.push_back(option.finish(defaults));
    pointers_.push_back(nullptr);
  }
  const Option<O>* find(const char* key) const {
    for (const Option<O>& option : options_)
      if (std::strcmp(option.key(), key) == 0) return &option;
    return nullptr;
  }

  std::deque<Option<O>> options_;
  std::vector<const omen_option_spec*> pointers_;
};

}  // namespace detail
}  // namespace omen

#endif  // OMEN_OPTIONS_HPP
