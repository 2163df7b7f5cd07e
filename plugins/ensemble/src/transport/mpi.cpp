// SPDX-License-Identifier: Apache-2.0
// Open MPI spins when it waits; here every wait tests, and sleeps longer the longer it takes.
#include "transport/mpi.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <omen/error.hpp>
#include <thread>
#include <utility>

namespace omen::ensemble {
namespace {

using std::chrono::microseconds;

constexpr microseconds kShortestSleep{50}, kLongestSleep{2000};

std::mutex& mpi_mutex() {
  static std::mutex mutex;
  return mutex;
}

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(OMEN_UNAVAILABLE, std::string(what) + " failed: " +
                                    std::string(text.data(), static_cast<std::size_t>(length)));
}

template <class Call>
void serialised(const char* what, const Call& call) {
  const std::lock_guard lock(mpi_mutex());
  check_mpi(call(), what);
}

// One block as one element: counts stay small however large blocks are.
class BlockType {
 public:
  explicit BlockType(const BlockShape& shape) {
    // Lines of 64 bytes keep the count below 2^31 up to 128 GiB.
    MPI_Datatype line = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(BlockShape::kLine, MPI_BYTE, &line);
    MPI_Type_contiguous(static_cast<int>(shape.bytes() / BlockShape::kLine), line, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&line);
  }
  // MPI keeps the type alive as long as a request uses it.
  ~BlockType() { MPI_Type_free(&type_); }
  BlockType(const BlockType&) = delete;
  BlockType& operator=(const BlockType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace

Mpi::Mpi() {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
    throw Error(OMEN_UNAVAILABLE, "MPI does not start");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (provided < MPI_THREAD_SERIALIZED)
    throw Error(OMEN_UNAVAILABLE, "this MPI cannot be called from several threads",
                "Use an Open MPI with thread support.");
}

void Mpi::finish() {
  Group::world().barrier();
  together_ = true;
}

Mpi::~Mpi() {
  // Without the others MPI_Finalize would wait for them; the launcher ends them when we leave.
  if (together_) MPI_Finalize();
}

Group::Group(MPI_Comm comm, bool owned) : comm_(comm), owned_(owned) {
  if (comm_ == MPI_COMM_NULL) return;
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}
Group::Group(Group&& other) noexcept
    : comm_(std::exchange(other.comm_, MPI_COMM_NULL)),
      owned_(other.owned_),
      rank_(other.rank_),
      size_(other.size_) {}
Group& Group::operator=(Group&& other) noexcept {
  std::swap(comm_, other.comm_);
  std::swap(owned_, other.owned_);
  std::swap(rank_, other.rank_);
  std::swap(size_, other.size_);
  return *this;
}
Group::~Group() {
  int over = 0;
  const std::lock_guard lock(mpi_mutex());
  MPI_Finalized(&over);
  if (owned_ && comm_ != MPI_COMM_NULL && !over) MPI_Comm_free(&comm_);
}

int Group::size_on_host() const {
  barrier();
  MPI_Comm host = MPI_COMM_NULL;
  serialised("a division by hosts", [&] {
    return MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host);
  });
  return Group(host, true).size();
}

Group Group::world() {
  return {MPI_COMM_WORLD, false};
}

Group Group::subset(const std::vector<int>& members) const {
  // MPI's own wait inside the split is short once everybody is here.
  barrier();
  const bool inside = std::find(members.begin(), members.end(), rank_) != members.end();
  MPI_Comm made = MPI_COMM_NULL;
  serialised("dividing the ranks",
             [&] { return MPI_Comm_split(comm_, inside ? 0 : MPI_UNDEFINED, rank_, &made); });
  return {made, true};
}

Group Group::duplicate() const {
  barrier();
  MPI_Comm made = MPI_COMM_NULL;
  serialised("copying a communicator", [&] { return MPI_Comm_dup(comm_, &made); });
  return {made, true};
}

bool Group::wait(MPI_Request& request, const StopCheck& stop) {
  microseconds nap = kShortestSleep;
  while (true) {
    int done = 0;
    serialised("a message", [&] { return MPI_Test(&request, &done, MPI_STATUS_IGNORE); });
    if (done) return true;
    if (stop && stop()) return false;
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 5 / 4 + microseconds(1), kLongestSleep);
  }
}

bool Group::barrier(const StopCheck& stop) const {
  MPI_Request request = MPI_REQUEST_NULL;
  serialised("a barrier", [&] { return MPI_Ibarrier(comm_, &request); });
  return wait(request, stop);
}

bool Group::gather_blocks(const char* own, char* all, const BlockShape& shape,
                          const StopCheck& stop) const {
  MPI_Request request = MPI_REQUEST_NULL;
  serialised("an all-gather", [&] {
    const BlockType type(shape);
    return MPI_Iallgather(own, 1, type.get(), all, 1, type.get(), comm_, &request);
  });
  return wait(request, stop);
}

MPI_Request Group::begin_broadcast(char* block, const BlockShape& shape, int root) const {
  MPI_Request request = MPI_REQUEST_NULL;
  serialised("a broadcast", [&] {
    const BlockType type(shape);
    return MPI_Ibcast(block, 1, type.get(), root, comm_, &request);
  });
  return request;
}

bool Group::sum(float* values, std::size_t count, const StopCheck& stop) const {
  constexpr std::size_t kMost = std::size_t{1} << 28;
  for (std::size_t at = 0; at < count; at += kMost) {
    const int part = static_cast<int>(std::min(kMost, count - at));
    MPI_Request request = MPI_REQUEST_NULL;
    serialised("an all-reduce", [&] {
      return MPI_Iallreduce(MPI_IN_PLACE, values + at, part, MPI_FLOAT, MPI_SUM, comm_, &request);
    });
    if (!wait(request, stop)) return false;
  }
  return true;
}

std::vector<std::int64_t> Group::gather_numbers(const std::vector<std::int64_t>& own,
                                                const StopCheck& stop) const {
  std::vector<std::int64_t> all(own.size() * static_cast<std::size_t>(size_));
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = static_cast<int>(own.size());
  serialised("an all-gather", [&] {
    return MPI_Iallgather(own.data(), count, MPI_INT64_T, all.data(), count, MPI_INT64_T, comm_,
                          &request);
  });
  if (!wait(request, stop)) throw Error(OMEN_CANCELLED, "the wait for other ranks was given up");
  return all;
}

int local_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "PMI_LOCAL_RANK"})
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return 0;
}

}  // namespace omen::ensemble
