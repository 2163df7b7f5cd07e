// SPDX-License-Identifier: Apache-2.0
// Parses, defaults and range-checks options, so that a plugin never parses text.
#include "components/options.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "components/registry.hpp"
#include "omen/container.hpp"
#include "omen/error.hpp"
#include "omen/join.hpp"
#include "omen/scaled_number.hpp"

namespace omen::host {
namespace {

using nlohmann::json;
using Texts = std::vector<std::string>;

std::string short_number(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end);
}

[[noreturn]] void refuse(const ComponentInfo& component, const OptionInfo& option,
                         const std::string& text, const std::string& what,
                         const std::string& hint = {}) {
  throw Error(OMEN_INVALID_ARGUMENT,
              "option '" + option.key + "' of " + component.id + " is " +
                  (text.empty() ? "empty" : text) + "; " + what,
              hint.empty() ? "see its options with: omen info " + component.id : hint);
}

bool parse_real(std::string_view text, double& value) {
  const std::optional<double> parsed = parse_scaled(text);
  if (parsed) value = *parsed;
  return parsed.has_value();
}

// Whole numbers also as "1e6" or "1.5k", as long as the result is whole.
bool parse_int(std::string_view text, std::int64_t& value) {
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  const ScaledText parts = split_scaled(text);
  const std::optional<std::int64_t> digits = parse_whole_text<std::int64_t>(parts.digits);
  if (parts.factor != 0 && digits) return !__builtin_mul_overflow(*digits, parts.factor, &value);
  double real = 0;
  if (!parse_real(text, real) || real != std::floor(real) || std::fabs(real) > kExactIntegers)
    return false;
  value = static_cast<std::int64_t>(real);
  return true;
}

bool parse_bool(std::string_view text, std::int64_t& value) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* yes : {"true", "1", "yes", "on"})
    if (lower == yes) return value = 1, true;
  for (const char* no : {"false", "0", "no", "off"})
    if (lower == no) return value = 0, true;
  return false;
}

void check_range(const ComponentInfo& component, const OptionInfo& option, const std::string& text,
                 double value) {
  if (value < option.min || value > option.max)  // false where the bound is NaN
    refuse(component, option, text, "allowed " + describe_range(option));
}

omen_option parse_value(const ComponentInfo& component, const OptionInfo& option,
                        const std::string& text) {
  constexpr const char* kNumberHint = "Numbers may end in k, M, G (thousands) or Ki, Mi, Gi.";
  omen_option value{};
  value.type = option.type;
  switch (option.type) {
    case OMEN_OPT_BOOL:
      if (!parse_bool(text, value.i)) refuse(component, option, text, "allowed true or false");
      break;
    case OMEN_OPT_INT:
      if (!parse_int(text, value.i))
        refuse(component, option, text, "expected a whole number", kNumberHint);
      check_range(component, option, text, static_cast<double>(value.i));
      break;
    case OMEN_OPT_REAL:
      if (!parse_real(text, value.r))
        refuse(component, option, text, "expected a number", kNumberHint);
      check_range(component, option, text, value.r);
      break;
    case OMEN_OPT_CHOICE:
      if (std::find(option.choices.begin(), option.choices.end(), text) == option.choices.end()) {
        const Texts near = near_names(text, option.choices);
        refuse(component, option, text, "allowed " + join(option.choices, ", "),
               near.empty() ? "" : "Did you mean '" + near[0] + "'?");
      }
      break;
    default:
      break;
  }
  return value;
}

std::string upper_name(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    name += std::isalnum(byte) ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return name;
}

// The option that a key means: "hidden", "gcn.hidden", "driple.hidden" and "driple.gcn.hidden" are
// one.
const OptionInfo& find_option(const ComponentInfo& component, std::string_view key,
                              const char* origin) {
  const std::string wanted = normal_key(key);
  const std::size_t dot = wanted.rfind('.');
  const std::string last = dot == wanted.npos ? wanted : wanted.substr(dot + 1);
  if (dot != wanted.npos) {
    const std::string scope = wanted.substr(0, dot);
    const std::string id = normal_key(component.id);
    const std::size_t split = id.find('.');
    if (scope != id && scope != id.substr(0, split) && scope != id.substr(split + 1))
      throw Error(OMEN_INVALID_ARGUMENT,
                  "option '" + std::string(key) + "' is not one of " + component.id,
                  "Write it as " + component.id + "." + last + ".");
  }
  if (const OptionInfo* option = component.option(last)) return *option;
  Texts keys;
  for (const OptionInfo& option : component.options) keys.push_back(option.key);
  const Texts near = near_names(last, keys);
  std::string hint = near.empty() ? "" : "Did you mean '" + near[0] + "'?  ";
  hint += "See its options with: omen info " + component.id;
  throw Error(OMEN_INVALID_ARGUMENT, component.id + " has no option '" + last + "'" + origin, hint);
}

void add_config_value(std::map<std::string, Texts>& out, const ComponentInfo& component,
                      const std::string& key, const json& value) {
  const OptionInfo& option = find_option(component, key, " (in the configuration file)");
  const auto text_of = [&](const json& item) -> std::string {
    if (item.is_string()) return item.get<std::string>();
    if (item.is_primitive() && !item.is_null()) return item.dump();
    throw Error(OMEN_INVALID_ARGUMENT,
                "option '" + key + "' in the configuration file is neither text, number nor bool");
  };
  Texts texts;
  if (value.is_array())
    for (const json& item : value) texts.push_back(text_of(item));
  else
    texts.push_back(text_of(value));
  out[option.key] = std::move(texts);
}

// Values under the component's own name win over those at the top.
std::map<std::string, Texts> config_values(const ComponentInfo& component,
                                           const std::string& text) {
  std::map<std::string, Texts> values;
  if (text.empty()) return values;
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object())
    throw Error(OMEN_INVALID_ARGUMENT, "the configuration file is not a JSON object",
                R"(Write it as {"key": value, "component": {"key": value}}.)");
  for (const auto& [key, value] : document.items())
    if (!value.is_object()) add_config_value(values, component, key, value);
  if (const auto mine = document.find(component.id); mine != document.end() && mine->is_object())
    for (const auto& [key, value] : mine->items()) add_config_value(values, component, key, value);
  return values;
}

std::map<std::string, Texts> flag_values(const ComponentInfo& component,
                                         const OptionSources& sources) {
  std::map<std::string, Texts> values;
  for (const auto& [key, text] : sources.flags)
    values[find_option(component, key, "").key].push_back(text);
  return values;
}

const char* environment_value(const ComponentInfo& component, const OptionInfo& option) {
  const std::string key = upper_name(option.key);
  if (const char* own = std::getenv(("OMEN_OPT_" + upper_name(component.id) + "_" + key).c_str()))
    return own;
  return std::getenv(("OMEN_OPT_" + key).c_str());
}

json canonical_value(const OptionInfo& option, const omen_option& value) {
  switch (option.type) {
    case OMEN_OPT_BOOL:
      return value.i != 0;
    case OMEN_OPT_INT:
      return value.i;
    case OMEN_OPT_REAL:
      return value.r;
    default:
      return value.s;
  }
}

}  // namespace

std::string describe_range(const OptionInfo& option) {
  if (option.type == OMEN_OPT_CHOICE) return join(option.choices, "|");
  if (option.type == OMEN_OPT_BOOL) return "true|false";
  if (std::isnan(option.min) && std::isnan(option.max)) return "";
  return (std::isnan(option.min) ? "" : short_number(option.min)) + ".." +
         (std::isnan(option.max) ? "" : short_number(option.max));
}

std::string OptionValues::hash() const {
  return container::sha256(canonical_json_.data(), canonical_json_.size());
}

std::string normal_key(std::string_view key) {
  std::string normal(key);
  std::replace(normal.begin(), normal.end(), '-', '_');
  return normal;
}

OptionValues resolve_options(const ComponentInfo& component, const OptionSources& sources) {
  const std::map<std::string, Texts> flags = flag_values(component, sources);
  const std::map<std::string, Texts> config = config_values(component, sources.config_json);
  OptionValues resolved;
  json canonical = json::object();
  for (const OptionInfo& option : component.options) {
    const bool repeated = option.flags & OMEN_OPTF_REPEATED;
    Texts texts;
    if (const auto flag = flags.find(option.key); flag != flags.end()) {
      texts = flag->second;
    } else if (const char* text =
                   sources.use_environment ? environment_value(component, option) : nullptr) {
      texts = {text};
    } else if (const auto entry = config.find(option.key); entry != config.end()) {
      texts = entry->second;
    } else if (option.default_text) {
      texts = {*option.default_text};
    }
    if (texts.empty() && !repeated)
      throw Error(OMEN_INVALID_ARGUMENT,
                  "option '" + option.key + "' of " + component.id + " is required",
                  "Give it with --" + option.key + " VALUE.");
    if (texts.size() > 1 && !repeated)
      throw Error(OMEN_INVALID_ARGUMENT,
                  "option '" + option.key + "' of " + component.id + " was given " +
                      std::to_string(texts.size()) + " times",
                  "Give it once.");
    json list = json::array();
    for (const std::string& text : texts) {
      omen_option value = parse_value(component, option, text);
      value.key = resolved.texts_.emplace_back(option.key).c_str();
      if (option.type >= OMEN_OPT_STRING) value.s = resolved.texts_.emplace_back(text).c_str();
      resolved.values_.push_back(value);
      list.push_back(canonical_value(option, value));
    }
    if (option.flags & OMEN_OPTF_NO_EFFECT_ON_RESULT) continue;
    canonical[option.key] = repeated ? std::move(list) : std::move(list[0]);
  }
  // Texts come from a command line and may hold any bytes; the hash must not depend on failing to
  // print them.
  resolved.canonical_json_ = canonical.dump(-1, ' ', false, json::error_handler_t::replace);
  return resolved;
}

}  // namespace omen::host
