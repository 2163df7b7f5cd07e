// SPDX-License-Identifier: Apache-2.0
// A handle owns its object: it moves and never copies.
// expect: deleted (function|constructor)|implicitly deleted
#include <utility>

#include "components/component.hpp"

omen::host::PredictorHandle pass(omen::host::PredictorHandle handle) {
#if OMEN_MUST_FAIL
  omen::host::PredictorHandle other = handle;
#else
  omen::host::PredictorHandle other = std::move(handle);
#endif
  return other;
}
