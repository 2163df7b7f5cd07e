// SPDX-License-Identifier: Apache-2.0
// Collections as files: nets_*.json, train_*.txt and val_*.txt in one directory.
#pragma once

#include <string>

#include "corpus/corpus.hpp"

namespace omen::power {

bool holds_corpus_files(const std::string& directory);

// Merges all files in the order of their names. Rows name their network by id, by name or by the
// file it came from; columns are found by name. Equal rows count once; the same network and
// accelerator with another cost stays, as noise. OMEN_INVALID_DATA where two files give one id two
// bodies, a column is missing, or a row names no network.
Corpus read_corpus_files(const std::string& directory);

}  // namespace omen::power
