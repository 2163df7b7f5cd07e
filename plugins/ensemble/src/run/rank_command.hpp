// SPDX-License-Identifier: Apache-2.0
// `omen ensemble rank DIR`: what the launcher starts, once for each rank.
#pragma once

#include <omen/plugin.hpp>

namespace omen::ensemble {

Component rank_component();

}  // namespace omen::ensemble
