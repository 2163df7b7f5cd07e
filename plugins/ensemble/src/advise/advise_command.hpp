// SPDX-License-Identifier: Apache-2.0
// `omen ensemble advise`: what copies of an existing training would save by sharing.
#pragma once

#include <omen/plugin.hpp>

namespace omen::ensemble {

Component advise_component();

}  // namespace omen::ensemble
