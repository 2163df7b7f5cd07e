// SPDX-License-Identifier: Apache-2.0
// What a campaign measured, as directed rows that interference.pair learns from.
#pragma once

#include <omen/table.hpp>

#include "measure/campaign.hpp"

namespace omen::interference {

struct DescribedLoad {
  std::string name, family;
  bool is_probe = false;  // a loop of known kind, beside which a new job is run first
};

// Two rows for each pair and place: job and partner, their features alone (util_pct of the cores
// that the pair has, step_ms, rss_mib), what the probes say of each (beside_X: its speed beside the
// loop X; slows_X: the loop's speed beside it), where, and rho with its 95 % interval. `precise` is
// 0 where that is wider than +-.05.
Table corun_table(const std::vector<DescribedLoad>& loads,
                  const std::vector<CampaignWindow>& windows);
// The same rows with the 95 % intervals of rho; `precise` is 0 where that is wider than +-.05.
Table interval_table(const std::vector<DescribedLoad>& loads,
                     const std::vector<CampaignWindow>& windows);
// Every window as it was measured.
Table window_table(const std::vector<DescribedLoad>& loads,
                   const std::vector<CampaignWindow>& windows);
// Where and how: names no host and no user.
Table provenance_table(const CampaignOptions& options);

}  // namespace omen::interference
