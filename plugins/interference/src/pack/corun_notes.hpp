// SPDX-License-Identifier: Apache-2.0
// Co-runs that were measured, as evidence beside a verdict.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pack/pack_queue.hpp"

namespace omen::interference {

class CorunNotes {
 public:
  // Adds a table of directed rows: job, partner and rho; family, device, mode and numbers X with
  // partner_X where it has them. `whose` stands behind each of its pairs; it may be empty.
  void read(const std::string& path, const std::string& whose);
  // Measures how far every job of a queue is from every job of the tables.
  void place(const Table& workloads, const Queue& queue);
  // "; measured: ..." with the nearest pairs and how far they are. Empty where there are none.
  std::string about(std::size_t job, std::size_t partner, const std::string& device,
                    const std::string& mode) const;

 private:
  struct Job {
    std::string name, family;
    std::map<std::string, double> numbers;
    bool operator==(const Job&) const = default;
  };
  struct Note {
    std::size_t job, partner;  // in jobs_
    std::string device, mode, whose;
    double rho;
  };
  std::size_t index_of(Job job);

  std::vector<Job> jobs_;
  std::vector<Note> notes_;
  // By job of the queue, then of the tables; nothing where they have nothing in common.
  std::vector<std::vector<std::optional<double>>> apart_;
};

}  // namespace omen::interference
