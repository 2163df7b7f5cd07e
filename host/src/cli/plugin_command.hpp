// SPDX-License-Identifier: Apache-2.0
// Commands that plugins bring: `omen PLUGIN VERB`.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "components/registry.hpp"

namespace omen::host::cli {

class CommandLine;

// What the command line is where its first word is no verb of omen.
void describe_plugin_command(CommandLine& line);
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

}  // namespace omen::host::cli
