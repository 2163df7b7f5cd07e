// SPDX-License-Identifier: Apache-2.0
// The only part of omen that links MPI; opened by `omen compare` where a launcher started it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <list>
#include <vector>

#include <mpi.h>

#include "compare/mpi_module.h"

namespace {

constexpr std::size_t kInFlight = 64;  // per receiver

struct Outgoing {
  std::array<char, OMEN_MPI_LARGEST> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

// A list, because the transport keeps the address of what it sends.
std::vector<std::list<Outgoing>>& outgoing() {
  static std::vector<std::list<Outgoing>> queues;
  return queues;
}

void drop_sent(std::list<Outgoing>& queue) {
  while (!queue.empty()) {
    int sent = 0;
    if (MPI_Test(&queue.front().request, &sent, MPI_STATUS_IGNORE) == MPI_SUCCESS && !sent) return;
    queue.pop_front();
  }
}

int start(int* rank, int* size, char* error, std::size_t error_size) {
  int provided = 0;
  // The library would end the process on an error; a rank that dies must not take others along.
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    std::snprintf(error, error_size, "MPI_Init failed");
    return 1;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  outgoing().resize(static_cast<std::size_t>(*size));
  return 0;
}

int send(int to, int tag, const void* bytes, std::size_t size) {
  if (to < 0 || static_cast<std::size_t>(to) >= outgoing().size() || size > OMEN_MPI_LARGEST)
    return -1;
  std::list<Outgoing>& queue = outgoing()[static_cast<std::size_t>(to)];
  drop_sent(queue);
  if (queue.size() >= kInFlight) return 0;
  Outgoing& next = queue.emplace_back();
  const char* from = static_cast<const char*>(bytes);
  std::copy(from, from + size, next.bytes.begin());
  if (MPI_Isend(next.bytes.data(), static_cast<int>(size), MPI_BYTE, to, tag, MPI_COMM_WORLD,
                &next.request) == MPI_SUCCESS)
    return 1;
  queue.pop_back();
  return -1;
}

long receive(int* from, int* tag, void* bytes) {
  int waiting = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &waiting, &status) != MPI_SUCCESS ||
      !waiting)
    return -1;
  if (MPI_Recv(bytes, OMEN_MPI_LARGEST, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
               &status) != MPI_SUCCESS)
    return -1;
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  *from = status.MPI_SOURCE;
  *tag = status.MPI_TAG;
  return size;
}

std::size_t sending() {
  std::size_t count = 0;
  for (std::list<Outgoing>& queue : outgoing()) {
    drop_sent(queue);
    count += queue.size();
  }
  return count;
}

void finish() {
  MPI_Finalize();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const omen_mpi_module* omen_mpi_entry() {
  static const omen_mpi_module module{OMEN_MPI_VERSION, start, send, receive, sending, finish};
  return &module;
}
