// SPDX-License-Identifier: Apache-2.0
// Directed rows: a job, the jobs beside it on the same GPU, and how fast it is there.
#pragma once

#include <cstdint>
#include <functional>
#include <omen/dataset.hpp>
#include <string>
#include <vector>

namespace omen::interference {

// What is known of one job: features in the order of PairRows::numbers and PairRows::texts.
struct JobProfile {
  std::string name;
  std::vector<double> numbers;     // NaN: not known
  std::vector<std::string> texts;  // empty: not known

  bool is_blank() const;
  bool operator==(const JobProfile& other) const;
};

struct PairRow {
  std::int64_t workload_id = 0;
  std::int32_t candidate_id = -1;
  std::int32_t victim = 0;             // index into PairRows::jobs
  std::vector<std::int32_t> partners;  // none: the job runs alone
  std::int32_t context = 0;            // index into PairRows::contexts
  std::int32_t group = -1;             // rows of one group are never held out apart
};

// A column X that has a counterpart partner_X describes a job; further partners are partner2_X and
// so on. Where there are graphs, their sizes describe jobs too; a partner's is named by
// partner_graph_id. Text columns without a counterpart, such as device and mode, describe where
// both run.
struct PairRows {
  std::vector<std::string> numbers, texts;  // names of the features of a job
  std::vector<std::string> shared;          // names of what both have in common
  std::vector<JobProfile> jobs;             // each once
  std::vector<std::vector<std::string>> contexts;
  std::vector<PairRow> rows;
  bool has_candidates = false;

  std::int32_t job_index(const JobProfile& job);
  std::int32_t context_index(const std::vector<std::string>& context);
};

inline constexpr const char* kRhoColumn = "rho";

// `as`: the columns of a fitted model, in whose order features are then read; those that the data
// does not have are unknown.
struct PairColumns {
  std::vector<std::string> numbers, texts, shared;
};
PairRows read_pair_rows(const Dataset& data, const PairColumns* as,
                        const std::function<void()>& check);

// Aligned with the rows, NaN where nobody measured. OMEN_INVALID_DATA for a speed below 0.
std::vector<double> read_rho(const Dataset& data, const PairRows& rows);

}  // namespace omen::interference
