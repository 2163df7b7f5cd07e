// SPDX-License-Identifier: Apache-2.0
// Runs independent jobs on a few threads that are joined before it returns.
#pragma once

#include <cstddef>
#include <functional>

namespace omen::learn {

/// Calls `job(0)` .. `job(count - 1)`, each once, on at most `threads` threads including the
/// caller's. The first exception of a job is thrown again here, after all threads have ended.
void for_each_job(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& job);

}  // namespace omen::learn
