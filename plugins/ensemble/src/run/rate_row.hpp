// SPDX-License-Identifier: Apache-2.0
// A finished run as a row that `ensemble.rate` is calibrated with.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "run/run_job.hpp"
#include "run/run_report.hpp"

namespace omen::ensemble {

// Header and row of rate.csv; nothing where ranks and models are not one for one.
std::optional<std::string> rate_row(const RunJob& job, const RunTotals& totals,
                                    const std::filesystem::path& directory);

}  // namespace omen::ensemble
