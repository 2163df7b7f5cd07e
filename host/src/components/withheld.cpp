// SPDX-License-Identifier: Apache-2.0
// Says which tables are withheld, and hides them in datasets of either kind.
#include "components/withheld.hpp"

#include "omen/tables.hpp"

namespace omen::host {

bool is_withheld(std::string_view table) {
  return omen::tables::is_withheld(table);
}

void put_inputs(MemoryDataset& dataset, const Tables& tables) {
  for (const auto& [name, table] : tables) dataset.put(name, table);
#define OMEN_WITHHOLD(table) dataset.withhold(table);
  OMEN_WITHHELD_TABLES(OMEN_WITHHOLD)
#undef OMEN_WITHHOLD
}

WithheldDataset::WithheldDataset(const omen_dataset* inner) : inner_(inner) {
  view_.struct_size = sizeof view_;
  view_.task_hash = inner->task_hash;
  view_.task_json = inner->task_json;
  view_.data = this;
  view_.rows = [](const omen_dataset* d, const char* table) -> std::int64_t {
    const omen_dataset* own = static_cast<WithheldDataset*>(d->data)->inner_;
    return is_withheld(table) ? 0 : own->rows(own, table);
  };
  view_.open = [](const omen_dataset* d, const char* table, ArrowArrayStream* out,
                  omen_error* error) -> omen_status {
    const omen_dataset* own = static_cast<WithheldDataset*>(d->data)->inner_;
    if (is_withheld(table))
      return detail::fail(error, OMEN_NOT_FOUND,
                          "table '" + std::string(table) + "' is withheld here");
    return own->open(own, table, out, error);
  };
}

}  // namespace omen::host
