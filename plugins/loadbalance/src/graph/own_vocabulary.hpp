// SPDX-License-Identifier: Apache-2.0
// The text of data/vocabulary.tsv, which is compiled in so that it needs no place on the disk.
#pragma once

#include <string_view>

namespace omen::loadbalance {

extern const std::string_view kOwnVocabulary;

}  // namespace omen::loadbalance
