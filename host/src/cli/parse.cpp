// SPDX-License-Identifier: Apache-2.0
// The only file that knows CLI11: hands it the description of a verb and lets it fill the targets.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>

#include "cli/command_line.hpp"
#include "cli/console.hpp"

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

void add_limit(CLI::Option& option, const Flag::Limit& limit) {
  if (const auto* whole = std::get_if<std::pair<int, int>>(&limit))
    option.check(CLI::Range(whole->first, whole->second));
  else if (const auto* real = std::get_if<std::pair<double, double>>(&limit))
    option.check(CLI::Range(real->first, real->second));
  else if (const auto* words = std::get_if<Words>(&limit))
    option.check(CLI::IsMember(*words));
}

void add_to(CLI::App& app, const Flag& flag) {
  if (flag.form == Flag::Form::kSwitch) return add_switch(app, flag);
  CLI::Option& option =
      *std::visit([&](const auto& target) { return add_value(app, flag, target); }, flag.target);
  if (!flag.type.empty()) option.type_name(flag.type);
  if (flag.is_required) option.required();
  if (flag.is_repeated) option.expected(1)->take_all()->allow_extra_args(false);
  add_limit(option, flag.limit);
}

}  // namespace

void parse(CommandLine& line, Words words) {
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
