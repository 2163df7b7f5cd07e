// SPDX-License-Identifier: Apache-2.0
// Texts of `omen --help` and `omen VERB --help`.
#include "cli/help.hpp"

#include <algorithm>

#include "cli/component_flags.hpp"
#include "cli/console.hpp"
#include "cli/plugin_command.hpp"

namespace omen::host::cli {
namespace {

constexpr int kHelpColumn = 30, kHelpWidth = 100;

std::string limit_text(const Flag::Limit& limit) {
  char text[80] = "";
  if (const auto* whole = std::get_if<std::pair<int, int>>(&limit)) {
    std::snprintf(text, sizeof text, ":INT in [%d - %d]", whole->first, whole->second);
  } else if (const auto* real = std::get_if<std::pair<double, double>>(&limit)) {
    std::snprintf(text, sizeof text, ":FLOAT in [%g - %g]", real->first, real->second);
  } else if (const auto* words = std::get_if<Words>(&limit)) {
    std::string list;
    for (const std::string& word : *words) list += (list.empty() ? "" : ",") + word;
    return ":{" + list + "}";
  }
  return text;
}

std::string usage_line(const CommandLine& line) {
  std::string text = "usage: omen " + line.verb;
  for (const Flag& flag : line.flags) {
    if (flag.form != Flag::Form::kWord) continue;
    const std::string name = flag.names + (flag.takes_many() ? "..." : "");
    text += flag.is_required ? " " + name : " [" + name + "]";
  }
  text += " [options]";
  if (line.behind_dashes) text += " [-- COMMAND...]";
  return text + "\n";
}

Words example_list(std::string_view text) {
  Words lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Flags of a verb under their headings; `first` stands before its own.
std::string flag_sections(const CommandLine& line, const std::string& first = {}) {
  std::string text;
  const std::string own = first + flag_lines(line, Flag::Section::kOwn);
  if (!own.empty()) text += "\noptions:\n" + own;
  const std::string components = flag_lines(line, Flag::Section::kComponents);
  if (!components.empty()) text += "\nrunning plugins:\n" + components;
  return text + "\neverywhere:\n" + flag_lines(line, Flag::Section::kEverywhere);
}

}  // namespace

std::string flag_lines(const CommandLine& line, Flag::Section section) {
  std::string text;
  for (const Flag& flag : line.flags) {
    if (flag.section != section || flag.form == Flag::Form::kWord) continue;
    std::string name = flag.names;
    for (std::size_t at = 0; (at = name.find(',', at)) != std::string::npos; at += 2)
      name.replace(at, 1, ", ");
    if (!flag.type.empty()) name += " " + flag.type + limit_text(flag.limit);
    if (name.starts_with("--")) name = "    " + name;
    text += "  " + name;
    const int width = display_width(name);
    text += width < 26 ? std::string(static_cast<std::size_t>(28 - width), ' ')
                       : "\n" + std::string(kHelpColumn, ' ');
    text += wrap(flag.help, kHelpWidth, kHelpColumn) + "\n";
  }
  return text;
}

std::string verb_help(const CommandLine& line, const Verb& verb) {
  std::string text =
      std::string("omen ") + verb.name + ": " + verb.summary + "\n\n" + usage_line(line);
  for (const Flag& flag : line.flags) {
    if (flag.form != Flag::Form::kWord) continue;
    const std::string& name = flag.names;
    text += "  " + name + std::string(name.size() < 26 ? 28 - name.size() : 1, ' ') +
            wrap(flag.help, kHelpWidth, kHelpColumn) + "\n";
  }
  return text + flag_sections(line) + example_lines(example_list(verb.examples));
}

std::string command_help(const CommandLine& line, const std::string& plugin,
                         const std::string& verb) {
  const Registry registry = Registry::discover(line.globals.plugin_path);
  const ComponentInfo& command = *find_command(registry, plugin, verb).info;
  const std::string name = "omen " + plugin + " " + verb;
  return name + ": " + command.summary + "\n\nusage: " + name + " [ARGUMENT...] [options]\n" +
         flag_sections(line, option_help(command, false, kHelpWidth)) +
         example_lines(command.examples);
}

std::string welcome_text(const Globals& globals, bool full) {
  const bool colour = out_terminal(globals).colour;
  const auto strong = [&](const std::string& text) { return paint(text, Style::kStrong, colour); };
  std::string text = "omen predicts what accelerator workloads cost before they run.\n\n";
  if (!full) {
    text +=
        "  " + strong("omen list") + "                          the plugins that are installed\n";
    text +=
        "  " + strong("omen predict examples/matmul.csv") + "   what these workloads will cost\n\n";
    return text + "All verbs: omen --help. One verb: omen predict --help. The manual: man omen.\n";
  }
  text +=
      "usage: omen VERB [options]\n       omen PLUGIN VERB [options]   for commands that a plugin "
      "brings\n\n";
  TextTable table({{""}, {""}, {""}});
  for (const Verb& verb : verbs()) table.add({"", {verb.name, Style::kStrong}, verb.summary});
  Terminal terminal;
  terminal.colour = colour;
  text += table.text(terminal, false);
  std::string families;
  for (const auto& [plugin, commands] : plugin_commands(Registry::discover(globals.plugin_path)))
    families += "  " + strong(plugin) + ": " + commands + "\n";
  if (!families.empty()) text += "\ncommands of plugins:\n" + families;
  return text +
         "\nHelp of one verb: omen VERB --help. Results go to stdout, everything else to stderr.\n"
         "Exit codes: 0 ok, 1 failed, 2 usage, 3 plugin unloadable, 4 bad data, 5 crashed or timed "
         "out, 130 interrupted.\n";
}

}  // namespace omen::host::cli
