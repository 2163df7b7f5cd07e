// SPDX-License-Identifier: Apache-2.0
// MPI with errors as exceptions and waits that sleep; calls of all threads follow one another.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "stage/block.hpp"

namespace omen::ensemble {

// Starts MPI and ends it; one for each process.
class Mpi {
 public:
  // OMEN_UNAVAILABLE where MPI does not start.
  Mpi();
  // Leaves together with the other ranks after finish(), otherwise at once.
  ~Mpi();
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  // Waits asleep for all ranks; the end is then quick.
  void finish();

 private:
  bool together_ = false;
};

// Says what waits of this process shall look at; empty: wait for ever.
using StopCheck = std::function<bool()>;

// A communicator that frees itself.
class Group {
 public:
  static Group world();
  // Members by their ranks here; nothing for those that are not among them. Everybody calls it.
  Group subset(const std::vector<int>& members) const;
  Group duplicate() const;
  Group(Group&& other) noexcept;
  Group& operator=(Group&& other) noexcept;
  ~Group();

  bool is_member() const noexcept { return comm_ != MPI_COMM_NULL; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  // Members on the host of this one. Everybody calls it.
  int size_on_host() const;

  // Every operation is begun, and then waited for asleep; false where `stop` ended the wait.
  bool barrier(const StopCheck& stop = {}) const;
  bool gather_blocks(const char* own, char* all, const BlockShape& shape,
                     const StopCheck& stop) const;
  MPI_Request begin_broadcast(char* block, const BlockShape& shape, int root) const;
  bool sum(float* values, std::size_t count, const StopCheck& stop) const;
  // The numbers of all members, one after the other.
  std::vector<std::int64_t> gather_numbers(const std::vector<std::int64_t>& own,
                                           const StopCheck& stop = {}) const;
  static bool wait(MPI_Request& request, const StopCheck& stop);

 private:
  Group(MPI_Comm comm, bool owned);

  MPI_Comm comm_ = MPI_COMM_NULL;
  bool owned_ = false;
  int rank_ = -1, size_ = 0;
};

// The place of this rank among those of its host.
int local_rank();

}  // namespace omen::ensemble
