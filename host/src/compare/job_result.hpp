// SPDX-License-Identifier: Apache-2.0
// Seals what a job computed.
#pragma once

#include "compare/jobs.hpp"

namespace omen::host {

// Fills in the digest of the predictions; `tables` is empty where the job has none.
JobResult make_job_result(const Job& job, JobRecord record, const Cost& cost, const Tables& tables);

}  // namespace omen::host
