// SPDX-License-Identifier: Apache-2.0
// Datasets as commands of this plugin read them.
#pragma once

#include <map>
#include <omen/table.hpp>
#include <string>

namespace omen::power {

using NamedTables = std::map<std::string, Table>;

// The tables of a directory or file of omen's own. Nothing where the path is neither.
NamedTables read_own_tables(const std::string& path);

}  // namespace omen::power
