// SPDX-License-Identifier: Apache-2.0
// `omen list`: one row per component, from manifests alone.
#include "cli/command_line.hpp"
#include "cli/component_flags.hpp"
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "components/registry.hpp"
#include "text/json_writer.hpp"
#include "worker/worker.hpp"

namespace omen::host::cli {
namespace {

struct ListRequest {
  bool all = false;
};

const CrashRecord* crash_of(const CrashRecords& crashes, const Manifest& plugin,
                            const ComponentInfo& component) {
  const auto library = crashes.find(plugin.sha256);
  if (library == crashes.end()) return nullptr;
  const auto at = library->second.find(component.id);
  return at == library->second.end() ? nullptr : &at->second;
}

void write_plugin(JsonWriter& json, const FoundPlugin& found, const CrashRecords& crashes) {
  const Manifest& plugin = found.manifest;
  json.object()
      .field("id", plugin.id)
      .field("version", plugin.version)
      .field("license", plugin.license);
  json.field("directory", plugin.directory.string()).field("isolation", word_of(plugin.isolation));
  json.key("abi").object().field("major", plugin.abi_major).field("minor", plugin.abi_minor).end();
  if (!found.shadowed_by.empty()) json.field("shadowed_by", found.shadowed_by);
  json.key("components").array();
  for (const ComponentInfo& component : plugin.components) {
    json.object().field("kind", kind_name(component.kind)).field("id", component.id);
    json.field("summary", component.summary).field("models", component.models.size());
    if (const CrashRecord* crash = crash_of(crashes, plugin, component))
      json.key("crash")
          .object()
          .field("call", crash->call)
          .field("outcome", crash->outcome)
          .field("time", crash->time)
          .field("count", crash->count)
          .end();
    json.end();
  }
  json.end().end();
}

std::string list_json(const Registry& registry, const CrashRecords& crashes, bool all) {
  JsonWriter json;
  json.object().field("format_version", 1).key("plugins").array();
  for (const FoundPlugin& found : registry.plugins())
    if (all || found.shadowed_by.empty()) write_plugin(json, found, crashes);
  json.end().key("broken").array();
  for (const BrokenPlugin& broken : registry.broken())
    json.object()
        .field("directory", broken.directory.string())
        .field("reason", broken.error.what())
        .end();
  json.end().key("searched").array();
  for (const SearchPlace& place : registry.places()) {
    json.object().field("directory", place.directory.string()).field("origin", place.origin);
    json.field("exists", place.exists).end();
  }
  return json.end().end().text();
}

void add_rows(TextTable& table, const FoundPlugin& found, const CrashRecords& crashes, bool plain) {
  bool first = true;
  const Manifest& plugin = found.manifest;
  for (const ComponentInfo& component : plugin.components) {
    if (plain) {
      table.add({plugin.id, plugin.version, kind_name(component.kind), component.id});
      continue;
    }
    Cell what = component.summary;
    if (!found.shadowed_by.empty()) what = {"hidden by " + found.shadowed_by, Style::kFaint};
    if (const CrashRecord* crash = crash_of(crashes, plugin, component))
      what = {"crashed in " + crash->call + " on " + crash->time, Style::kWarn};
    table.add({{first ? plugin.id : "", Style::kStrong},
               {first ? plugin.version : "", Style::kFaint},
               kind_name(component.kind),
               {component.id, Style::kAccent},
               what});
    first = false;
  }
}

int run_list(const Globals& globals, const ListRequest& request) {
  const Registry registry = Registry::discover(globals.plugin_path);
  const CrashRecords crashes = known_crashes();
  if (globals.json) {
    print(list_json(registry, crashes, request.all));
    return kOk;
  }
  TextTable table(
      {{"plugin"}, {"version"}, {"kind"}, {"component"}, {"what it does", false, true}});
  for (const FoundPlugin& found : registry.plugins())
    if (request.all || found.shadowed_by.empty()) add_rows(table, found, crashes, globals.plain);
  if (!table.empty()) print_table(globals, table);
  if (registry.plugins().empty()) {
    std::string text = "no plugins found\n  looked in: ";
    for (std::size_t i = 0; i < registry.places().size(); ++i)
      text += (i ? ", " : "") + registry.places()[i].directory.string();
    note(globals, text + "\n  hint: name a directory with --plugin-path or OMEN_PLUGIN_PATH");
  }
  if (!registry.broken().empty())
    note(globals, std::to_string(registry.broken().size()) +
                      " plugins cannot be used; see why with: omen doctor");
  return kOk;
}

void describe_list(CommandLine& line) {
  auto& r = line.request(run_list);
  line.toggle("--all", r.all, "also plugins that another one of the same id hides");
}

}  // namespace

Verb list_verb() {
  return {"list", "show the plugins that are installed, without opening them",
          "omen list\nomen list --all\nomen list --plain | awk '{print $1}'", describe_list};
}

}  // namespace omen::host::cli
