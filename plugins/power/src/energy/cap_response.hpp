// SPDX-License-Identifier: Apache-2.0
// What a power limit makes of a job whose power and time without one are known.
#pragma once

#include <memory>
#include <omen/learn/gaussian_process.hpp>
#include <string>
#include <vector>

namespace omen::power {

// A job under a limit. `most_w` is the highest limit of its GPU, at which the job was measured.
struct CappedJob {
  std::string gpu;
  double limit_w = 0, most_w = 0;
  double free_w = 0, free_s = 0;  // without a limit
};

struct CappedCost {
  double watts = 0, seconds = 0;
  double joules() const { return watts * seconds; }
};

struct MeasuredCap {
  CappedJob job;
  CappedCost cost;
};

// What was measured of a row: power and time, or their product alone, which then stands as watts
// over the time without a limit.
enum class CapAnswers : std::uint8_t { power_and_time, energy };

// Two curves over the limit and the power without one, as parts of the highest limit, for each GPU
// apart: the logarithm of the power's ratio and of the time's (a Gaussian process each).
class CapResponse {
 public:
  // OMEN_INVALID_DATA for fewer than ten rows; of more than a thousand, evenly spread ones count.
  void fit(const std::vector<MeasuredCap>& rows, CapAnswers answers = CapAnswers::power_and_time);
  // Draws at most what it draws without a limit, and takes at least as long; GPUs that were not
  // measured get the curve of all others.
  CappedCost ask(const CappedJob& job) const;
  bool knows(const CappedJob& job) const;
  bool empty() const { return !process_; }
  CapAnswers answers() const { return answers_; }

  void save(learn::StateWriter& out) const;
  void load(const learn::StateReader& in);

 private:
  learn::Blocks blocks_of(const std::vector<const CappedJob*>& jobs) const;

  std::vector<std::string> gpus_;
  std::unique_ptr<learn::GaussianProcess> process_;
  CapAnswers answers_ = CapAnswers::power_and_time;
  double least_part_ = 1;
};

}  // namespace omen::power
