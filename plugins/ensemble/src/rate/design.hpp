// SPDX-License-Identifier: Apache-2.0
// The ways in which networks that train at once share their preprocessing, and their names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omen::ensemble {

enum class Design {
  kNone,               // every rank preprocesses for itself
  kAllShared,          // every rank preprocesses a part, an all-gather hands it to all
  kSingleBroadcast,    // p ranks gather among themselves, the last one broadcasts
  kMultiBroadcast,     // p ranks broadcast what they made, each in its own communicator
  kWastefulBroadcast,  // the same as published: each drops all but one of p batches
  kSharedMemory,       // ranks of one host read a ring without copies
};

// The design with its number of preprocessors where the text names one: "SB_p5".
struct NamedDesign {
  Design design = Design::kNone;
  std::optional<double> preprocessors;
};

// Accepts the names of design_name(), and AS, SB, MB and SHM as figures abbreviate them, where MB
// is the broadcast as published. Nothing for other texts.
std::optional<NamedDesign> parse_design(std::string_view text);
const char* design_name(Design design);
// Names of all designs, for messages.
std::vector<std::string> design_names();

// Whether models advance at one pace because a bounded stream feeds them all.
bool is_coupled(Design design);
// "coupled" is true, "decoupled" is false; nothing for other texts.
std::optional<bool> parse_pace(std::string_view text);
const char* pace_name(bool coupled);
// Whether the number of preprocessors can be chosen.
bool has_preprocessors(Design design);

}  // namespace omen::ensemble
