// SPDX-License-Identifier: Apache-2.0
// `omen info`: everything that a manifest says of a plugin or a component.
#include <algorithm>
#include <cmath>

#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/component_flags.hpp"
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "components/options.hpp"
#include "components/registry.hpp"
#include "omen/join.hpp"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace {

struct InfoRequest {
  std::string id;
  bool advanced = false;
};

const char* type_word(std::uint32_t type) {
  static constexpr const char* kNames[] = {"", "bool", "int", "real", "string", "choice", "path"};
  return type <= OMEN_OPT_PATH ? kNames[type] : "";
}

void write_option(JsonWriter& json, const OptionInfo& option) {
  json.object()
      .field("key", option.key)
      .field("type", type_word(option.type))
      .field("help", option.help);
  if (option.default_text) json.field("default", *option.default_text);
  if (!option.unit.empty()) json.field("unit", option.unit);
  if (!std::isnan(option.min)) json.field("min", option.min);
  if (!std::isnan(option.max)) json.field("max", option.max);
  if (!option.choices.empty()) json.strings("choices", option.choices);
  json.field("required", (option.flags & OMEN_OPTF_REQUIRED) != 0);
  json.field("repeated", (option.flags & OMEN_OPTF_REPEATED) != 0);
  json.field("advanced", (option.flags & OMEN_OPTF_ADVANCED) != 0).end();
}

void write_component(JsonWriter& json, const ComponentInfo& component) {
  json.object()
      .field("kind", kind_name(component.kind))
      .field("id", component.id)
      .field("summary", component.summary);
  if (!component.cite.empty()) json.field("cite", component.cite);
  json.strings("caps", cap_names(component.caps))
      .strings("reads", component.reads)
      .strings("writes", component.writes);
  if (!component.names.empty()) json.strings("names", component.names);
  json.key("options").array();
  for (const OptionInfo& option : component.options) write_option(json, option);
  json.end().key("models").array();
  for (const ModelInfo& model : component.models) {
    json.object().field("name", model.name).field("file", model.file).field("sha256", model.sha256);
    json.field("summary", model.summary).field("default", model.is_default).end();
  }
  json.end().end();
}

std::string info_json(const Manifest& plugin, const std::vector<const ComponentInfo*>& components) {
  JsonWriter json;
  json.object().field("format_version", 1);
  json.key("plugin")
      .object()
      .field("id", plugin.id)
      .field("version", plugin.version)
      .field("license", plugin.license);
  json.field("homepage", plugin.homepage).field("directory", plugin.directory.string());
  json.field("library", plugin.library)
      .field("sha256", plugin.sha256)
      .field("isolation", word_of(plugin.isolation));
  json.key("abi").object().field("major", plugin.abi_major).field("minor", plugin.abi_minor).end();
  json.key("requires").object();
  for (const auto& [name, range] : plugin.requirements) json.field(name, range);
  json.end()
      .strings("extensions", plugin.extensions)
      .strings("graph_suffixes", plugin.graph_suffixes)
      .end();
  json.key("components").array();
  for (const ComponentInfo* component : components) write_component(json, *component);
  return json.end().end().text();
}

// "label   text", the text wrapped behind the label; nothing for an empty text.
std::string fact(const char* label, const std::string& text, int width) {
  constexpr int kColumn = 12;
  if (text.empty()) return {};
  std::string line = "  " + std::string(label);
  line.resize(kColumn, ' ');
  return line + wrap(text, width, kColumn) + "\n";
}

// "time_ms:ms:lower" as "time_ms [ms], lower is better".
std::string target_text(const std::string& entry) {
  const std::size_t first = entry.find(':'), second = entry.find(':', first + 1);
  if (entry == "*") return "whatever it was trained on";
  std::string text = entry.substr(0, first);
  if (first == std::string::npos) return text;
  text += " [" + entry.substr(first + 1, second - first - 1) + "]";
  return second == std::string::npos ? text : text + ", " + entry.substr(second + 1) + " is better";
}

std::string component_text(const ComponentInfo& component, const InfoRequest& request,
                           const Terminal& terminal) {
  const int width = terminal.tty ? std::min(terminal.width, 100) : 100;
  std::string text = paint(component.id, Style::kAccent, terminal.colour) + "  " +
                     kind_name(component.kind) + "\n";
  text += fact("", component.summary, width);
  std::vector<std::string> targets;
  for (const std::string& entry : component.writes) targets.push_back(target_text(entry));
  text += fact("reads", join(component.reads), width) +
          fact("writes", join(targets, component.kind == OMEN_PREDICTOR ? "\n" : ", "), width) +
          fact("knows", join(component.names), width);
  text += fact("can", join(cap_names(component.caps)), width) + fact("cite", component.cite, width);
  for (const ModelInfo& model : component.models)
    text += fact(&model == component.models.data() ? "models" : "",
                 model.name + (model.is_default ? " (default)" : "") +
                     (model.summary.empty() ? "" : ": " + model.summary),
                 width);
  for (const std::string& example : component.examples)
    text += fact(&example == component.examples.data() ? "examples" : "", example, width);
  const std::string options = option_help(component, request.advanced, width);
  return text + (options.empty() ? "" : "  options\n" + options);
}

std::string plugin_text(const FoundPlugin& found, const Terminal& terminal) {
  const Manifest& plugin = found.manifest;
  const int width = terminal.tty ? std::min(terminal.width, 100) : 100;
  std::string text =
      paint(plugin.id, Style::kStrong, terminal.colour) + " " + plugin.version + "\n";
  text += fact("license", plugin.license, width) + fact("home", plugin.homepage, width);
  text += fact("directory", plugin.directory.string(), width);
  text +=
      fact("abi", std::to_string(plugin.abi_major) + "." + std::to_string(plugin.abi_minor), width);
  if (plugin.isolation != Isolation::kDefault)
    text +=
        fact("isolation", std::string(word_of(plugin.isolation)) + " in a worker process", width);
  else if (!found.own)
    text += fact("isolation", "in a worker process: it is not part of this installation", width);
  std::vector<std::string> needs;
  for (const auto& [name, range] : plugin.requirements) needs.push_back(name + " " + range);
  text += fact("needs", join(needs), width);
  return text + fact("writes also", join(plugin.graph_suffixes), width) + "\n";
}

int run_info(const Globals& globals, const InfoRequest& request) {
  const Registry registry = Registry::discover(globals.plugin_path);
  const FoundPlugin* plugin = nullptr;
  std::vector<const ComponentInfo*> components;
  for (const ComponentRef& ref : registry.components(0)) {
    if (ref.info->id != request.id && ref.plugin->manifest.id != request.id) continue;
    plugin = ref.plugin;
    components.push_back(ref.info);
  }
  if (!plugin && request.id.find('.') == std::string::npos) plugin = &registry.plugin(request.id);
  if (!plugin) registry.component(0, request.id);  // throws with near spellings
  if (globals.json) {
    print(info_json(plugin->manifest, components));
    return kOk;
  }
  const Terminal terminal = out_terminal(globals);
  if (plugin->manifest.id == request.id) print(plugin_text(*plugin, terminal));
  for (const ComponentInfo* component : components)
    print(component_text(*component, request, terminal) +
          (component == components.back() ? "" : "\n"));
  return kOk;
}

void describe_info(CommandLine& line) {
  auto& r = line.request(run_info);
  line.word("ID", r.id, "a plugin or a component").required();
  line.toggle("--all", r.advanced, "also advanced and deprecated options");
}

}  // namespace

Verb info_verb() {
  return {"info", "show what a plugin or a component does, reads, writes and takes as options",
          "omen info baseline\nomen info baseline.ridge --all", describe_info, [](Offers& offers) {
            offers.plugins();
            offers.components(0);
          }};
}

}  // namespace omen::host::cli
