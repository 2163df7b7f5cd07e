// SPDX-License-Identifier: Apache-2.0
// Reads manifests only; no library is opened for a flag or a help text.
#include "cli/component_flags.hpp"

#include <algorithm>

#include "cli/plugin_command.hpp"
#include "components/options.hpp"
#include "omen/scaled_number.hpp"
#include "pipeline/models.hpp"
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

// The values of -m and --model that are files.
std::vector<std::string> model_files(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  std::error_code error;
  for (std::size_t i = 1; i < words.size(); ++i)
    if ((words[i - 1] == "-m" || words[i - 1] == "--model") &&
        std::filesystem::is_regular_file(words[i], error))
      files.push_back(words[i]);
  return files;
}

// Empty for what is no model; the verb says why.
std::string component_of(const std::string& model_file) {
  try {
    return read_model_card(model_file).component;
  } catch (const Error&) {
    return {};
  }
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

void ComponentFlags::read_manifests() {
  registry_ = Registry::discover(globals_.plugin_path);
  std::vector<std::string> words = words_;
  for (const std::string& file : model_files(words_)) words.push_back(component_of(file));
  // A verb of a plugin is two words.
  for (std::size_t i = 1; i < words_.size(); ++i) words.push_back(words_[i - 1] + "." + words_[i]);
  const std::vector<ComponentRef> all = registry_->components(0);
  for (const ComponentRef& ref : all)
    for (const std::string& name : {ref.info->id, ref.plugin->manifest.id})
      if (std::find(words.begin(), words.end(), name) != words.end()) named_.push_back(ref);
  const bool has_predictor = std::any_of(named_.begin(), named_.end(), [](const auto& ref) {
    return ref.info->kind == OMEN_PREDICTOR;
  });
  possible_ = named_;
  for (const ComponentRef& ref : all)
    if (!has_predictor || ref.info->kind != OMEN_PREDICTOR) possible_.push_back(ref);
}

bool ComponentFlags::is_switch(std::string_view key, const std::string& next) {
  if (!registry_) read_manifests();
  const std::string wanted = normal_key(key);
  const std::string last = wanted.substr(wanted.rfind('.') + 1);
  const auto has = [&](const ComponentRef& ref) { return ref.info->option(last) != nullptr; };
  if (!std::any_of(possible_.begin(), possible_.end(), has)) return false;
  for (const ComponentRef& ref : possible_)
    if (const OptionInfo* option = ref.info->option(last); option && option->type != OMEN_OPT_BOOL)
      return false;
  std::error_code error;
  const bool is_number = parse_scaled(next) && !std::filesystem::exists(next, error);
  return !is_number || std::any_of(named_.begin(), named_.end(), has);
}

bool ComponentFlags::is_known(std::string_view key) {
  if (!registry_) read_manifests();
  const std::string wanted = normal_key(key);
  const std::string last = wanted.substr(wanted.rfind('.') + 1);
  const std::vector<ComponentRef> all = registry_->components(0);
  return std::any_of(all.begin(), all.end(), [&](const ComponentRef& ref) {
    if (ref.info->option(last)) return true;
    const std::vector<std::string> columns = feature_names(*ref.info);
    return std::any_of(columns.begin(), columns.end(),
                       [&](const std::string& column) { return normal_key(column) == last; });
  });
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
