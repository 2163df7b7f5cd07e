// SPDX-License-Identifier: Apache-2.0
// Energy profiles as models.
#pragma once

#include <omen/artifact.hpp>

#include "sim/energy_profile.hpp"

namespace omen::power {

void save_profile(const EnergyProfile& profile, ArtifactWriter& out);
EnergyProfile load_profile(const ArtifactReader& in);

}  // namespace omen::power
