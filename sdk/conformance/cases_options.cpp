// SPDX-License-Identifier: Apache-2.0
// Cases about declared options: documented, and every value inside the bounds is taken.
#include <cmath>
#include <set>

#include "trial.hpp"

namespace omen::conformance {
namespace {

std::vector<const omen_option_spec*> specs(Trial& trial) {
  std::vector<const omen_option_spec*> all;
  for (const omen_option_spec* const* o = trial.component().options; o && *o; ++o)
    all.push_back(*o);
  return all;
}

bool is_snake_case(const std::string& key) {
  if (key.empty()) return false;
  for (const char c : key)
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_') return false;
  return true;
}

std::string text_of(const omen_option_spec& spec, double value) {
  char text[32];
  if (spec.type == OMEN_OPT_INT)
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(value));
  else
    std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

void check_default(const omen_option_spec& spec, const std::string& name) {
  const bool wants_default = !(spec.flags & (OMEN_OPTF_REQUIRED | OMEN_OPTF_REPEATED));
  require(!wants_default || spec.default_text, name + " has neither a default nor 'required'");
  if (!spec.default_text) return;
  if (spec.type == OMEN_OPT_INT || spec.type == OMEN_OPT_REAL) {
    const double value = std::strtod(spec.default_text, nullptr);
    require(!(value < spec.min) && !(value > spec.max),
            name + ": the default " + spec.default_text + " is out of its own bounds");
  }
  if (spec.type != OMEN_OPT_CHOICE) return;
  bool found = false;
  for (const char* const* choice = spec.choices; choice && *choice; ++choice)
    found |= std::string(*choice) == spec.default_text;
  require(found, name + ": the default '" + spec.default_text + "' is none of the choices");
}

void documented(Trial& trial) {
  std::set<std::string> keys;
  for (const omen_option_spec* spec : specs(trial)) {
    const std::string key = spec->key ? spec->key : "";
    const std::string name = "option '" + key + "'";
    require(is_snake_case(key), name + " is not in snake_case");
    require(keys.insert(key).second, name + " is declared twice");
    require(spec->help && *spec->help, name + " has no help");
    require(spec->struct_size >= sizeof *spec, name + " has no struct_size");
    require(spec->type >= OMEN_OPT_BOOL && spec->type <= OMEN_OPT_PATH,
            name + " is of no known type");
    require(!(spec->min > spec->max), name + " has its bounds the wrong way round");
    require(spec->type != OMEN_OPT_CHOICE || (spec->choices && spec->choices[0]),
            name + " is a choice without choices");
    check_default(*spec, name);
  }
}

void create_with(Trial& trial, const std::string& key, const std::string& text) {
  OptionSet options(trial.component());
  options.set(key, text);
  const auto& vt = *static_cast<const omen_predictor_vt*>(trial.component().vtable);
  omen_object* object = nullptr;
  ErrorOut error;
  try {
    error.check(across("create",
                       [&] { return vt.create(options.data(), options.size(), &object, error); }));
  } catch (const Error& e) {
    if (e.code() == OMEN_UNAVAILABLE) return;
    fail(key + "=" + text + " is allowed, but create says: " + e.what());
  }
  vt.destroy(object);
}

void inside(Trial& trial) {
  for (const omen_option_spec* spec : specs(trial)) {
    if (spec->type == OMEN_OPT_BOOL)
      for (const char* value : {"true", "false"}) create_with(trial, spec->key, value);
    for (const char* const* choice = spec->choices; choice && *choice; ++choice)
      create_with(trial, spec->key, *choice);
    if (spec->type != OMEN_OPT_INT && spec->type != OMEN_OPT_REAL) continue;
    for (const double bound : {spec->min, spec->max})
      if (!std::isnan(bound)) create_with(trial, spec->key, text_of(*spec, bound));
  }
}

void refuse(Trial& trial, const std::string& key, const std::string& text) {
  try {
    trial.environment().resolve_option(trial.component_id(), key, text);
  } catch (const Error& error) {
    require(error.code() == OMEN_INVALID_ARGUMENT,
            key + "=" + text + " is refused with '" + status_name(error.code()) + "'");
    require(!error.hint().empty() || std::string(error.what()).find("allowed") != std::string::npos,
            key + "=" + text + " is refused without saying what is allowed");
    return;
  }
  fail(key + "=" + text + " is out of bounds, but was taken");
}

void outside(Trial& trial) {
  if (!trial.environment().resolve_option) skip("this program has no host that resolves options");
  for (const omen_option_spec* spec : specs(trial)) {
    if (spec->type == OMEN_OPT_CHOICE) refuse(trial, spec->key, "no_such_choice");
    if (spec->type == OMEN_OPT_BOOL) refuse(trial, spec->key, "perhaps");
    if (spec->type != OMEN_OPT_INT && spec->type != OMEN_OPT_REAL) continue;
    refuse(trial, spec->key, "many");
    const bool whole = spec->type == OMEN_OPT_INT;
    if (!std::isnan(spec->min))
      refuse(trial, spec->key,
             text_of(*spec, whole ? spec->min - 1 : std::nextafter(spec->min, -INFINITY)));
    if (!std::isnan(spec->max))
      refuse(trial, spec->key,
             text_of(*spec, whole ? spec->max + 1 : std::nextafter(spec->max, INFINITY)));
  }
}

bool has_options(const ComponentFacts& component) {
  return component.fields.lower_bound("options.") != component.fields.lower_bound("options/");
}

}  // namespace

std::vector<Case> option_cases() {
  return {
      {"options.documented", "options have help, sound bounds and a default within them.", 1, 20,
       kAllKinds, has_options, documented},
      {"options.inside", "create takes every bound and every choice.", 2, 60, kAllKinds,
       has_options, inside},
      {"options.outside", "a value just out of bounds is refused, with what is allowed.", 2, 30,
       kAllKinds, has_options, outside},
  };
}

}  // namespace omen::conformance
