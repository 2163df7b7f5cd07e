// SPDX-License-Identifier: Apache-2.0
// The one rule on what a component that predicts or ranks must not see.
#pragma once

#include <string>
#include <string_view>

#include "omen/dataset.hpp"
#include "tables/dataset_tables.hpp"

namespace omen::host {

// Tables that hold the truth about what is to be predicted or decided.
bool is_withheld(std::string_view table);

// Puts the tables in; those that are withheld cannot be opened.
void put_inputs(MemoryDataset& dataset, const Tables& tables);

// A caller's dataset without what is withheld; borrows it.
class WithheldDataset {
 public:
  explicit WithheldDataset(const omen_dataset* inner);
  WithheldDataset(const WithheldDataset&) = delete;
  WithheldDataset& operator=(const WithheldDataset&) = delete;
  const omen_dataset* c() const noexcept { return &view_; }

 private:
  const omen_dataset* inner_;
  omen_dataset view_{};
};

}  // namespace omen::host
