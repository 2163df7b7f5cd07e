// SPDX-License-Identifier: Apache-2.0
// Flags that every verb has, those of verbs that run plugins, and values with units.
#include "cli/command_line.hpp"

#include "cli/console.hpp"
#include "omen/scaled_number.hpp"

namespace omen::host::cli {
namespace {

double parse_time(const std::string& flag, const std::string& text) {
  std::size_t used = 0;
  double seconds = -1;
  try {
    seconds = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  const std::string suffix = text.substr(used);
  const double factor = suffix.empty() || suffix == "s" ? 1
                        : suffix == "ms"                ? 1e-3
                        : suffix == "m"                 ? 60
                        : suffix == "h"                 ? 3600
                                                        : -1;
  if (seconds <= 0 || factor < 0)
    usage_error(flag + " is '" + text + "', which is no time",
                "give a number with ms, s, m or h, such as 30s");
  return seconds * factor;
}

std::uint64_t parse_memory(const std::string& text) {
  const std::optional<double> bytes = parse_bytes(text);
  if (bytes && *bytes > 0) return static_cast<std::uint64_t>(*bytes);
  usage_error("--memory is '" + text + "', which is no size",
              "give a number with k, M or G, such as 2G");
}

Words split_names(std::string_view names) {
  Words list;
  for (std::size_t comma; (comma = names.find(',')) != std::string_view::npos;) {
    list.emplace_back(names.substr(0, comma));
    names.remove_prefix(comma + 1);
  }
  list.emplace_back(names);
  return list;
}

}  // namespace

bool Flag::takes_many() const {
  return std::holds_alternative<Words*>(target) ||
         std::holds_alternative<std::vector<std::filesystem::path>*>(target);
}

Words Flag::long_names() const {
  Words list = split_names(names);
  std::erase_if(list, [](const std::string& name) { return !name.starts_with("--"); });
  return list;
}

Flag& CommandLine::time(const char* names, double& seconds, const char* help) {
  const auto keep = [&seconds, flag = std::string(names)](const std::string& text) {
    seconds = parse_time(flag, text);
  };
  return add({Flag::Form::kValue, names, "TIME", help, Flag::Target(keep)});
}

void CommandLine::run_choices(RunChoices& choices, Flags& component_options) {
  choices_ = &choices;
  component_flags = &component_options;
  const std::size_t first = flags.size();
  toggle("--isolate", choices.isolate,
         "run every plugin in a worker process, as those are that omen did not bring");
  toggle("--in-process", choices.in_process,
         "run plugins in this process, also those that omen did not bring");
  value("--timeout", "TIME", timeout_,
        "give up after this long, e.g. 30s or 10m; implies --isolate. To read one file in a "
        "worker may take 5m by default");
  value("--memory", "SIZE", memory_, "end a worker above this size, e.g. 2G; implies --isolate");
  values("-O", "KEY=VALUE", key_values_,
         "option of a component; also --KEY VALUE and --COMPONENT.KEY VALUE");
  for (std::size_t i = first; i < flags.size(); ++i) flags[i].section = Flag::Section::kComponents;
}

void CommandLine::add_globals() {
  Globals& g = globals;
  const std::size_t first = flags.size();
  values("--plugin-path", "DIR", g.plugin_path, "look for plugins here first; may be repeated");
  value("--config", "FILE", g.config_file, "JSON file with options of components");
  value("--seed", "N", g.seed, "source of randomness, 1 by default");
  value("--threads", "N", g.threads, "thread budget; 0 lets the plugin decide");
  // The doctor has a switch of this name.
  if (!find("--devices"))
    value("--devices", "LIST", g.devices, "devices to use, such as cpu or cuda:0");
  toggle("--json", g.json, "one JSON document on stdout");
  toggle("--plain", g.plain, "rows only: no header, no colour, no clipping");
  toggle("-q,--quiet", g.quiet, "no remarks and no progress on stderr");
  toggle("-v,--verbose", g.verbose, "log more; twice for debugging");
  for (std::size_t i = first; i < flags.size(); ++i) flags[i].section = Flag::Section::kEverywhere;
}

const Flag* CommandLine::find(std::string_view name) const {
  for (const Flag& flag : flags)
    for (const std::string& known : split_names(flag.names))
      if (known == name) return &flag;
  return nullptr;
}

Words CommandLine::long_names() const {
  Words names;
  for (const Flag& flag : flags)
    for (std::string& name : flag.long_names()) names.push_back(std::move(name));
  return names;
}

void CommandLine::finish() {
  for (const std::string& option : key_values_) {
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0)
      usage_error("-O is '" + option + "', which is not KEY=VALUE",
                  "write for example -O hidden=64");
    component_flags->emplace_back(option.substr(0, equals), option.substr(equals + 1));
  }
  if (!timeout_.empty()) choices_->timeout_seconds = parse_time("--timeout", timeout_);
  if (!memory_.empty()) choices_->memory_bytes = parse_memory(memory_);
  if (!timeout_.empty() || !memory_.empty()) choices_->isolate = true;
  if (choices_ && choices_->isolate && choices_->in_process)
    usage_error("--in-process excludes --isolate, --timeout and --memory",
                "limits need a worker; leave --in-process out");
}

}  // namespace omen::host::cli
