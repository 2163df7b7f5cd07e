// SPDX-License-Identifier: Apache-2.0
// Jobs and contexts as points: what two of them differ by is a distance along each feature.
#pragma once

#include <omen/learn/matrix.hpp>
#include <omen/learn/state.hpp>
#include <string>
#include <vector>

#include "pair/pair_rows.hpp"

namespace omen::interference {

// A number that spans decades counts by its logarithm; numbers have mean 0 and deviation 1 over the
// jobs of training, gaps are 0. A text is one column for each label, scaled so that two labels are
// at distance 1.
class JobEncoder {
 public:
  void fit(const PairRows& rows);

  // Columns that share a length scale: each number alone, all labels of one text together.
  struct Span {
    learn::Index first, count;
  };
  const std::vector<Span>& job_spans() const { return job_spans_; }
  const std::vector<Span>& context_spans() const { return context_spans_; }

  learn::Matrix jobs(const PairRows& rows) const;
  learn::Matrix contexts(const PairRows& rows) const;
  // Something about the job lies outside of what was fitted, or is not known at all.
  bool is_foreign(const JobProfile& job) const;
  bool is_foreign(const std::vector<std::string>& context) const;
  // The first text that is known, such as the network; a job without texts is its own family.
  const PairColumns& columns() const { return columns_; }

  void save(learn::StateWriter& out) const;
  void load(const learn::StateReader& in);

 private:
  struct Number {
    bool logarithmic;
    double mean, deviation, low, high;  // the last two on the scaled axis
  };
  double scaled(const Number& how, double value) const;
  void make_spans();

  PairColumns columns_;
  std::vector<Number> numbers_;
  std::vector<std::vector<std::string>> labels_, shared_labels_;
  std::vector<Span> job_spans_, context_spans_;
};

std::string family_of(const JobProfile& job);

}  // namespace omen::interference
