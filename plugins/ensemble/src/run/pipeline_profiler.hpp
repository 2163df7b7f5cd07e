// SPDX-License-Identifier: Apache-2.0
// Profiler `ensemble.pipeline`: how fast ranks are fed, and what each stage costs.
#pragma once

#include <omen/plugin.hpp>

namespace omen::ensemble {

Component pipeline_profiler_component();

}  // namespace omen::ensemble
