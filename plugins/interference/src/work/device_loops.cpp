// SPDX-License-Identifier: Apache-2.0
// Products, sweeps and scattered reads of tensors; each step waits until the device is done.
#include "work/device_loops.hpp"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randperm.h>

#include <chrono>
#include <thread>

namespace omen::interference {
namespace {

class DeviceLoop final : public Load {
 public:
  DeviceLoop(LoopKind kind, c10::Device device, std::uint64_t seed, const DeviceLoopSizes& sizes)
      : kind_(kind), rounds_(sizes.rounds) {
    const at::TensorOptions there = at::TensorOptions(device).dtype(at::kFloat);
    const at::NoGradGuard no_gradients;
    at::manual_seed(seed);
    switch (kind) {
      case LoopKind::kCompute:
        a_ = at::rand({sizes.side, sizes.side}, there);
        b_ = at::rand({sizes.side, sizes.side}, there);
        return;
      case LoopKind::kMemory:
        a_ = at::rand({sizes.memory_words}, there);
        return;
      case LoopKind::kCache:
        a_ = at::rand({sizes.cache_words}, there);
        order_ = at::randperm(sizes.cache_words, there.dtype(at::kLong));
        return;
      case LoopKind::kIdle:
        a_ = at::rand({sizes.side / 8, sizes.side / 8}, there);
        b_ = a_;
        return;
    }
  }

  void step() override {
    const at::NoGradGuard no_gradients;
    at::Tensor last = a_;
    const int rounds = kind_ == LoopKind::kIdle ? 1 : rounds_;
    for (int round = 0; round < rounds; ++round) {
      if (kind_ == LoopKind::kMemory)
        a_.add_(1);
      else if (kind_ == LoopKind::kCache)
        last = at::index_select(last, 0, order_);
      else
        last = at::mm(a_, b_);
    }
    // Reading one number waits for all that was queued before.
    kept_ = last.flatten()[0].item<float>();
    if (kind_ == LoopKind::kIdle) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

 private:
  LoopKind kind_;
  int rounds_;
  at::Tensor a_, b_, order_;
  volatile float kept_ = 0;
};

}  // namespace

std::unique_ptr<Load> make_device_loop(LoopKind kind, c10::Device device, std::uint64_t seed,
                                       const DeviceLoopSizes& sizes) {
  return std::make_unique<DeviceLoop>(kind, device, seed, sizes);
}

}  // namespace omen::interference
