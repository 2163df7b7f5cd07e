// SPDX-License-Identifier: Apache-2.0
// Loading a model must not run what its author chose: only commands that this user has trained
// with.
#pragma once

#include <string>

namespace omen::external {

// Remembers that this user asked for `program` (command, script and environment in one text).
void trust(const std::string& program);
// OMEN_INVALID_STATE with the way out, where the user never did.
void require_trust(const std::string& program);

}  // namespace omen::external
