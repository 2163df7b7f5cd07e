// SPDX-License-Identifier: Apache-2.0
// Completion: small shell functions that ask `omen __complete`, which reads manifests and opens
// nothing.
#include <algorithm>

#include "cli/component_flags.hpp"
#include "cli/console.hpp"
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
  Completer(const Globals& globals, const std::vector<std::string>& words,
            const std::vector<CompletionFlag>& flags)
      : words_(words), flags_(flags), registry_(Registry::discover(globals.plugin_path)) {
    if (!words_.empty()) current_ = words_.back();
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
      if (current_.starts_with("-"))
        offer_flags();
      else if (verb_.empty())
        offer_verbs();
      else
        offer_positional();
    }
    return text_;
  }

 private:
  void offer(const std::string& word, const std::string& help) {
    if (word.starts_with(current_)) text_ += word + "\t" + help + "\n";
  }
  void offer_components(std::uint32_t kind) {
    for (const ComponentRef& ref : registry_.components(kind))
      offer(ref.info->id, ref.info->summary);
  }
  void offer_words(std::initializer_list<const char*> list) {
    for (const char* word : list) offer(word, "");
  }
  void offer_models() {
    for (const ComponentRef& ref : registry_.components(0))
      for (const ModelInfo& model : ref.info->models) offer(model.name, model.summary);
  }

  void offer_verbs() {
    for (const VerbText& verb : verbs()) offer(verb.name, verb.summary);
    for (const auto& [plugin, commands] : plugin_commands(registry_))
      offer(plugin, "commands of a plugin: " + commands);
  }

  void offer_flags() {
    for (const CompletionFlag& flag : flags_) offer(flag.name, flag.help);
    for (const ComponentRef& ref : named())
      for (const OptionInfo& option : ref.info->options) offer("--" + option.key, option.help);
  }

  void offer_tasks() {
    for (const std::filesystem::path& task : installed_tasks()) offer(task.stem().string(), "task");
  }

  void offer_runs() {
    for (const RunRecord& run : list_runs("runs")) offer(run.id, run.status + ", " + run.time);
  }

  // Components that the line names so far; `loadbalance run` names loadbalance.run.
  std::vector<ComponentRef> named() const {
    std::vector<ComponentRef> refs;
    for (const ComponentRef& ref : registry_.components(0))
      if (std::find(words_.begin(), words_.end(), ref.info->id) != words_.end() ||
          (ref.info->kind == OMEN_COMMAND && ref.info->id == command_))
        refs.push_back(ref);
    return refs;
  }

  // True where the word before is a flag that takes a value: then only its values count.
  bool value_of(const std::string& flag) {
    if (!flag.starts_with("-")) return false;
    if (flag == "--with") return offer_components(kind_of_verb()), true;
    if (flag == "--frontend") return offer_components(OMEN_GRAPH_FRONTEND), true;
    if (flag == "--predictor" || flag == "--baseline")
      return offer_components(OMEN_PREDICTOR), true;
    if (flag == "--task") return offer_tasks(), true;
    if (flag == "--fail-if") return offer_words({"worse"}), true;
    if (flag == "-m" || flag == "--model" || flag == "--policy" || flag == "--from")
      return offer_models(), true;
    if (flag == "--kind") return offer_words({"predictor", "frontend", "profiler", "scorer"}), true;
    if (flag == "--lang") return offer_words({"c++", "c"}), true;
    if (flag == "-o" || flag == "-O" || flag == "-j") return true;
    for (const CompletionFlag& known : flags_)
      if (known.name == flag) return known.takes_value;
    for (const ComponentRef& ref : named())
      if (const OptionInfo* option =
              ref.info->option(normal_key(flag.substr(std::min<std::size_t>(2, flag.size()))))) {
        for (const std::string& choice : option->choices) offer(choice, "");
        if (option->type == OMEN_OPT_BOOL) offer_words({"true", "false"});
        return option->type != OMEN_OPT_BOOL;
      }
    return false;
  }

  std::uint32_t kind_of_verb() const {
    if (verb_ == "graph" || verb_ == "data") return OMEN_GRAPH_FRONTEND;
    if (verb_ == "profile") return OMEN_PROFILER;
    return verb_ == "score" ? OMEN_SCORER : OMEN_PREDICTOR;
  }

  void offer_positional() {
    if (verb_ == "info") {
      for (const FoundPlugin& found : registry_.plugins()) offer(found.manifest.id, "plugin");
      offer_components(0);
    } else if (verb_ == "verify") {
      for (const FoundPlugin& found : registry_.plugins()) offer(found.manifest.id, "plugin");
    } else if (verb_ == "train" || verb_ == "predict" || verb_ == "score" || verb_ == "compare") {
      offer_components(verb_ == "score" ? OMEN_SCORER : OMEN_PREDICTOR);
    } else if (verb_ == "models") {
      if (words_.size() <= 2)
        offer_words({"list"});
      else
        offer_components(OMEN_PREDICTOR);
    } else if (verb_ == "profile" && words_.size() <= 2) {
      offer_words({"diff", "stats", "failures"});
    } else if (verb_ == "runs" && words_.size() <= 2) {
      offer_words({"list", "show", "diff"});
    } else if (verb_ == "runs" || verb_ == "rerun") {
      offer_runs();
    } else if (verb_ == "data") {
      if (words_.size() <= 2)
        offer_words({"list", "info", "import", "make", "check", "fetch"});
      else if (words_[1] != "import")
        for (const DatasetEntry& entry : list_datasets()) offer(entry.name, entry.summary);
    } else if (verb_ == "task") {
      if (words_.size() <= 2)
        offer_words({"new", "show", "check"});
      else
        for (const auto& file : installed_tasks()) offer(file.stem(), "installed task");
    } else if (verb_ == "completion") {
      offer_words({"bash", "zsh"});
    } else if (!find_verb(verb_) && command_.empty()) {
      for (const ComponentRef& ref : registry_.components(OMEN_COMMAND))
        if (ref.info->id.starts_with(verb_ + "."))
          offer(ref.info->id.substr(verb_.size() + 1), ref.info->summary);
    }
  }

  const std::vector<std::string>& words_;
  const std::vector<CompletionFlag>& flags_;
  Registry registry_;
  std::string current_, verb_, command_, text_;
};

}  // namespace

int run_completion(const Globals&, const CompletionRequest& request) {
  print(request.shell == "bash" ? kBash : kZsh);
  return kOk;
}

int run_complete(const Globals& globals, const std::vector<std::string>& words,
                 const std::vector<CompletionFlag>& flags) {
  print(Completer(globals, words, flags).run());
  return kOk;
}

}  // namespace omen::host::cli
