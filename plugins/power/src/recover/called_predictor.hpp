// SPDX-License-Identifier: Apache-2.0
// Predictors of other plugins as surrogates of a search, asked through the host.
#pragma once

#include <omen/run.hpp>
#include <string>
#include <vector>

#include "nets/net.hpp"
#include "recover/gradient_search.hpp"

namespace omen::power {

// All networks at once; powers are averaged, the slowest latency counts. Borrows its arguments.
Surrogate called_surrogate(const Run& run, const std::string& component,
                           const std::vector<Net>& nets, const Objective& objective);
// With slopes; OMEN_UNSUPPORTED, when asked, where the predictor has none.
SlopedSurrogate called_slopes(const Run& run, const std::string& component,
                              const std::vector<Net>& nets);

}  // namespace omen::power
