// SPDX-License-Identifier: Apache-2.0
// A thread that shows that a rank is alive, notes how full its queues are, and notices when nobody
// watches any more.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "run/rank_files.hpp"
#include "run/run_job.hpp"
#include "transport/block_stream.hpp"

namespace omen::ensemble {

class SignOfLife {
 public:
  SignOfLife(const std::filesystem::path& directory, std::int64_t rank, const RunJob& job,
             RankLog& log);
  ~SignOfLife();
  SignOfLife(const SignOfLife&) = delete;
  SignOfLife& operator=(const SignOfLife&) = delete;

  void at_step(std::int64_t step, double loss);

  // The stream whose queues are looked at, for the life of this object.
  class Watched {
   public:
    Watched(SignOfLife& life, const BlockStream& stream) : life_(life) { life_.watch(&stream); }
    ~Watched() { life_.watch(nullptr); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

   private:
    SignOfLife& life_;
  };

 private:
  void watch(const BlockStream* stream);
  void beat();

  const std::filesystem::path file_;
  const RunJob& job_;
  RankLog& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  RankStatus status_;
  const BlockStream* stream_ = nullptr;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace omen::ensemble
