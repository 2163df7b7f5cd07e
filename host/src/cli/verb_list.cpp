// SPDX-License-Identifier: Apache-2.0
// Names, summaries and examples of the verbs; help, completion and the tests of the man page read
// them.
#include "cli/console.hpp"
#include "cli/verbs.hpp"
#include "components/registry.hpp"

namespace omen::host::cli {
namespace {

constexpr VerbText kVerbs[] = {
    {"list", "show the plugins that are installed, without opening them",
     "omen list\nomen list --all\nomen list --plain | awk '{print $1}'"},
    {"info", "show what a plugin or a component does, reads, writes and takes as options",
     "omen info baseline\nomen info baseline.ridge --all"},
    {"doctor", "show where plugins were looked for, what is broken, and what this machine offers",
     "omen doctor\nomen doctor --json\nomen doctor --devices"},
    {"predict", "say what workloads will cost",
     "omen predict examples/matmul.csv\nomen predict *.cl --csv -o costs.csv\nomen predict "
     "resnet50\n"
     "omen predict baseline.ridge -m mine.omen --m 512 --n 512 --k 64\n"
     "printf '{\"m\": 64, \"n\": 64, \"k\": 64}\\n' | omen predict -"},
    {"train", "fit a predictor to measured workloads and keep it as a model",
     "omen train baseline.gbt --data runs.csv --target time_ms:ms:lower -o mine.omen\n"
     "omen train baseline.ridge --data runs.csv --target time_ms --group network --alpha 0.1"},
    {"score", "rank candidates, such as GPUs for a job, by what they would cost",
     "omen score jobs.csv --with power.cap --candidates gpus.csv\nomen score jobs.csv --with "
     "power.cap --top 3\nomen score kernel.cl --with loadbalance.split --input-size 1M --wgsize "
     "256"},
    {"compare", "put predictors on the same data and say which is better, and how sure that is",
     "omen compare baseline.ridge baseline.gbt --task matmul-cpu\n"
     "omen compare baseline.gbt baseline.gbt@depth=4 --task matmul-cpu --baseline "
     "baseline.gbt\n"
     "omen compare mine baseline.gbt --task tasks/*.json --fail-if worse --timeout 5m --memory 4G\n"
     "omen compare baseline.gbt --aa --task matmul-cpu"},
    {"runs", "list the comparisons that are kept, show one, or diff two",
     "omen runs list\nomen runs show 41c09a2e\nomen runs diff 41c09a2e 7be0"},
    {"rerun", "repeat a comparison and check that it predicts the same, or say why not",
     "omen rerun 41c09a2e\nomen rerun runs/41c09a2e/run.json"},
    {"graph", "turn sources and networks into graphs, and write or draw them",
     "omen graph kernel.cl\nomen graph kernel.cl -o kernel.svg\nomen graph src/*.cl -j 4 -o "
     "graphs.omt\n"
     "omen graph src/*.cl -o 'drawings/%.svg'\nomen graph src -j 4 -o 'graphs/%.omt' --resume"},
    {"profile", "run a command and record what it uses, or watch one that runs already",
     "omen profile -- python train.py\nomen profile -o run.omt --repeat 5 -- ./bench\n"
     "omen profile --with telemetry.nvml --pid 1234 --duration 60s\n"
     "omen profile diff before.omt after.omt\nomen profile stats run.omt -o figures/\n"
     "omen profile failures jobs.csv\nomen profile --recover run.omt\nomen profile --probe"},
    {"mark", "leave a mark in the recording that this job runs under",
     "omen mark epoch-1\nomen profile -- sh -c 'omen mark load; ./load; omen mark train; "
     "./train'"},
    {"models", "list the models that come with plugins",
     "omen models list\nomen models list baseline.gbt"},
    {"data", "list, describe, import, make, check and fetch datasets",
     "omen data list\nomen data info matmul-cpu\n"
     "omen data import runs.csv --target time_ms:ms:lower --group network --key name\n"
     "./measure | omen data import - --name mine --unit power=W\n"
     "omen data import src/*.cl --with COMPONENT --name kernels\n"
     "omen data make devmap\nomen data check\n"
     "omen data fetch https://example.org/runs.csv --sha256 HEX"},
    {"task", "freeze a question about a dataset, show it, check it",
     "omen task new --data matmul-cpu --loss absolute-percent --folds 5 -o matmul.json\n"
     "omen task show matmul.json\nomen task check"},
    {"verify", "check that a plugin keeps the contract",
     "omen verify baseline\nomen verify build/plugins/mine --level 3"},
    {"new", "write the sources of a new plugin",
     "omen new mine --kind predictor\nomen new mine --kind scorer --lang c"},
    {"completion", "print the completion script of a shell",
     "omen completion bash > ~/.local/share/bash-completion/completions/omen\n"
     "omen completion zsh > ~/.zfunc/_omen"},
};

}  // namespace

std::span<const VerbText> verbs() {
  return kVerbs;
}

const VerbText* find_verb(std::string_view name) {
  for (const VerbText& verb : kVerbs)
    if (name == verb.name) return &verb;
  return nullptr;
}

int run_welcome(const Globals& globals, bool full) {
  const bool colour = out_terminal(globals).colour;
  const auto strong = [&](const std::string& text) { return paint(text, Style::kStrong, colour); };
  std::string text = "omen predicts what accelerator workloads cost before they run.\n\n";
  if (!full) {
    text +=
        "  " + strong("omen list") + "                          the plugins that are installed\n";
    text +=
        "  " + strong("omen predict examples/matmul.csv") + "   what these workloads will cost\n\n";
    text += "All verbs: omen --help. One verb: omen predict --help. The manual: man omen.\n";
    print(text);
    return kOk;
  }
  text +=
      "usage: omen VERB [options]\n       omen PLUGIN VERB [options]   for commands that a plugin "
      "brings\n\n";
  TextTable table({{""}, {""}, {""}});
  for (const VerbText& verb : verbs()) table.add({"", {verb.name, Style::kStrong}, verb.summary});
  Terminal terminal;
  terminal.colour = colour;
  text += table.text(terminal, false);
  std::string families;
  for (const auto& [plugin, commands] : plugin_commands(Registry::discover(globals.plugin_path)))
    families += "  " + strong(plugin) + ": " + commands + "\n";
  if (!families.empty()) text += "\ncommands of plugins:\n" + families;
  text +=
      "\nHelp of one verb: omen VERB --help. Results go to stdout, everything else to stderr.\n"
      "Exit codes: 0 ok, 1 failed, 2 usage, 3 plugin unloadable, 4 bad data, 5 crashed or timed "
      "out, 130 interrupted.\n";
  print(text);
  return kOk;
}

}  // namespace omen::host::cli
