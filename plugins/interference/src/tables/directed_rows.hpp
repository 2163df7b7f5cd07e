// SPDX-License-Identifier: Apache-2.0
// Published co-runs in one form: a row for each job beside another, with partner columns.
#pragma once

#include <omen/table.hpp>
#include <string>
#include <utility>
#include <vector>

namespace omen::interference {

struct JobFacts {
  std::string name, family;
  std::vector<std::pair<std::string, double>> numbers;  // the same names for all jobs of a table
};

struct DirectedRow {
  JobFacts victim, partner;
  std::string device, mode;
  double rho;
  std::string group;  // empty: the unordered pair of both names
  std::string slice;  // of a GPU that is divided; empty: not divided
};

struct DirectedTables {
  Table workloads, targets;
};
DirectedTables to_tables(const std::vector<DirectedRow>& rows);

// Readers of published files. Each throws OMEN_INVALID_DATA where the file is not as published.
// gavel_pairs.csv of the oracle campaign: both directions of every pair on one worker that ran.
// `device`: k80, p100 or v100; empty: all three.
std::vector<DirectedRow> read_gavel(const std::string& pairs_csv, const std::string& device);
// alnair_mps_pairs.csv with alnair_mps_solo.csv beside it.
std::vector<DirectedRow> read_alnair(const std::string& pairs_csv);
// futurewei_corun_pairs.csv with futurewei_solo_runs.csv beside it: speeds while both ran.
std::vector<DirectedRow> read_futurewei(const std::string& pairs_csv);
// unet_mps_input.npy with unet_mig_target.npy beside it: speeds on slices of a divided GPU, from
// speeds at three levels of sharing; slots without a job are left out. `most`: matrices; 0: all.
std::vector<DirectedRow> read_miso(const std::string& input_npy, std::size_t most);

}  // namespace omen::interference
