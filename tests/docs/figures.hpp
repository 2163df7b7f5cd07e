// SPDX-License-Identifier: Apache-2.0
// Figures that documents quote, against the file that the acceptance checks write.
#pragma once

#include <filesystem>

#include "document.hpp"

namespace docs {

// Quoted figures that differ from the file, are unknown to it, or do not stand where they are
// named.
// `<!-- figures: NAME TEXT, NAME TEXT -->` speaks of the paragraph or table below it: TEXT occurs
// there and is the figure at as many digits; after a ~ it may be off by a fifth.
Lines wrong_figures(const std::filesystem::path& file, const std::filesystem::path& document,
                    int& quoted);

}  // namespace docs
