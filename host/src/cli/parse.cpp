// SPDX-License-Identifier: Apache-2.0
// The only file that knows CLI11: hands it the description of a verb and lets it fill the targets.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <sstream>
#include <type_traits>

#include "cli/command_line.hpp"
#include "cli/console.hpp"
#include "omen/join.hpp"

namespace omen::host::cli {
namespace {

using TextFunction = std::function<void(const std::string&)>;

template <class Target>
CLI::Option* add_value(CLI::App& app, const Flag& flag, Target* target) {
  return app.add_option(flag.names, *target, flag.help);
}

CLI::Option* add_value(CLI::App& app, const Flag& flag, const TextFunction& function) {
  return app.add_option_function<std::string>(flag.names, function, flag.help);
}

void add_switch(CLI::App& app, const Flag& flag) {
  if (const auto* count = std::get_if<int*>(&flag.target))
    app.add_flag(flag.names, **count, flag.help);
  else
    app.add_flag(flag.names, *std::get<bool*>(flag.target), flag.help);
}

template <class Value>
constexpr const char* kMeaning = std::is_floating_point_v<Value> ? "a number"
                                 : std::is_unsigned_v<Value> ? "a whole number that is not negative"
                                                             : "a whole number";

// Says what is expected before CLI11 finds that it cannot convert a text; other types take any.
template <class Target>
void expect_type(CLI::Option& option, const Target&) {
  using Value = std::remove_pointer_t<Target>;
  if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>)
    option.check([](const std::string& text) {
      Value value;
      return CLI::detail::lexical_cast(text, value) ? "" : text + " is not " + kMeaning<Value>;
    });
}

template <class Number>
void expect_range(CLI::Option& option, const std::pair<Number, Number>& range) {
  option.check([range](const std::string& text) {
    Number value;
    const bool fits =
        CLI::detail::lexical_cast(text, value) && value >= range.first && value <= range.second;
    if (fits) return std::string();
    std::ostringstream said;
    said << text << " is not within " << range.first << " and " << range.second;
    return said.str();
  });
}

void add_limit(CLI::Option& option, const Flag::Limit& limit) {
  if (const auto* whole = std::get_if<std::pair<int, int>>(&limit))
    expect_range(option, *whole);
  else if (const auto* real = std::get_if<std::pair<double, double>>(&limit))
    expect_range(option, *real);
  else if (const auto* words = std::get_if<Words>(&limit))
    option.check([words = *words](const std::string& text) {
      const bool known = std::find(words.begin(), words.end(), text) != words.end();
      return known ? "" : text + " is none of " + join(words);
    });
}

// A flag at the end, or before another flag, lacks its value.
void check_values_follow(const CommandLine& line, const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Flag* flag = line.find(words[i]);
    if (!flag || flag->form != Flag::Form::kValue) continue;
    if (i + 1 == words.size() || line.find(words[i + 1]))
      usage_error(words[i] + " needs a value",
                  "write " + words[i] + " " + (flag->type.empty() ? "VALUE" : flag->type));
    ++i;
  }
}

void add_to(CLI::App& app, const Flag& flag) {
  if (flag.form == Flag::Form::kSwitch) return add_switch(app, flag);
  CLI::Option& option =
      *std::visit([&](const auto& target) { return add_value(app, flag, target); }, flag.target);
  std::visit([&](const auto& target) { expect_type(option, target); }, flag.target);
  if (!flag.type.empty()) option.type_name(flag.type);
  if (flag.is_required) option.required();
  if (flag.is_repeated) option.expected(1)->take_all()->allow_extra_args(false);
  add_limit(option, flag.limit);
}

}  // namespace

void parse(CommandLine& line, Words words) {
  check_values_follow(line, words);
  CLI::App app;
  app.set_help_flag();
  app.name(line.verb);
  for (const Flag& flag : line.flags) add_to(app, flag);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ParseError& e) {
    std::string message = e.what();
    // Sentences begin small here; names of arguments, all capitals, stay.
    if (message.size() > 1 && !std::isupper(static_cast<unsigned char>(message[1])))
      message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
    usage_error(message, "see: omen " + line.verb + " --help");
  }
}

}  // namespace omen::host::cli
