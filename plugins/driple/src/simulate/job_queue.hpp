// SPDX-License-Identifier: Apache-2.0
// The queue that a user writes: one line a job.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace omen::driple {

struct QueueRow {
  std::string name, network;  // a name or a file that some front end reads
  double arrival_s = 0;
  // What makes a job of a step; 0 where the line does not say.
  double steps = 0, epochs = 0, samples = 0, total_tokens = 0;
  std::map<std::string, double> measured_s;  // by GPU as spelt; NaN where it ran out of memory
  std::vector<std::pair<std::string, std::string>> options;  // of the front end
};

// Columns: `network`, and where they are wanted `name`, `arrival_s`, `steps` or `epochs` with
// `samples` or `total_tokens`, and `time_s.GPU` with measured times; a cell of those that is empty
// is a run that failed. Any other column is an option of the front end, left out where its cell is
// empty. OMEN_INVALID_DATA with the line.
std::vector<QueueRow> parse_queue(std::string_view text, const std::string& where);
// OMEN_NOT_FOUND where the file cannot be read.
std::vector<QueueRow> read_queue(const std::string& path);

}  // namespace omen::driple
