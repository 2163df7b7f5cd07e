// SPDX-License-Identifier: Apache-2.0
// The words and flags that one verb takes, and where their values go. Parsing, help and completion
// read the same description.
#pragma once

#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "cli/globals.hpp"

namespace omen::host::cli {

struct Flag {
  enum class Form { kWord, kSwitch, kValue };
  enum class Section { kOwn, kComponents, kEverywhere };
  using Target =
      std::variant<bool*, int*, unsigned*, std::int64_t*, std::uint64_t*, double*, std::string*,
                   Words*, std::filesystem::path*, std::vector<std::filesystem::path>*,
                   std::function<void(const std::string&)>>;
  using Limit = std::variant<std::monostate, std::pair<int, int>, std::pair<double, double>, Words>;

  Form form = Form::kValue;
  std::string names;  // "FILE" of a word, "-o,--output" of a flag
  std::string type;   // what stands for the value in the help
  std::string help;
  Target target;
  Section section = Section::kOwn;
  bool is_required = false, is_repeated = false;
  Limit limit = {};

  Flag& required() { return is_required = true, *this; }
  Flag& range(int least, int most) { return limit = std::pair(least, most), *this; }
  Flag& range(double least, double most) { return limit = std::pair(least, most), *this; }
  Flag& one_of(Words words) { return limit = std::move(words), *this; }

  bool takes_many() const;
  // Those that begin with two dashes.
  Words long_names() const;
};

class CommandLine {
 public:
  CommandLine() = default;
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // What the verb is asked, and the function that answers.
  template <class Request>
  Request& request(int (*answer)(const Globals&, const Request&)) {
    auto request = std::make_shared<Request>();
    run = [this, request, answer] { return answer(globals, *request); };
    return *request;
  }

  // A word without dashes; several where the target holds several.
  template <class Target>
  Flag& word(const char* name, Target& target, const char* help) {
    return add({Flag::Form::kWord, name, "", help, &target});
  }
  // True where given; a number counts how often.
  template <class Target>
  Flag& toggle(const char* names, Target& target, const char* help) {
    return add({Flag::Form::kSwitch, names, "", help, &target});
  }
  template <class Target>
  Flag& value(const char* names, const char* type, Target& target, const char* help) {
    return add({Flag::Form::kValue, names, type, help, &target});
  }
  // May be given several times, one value each.
  template <class Target>
  Flag& values(const char* names, const char* type, std::vector<Target>& target, const char* help) {
    Flag& flag = value(names, type, target, help);
    flag.is_repeated = true;
    return flag;
  }
  // Such as 30s or 10m.
  Flag& time(const char* names, double& seconds, const char* help);

  // --isolate, --timeout, --memory, and options of components, which `flags` receives.
  void run_choices(RunChoices& choices, Flags& flags);
  // What stands behind `--` goes here.
  void after_dashes(Words& words) { behind_dashes = &words; }
  // The flags of every verb; called last, because a verb may have one of the same name.
  void add_globals();

  const Flag* find(std::string_view name) const;
  Words long_names() const;
  // Values that other values follow from; called when all are known.
  void finish();

  std::string verb;
  Globals globals;
  std::deque<Flag> flags;
  Flags* component_flags = nullptr;  // set where the verb takes options of components
  Words* behind_dashes = nullptr;    // set where the verb takes a command behind `--`
  std::function<int()> run;

 private:
  Flag& add(Flag flag) { return flags.emplace_back(std::move(flag)); }

  RunChoices* choices_ = nullptr;
  std::string timeout_, memory_;
  Words key_values_;  // -O key=value
};

// Fills the targets of `line` from `words`; a usage error otherwise.
void parse(CommandLine& line, Words words);

}  // namespace omen::host::cli
