// SPDX-License-Identifier: Apache-2.0
// Finds the verb of a command line, has it parsed and runs it, or shows its help.
#include "cli/cli.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/component_flags.hpp"
#include "cli/console.hpp"
#include "cli/help.hpp"
#include "cli/plugin_command.hpp"
#include "cli/suggestions.hpp"
#include "cli/verbs.hpp"
#include "components/components.hpp"
#include "text/log.hpp"

namespace omen::host::cli {
namespace {

bool takes_value_before_verb(std::string_view flag) {
  for (const char* name : {"--plugin-path", "--config", "--seed", "--threads", "--devices"})
    if (flag == name) return true;
  return false;
}

// Index of the first word that is neither a flag nor the value of one; words.size() if there is
// none.
std::size_t verb_index(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (takes_value_before_verb(words[i]))
      ++i;
    else if (words[i].empty() || words[i][0] != '-')
      return i;
  }
  return words.size();
}

// Takes flags that the verb itself does not have out of `words`: they belong to components.
void take_component_flags(CommandLine& line, Words& words) {
  const Words all = words;
  ComponentFlags known(line.globals, all);
  Words kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    const bool ours = !name.starts_with("--") || line.find(name);
    if (ours) {
      kept.push_back(words[i]);
      continue;
    }
    if (!line.component_flags) {
      const auto near = near_names(name, line.long_names());
      usage_error("unknown option " + name + " of omen " + line.verb,
                  near.empty() ? "see them with: omen " + line.verb + " --help"
                               : "did you mean " + near[0] + "?");
    }
    const std::string key = name.substr(2);
    if (name.size() < words[i].size()) {
      line.component_flags->emplace_back(key, words[i].substr(name.size() + 1));
      continue;
    }
    const bool more = i + 1 < words.size();
    if (known.is_switch(key, more ? words[i + 1] : "")) {
      const bool given = more && (words[i + 1] == "true" || words[i + 1] == "false");
      line.component_flags->emplace_back(key, given ? words[++i] : "true");
    } else if (more && !words[i + 1].starts_with("--")) {
      line.component_flags->emplace_back(key, words[++i]);
    } else {
      usage_error("option " + name + " needs a value",
                  "write " + name + " VALUE, or " + name + "=VALUE");
    }
  }
  words = std::move(kept);
}

void check_output_is_no_option(const Words& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "-o" && words[i + 1].find('=') != std::string::npos &&
        words[i + 1].find('/') == std::string::npos)
      usage_error(
          "-o names an output file; '" + words[i + 1] + "' looks like an option of a component",
          "write -O " + words[i + 1]);
}

// The search path decides which flags and components exist, so it is read before the rest.
std::vector<std::filesystem::path> early_plugin_path(const Words& words) {
  constexpr std::string_view kFlag = "--plugin-path";
  std::vector<std::filesystem::path> path;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == kFlag && i + 1 < words.size())
      path.emplace_back(words[i + 1]);
    else if (words[i].starts_with("--plugin-path="))
      path.emplace_back(words[i].substr(kFlag.size() + 1));
  }
  return path;
}

// A misspelt flag of the verb passes for an option of a component until something else is missed.
// Names the flag that it looks like; empty where every flag can be meant as it stands.
std::string misspelt_flag(const CommandLine& line, const Words& words) {
  ComponentFlags known(line.globals, words);
  for (const std::string& word : words) {
    if (word == "--") break;
    const std::string name = word.substr(0, word.find('='));
    const bool is_long = name.starts_with("--") && name.size() > 3;  // --m may be any column
    if (!is_long || line.find(name) || known.is_known(name.substr(2))) continue;
    const auto near = near_names(name, line.long_names());
    if (!near.empty())
      return name + " is no option of omen " + line.verb + "; did you mean " + near[0] + "?";
  }
  return {};
}

int run_parsed(CommandLine& line, Words words) {
  Words behind;
  if (line.behind_dashes) {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (dashes != words.end()) behind.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
  }
  check_output_is_no_option(words);
  take_component_flags(line, words);
  line.globals.plugin_path.clear();
  parse(line, std::move(words));
  // After parsing, which fills the words before the dashes into the same list where a verb has one.
  if (line.behind_dashes)
    line.behind_dashes->insert(line.behind_dashes->end(), behind.begin(), behind.end());
  line.finish();
  const Globals& g = line.globals;
  set_log_level(g.quiet         ? OMEN_LOG_ERROR
                : g.verbose > 1 ? OMEN_LOG_DEBUG
                : g.verbose     ? OMEN_LOG_INFO
                                : OMEN_LOG_WARN);
  const int code = line.run();
  flush_stdout();
  return code;
}

int parse_and_run(CommandLine& line, const Words& words) {
  try {
    return run_parsed(line, words);
  } catch (const Error& e) {
    if (!line.component_flags || exit_code_of(e) != kUsage) throw;
    const std::string hint = misspelt_flag(line, words);
    if (hint.empty()) throw;
    throw ExitError(kUsage, Error(e.code(), e.what(), hint));
  }
}

// `omen PLUGIN --help`, or with a verb behind the plugin the help of that verb.
int show_plugin_help(const CommandLine& line, const Words& words, std::size_t at) {
  const Words behind(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
  const std::size_t verb = verb_index(behind);
  print(verb == behind.size() ? plugin_help(line.globals, words[at])
                              : command_help(line, words[at], behind[verb]));
  flush_stdout();
  return kOk;
}

// Positionals are not parsed for help, so a component is any word that names one.
int show_help(CommandLine& line, const Verb& verb, const Words& words) {
  std::string text = verb_help(line, verb);
  if (line.component_flags) text += component_help(line.globals, words);
  print(text);
  flush_stdout();
  return kOk;
}

void print_version(const Words& words) {
  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  char text[160];
  std::snprintf(text, sizeof text,
                json ? "{\n  \"format_version\": 1,\n  \"version\": \"%s\",\n  \"abi\": "
                       "{\"major\": %u, \"minor\": %u}\n}\n"
                     : "omen %s (plugin ABI %u.%u)\n",
                OMEN_VERSION, OMEN_ABI_MAJOR, OMEN_ABI_MINOR);
  print(text);
  flush_stdout();
}

bool contains(const Words& words, std::initializer_list<const char*> wanted) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::any_of(words.begin(), end, [&](const std::string& word) {
    return std::any_of(wanted.begin(), wanted.end(), [&](const char* w) { return word == w; });
  });
}

// Without a verb: the version, the overview, or the few lines of bare `omen`.
int run_without_verb(const Words& words, bool full) {
  if (contains(words, {"--version", "-V"})) return print_version(words), kOk;
  CommandLine line;
  line.add_globals();
  line.run = [&] {
    print(welcome_text(line.globals, full));
    if (full) print("\neverywhere:\n" + flag_lines(line, Flag::Section::kEverywhere));
    return kOk;
  };
  Words rest = words;
  std::erase_if(rest,
                [](const std::string& w) { return w == "--help" || w == "-h" || w == "help"; });
  return parse_and_run(line, rest);
}

void describe_verb(CommandLine& line, const Words& words, std::size_t at) {
  line.verb = words[at];
  line.globals.command_line = words;
  line.globals.plugin_path = early_plugin_path(words);
  const Verb* verb = find_verb(words[at]);
  (verb ? verb->describe : describe_plugin_command)(line);
  line.add_globals();
}

int run_words(const Words& words) {
  const std::size_t at = verb_index(words);
  const bool help = contains(words, {"--help", "-h"});
  if (at == words.size()) return run_without_verb(words, help);
  if (words[at] == "help") {
    Words asked(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
    if (asked.empty()) return run_without_verb(words, true);
    asked.emplace_back("--help");
    return run_words(asked);
  }
  CommandLine line;
  describe_verb(line, words, at);
  Words rest = words;
  const Verb* verb = find_verb(words[at]);
  if (verb) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  if (!help) return parse_and_run(line, rest);
  return verb ? show_help(line, *verb, rest) : show_plugin_help(line, words, at);
}

// `omen __complete WORD...`: the words after `omen` up to the cursor, the last one unfinished.
int complete(const Words& words) {
  const std::size_t at = verb_index(words);
  CommandLine line;
  bool help = false;
  if (at + 1 < words.size()) {
    describe_verb(line, words, at);
  } else {
    line.toggle("-h,--help", help, "Print this help message and exit");
    line.add_globals();
  }
  Globals globals;
  globals.plugin_path = early_plugin_path(words);
  print(completions(globals, words, line));
  flush_stdout();
  return kOk;
}

// What was printed before an error stays; that it cannot be written is the smaller trouble.
void print_what_is_left() {
  try {
    flush_stdout();
  } catch (const Error&) {
    return;
  }
}

// A plugin in this process may call exit(), which would look like success.
class EndWatch {
 public:
  EndWatch() {
    running_ = getpid();
    std::atexit([] {
      if (running_ != getpid()) return;  // over, or a child that a plugin forked
      const std::string text = "error: " + last_opened_in_process() +
                               " ended the process of omen with exit()\n  hint: run it in a worker "
                               "with --isolate, and tell its author\n";
      std::fputs(text.c_str(), stderr);
      _exit(kCrashed);
    });
  }
  ~EndWatch() { running_ = 0; }
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;

 private:
  static inline std::atomic<pid_t> running_{0};
};

// What runs programs asks whether their names were typed here or come out of a file.
void tell_what_was_typed(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : "\x1f") + word;
  setenv("OMEN_COMMAND_LINE", line.c_str(), 1);
}

}  // namespace

int run(int argc, char** argv) {
  Words words(argv + 1, argv + argc);
  const EndWatch watch;
  take_stdout();
  tell_what_was_typed(words);
  try {
    if (!words.empty() && words[0] == "__complete") {
      words.erase(words.begin());
      return complete(words);
    }
    return run_words(words);
  } catch (const Error& e) {
    print_what_is_left();
    print_error(early_plugin_path(words), e);
    return exit_code_of(e);
  } catch (const std::bad_alloc&) {
    std::fputs("error: out of memory\n", stderr);
    return kFailed;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n  hint: this is a defect of omen; please report it\n",
                 e.what());
    return kFailed;
  }
}

}  // namespace omen::host::cli
