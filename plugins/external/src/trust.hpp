// SPDX-License-Identifier: Apache-2.0
// Nothing runs because a file says so: only what the user typed, trained with or trusted by name.
#pragma once

#include <omen/trust.hpp>
#include <string>
#include <vector>

namespace omen::external {

// Whether each value stands on the command line of this omen. Other hosts do not say, and count as
// if everything was typed.
bool is_typed(const std::vector<std::string>& values);

// Remembers what this user ran or trained, for this process at least.
void remember(const trust::Record& record);
// OMEN_INVALID_STATE with the way out, where the user never did; `command` is shown.
void require_program(const std::string& command);
void require_model(const trust::Record& model, const std::string& command);

}  // namespace omen::external
