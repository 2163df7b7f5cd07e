// SPDX-License-Identifier: Apache-2.0
// Reads manifests only; no library is opened for a flag or a help text.
#include "cli/component_flags.hpp"

#include <algorithm>

#include "cli/plugin_command.hpp"
#include "components/options.hpp"
#include "pipeline/pipeline.hpp"
#include "text/render.hpp"

namespace omen::host::cli {
namespace {

const char* type_text(const OptionInfo& option) {
  static constexpr const char* kNames[] = {"", "", "N", "X", "TEXT", "", "PATH"};
  return option.type <= OMEN_OPT_PATH ? kNames[option.type] : "";
}

std::string option_line(const OptionInfo& option, int width) {
  std::string name = "--" + option.key;
  const std::string range = describe_range(option);
  if (option.type == OMEN_OPT_CHOICE)
    name += " " + range;
  else if (*type_text(option))
    name += std::string(" ") + type_text(option);
  std::string help = option.help;
  if (!option.unit.empty()) help += " [" + option.unit + "]";
  std::vector<std::string> facts;
  if (option.flags & OMEN_OPTF_REQUIRED) facts.emplace_back("required");
  if (option.flags & OMEN_OPTF_REPEATED) facts.emplace_back("may be repeated");
  if (option.flags & OMEN_OPTF_DEPRECATED) facts.emplace_back("deprecated");
  if (!range.empty() && option.type != OMEN_OPT_CHOICE) facts.push_back(range);
  if (option.default_text && !option.default_text->empty())
    facts.push_back("default " + *option.default_text);
  for (std::size_t i = 0; i < facts.size(); ++i) help += (i ? ", " : " (") + facts[i];
  if (!facts.empty()) help += ")";
  constexpr int kColumn = 30;
  const int used = display_width(name) + 2;
  std::string line = "  " + name;
  line += used < kColumn - 1 ? std::string(static_cast<std::size_t>(kColumn - used), ' ')
                             : "\n" + std::string(kColumn, ' ');
  return line + wrap(help, width, kColumn) + "\n";
}

std::vector<ComponentRef> named(const Registry& registry, const std::vector<std::string>& words) {
  std::vector<ComponentRef> refs;
  for (const ComponentRef& ref : registry.components(0))
    if (std::find(words.begin(), words.end(), ref.info->id) != words.end()) refs.push_back(ref);
  return refs;
}

// Columns of workloads that a predictor or scorer reads can be given instead of a table.
std::string column_flags(const ComponentInfo& component) {
  if (component.kind != OMEN_PREDICTOR && component.kind != OMEN_SCORER) return "";
  std::string flags;
  for (const std::string& name : feature_names(component))
    flags += (flags.empty() ? "--" : ", --") + name;
  return flags.empty() ? "" : "  columns that are flags too: " + wrap(flags, 100, 30) + "\n";
}

}  // namespace

std::string normal_key(std::string_view key) {
  std::string normal(key);
  std::replace(normal.begin(), normal.end(), '-', '_');
  return normal;
}

bool ComponentFlags::is_switch(std::string_view key) {
  if (!registry_) registry_ = Registry::discover(globals_.plugin_path);
  const std::string wanted = normal_key(key);
  const std::size_t dot = wanted.rfind('.');
  const std::string last = dot == std::string::npos ? wanted : wanted.substr(dot + 1);
  bool any = false;
  for (const ComponentRef& ref : registry_->components(0)) {
    const OptionInfo* option = ref.info->option(last);
    if (!option) continue;
    if (option->type != OMEN_OPT_BOOL) return false;
    any = true;
  }
  return any;
}

std::string option_help(const ComponentInfo& component, bool advanced, int width) {
  constexpr std::uint32_t kHidden = OMEN_OPTF_ADVANCED | OMEN_OPTF_DEPRECATED;
  std::string text;
  std::size_t hidden = 0;
  for (const OptionInfo& option : component.options) {
    if (!advanced && option.flags & kHidden)
      ++hidden;
    else
      text += option_line(option, width);
  }
  if (hidden > 0)
    text += "  and " + std::to_string(hidden) + " advanced; see them with: omen info " +
            component.id + " --all\n";
  return text;
}

std::string component_help(const Globals& globals, const std::vector<std::string>& words) {
  const Registry registry = Registry::discover(globals.plugin_path);
  std::string text;
  for (const ComponentRef& ref : named(registry, words)) {
    const std::string options = option_help(*ref.info, false, 100);
    text += "\noptions of " + ref.info->id + " (" + ref.info->summary + "):\n";
    text += options.empty() ? "  none\n" : options;
    text += column_flags(*ref.info);
  }
  return text.empty() ? "\nOptions of a component: name it, as in omen train COMPONENT --help, or "
                        "see omen info COMPONENT.\n"
                      : text;
}

std::string example_lines(const std::vector<std::string>& examples) {
  std::string text;
  for (const std::string& example : examples) text += "  " + example + "\n";
  return text.empty() ? text : "\nexamples:\n" + text;
}

std::string plugin_help(const Globals& globals, const std::string& id) {
  const Registry registry = Registry::discover(globals.plugin_path);
  std::string lines;
  std::vector<std::string> examples;
  for (const ComponentRef& command : commands_of(registry, id)) {
    const std::string verb = verb_of(*command.info);
    lines += "  " + verb + std::string(verb.size() < 14 ? 16 - verb.size() : 2, ' ') +
             wrap(command.info->summary, 100, 18) + "\n";
    if (!command.info->examples.empty()) examples.push_back(command.info->examples[0]);
  }
  return "omen " + id + ": commands of the plugin\n\nusage: omen " + id +
         " VERB [ARGUMENT...] [options]\n\n" + lines + "\nHelp of one verb: omen " + id +
         " VERB --help.\n" + example_lines(examples);
}

}  // namespace omen::host::cli
