// SPDX-License-Identifier: Apache-2.0
// `omen doctor`: where plugins were looked for, what is wrong with them, and what this machine
// offers.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/command_line.hpp"
#include "cli/console.hpp"
#include "cli/doctor_devices.hpp"
#include "cli/doctor_libraries.hpp"
#include "cli/verbs.hpp"
#include "components/registry.hpp"
#include "omen/container.hpp"
#include "omen/join.hpp"
#include "text/json_writer.hpp"
#include "worker/machine.hpp"
#include "worker/worker.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

struct DoctorRequest {
  bool devices = false;  // measure them
};

struct PluginState {
  std::string id, version, directory, reason;  // reason empty: fine
  bool hidden = false;
};

struct Feature {
  std::string name, state, purpose, note;
};

struct Tool {
  const char* name;
  const char* purpose;
  const char* remedy;
};
constexpr Tool kTools[] = {
    {"dot", "draws graphs as .svg", "apt install graphviz"},
    {"cmake", "builds plugins of your own", "apt install cmake ninja-build g++"},
    {"man", "shows the manual", "apt install man-db"}};

// What is wrong with a library as far as can be told without opening it.
std::string library_fault(const Manifest& plugin) {
  const fs::path library = plugin.directory / plugin.library;
  std::error_code error;
  if (plugin.library.empty()) return std::string("has no library for ") + platform_key();
  if (!fs::exists(library, error))
    return "library " + library.string() + " is missing; build or install it again";
  if (plugin.abi_major != OMEN_ABI_MAJOR || plugin.abi_minor > OMEN_ABI_MINOR)
    return "built for ABI " + std::to_string(plugin.abi_major) + "." +
           std::to_string(plugin.abi_minor) + ", this omen has " + std::to_string(OMEN_ABI_MAJOR) +
           "." + std::to_string(OMEN_ABI_MINOR);
  if (!plugin.sha256.empty() && container::sha256_file(library) != plugin.sha256)
    return "library differs from the digest in plugin.json; build or install it again";
  const std::vector<std::string> missing = missing_libraries(library);
  return missing.empty()
             ? ""
             : "needs " + join(missing) +
                   ", not found on this machine; install it, or put it beside " + library.string();
}

std::vector<PluginState> plugin_states(const Registry& registry) {
  std::vector<PluginState> states;
  for (const FoundPlugin& found : registry.plugins()) {
    const Manifest& plugin = found.manifest;
    const bool hidden = !found.shadowed_by.empty();
    states.push_back({plugin.id, plugin.version, plugin.directory.string(),
                      hidden ? "hidden by " + found.shadowed_by : library_fault(plugin), hidden});
  }
  for (const BrokenPlugin& broken : registry.broken())
    states.push_back(
        {broken.directory.filename().string(), "-", broken.directory.string(),
         broken.error.what() +
             (broken.error.hint().empty() ? std::string() : "; " + broken.error.hint()),
         false});
  return states;
}

// Of the libraries that are here now; others were replaced since.
CrashRecords present_crashes(const Registry& registry) {
  CrashRecords known = known_crashes(), present;
  for (const FoundPlugin& found : registry.plugins())
    if (auto crash = known.extract(found.manifest.sha256)) present.insert(std::move(crash));
  return present;
}

std::vector<Feature> build_features() {
  std::ifstream in(share_directory() / "build-features.json");
  const auto document = nlohmann::json::parse(in, nullptr, false);
  std::vector<Feature> features;
  if (!document.is_object() || !document.contains("features")) return features;
  for (const auto& entry : document["features"])
    features.push_back({entry.value("name", ""), entry.value("state", ""),
                        entry.value("purpose", ""), entry.value("note", "")});
  return features;
}

std::string limit_text(double limit, const std::string& text) {
  return limit > 0 ? ", cgroup limit " + text : "";
}

struct Report {
  Registry registry;
  std::vector<PluginState> plugins;
  CrashRecords crashes = present_crashes(registry);
  std::vector<Feature> features = build_features();
  Machine machine = machine_facts();
  std::vector<Device> devices = machine_devices();
  std::string probe = {};  // JSON of --devices, empty without
};

std::string report_json(const Report& r) {
  JsonWriter json;
  json.object().field("format_version", 1).field("version", OMEN_VERSION);
  json.key("abi").object().field("major", OMEN_ABI_MAJOR).field("minor", OMEN_ABI_MINOR).end();
  json.key("searched").array();
  for (const SearchPlace& p : r.registry.places())
    json.object()
        .field("directory", p.directory.string())
        .field("origin", p.origin)
        .field("exists", p.exists)
        .end();
  json.end().key("plugins").array();
  for (const PluginState& p : r.plugins) {
    json.object().field("id", p.id).field("version", p.version).field("directory", p.directory);
    json.field("usable", p.reason.empty());
    if (!p.reason.empty()) json.field("reason", p.reason);
    json.end();
  }
  json.end().key("crashes").array();
  for (const auto& [digest, components] : r.crashes)
    for (const auto& [component, c] : components)
      json.object()
          .field("sha256", digest)
          .field("plugin", c.plugin)
          .field("component", component)
          .field("call", c.call)
          .field("outcome", c.outcome)
          .field("signal", c.signal)
          .field("time", c.time)
          .field("count", c.count)
          .end();
  json.end().key("features").array();
  for (const Feature& f : r.features)
    json.object()
        .field("name", f.name)
        .field("state", f.state)
        .field("purpose", f.purpose)
        .field("note", f.note)
        .end();
  json.end().key("devices").array();
  for (const Device& d : r.devices)
    json.object()
        .field("kind", d.kind)
        .field("name", d.name)
        .field("detail", d.detail)
        .field("usable", d.usable)
        .end();
  const Machine& m = r.machine;
  json.end()
      .key("machine")
      .object()
      .field("system", m.system)
      .field("kernel", m.kernel)
      .field("processor", m.processor);
  json.field("cores", m.cores)
      .field("usable_cores", m.usable_cores)
      .field("cgroup_cpus", m.cgroup_cpus);
  json.field("memory_bytes", m.memory).field("available_memory_bytes", m.available_memory);
  json.field("cgroup_memory_bytes", m.cgroup_memory).end();
  json.key("free_disk").array();
  for (const fs::path& place : {fs::current_path(), fs::temp_directory_path()})
    json.object().field("directory", place.string()).field("bytes", free_disk(place)).end();
  json.end().key("tools").array();
  for (const Tool& tool : kTools)
    json.object().field("name", tool.name).field("path", find_program(tool.name).string()).end();
  json.end();
  if (!r.probe.empty()) json.key("probe").raw(r.probe);
  return json.end().text();
}

class Screen {
 public:
  explicit Screen(const Globals& globals) : terminal_(out_terminal(globals)) {}
  void title(const char* text) {
    print((first_ ? "" : "\n") + paint(text, Style::kStrong, terminal_.colour) + "\n");
    first_ = false;
  }
  // Rows of three cells below a title; the state decides the colour of the first.
  void rows(const std::vector<std::vector<Cell>>& rows) {
    TextTable table({{""}, {""}, {"", false, true}});
    for (const auto& row : rows) {
      std::vector<Cell> indented = row;
      indented[0].text = "  " + indented[0].text;
      table.add(std::move(indented));
    }
    print(table.text(Terminal{false, terminal_.colour, terminal_.width}, false));
  }

 private:
  Terminal terminal_;
  bool first_ = true;
};

using Rows = std::vector<std::vector<Cell>>;

Cell state_cell(bool good, const char* yes, const char* no) {
  return good ? Cell(yes, Style::kGood) : Cell(no, Style::kWarn);
}

Rows place_rows(const Report& r) {
  Rows rows;
  for (const SearchPlace& place : r.registry.places()) {
    const auto here = std::count_if(r.plugins.begin(), r.plugins.end(), [&](const PluginState& p) {
      return p.directory == place.directory ||
             fs::path(p.directory).parent_path() == place.directory;
    });
    rows.push_back(
        {place.origin,
         place.exists ? Cell(std::to_string(here) + " plugins") : Cell("absent", Style::kFaint),
         place.directory.string()});
  }
  return rows;
}

Rows machine_rows(const Report& r) {
  const Machine& m = r.machine;
  char cpus[32];
  std::snprintf(cpus, sizeof cpus, "%.3g", m.cgroup_cpus);
  Rows rows{{"system", m.system + ", " + m.kernel},
            {"processor", m.processor},
            {"cores", std::to_string(m.usable_cores) + " usable of " + std::to_string(m.cores) +
                          limit_text(m.cgroup_cpus, cpus)},
            {"memory", format_bytes(static_cast<double>(m.available_memory)) + " free of " +
                           format_bytes(static_cast<double>(m.memory)) +
                           limit_text(static_cast<double>(m.cgroup_memory),
                                      format_bytes(static_cast<double>(m.cgroup_memory)))}};
  for (const fs::path& place : {fs::current_path(), fs::temp_directory_path()})
    rows.push_back({"disk", format_bytes(static_cast<double>(free_disk(place))) + " free in " +
                                place.string()});
  return rows;
}

void show(const Globals& globals, const Report& r) {
  Screen screen(globals);
  Rows rows;
  print("omen " OMEN_VERSION ", plugin ABI " + std::to_string(OMEN_ABI_MAJOR) + "." +
        std::to_string(OMEN_ABI_MINOR) + "\n\n");
  screen.title("looked for plugins in, first to last");
  screen.rows(place_rows(r));
  screen.title("plugins");
  for (const PluginState& p : r.plugins)
    rows.push_back(
        {p.hidden ? Cell("hidden", Style::kFaint) : state_cell(p.reason.empty(), "ok", "broken"),
         p.id + " " + p.version, p.reason.empty() ? p.directory : p.directory + ": " + p.reason});
  if (rows.empty())
    rows.push_back(
        {{"none", Style::kWarn}, "", "name a directory with --plugin-path or OMEN_PLUGIN_PATH"});
  screen.rows(rows);
  if (!r.crashes.empty()) {
    rows.clear();
    for (const auto& [digest, components] : r.crashes)
      for (const auto& [component, c] : components)
        rows.push_back({{c.outcome, Style::kBad},
                        component + " " + c.call,
                        std::to_string(c.count) + " times, last " + c.time +
                            (c.signal.empty() ? "" : ", " + c.signal)});
    screen.title("crashes remembered, until the library changes");
    screen.rows(rows);
  }
  screen.title("parts of this build");
  rows.clear();
  for (const Feature& f : r.features)
    rows.push_back({state_cell(f.state == "built", "built", f.state.c_str()), f.name,
                    f.purpose + ": " + f.note});
  screen.rows(rows);
  screen.title("devices");
  rows.clear();
  for (const Device& d : r.devices)
    rows.push_back({state_cell(d.usable, "ok", "none"), d.name, d.detail});
  screen.rows(rows);
  if (!r.probe.empty()) {
    screen.title("devices, measured");
    screen.rows(probe_rows(r.probe));
  }
  screen.title("programs");
  rows.clear();
  for (const Tool& tool : kTools) {
    const fs::path path = find_program(tool.name);
    rows.push_back(
        {state_cell(!path.empty(), "ok", "absent"), tool.name,
         std::string(tool.purpose) + ": " + (path.empty() ? tool.remedy : path.string())});
  }
  screen.rows(rows);
  screen.title("machine");
  screen.rows(machine_rows(r));
}

int run_doctor(const Globals& globals, const DoctorRequest& request) {
  Report report{Registry::discover(globals.plugin_path), {}};
  if (request.devices) report.probe = probe_devices(globals);
  report.plugins = plugin_states(report.registry);
  if (globals.json)
    print(report_json(report));
  else
    show(globals, report);
  return kOk;
}

void describe_doctor(CommandLine& line) {
  auto& r = line.request(run_doctor);
  line.toggle("--devices", r.devices, "also measure what the devices can do");
}

}  // namespace

Verb doctor_verb() {
  return {"doctor",
          "show where plugins were looked for, what is broken, and what this machine offers",
          "omen doctor\nomen doctor --json\nomen doctor --devices", describe_doctor};
}

}  // namespace omen::host::cli
