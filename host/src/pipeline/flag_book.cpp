// SPDX-License-Identifier: Apache-2.0
// Decides who gets which flag, and names the culprit when nobody does.
#include "pipeline/flag_book.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "components/options.hpp"
#include "components/registry.hpp"
#include "omen/error.hpp"

namespace omen::host {
namespace {

using nlohmann::json;

// Whether "driple", "gcn" or "driple.gcn" means the component driple.gcn.
bool in_scope(const std::string& scope, const std::string& component) {
  const std::string id = normal_key(component);
  const std::size_t dot = id.find('.');
  return scope == id || scope == id.substr(0, dot) ||
         (dot != id.npos && scope == id.substr(dot + 1));
}

json parse_config(const std::string& text) {
  if (text.empty()) return json::object();
  json document = json::parse(text, nullptr, false);
  if (!document.is_object())
    throw Error(OMEN_INVALID_ARGUMENT, "the configuration file is not a JSON object",
                R"(write it as {"key": value, "component": {"key": value}})");
  return document;
}

}  // namespace

FlagBook::FlagBook(const TextPairs& flags, std::string config_json)
    : config_json_(std::move(config_json)) {
  for (const auto& [key, value] : flags) flags_.push_back({normal_key(key), value, {}});
  const json document = parse_config(config_json_);
  for (const auto& [key, value] : document.items())
    if (!value.is_object()) config_keys_.insert(key);
}

OptionSources FlagBook::sources_for(const ComponentInfo& component) {
  parties_[component.id] = component;
  OptionSources sources;
  for (Flag& flag : flags_) {
    const std::size_t dot = flag.key.rfind('.');
    const std::string last = dot == std::string::npos ? flag.key : flag.key.substr(dot + 1);
    const bool scoped = dot != std::string::npos;
    if (scoped && !in_scope(flag.key.substr(0, dot), component.id)) continue;
    if (!component.option(last)) continue;
    flag.takers.insert(component.id);
    sources.flags.emplace_back(last, flag.value);
  }
  const json document = parse_config(config_json_);
  json own = json::object();
  for (const auto& [key, value] : document.items()) {
    if (value.is_object() ? key != component.id : !component.option(normal_key(key))) continue;
    config_taken_.insert(key);
    own[key] = value;
  }
  if (!own.empty()) sources.config_json = own.dump();
  return sources;
}

TextPairs FlagBook::features(const std::vector<std::string>& names, bool any) {
  constexpr std::string_view kScope = "workloads.";
  feature_names_.insert(feature_names_.end(), names.begin(), names.end());
  TextPairs found;
  for (Flag& flag : flags_) {
    const bool scoped = flag.key.starts_with(kScope);
    const std::string key = scoped ? flag.key.substr(kScope.size()) : flag.key;
    if (!flag.takers.empty() || key.find('.') != std::string::npos) continue;
    const auto name = std::find_if(names.begin(), names.end(),
                                   [&](const std::string& n) { return normal_key(n) == key; });
    if (name == names.end() && !any && !scoped) continue;
    flag.takers.insert("workloads");
    found.emplace_back(name == names.end() ? key : *name, flag.value);
  }
  return found;
}

std::vector<std::string> FlagBook::unused() const {
  std::vector<std::string> keys;
  for (const Flag& flag : flags_)
    if (flag.takers.empty() && flag.key.find('.') == std::string::npos) keys.push_back(flag.key);
  return keys;
}

void FlagBook::finish() const {
  std::vector<std::string> known = feature_names_;
  std::string parties;
  for (const auto& [id, component] : parties_) {
    parties += (parties.empty() ? "" : ", ") + id;
    for (const OptionInfo& option : component.options) known.push_back(option.key);
  }
  for (const Flag& flag : flags_) {
    if (flag.takers.size() > 1) {
      std::string choices;
      for (const std::string& taker : flag.takers)
        choices += (choices.empty() ? "--" : " or --") + taker + "." + flag.key;
      throw Error(OMEN_INVALID_ARGUMENT, "option --" + flag.key + " could mean several components",
                  "write " + choices);
    }
    if (!flag.takers.empty()) continue;
    const std::size_t dot = flag.key.rfind('.');
    const auto near = near_names(flag.key.substr(dot == flag.key.npos ? 0 : dot + 1), known);
    throw Error(
        OMEN_INVALID_ARGUMENT,
        "option --" + flag.key + " is not known" + (parties.empty() ? "" : " to " + parties),
        near.empty() ? "see options with: omen info COMPONENT" : "did you mean --" + near[0] + "?");
  }
  for (const std::string& key : config_keys_)
    if (!config_taken_.count(key)) {
      const auto near = near_names(key, known);
      throw Error(OMEN_INVALID_ARGUMENT,
                  "key '" + key + "' of the configuration file is not known" +
                      (parties.empty() ? "" : " to " + parties),
                  near.empty() ? "" : "did you mean '" + near[0] + "'?");
    }
}

}  // namespace omen::host
