// SPDX-License-Identifier: Apache-2.0
// All pairs of some loads, each pair again and again in short windows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "measure/corun.hpp"

namespace omen::interference {

enum class Place { kAlone, kTwoCores, kOneCore };
const char* place_name(Place place);
// OMEN_INVALID_ARGUMENT where two loads cannot be put so.
Place parse_place(const std::string& name);
// How two commands run here that are not pinned: on a core each where there are two.
Place shared_place();
double cores_of(Place place);
inline constexpr const char* kCoresDevice = "x86-64 cores";

struct CampaignOptions {
  double window_s = 0.8, warmup_s = 0.2, patience_s = 60;
  int repeats = 5;
  std::uint64_t seed = 1;
  std::vector<Place> places = {Place::kTwoCores, Place::kOneCore};
  std::filesystem::path directory;  // for mark files; must exist
  std::filesystem::path journal;    // windows that are done; empty: none is kept
};

struct CampaignLoad {
  std::string name;
  CommandLine command;
};

// One window: a load alone, or two at a time. The second one of a window alone is -1.
struct CampaignWindow {
  int repeat = 0;
  Place place = Place::kAlone;
  int load[2] = {0, -1};
  double rate_per_s[2] = {0, 0};
  double cpu_share[2] = {0, 0};  // of one core
  double memory_mib = 0;         // resident, of the first
};

// What has to be measured, in the order in which it is: every round has each load alone once and
// each unordered pair once in each place, shuffled, so that a drift of the machine meets all alike.
std::vector<CampaignWindow> plan_campaign(std::size_t loads, const CampaignOptions& options);

// Starts every load twice, keeps all of them stopped, and lets one or two at a time go on for a
// window. `step` is told which part is done. Windows that the journal has are not measured again.
// OMEN_UNAVAILABLE where a load ends, or leaves too few marks, or where there are too few cores.
std::vector<CampaignWindow> run_campaign(const std::vector<CampaignLoad>& loads,
                                         const CampaignOptions& options,
                                         const std::function<void(double)>& step);

}  // namespace omen::interference
