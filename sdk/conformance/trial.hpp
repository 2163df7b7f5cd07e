// SPDX-License-Identifier: Apache-2.0
// One run of one case: the plugin under test, ways to make objects, and ways to give a verdict.
#ifndef OMEN_CONFORMANCE_TRIAL_HPP
#define OMEN_CONFORMANCE_TRIAL_HPP

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "facts.hpp"
#include "omen/conformance/checking_proxy.hpp"
#include "omen/conformance/conformance.hpp"
#include "omen/error.hpp"

namespace omen::conformance {

struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void fail(const std::string& why) {
  throw Failed(why);
}
[[noreturn]] inline void skip(const std::string& why) {
  throw Skipped(why);
}
inline void require(bool holds, const std::string& why) {
  if (!holds) fail(why);
}

// Runs a function of the plugin that no checked object stands for; what it throws is its failure.
template <class Body>
auto across(const char* function, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& error) {
    fail(std::string(function) + " let an exception cross the boundary: " + error.what());
  } catch (...) {
    fail(std::string(function) + " let an exception cross the boundary");
  }
}

// Typed values for `create`: the declared defaults, or what was set instead.
class OptionSet {
 public:
  explicit OptionSet(const omen_component& component);
  OptionSet(const OptionSet&) = delete;
  OptionSet& operator=(const OptionSet&) = delete;

  // Throws OMEN_INVALID_ARGUMENT for an unknown key or a text that is no value of its type.
  void set(const std::string& key, const std::string& text);
  const omen_option* data() const noexcept { return values_.data(); }
  std::size_t size() const noexcept { return values_.size(); }

 private:
  const omen_option_spec* spec(const std::string& key) const;
  omen_option parse(const omen_option_spec& spec, const std::string& text);

  const omen_component& component_;
  std::vector<omen_option> values_;
  std::deque<std::string> texts_;
};

// Owns a checked object.
template <class Vt>
class Checked {
 public:
  explicit Checked(CheckedObject<Vt> made) : made_(made) {}
  Checked(Checked&& other) noexcept : made_(std::exchange(other.made_, {})) {}
  Checked& operator=(Checked&&) = delete;
  ~Checked() {
    if (made_.object) made_.vt->destroy(made_.object);
  }
  const Vt& vt() const noexcept { return *made_.vt; }
  omen_object* get() const noexcept { return made_.object; }

 private:
  CheckedObject<Vt> made_;
};

class Trial {
 public:
  // `kinds` tells components of one id apart; 0: the case is about the plugin.
  Trial(const PluginQuirks& quirks, const Environment& environment, std::string component,
        std::uint32_t kinds);
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  const PluginFacts& manifest();  // throws Error where plugin.json cannot be read
  std::uint64_t seed() const noexcept { return environment_.seed; }
  const Environment& environment() const noexcept { return environment_; }
  const PluginQuirks& plugin_quirks() const noexcept { return quirks_; }
  const ComponentQuirks& quirks() const noexcept { return component_quirks_; }
  const std::string& component_id() const noexcept { return component_id_; }

  // Opens the library as the host does; fails the case where that does not work.
  void* library();
  omen_plugin_entry_fn entry();
  // The descriptor for the right major, not initialised.
  const omen_plugin& descriptor();
  // The same after init; skips the case where init says that a device is missing.
  const omen_plugin& plugin();
  // The component that the case is about; skips where the library has none of that id.
  const omen_component& component();
  const ComponentFacts& facts();

  template <class Vt>
  const Vt& vtable() {
    return *static_cast<const Vt*>(component().vtable);
  }
  // A new object with the default options and those of the quirks; fails the case where create
  // does.
  template <class Vt>
  Checked<Vt> create() {
    OptionSet options(component());
    for (const auto& [key, value] : component_quirks_.options) options.set(key, value);
    return create<Vt>(options);
  }
  template <class Vt>
  Checked<Vt> create(const OptionSet& options) {
    try {
      return Checked<Vt>(checked_create(vtable<Vt>(), {component_id_, component().caps},
                                        options.data(), options.size(), findings_));
    } catch (const Error& error) {
      if (error.code() == OMEN_UNAVAILABLE) skip(error.what());
      fail(std::string("create failed: ") + error.what());
    }
  }

  const std::shared_ptr<Findings>& findings() const noexcept { return findings_; }
  // Does not fail the case, but shows.
  void warn(const std::string& text) { warnings_.push_back(text); }
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  const PluginQuirks& quirks_;
  const Environment& environment_;
  std::string component_id_;
  std::uint32_t kinds_;
  ComponentQuirks component_quirks_;
  std::optional<PluginFacts> manifest_;
  void* library_ = nullptr;
  bool initialised_ = false;
  std::shared_ptr<Findings> findings_ = std::make_shared<Findings>();
  std::vector<std::string> warnings_;
};

// What a case is about and how it runs; the tables of all files together are the kit.
struct Case {
  const char* id;
  const char* description;
  int level;
  double timeout_s;
  std::uint32_t kinds;  // bits 1 << kind of the components it is run for; 0: once per plugin
  bool (*applies)(const ComponentFacts&);  // NULL: to every component of these kinds
  void (*run)(Trial&);
  bool opens = true;  // false: reads files only, so it runs where the library does not open
};

std::vector<Case> manifest_cases();
std::vector<Case> binary_cases();
std::vector<Case> lifecycle_cases();
std::vector<Case> option_cases();
std::vector<Case> data_cases();
std::vector<Case> semantics_cases();
std::vector<Case> observe_cases();
std::vector<Case> scorer_cases();
std::vector<Case> profiler_cases();
std::vector<Case> frontend_cases();
std::vector<Case> stress_cases();

inline constexpr std::uint32_t kProfilers = 1U << OMEN_PROFILER;
inline constexpr std::uint32_t kFrontends = 1U << OMEN_GRAPH_FRONTEND;
inline constexpr std::uint32_t kPredictors = 1U << OMEN_PREDICTOR;
inline constexpr std::uint32_t kScorers = 1U << OMEN_SCORER;
inline constexpr std::uint32_t kCommands = 1U << OMEN_COMMAND;
inline constexpr std::uint32_t kAllKinds =
    kProfilers | kFrontends | kPredictors | kScorers | kCommands;

// create and destroy of any kind.
struct AnyObject {
  omen_object* object = nullptr;
  void (*destroy)(omen_object*) = nullptr;
};

// What a user does with a component of each kind; failing is the business of cases of their own.
void use_scorer(Trial& trial);
void use_profiler(Trial& trial);
void use_frontend(Trial& trial);

}  // namespace omen::conformance

#endif  // OMEN_CONFORMANCE_TRIAL_HPP
