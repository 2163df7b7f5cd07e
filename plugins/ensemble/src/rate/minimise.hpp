// SPDX-License-Identifier: Apache-2.0
// The lowest place of a function of a few numbers, without its derivatives.
#pragma once

#include <functional>
#include <vector>

namespace omen::ensemble {

// The simplex search of Nelder and Mead, doi:10.1093/comjnl/7.4.308, from `start` with edges of
// `step`, begun anew until a restart gains nothing. Deterministic.
std::vector<double> minimise(const std::function<double(const std::vector<double>&)>& cost,
                             std::vector<double> start, double step);

}  // namespace omen::ensemble
