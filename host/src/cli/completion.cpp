// SPDX-License-Identifier: Apache-2.0
// Completion: small shell functions that ask `omen __complete`, which reads manifests and opens
// nothing.
#include "cli/completion.hpp"

#include <algorithm>

#include "cli/component_flags.hpp"
#include "cli/console.hpp"
#include "cli/plugin_command.hpp"
#include "cli/verbs.hpp"
#include "compare/run_record.hpp"
#include "components/registry.hpp"
#include "data/task.hpp"

namespace omen::host::cli {
namespace {

constexpr const char* kBash = R"(# bash completion for omen; made by: omen completion bash
_omen() {
  local current="${COMP_WORDS[COMP_CWORD]}" line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("${line%%$'\t'*}")
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ "${#COMPREPLY[@]}" -eq 0 ]; then
    compopt -o default 2>/dev/null
  fi
}
complete -F _omen omen
)";

constexpr const char* kZsh = R"(#compdef omen
# zsh completion for omen; made by: omen completion zsh
_omen() {
  local -a candidates
  local line
  while IFS= read -r line; do
    candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( ${#candidates} )); then
    _describe 'omen' candidates
  else
    _files
  fi
}
if [ "$funcstack[1]" = "_omen" ]; then
  _omen "$@"
else
  compdef _omen omen
fi
)";

class Completer {
 public:
  Completer(const Globals& globals, const Words& words, const CommandLine& line)
      : words_(words), line_(line), offers_(globals, words) {
    for (std::size_t i = 0; i + 1 < words_.size() && command_.empty(); ++i) {
      if (words_[i].starts_with("-")) continue;
      if (verb_.empty())
        verb_ = words_[i];
      else
        command_ = verb_ + "." + words_[i];
    }
  }

  std::string run() {
    const std::string before = words_.size() > 1 ? words_[words_.size() - 2] : "";
    if (!value_of(before)) {
      if (offers_.current().starts_with("-"))
        offer_flags();
      else if (verb_.empty())
        offer_verbs();
      else
        offer_words();
    }
    return offers_.text();
  }

 private:
  void offer_verbs() {
    for (const Verb& verb : verbs()) offers_.add(verb.name, verb.summary);
    for (const auto& [plugin, commands] : plugin_commands(offers_.registry()))
      offers_.add(plugin, "commands of a plugin: " + commands);
  }

  void offer_flags() {
    for (const Flag& flag : line_.flags)
      for (const std::string& name : flag.long_names()) offers_.add(name, flag.help);
    for (const ComponentRef& ref : named())
      for (const OptionInfo& option : ref.info->options)
        offers_.add("--" + option.key, option.help);
  }

  void offer_words() {
    if (const Verb* verb = find_verb(verb_)) {
      if (verb->complete) verb->complete(offers_);
    } else if (command_.empty()) {
      for (const ComponentRef& ref : offers_.registry().components(OMEN_COMMAND))
        if (ref.info->id.starts_with(verb_ + "."))
          offers_.add(ref.info->id.substr(verb_.size() + 1), ref.info->summary);
    }
  }

  // Components that the line names so far; `loadbalance run` names loadbalance.run.
  std::vector<ComponentRef> named() const {
    std::vector<ComponentRef> refs;
    for (const ComponentRef& ref : offers_.registry().components(0))
      if (std::find(words_.begin(), words_.end(), ref.info->id) != words_.end() ||
          (ref.info->kind == OMEN_COMMAND && ref.info->id == command_))
        refs.push_back(ref);
    return refs;
  }

  // True where the word before is a flag that takes a value: then only its values count.
  bool value_of(const std::string& flag) {
    if (!flag.starts_with("-")) return false;
    if (flag == "--with") return offers_.components(kind_of_with()), true;
    if (flag == "--frontend") return offers_.components(OMEN_GRAPH_FRONTEND), true;
    if (flag == "--predictor" || flag == "--baseline")
      return offers_.components(OMEN_PREDICTOR), true;
    if (flag == "--task") return offers_.tasks("task"), true;
    if (flag == "--fail-if")
      return offers_.words({verb_ == "score" ? "infeasible" : "worse"}), true;
    if (flag == "--data" || flag == "--valid") return offers_.datasets(), true;
    if (flag == "-m" || flag == "--model" || flag == "--policy" || flag == "--from")
      return offers_.models(), true;
    if (flag == "--kind")
      return offers_.words({"predictor", "frontend", "profiler", "scorer", "command"}), true;
    if (flag == "--lang") return offers_.words({"c++", "c"}), true;
    if (flag == "-o" || flag == "-O" || flag == "-j") return true;
    if (flag.starts_with("--"))
      if (const Flag* known = line_.find(flag)) return known->form == Flag::Form::kValue;
    return option_value_of(flag);
  }

  bool option_value_of(const std::string& flag) {
    const std::string key = normal_key(flag.substr(std::min<std::size_t>(2, flag.size())));
    for (const ComponentRef& ref : named())
      if (const OptionInfo* option = ref.info->option(key)) {
        for (const std::string& choice : option->choices) offers_.add(choice, "");
        if (option->type == OMEN_OPT_BOOL) offers_.words({"true", "false"});
        return option->type != OMEN_OPT_BOOL;
      }
    return false;
  }

  std::uint32_t kind_of_with() const {
    const Verb* verb = find_verb(verb_);
    return verb ? verb->with : std::uint32_t{OMEN_PREDICTOR};
  }

  const Words& words_;
  const CommandLine& line_;
  Offers offers_;
  std::string verb_, command_;
};

struct CompletionRequest {
  std::string shell;
};

int run_completion(const Globals&, const CompletionRequest& request) {
  print(request.shell == "bash" ? kBash : kZsh);
  return kOk;
}

void describe_completion(CommandLine& line) {
  auto& r = line.request(run_completion);
  line.word("SHELL", r.shell, "bash or zsh").required().one_of({"bash", "zsh"});
}

}  // namespace

Offers::Offers(const Globals& globals, const Words& words)
    : words_(words), registry_(Registry::discover(globals.plugin_path)) {
  if (!words_.empty()) current_ = words_.back();
}

void Offers::add(const std::string& word, const std::string& help) {
  if (word.starts_with(current_)) text_ += word + "\t" + help + "\n";
}

void Offers::words(std::initializer_list<const char*> list) {
  for (const char* word : list) add(word, "");
}

void Offers::components(std::uint32_t kind) {
  for (const ComponentRef& ref : registry_.components(kind)) add(ref.info->id, ref.info->summary);
}

void Offers::plugins() {
  for (const FoundPlugin& found : registry_.plugins()) add(found.manifest.id, "plugin");
}

void Offers::models() {
  for (const ComponentRef& ref : registry_.components(0))
    for (const ModelInfo& model : ref.info->models) add(model.name, model.summary);
}

void Offers::tasks(const char* help) {
  for (const std::filesystem::path& task : installed_tasks()) add(task.stem().string(), help);
}

void Offers::datasets() {
  for (const DatasetEntry& entry : list_datasets()) add(entry.name, entry.summary);
}

void Offers::runs() {
  for (const RunRecord& run : list_runs("runs"))
    add(run.id, std::string(word_of(run.status)) + ", " + run.time);
}

std::string completions(const Globals& globals, const Words& words, const CommandLine& line) {
  return Completer(globals, words, line).run();
}

Verb completion_verb() {
  return {"completion", "print the completion script of a shell",
          "omen completion bash > ~/.local/share/bash-completion/completions/omen\n"
          "omen completion zsh > ~/.zfunc/_omen",
          describe_completion, [](Offers& offers) {
            offers.words({"bash", "zsh"});
          }};
}

}  // namespace omen::host::cli
