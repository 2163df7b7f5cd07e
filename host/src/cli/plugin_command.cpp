// SPDX-License-Identifier: Apache-2.0
// `omen PLUGIN VERB`: a command that a plugin brings; its tables are rendered here.
#include <algorithm>

#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "json_writer.hpp"
#include "omen/host/table_io.hpp"

namespace omen::host::cli {
namespace {

// "verb" of "plugin.verb".
std::string verb_of(const ComponentInfo& command) {
  return command.id.substr(command.id.find('.') + 1);
}

// Commands of one family may come from several plugins, such as loadbalance and loadbalance-llvm.
std::vector<ComponentRef> commands_of(const Registry& registry, std::string_view name) {
  std::vector<ComponentRef> refs;
  for (const ComponentRef& ref : registry.components(OMEN_COMMAND))
    if (ref.info->id.substr(0, ref.info->id.find('.')) == name || ref.plugin->manifest.id == name)
      refs.push_back(ref);
  return refs;
}

ComponentRef find_command(const Registry& registry, const PluginCommandRequest& request) {
  const std::vector<ComponentRef> commands = commands_of(registry, request.plugin);
  std::vector<std::string> names;
  for (const ComponentRef& ref : commands) {
    if (verb_of(*ref.info) == request.verb) return ref;
    names.push_back(verb_of(*ref.info));
  }
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  if (request.verb.empty())
    usage_error("plugin '" + request.plugin + "' needs a command", "its commands are " + list);
  const auto near = near_names(request.verb, names);
  usage_error("plugin '" + request.plugin + "' has no command '" + request.verb + "'",
              near.empty() ? "its commands are " + list : "did you mean '" + near[0] + "'?");
}

// The only column of a table that says it is text, line by line.
std::string lines_of(const Table& table) {
  std::string text;
  for (std::int64_t row = 0; row < table.rows(); ++row)
    text += std::string(table.strings(std::size_t{0})[row]) + "\n";
  return text;
}

}  // namespace

const FoundPlugin& find_command_plugin(const Registry& registry, std::string_view name) {
  const std::vector<ComponentRef> commands = commands_of(registry, name);
  if (!commands.empty()) return *commands[0].plugin;
  std::vector<std::string> known;
  for (const VerbText& verb : verbs()) known.emplace_back(verb.name);
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

int run_plugin_command(const Globals& globals, const PluginCommandRequest& request) {
  const std::string output = request.output.empty() || request.output.back() == '/'
                                 ? request.output
                                 : request.output + "/";
  Session session(globals, request.run, request.flags, request.plugin + " " + request.verb, output);
  find_command_plugin(session.registry(), request.plugin);
  const ComponentRef ref = find_command(session.registry(), request);
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

}  // namespace omen::host::cli
