// SPDX-License-Identifier: Apache-2.0
// Two beats a second: the parent takes eight seconds of silence for death.
#include "run/sign_of_life.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

namespace omen::ensemble {
namespace {

constexpr auto kBeat = std::chrono::milliseconds(500);

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// Without its parent nobody would end this rank, or resume what it does.
bool is_orphan(const RunJob& job) {
  return job.parent > 0 && host_name() == job.host &&
         ::kill(static_cast<pid_t>(job.parent), 0) != 0 && errno == ESRCH;
}

}  // namespace

SignOfLife::SignOfLife(const std::filesystem::path& directory, std::int64_t rank, const RunJob& job,
                       RankLog& log)
    : file_(status_file(directory, rank)), job_(job), log_(log) {
  status_.process = ::getpid();
  thread_ = std::thread([this] { beat(); });
}

SignOfLife::~SignOfLife() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void SignOfLife::at_step(std::int64_t step, double loss) {
  const std::lock_guard lock(mutex_);
  status_.step = step;
  status_.loss = loss;
}

void SignOfLife::watch(const BlockStream* stream) {
  const std::lock_guard lock(mutex_);
  stream_ = stream;
}

void SignOfLife::beat() {
  const double begin = wall_seconds();
  std::unique_lock lock(mutex_);
  while (!ends_) {
    ++status_.beat;
    write_status(file_, status_);
    if (stream_) log_.queues(wall_seconds() - begin, stream_->fill());
    if (is_orphan(job_)) ::kill(::getpid(), SIGTERM);
    changed_.wait_for(lock, kBeat);
  }
  status_.done = true;
  write_status(file_, status_);
}

}  // namespace omen::ensemble
