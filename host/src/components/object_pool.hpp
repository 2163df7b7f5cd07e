// SPDX-License-Identifier: Apache-2.0
// Objects of components that are kept between calls, and what borrows one for a call.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace omen::host {

// Objects that no call uses at the moment, oldest first. [any-thread]
template <class Handle>
class ObjectPool {
 public:
  std::unique_ptr<Handle> take(const std::string& key) {
    const std::lock_guard lock(mutex_);
    for (auto at = idle_.begin(); at != idle_.end(); ++at) {
      if (at->first != key) continue;
      std::unique_ptr<Handle> found = std::move(at->second);
      idle_.erase(at);
      return found;
    }
    return nullptr;
  }
  void give(std::string key, std::unique_ptr<Handle> handle) {
    std::unique_ptr<Handle> oldest;  // destroyed after the lock is gone
    const std::lock_guard lock(mutex_);
    idle_.emplace_back(std::move(key), std::move(handle));
    if (idle_.size() <= most_idle()) return;
    oldest = std::move(idle_.front().second);
    idle_.pop_front();
  }
  void clear() {
    Idle gone;
    const std::lock_guard lock(mutex_);
    gone.swap(idle_);
  }

 private:
  using Idle = std::deque<std::pair<std::string, std::unique_ptr<Handle>>>;

  // One for each thread that may lower files, and some for components that call others.
  static std::size_t most_idle() {
    constexpr unsigned kFew = 8;
    return std::max(kFew, std::thread::hardware_concurrency());
  }

  std::mutex mutex_;
  Idle idle_;
};

// One object for the length of a call and of the stream that it returned; it goes back to the pool
// for the next call, unless it failed or must not be kept.
template <class Handle>
class Lease {
 public:
  // `pool` is borrowed, null: the object is not kept; `make` is asked where the pool has none.
  template <class Make>
  Lease(ObjectPool<Handle>* pool, std::string key, Make&& make)
      : pool_(pool), key_(std::move(key)), handle_(pool ? pool->take(key_) : nullptr) {
    if (!handle_) handle_ = std::make_unique<Handle>(make());
  }
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&&) = delete;
  ~Lease() {
    if (pool_ && handle_ && usable_) pool_->give(std::move(key_), std::move(handle_));
  }

  // An object that failed is not used again.
  template <class Body>
  auto use(Body&& body) {
    usable_ = false;
    auto result = body(*handle_);
    usable_ = true;
    return result;
  }

 private:
  ObjectPool<Handle>* pool_;
  std::string key_;
  std::unique_ptr<Handle> handle_;
  bool usable_ = false;
};

}  // namespace omen::host
