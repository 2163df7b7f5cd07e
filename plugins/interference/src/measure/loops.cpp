// SPDX-License-Identifier: Apache-2.0
// One step of each loop, sized by what it touches rather than by the clock.
#include "measure/loops.hpp"

#include <chrono>
#include <thread>

namespace omen::interference {
namespace {

constexpr std::size_t kMemoryBytes = 128U << 20;  // larger than any last-level cache share
constexpr std::size_t kCacheBytes = 4U << 20;     // larger than a core's own caches

// Multiplications that wait for each other touch no memory.
double multiply(int rounds) {
  double a = 1.0000001, b = 0.9999999;
  for (int i = 0; i < rounds; ++i) {
    a = a * b + 1e-12;
    b = b * a + 1e-12;
  }
  return a + b;
}

class Loop final : public Load {
 public:
  explicit Loop(LoopKind kind) : kind_(kind) {
    if (kind == LoopKind::kMemory) words_.assign(kMemoryBytes / sizeof(std::uint64_t), 1);
    if (kind == LoopKind::kCache) chain();
  }
  void step() override {
    switch (kind_) {
      case LoopKind::kCompute:
        kept_ = multiply(1 << 21);
        return;
      case LoopKind::kMemory: {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] += sum += words_[i] & 3U;
        kept_ = static_cast<double>(sum);
        return;
      }
      case LoopKind::kCache: {
        std::uint64_t at = 0;
        for (int i = 0; i < 1 << 19; ++i) at = words_[at];
        kept_ = static_cast<double>(at);
        return;
      }
      case LoopKind::kIdle:
        kept_ = multiply(1 << 17);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        return;
    }
  }

 private:
  // Each word names the next one to read, far from it: one cycle through all lines.
  void chain() {
    constexpr std::size_t kLine = 8;  // words
    const std::size_t lines = kCacheBytes / sizeof(std::uint64_t) / kLine;
    words_.assign(lines * kLine, 0);
    constexpr std::size_t kStride = 4099;  // a prime that no number of lines here is a multiple of
    for (std::size_t line = 0; line < lines; ++line)
      words_[line * kLine] = (line + kStride) % lines * kLine;
  }

  LoopKind kind_;
  std::vector<std::uint64_t> words_;
  volatile double kept_ = 0;  // so that no compiler leaves the work out
};

template <LoopKind kind>
std::unique_ptr<Load> make_loop(int, std::uint64_t) {
  return std::make_unique<Loop>(kind);
}

}  // namespace

const std::vector<LoadKind>& loop_loads() {
  static const std::vector<LoadKind> loads = {
      {"compute", "loop", 0, &make_loop<LoopKind::kCompute>},
      {"memory", "loop", 0, &make_loop<LoopKind::kMemory>},
      {"cache", "loop", 0, &make_loop<LoopKind::kCache>},
      {"idle", "loop", 0, &make_loop<LoopKind::kIdle>}};
  return loads;
}

const char* loop_name(LoopKind kind) {
  return loop_loads()[static_cast<std::size_t>(kind)].name;
}

std::int64_t run_load(Load& load, double seconds, const std::function<void()>& mark,
                      const std::function<bool()>& stop) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::int64_t steps = 0;
  while (std::chrono::steady_clock::now() < end && !stop()) {
    load.step();
    mark();
    ++steps;
  }
  return steps;
}

}  // namespace omen::interference
