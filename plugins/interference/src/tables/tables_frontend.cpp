// SPDX-License-Identifier: Apache-2.0
// Tells the published files apart by their first bytes.
#include "tables/tables_frontend.hpp"

#include <optional>

#include "tables/csv_text.hpp"
#include "tables/directed_rows.hpp"

namespace omen::interference {
namespace {

enum class Published { kGavel, kAlnair, kFuturewei, kMiso };

struct Mark {
  Published kind;
  std::string_view start;
};
constexpr Mark kMarks[] = {{Published::kGavel, "source,gpu,model_1,batch_1"},
                           {Published::kAlnair, "victim,aggressor,"},
                           {Published::kFuturewei, "task_1,task_2,cluster_1"},
                           {Published::kMiso, "\x93NUMPY"}};

std::optional<Published> kind_of(std::string_view head) {
  for (const Mark& mark : kMarks)
    if (head.rfind(mark.start, 0) == 0) return mark.kind;
  return std::nullopt;
}

}  // namespace

int TablesFrontend::sniff(const char*, std::string_view head) {
  return kind_of(head) ? 90 : 0;
}

void TablesFrontend::lower(const char* path, const TablesOut& out, const Run& run) {
  if (!path)
    throw Error(OMEN_INVALID_ARGUMENT, "interference.tables reads a file, and none was given",
                "Name gavel_pairs.csv, alnair_mps_pairs.csv, futurewei_corun_pairs.csv or "
                "unet_mps_input.npy.");
  run.step(-1, "read");
  const std::optional<Published> kind = kind_of(read_bytes(path).substr(0, 64));
  if (!kind)
    throw Error(OMEN_INVALID_DATA, std::string(path) + " is no table of co-runs that is known",
                "Known are the files of Gavel, Alnair and MISO; own co-runs are read as tables.");
  std::vector<DirectedRow> rows;
  switch (*kind) {
    case Published::kGavel:
      rows = read_gavel(path, options_.gpu);
      break;
    case Published::kAlnair:
      rows = read_alnair(path);
      break;
    case Published::kFuturewei:
      rows = read_futurewei(path);
      break;
    case Published::kMiso:
      rows = read_miso(path, static_cast<std::size_t>(options_.matrices));
      break;
  }
  const DirectedTables tables = to_tables(rows);
  out.put("workloads", tables.workloads);
  out.put("targets", tables.targets);
}

Component tables_component() {
  return frontend<TablesFrontend, TablesOptions>(
             "interference.tables", "co-runs of Gavel, Alnair and MISO as directed rows")
      .reads(".csv", ".npy")
      .writes("workloads", "targets")
      .caps(OMEN_CAP_BITWISE_REPEATABLE);
}

}  // namespace omen::interference
