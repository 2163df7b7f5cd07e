// SPDX-License-Identifier: Apache-2.0
// Recorded traces of this and of other tools, as rows of `counters`.
#ifndef OMEN_TELEMETRY_IMPORTS_HPP
#define OMEN_TELEMETRY_IMPORTS_HPP

#include <filesystem>
#include <string>

#include "omen/telemetry/rows.hpp"

namespace omen::telemetry {

struct ImportOptions {
  // auto, log, container, mpstat, nvidia-smi, dmon, csv or ptdaemon.
  std::string format = "auto";
  // Seconds between samples, for traces that carry no time; 0: not known.
  double period_s = 0;
};

// Opens a trace by its content:
//  log        a recording of this library, or the directory that holds one, complete or cut off
//  container  a table `counters`
//  mpstat     text of mpstat, 9 to 11 columns, one or all cores, 12 or 24 hour clock, any locale
//  nvidia-smi --query-gpu=... --format=csv, with header
//  dmon       nvidia-smi dmon, with or without date and time; one second a sample without
//  csv        one row a sample: Weights & Biases exports, psutil loggers, utilisation traces; a
//  column
//             that is not known keeps its name as import.NAME; also metric,value,... in long form
//  ptdaemon   log of a power meter: Time,...,Watts,...,Mark,...
// Times count from the first sample. Lines that do not fit are left out: the facts skipped_lines
// and first_skipped_line say how many and which. OMEN_INVALID_DATA with the line where no format
// fits, no line does, the header lacks a time, or the file is no text.
RowReaderPtr open_trace(const std::filesystem::path& path, const ImportOptions& options = {});

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_IMPORTS_HPP
