// SPDX-License-Identifier: Apache-2.0
// `omen ensemble run`: trains several networks at once on one pipeline of images.
#pragma once

#include <omen/plugin.hpp>

namespace omen::ensemble {

Component run_component();

}  // namespace omen::ensemble
