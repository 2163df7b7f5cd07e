// SPDX-License-Identifier: Apache-2.0
// `omen PLUGIN VERB`: a command that a plugin brings; its tables are rendered here.
#include "cli/plugin_command.hpp"

#include <algorithm>
#include <set>

#include "cli/command_line.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "tables/table_io.hpp"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace {

struct PluginCommandRequest {
  std::string plugin, verb;
  std::vector<std::string> arguments;
  std::string output;
  Flags flags;
  RunChoices run;
};

[[noreturn]] void throw_no_commands(const Registry& registry, std::string_view name) {
  std::vector<std::string> known;
  for (const Verb& verb : verbs()) known.emplace_back(verb.name);
  for (const FoundPlugin& found : registry.plugins()) {
    if (found.manifest.id == name)
      usage_error("plugin '" + std::string(name) + "' has no commands of its own",
                  "see what it does with: omen info " + std::string(name));
    known.push_back(found.manifest.id);
  }
  const auto near = near_names(name, known);
  usage_error("'" + std::string(name) + "' is neither a verb of omen nor a plugin",
              near.empty() ? "see the verbs with: omen --help, and the plugins with: omen list"
                           : "did you mean '" + near[0] + "'?");
}

// The only column of a table that says it is text, line by line.
std::string lines_of(const Table& table) {
  std::string text;
  for (std::int64_t row = 0; row < table.rows(); ++row)
    text += std::string(table.strings(std::size_t{0})[row]) + "\n";
  return text;
}

}  // namespace

std::string verb_of(const ComponentInfo& command) {
  return command.id.substr(command.id.find('.') + 1);
}

std::map<std::string, std::string> plugin_commands(const Registry& registry) {
  std::map<std::string, std::string> families;
  std::set<std::string> ids;
  for (const ComponentRef& ref : registry.components(OMEN_COMMAND)) ids.insert(ref.info->id);
  for (const std::string& id : ids) {
    std::string& list = families[id.substr(0, id.find('.'))];
    list += (list.empty() ? "" : ", ") + id.substr(id.find('.') + 1);
  }
  return families;
}

std::vector<ComponentRef> commands_of(const Registry& registry, std::string_view name) {
  std::vector<ComponentRef> commands;
  // Commands of one family may come from several plugins, such as loadbalance and loadbalance-llvm.
  for (const ComponentRef& ref : registry.components(OMEN_COMMAND))
    if (ref.info->id.substr(0, ref.info->id.find('.')) == name || ref.plugin->manifest.id == name)
      commands.push_back(ref);
  std::sort(commands.begin(), commands.end(),
            [](const ComponentRef& a, const ComponentRef& b) { return a.info->id < b.info->id; });
  if (commands.empty()) throw_no_commands(registry, name);
  return commands;
}

ComponentRef find_command(const Registry& registry, const std::string& plugin,
                          const std::string& verb) {
  std::vector<std::string> names;
  for (const ComponentRef& ref : commands_of(registry, plugin)) {
    if (verb_of(*ref.info) == verb) return ref;
    names.push_back(verb_of(*ref.info));
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  if (verb.empty())
    usage_error("plugin '" + plugin + "' needs a command",
                "its commands are " + list + "; see: omen " + plugin + " --help");
  const auto near = near_names(verb, names);
  usage_error("plugin '" + plugin + "' has no command '" + verb + "'",
              near.empty() ? "its commands are " + list : "did you mean '" + near[0] + "'?");
}

namespace {

int run_plugin_command(const Globals& globals, const PluginCommandRequest& request) {
  const std::string output = request.output.empty() || request.output.back() == '/'
                                 ? request.output
                                 : request.output + "/";
  Session session(globals, request.run, request.flags, request.plugin + " " + request.verb, output);
  const ComponentRef ref = find_command(session.registry(), request.plugin, request.verb);
  const OptionValues options = resolve_options(*ref.info, session.flags().sources_for(*ref.info));
  session.flags().finish();
  CommandHandle handle = session.components().command(ref, options);
  const RunContext run(session.components().settings().run, session.components().settings().hooks);
  TableCollector out;
  const int code = handle.run(run.c(), request.arguments, out.c());
  session.progress().finish();
  const Tables tables = out.take();
  if (globals.json) {
    JsonWriter json;
    json.object()
        .field("format_version", 1)
        .field("command", ref.info->id)
        .field("exit_code", code)
        .key("tables")
        .object();
    for (const auto& [name, table] : tables) json.key(name).raw(to_json_rows(table));
    print(json.end().end().text());
    return code;
  }
  for (const auto& [name, table] : tables) {
    if (table.metadata("omen.render") == "text" && table.columns() == 1) {
      print(lines_of(table));
      continue;
    }
    if (tables.size() > 1 && !globals.plain)
      print((&table == &tables.begin()->second ? "" : "\n") + name + "\n");
    print(table_text(table, out_terminal(globals), !globals.plain, 60));
  }
  return code;
}

}  // namespace

void describe_plugin_command(CommandLine& line) {
  auto& r = line.request(run_plugin_command);
  line.word("PLUGIN", r.plugin, "a plugin").required();
  line.word("VERB", r.verb, "one of its commands");
  line.word("ARGUMENT", r.arguments, "words for the command");
  line.value("-o,--output", "DIR", r.output, "directory for files that the command writes");
  line.after_dashes(r.arguments);
  line.run_choices(r.run, r.flags);
}

}  // namespace omen::host::cli
