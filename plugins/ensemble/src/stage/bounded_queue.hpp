// SPDX-License-Identifier: Apache-2.0
// A queue that holds its producers back when it is full; whoever waits sleeps.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace omen::ensemble {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity ? capacity : 1) {}

  // False once the queue is closed; the item is then dropped.
  bool push(T item) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return closed_ || items_.size() < capacity_; });
    if (closed_) return false;
    items_.push_back(std::move(item));
    filled_.notify_one();
    return true;
  }
  // Nothing once the queue is closed and empty.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [this] { return closed_ || !items_.empty(); });
    if (items_.empty()) return {};
    T item = std::move(items_.front());
    items_.pop_front();
    room_.notify_one();
    return item;
  }
  // Items that are inside can still be popped.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    room_.notify_all();
    filled_.notify_all();
  }
  // Forgets what is inside, too.
  void abandon() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    items_.clear();
    room_.notify_all();
    filled_.notify_all();
  }

  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }

 private:
  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable room_, filled_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace omen::ensemble
