// SPDX-License-Identifier: Apache-2.0
// Sets up a run from the command line and writes what it leaves behind.
#include "cli/session.hpp"

#include <sstream>

#include "omen/utc_time.hpp"
#include "tables/table_io.hpp"
#include "text/json_writer.hpp"
#include "worker/machine.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

std::string config_text(const Globals& globals) {
  if (globals.config_file.empty()) return {};
  return read_text(globals.config_file);
}

}  // namespace

Session::Session(const Globals& globals, const RunChoices& run, const Flags& flags,
                 const std::string& title, const std::string& output, double interval_level)
    : globals_(globals),
      registry_(Registry::discover(globals.plugin_path)),
      flags_(flags, config_text(globals)) {
  install_interrupt_handler();
  const bool names_directory =
      !output.empty() && (output.back() == '/' || fs::is_directory(output));
  if (names_directory) {
    directory_ = output;
    std::error_code error;
    fs::create_directories(directory_, error);
    if (error) throw Error(OMEN_IO, "directory " + output + " cannot be made: " + error.message());
  }
  progress_ = std::make_unique<Progress>(title, !globals.quiet && !globals.plain);
  ComponentSettings settings;
  settings.run.threads = globals.threads;
  settings.run.seed = globals.seed;
  settings.run.devices = globals.devices;
  settings.run.interval_level = interval_level;
  settings.run.output_dir = directory_;
  settings.hooks.progress = [this](double fraction, const char* stage) {
    progress_->update(fraction, stage);
  };
  settings.isolate = run.isolate;
  settings.in_process = settings.limits.in_process_calls = run.in_process;
  settings.limits.owns_stdout = run.owns_stdout;
  settings.limits.timeout_s = run.timeout_seconds;
  settings.limits.memory_bytes = run.memory_bytes;
  settings.limits.threads = globals.threads;
  settings.limits.isolate_calls = run.isolate;
  components_ = std::make_unique<Components>(registry_, std::move(settings));
  in_use_ = std::make_unique<ComponentsInUse>(*components_);
}

double Session::elapsed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Session::begin_record(JsonWriter& json, const char* verb) const {
  const Machine machine = machine_facts();
  json.object().field("format_version", 1).field("verb", verb).field("omen_version", OMEN_VERSION);
  json.strings("command", globals_.command_line).field("time", utc_now());
  json.field("seed", globals_.seed)
      .field("threads", globals_.threads)
      .field("devices", globals_.devices);
  json.key("machine")
      .object()
      .field("processor", machine.processor)
      .field("cores", machine.usable_cores);
  json.field("memory_bytes", machine.memory).field("system", machine.system).end();
}

std::string csv_text(const Table& table) {
  std::ostringstream out;
  write_csv(out, table);
  return out.str();
}

void write_rows(const fs::path& path, const std::string& table_name, const Table& table) {
  const std::string suffix = path.extension().string();
  std::ostringstream out;
  if (suffix == ".omt") {
    const fs::path parent = path.parent_path();
    if (!parent.empty() && !fs::is_directory(parent))
      throw Error(OMEN_IO,
                  "file '" + path.string() + "' cannot be written: its directory does not exist");
    return write_dataset(path, {{table_name, table}});
  }
  if (suffix == ".csv")
    write_csv(out, table);
  else if (suffix == ".jsonl" || suffix == ".ndjson")
    write_json_lines(out, table);
  else if (suffix == ".json")
    out << to_json_rows(table) << "\n";
  else
    usage_error("-o is '" + path.string() + "', whose suffix says no format",
                "end it in .csv, .jsonl, .json or .omt");
  write_text(path, out.str());
}

ComponentRef named_component(const Registry& registry, std::uint32_t kind,
                             const std::string& name) {
  std::vector<ComponentRef> found;
  for (const ComponentRef& ref : registry.components(kind))
    if (ref.plugin->manifest.id == name) found.push_back(ref);
  if (found.size() > 1)
    std::erase_if(found,
                  [](const ComponentRef& ref) { return !(ref.info->caps & OMEN_CAP_DEFAULT); });
  return found.size() == 1 ? found[0] : registry.component(kind, name);
}

void take_component(const Registry& registry, std::uint32_t kind, std::vector<std::string>& words,
                    std::string& component) {
  if (!component.empty()) component = named_component(registry, kind, component).info->id;
  if (!component.empty() || words.empty() || fs::is_regular_file(words[0])) return;
  for (const ComponentRef& ref : registry.components(kind)) {
    if (ref.info->id != words[0] && ref.plugin->manifest.id != words[0]) continue;
    component = named_component(registry, kind, words[0]).info->id;
    words.erase(words.begin());
    return;
  }
}

}  // namespace omen::host::cli
