// SPDX-License-Identifier: Apache-2.0
// Co-runs that were measured, as evidence beside a verdict.
#pragma once

#include <string>
#include <vector>

#include "pack/policy.hpp"

namespace omen::interference {

class CorunNotes {
 public:
  CorunNotes() = default;
  // A table of directed rows: job, partner and rho, optionally family and partner_family.
  explicit CorunNotes(const std::string& path);
  // "; measured: ..." with the nearest pairs: the same jobs, then the same families. Empty where
  // there are none.
  std::string about(const QueuedJob& job, const QueuedJob& partner) const;

 private:
  struct Note {
    std::string job, partner, family, partner_family;
    double rho;
  };
  std::vector<Note> notes_;
};

}  // namespace omen::interference
