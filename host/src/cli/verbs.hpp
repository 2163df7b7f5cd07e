// SPDX-License-Identifier: Apache-2.0
// The verbs of omen: their names for help and completion, and one function each that returns the
// exit code.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/requests.hpp"

namespace omen::host {
class Registry;
struct ComponentInfo;
struct ComponentRef;
}  // namespace omen::host

namespace omen::host::cli {

struct VerbText {
  const char* name;
  const char* summary;
  const char* examples;  // one command a line
};

std::span<const VerbText> verbs();
const VerbText* find_verb(std::string_view name);

int run_list(const Globals&, const ListRequest&);
int run_info(const Globals&, const InfoRequest&);
int run_doctor(const Globals&, const DoctorRequest&);
int run_new(const Globals&, const NewRequest&);
int run_verify_verb(const Globals&, const VerifyRequest&);
int run_graph(const Globals&, const GraphRequest&);
int run_profile(const Globals&, const ProfileRequest&);
int run_mark(const Globals&, const MarkRequest&);
int run_train(const Globals&, const TrainRequest&);
int run_predict(const Globals&, const PredictRequest&);
int run_score(const Globals&, const ScoreRequest&);
int run_compare(const Globals&, const CompareRequest&);
int run_runs(const Globals&, const RunsRequest&);
int run_rerun(const Globals&, const RerunRequest&);
int run_models(const Globals&, const ModelsRequest&);
int run_data(const Globals&, const DataRequest&);
int run_task(const Globals&, const TaskRequest&);
int run_completion(const Globals&, const CompletionRequest&);
int run_plugin_command(const Globals&, const PluginCommandRequest&);
// The commands that `omen NAME VERB` can mean, by verb; a usage error that knows verbs and plugins
// where there are none.
std::vector<ComponentRef> commands_of(const Registry& registry, std::string_view name);
// One of them; a usage error that lists them otherwise.
ComponentRef find_command(const Registry& registry, const std::string& plugin,
                          const std::string& verb);
// "ablation, run" by the plugin that has these commands.
std::map<std::string, std::string> plugin_commands(const Registry& registry);
// "verb" of the command "plugin.verb".
std::string verb_of(const ComponentInfo& command);
// Bare `omen`, and `omen --help`.
int run_welcome(const Globals&, bool full);

// What `omen __complete WORD...` prints; `flags` are those of the verb on the line.
struct CompletionFlag {
  std::string name, help;
  bool takes_value = false;
};
int run_complete(const Globals&, const std::vector<std::string>& words,
                 const std::vector<CompletionFlag>& flags);

}  // namespace omen::host::cli
