// SPDX-License-Identifier: Apache-2.0
// Messages between the ranks of one run: any size, never waiting for a rank that died.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "compare/mpi_module.h"

namespace omen::host {

// Rank 0 talks with every other rank, and each of those with rank 0 only.
class RankLink {
 public:
  struct Event {
    int from = 0;
    bool lost = false;  // the rank died or fell silent; said once, after its last message
    std::string body;
  };

  virtual ~RankLink() = default;
  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  // Never waits. What goes to a lost rank is dropped; a rank may send to itself. [any-thread]
  virtual void send(int to, std::string body) = 0;
  virtual std::optional<Event> wait(std::chrono::milliseconds patience) = 0;
  // The last call: sends what is on its way. `together`: every rank lives and leaves now, too.
  virtual void leave(bool together) = 0;
};

// What the environment says: a launcher started several of us.
bool launched_as_rank();
// Opens the MPI module and joins the other ranks; empty where no launcher started several.
// OMEN_UNAVAILABLE where there is no module.
std::unique_ptr<RankLink> join_ranks();
// Takes a peer for lost after `silence` without a sign of life; on the same host at once.
std::unique_ptr<RankLink> make_mpi_link(const omen_mpi_module& module,
                                        std::chrono::milliseconds silence);

}  // namespace omen::host
