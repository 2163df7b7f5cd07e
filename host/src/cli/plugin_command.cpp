// SPDX-License-Identifier: Apache-2.0
// `omen PLUGIN VERB`: a command that a plugin brings; its tables are rendered here.
#include "cli/plugin_command.hpp"

#include <stdlib.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "cli/command_line.hpp"
#include "cli/metric_log.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "components/named_errors.hpp"
#include "omen/container.hpp"
#include "pipeline/state_directory.hpp"
#include "report/page_parts.hpp"
#include "tables/table_io.hpp"
#include "text/json_writer.hpp"
#include "text/words.hpp"

namespace omen::host {
namespace {

// How a command wants its table to be shown: as lines of text, or only where programs read it.
enum class Rendering { kText, kForScripts };

}  // namespace
template <>
struct WordTable<Rendering> {
  static constexpr const char* kWords[] = {"text", "none"};
};
}  // namespace omen::host

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

struct PluginCommandRequest {
  std::string plugin, verb;
  std::vector<std::string> arguments;
  std::string output;
  bool csv = false;
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

// Where files of a command go: -o, or without it a place of their own that stays if it is used.
class CommandFiles {
 public:
  explicit CommandFiles(std::string output) : directory_(std::move(output)) {
    if (!directory_.empty()) {
      if (directory_.back() != '/') directory_ += "/";
    } else if (!chart_library_or_nothing().empty()) {
      std::string pattern = (fs::temp_directory_path() / "omen-figures-XXXXXX").string();
      if (mkdtemp(pattern.data())) directory_ = pattern + "/";
      is_fresh_ = !directory_.empty();
    }
    for (const auto& [file, time] : files()) before_.emplace(file, time);
  }
  ~CommandFiles() {
    std::error_code ignored;
    if (is_fresh_ && fs::is_empty(directory_, ignored)) fs::remove(directory_, ignored);
  }
  CommandFiles(const CommandFiles&) = delete;
  CommandFiles& operator=(const CommandFiles&) = delete;

  const std::string& directory() const noexcept { return directory_; }
  // Whatever the command, or the host for it, wrote or changed; sorted.
  std::vector<std::string> written() const {
    std::vector<std::string> list;
    for (const auto& [file, time] : files())
      if (const auto known = before_.find(file); known == before_.end() || known->second != time)
        list.push_back(file.string());
    return list;
  }

 private:
  using Times = std::map<fs::path, fs::file_time_type>;
  Times files() const {
    Times found;
    std::error_code error;
    if (directory_.empty()) return found;
    for (fs::recursive_directory_iterator at(directory_, error), end; !error && at != end;
         at.increment(error))
      if (std::error_code gone; at->is_regular_file(gone))
        found[at->path()] = fs::last_write_time(at->path(), gone);
    return found;
  }

  std::string directory_;
  bool is_fresh_ = false;
  Times before_;
};

std::string answer_json(const std::string& command, int code, const Tables& tables,
                        const std::vector<std::string>& written) {
  JsonWriter json;
  json.object().field("format_version", 1).field("command", command).field("exit_code", code);
  json.key("tables").object();
  for (const auto& [name, table] : tables) json.key(name).raw(to_json_rows(table));
  return json.end().strings("written", written).end().text();
}

void print_tables(const Globals& globals, const Tables& tables, bool csv) {
  bool first = true;
  for (const auto& [name, table] : tables) {
    const std::optional<Rendering> rendering = from_word<Rendering>(table.metadata("omen.render"));
    if (rendering == Rendering::kForScripts && !csv) continue;
    const char* const gap = std::exchange(first, false) ? "" : "\n";
    if (csv) {
      print(gap + csv_text(table));
    } else if (rendering == Rendering::kText && table.columns() == 1) {
      print(lines_of(table));
    } else {
      if (tables.size() > 1 && !globals.plain) print(gap + name + "\n");
      print(table_text(table, out_terminal(globals), !globals.plain, 60));
    }
  }
}

// "DIR.state" beside the output directory DIR; none without one, as nothing else is kept then.
std::filesystem::path state_beside(std::string output) {
  while (output.size() > 1 && output.back() == '/') output.pop_back();
  return output.empty() ? output : output + ".state";
}

std::string fingerprint_of(const ComponentRef& command, const OptionValues& options,
                           const RunSettings& run, const PluginCommandRequest& request) {
  std::vector<std::string> words = request.arguments;
  std::error_code none;
  for (const std::string& word : request.arguments)
    if (std::filesystem::is_regular_file(word, none)) words.push_back(container::sha256_file(word));
  return call_fingerprint(command, options, run, words);
}

int run_plugin_command(const Globals& globals, const PluginCommandRequest& request) {
  const CommandFiles files(request.output);
  Session session(globals, request.run, request.flags, request.plugin + " " + request.verb,
                  files.directory());
  const ComponentRef ref = find_command(session.registry(), request.plugin, request.verb);
  const OptionValues options = resolve_options(*ref.info, session.flags().sources_for(*ref.info));
  session.flags().finish();
  RunHooks hooks = session.components().settings().hooks;
  MetricLog metrics;
  hooks.metric = [&metrics](const char* name, std::int64_t step, double value) {
    metrics.add(name, step, value);
  };
  RunSettings settings = session.components().settings().run;
  const fs::path state_path = state_beside(request.output);
  StateDirectory state(state_path,
                       state_path.empty() ? "" : fingerprint_of(ref, options, settings, request));
  settings.state_dir = state.path();
  TableCollector out;
  const int code = said_by(ref.info->id, [&] {
    CommandHandle handle = session.components().command(ref, options);
    const RunContext run(settings, hooks);
    return handle.run(run.c(), request.arguments, out.c());
  });
  if (code == kOk) state.finish();
  session.progress().finish();
  if (!files.directory().empty()) metrics.write(files.directory());
  const Tables tables = out.take();
  const std::vector<std::string> written = files.written();
  if (globals.json)
    print(answer_json(ref.info->id, code, tables, written));
  else
    print_tables(globals, tables, request.csv);
  for (const std::string& file : written) note(globals, "wrote " + file);
  return code;
}

}  // namespace

void describe_plugin_command(CommandLine& line) {
  auto& r = line.request(run_plugin_command);
  line.word("PLUGIN", r.plugin, "a plugin").required();
  line.word("VERB", r.verb, "one of its commands");
  line.word("ARGUMENT", r.arguments, "words for the command");
  line.value("-o,--output", "DIR", r.output,
             "directory for figures and files, otherwise a temporary one; paths go to stderr");
  line.toggle("--csv", r.csv, "tables as CSV on stdout");
  line.after_dashes(r.arguments);
  line.run_choices(r.run, r.flags);
}

}  // namespace omen::host::cli
