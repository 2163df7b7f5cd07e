// SPDX-License-Identifier: Apache-2.0
// `omen ensemble serve-data`: one preprocessing for all processes of this host that train.
#pragma once

#include <omen/plugin.hpp>

namespace omen::ensemble {

Component serve_component();

}  // namespace omen::ensemble
