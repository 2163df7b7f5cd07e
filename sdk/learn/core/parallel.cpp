// SPDX-License-Identifier: Apache-2.0
// A counter that threads draw jobs from.
#include "omen/learn/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace omen::learn {

void for_each_job(std::size_t count, unsigned threads,
                  const std::function<void(std::size_t)>& job) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        job(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < std::min<std::size_t>(count, std::max(threads, 1U)); ++i) {
    helpers.emplace_back(work);
  }
  work();
  helpers.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace omen::learn
