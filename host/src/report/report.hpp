// SPDX-License-Identifier: Apache-2.0
// A comparison as people and programs read it.
#pragma once

#include <iosfwd>
#include <string>

#include "compare/comparison.hpp"
#include "text/render.hpp"

namespace omen::host {

// What `omen compare` writes into the directory of a run, beside run.json.
inline constexpr const char* kReportPage = "compare.html";
inline constexpr const char* kReportLosses = "losses.csv";

// The table for people; --plain passes a terminal without width and colour.
std::string report_text(const Comparison& comparison, const Terminal& terminal);
std::string report_json(const Comparison& comparison);  // docs/schemas/compare.json
void report_csv(std::ostream& out,
                const Comparison& comparison);  // one line a (task, target, workload, contestant)
std::string report_markdown(const Comparison& comparison);
// One self-contained page, with the chart library inside.
std::string report_html(const Comparison& comparison);

}  // namespace omen::host
