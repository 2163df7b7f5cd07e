// SPDX-License-Identifier: Apache-2.0
// Forward and backward of one message passing step, ours against the other ways of LibTorch.
// With --show it prints the acceptance figure instead: CPU time of index_add over ours.
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/sparse_csr_tensor.h>
#include <ATen/ops/zeros.h>
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "omen/median.hpp"
#include "omen/testing/show.hpp"
#include "omen/torch/message_passing.hpp"

namespace {

using omen::median;
using omen::torch_kit::Adjacency;

constexpr std::int64_t kNodes = 100000;
constexpr std::int64_t kEdges = 500000;
constexpr std::int64_t kWidth = 64;
constexpr std::int64_t kGates = 16;
constexpr double kGoal = 3;

struct Setup {
  at::Tensor source, target, x, grad, gates, gate, weights;
  Adjacency adjacency;

  Setup() {
    at::manual_seed(1);
    const auto index = at::TensorOptions().dtype(at::kLong);
    source = at::randint(kNodes, {kEdges}, index);
    target = at::randint(kNodes, {kEdges}, index);
    adjacency = Adjacency::from_edges(source, target, kNodes, kNodes);
    // Per-edge tensors in slot order serve all variants: they read sorted edges alike.
    source = adjacency.sources();
    target = adjacency.targets();
    x = at::randn({kNodes, kWidth}).set_requires_grad(true);
    grad = at::randn({kNodes, kWidth});
    gates = at::rand({kGates, kWidth}).set_requires_grad(true);
    gate = at::randint(kGates, {kEdges}, index);
    weights = at::rand({kEdges}).set_requires_grad(true);
  }
};

Setup& setup() {
  static Setup instance;
  return instance;
}

at::Tensor index_sum(const Setup& s, const at::Tensor& messages) {
  return at::zeros({kNodes, kWidth}).index_add(0, s.target, messages);
}

at::Tensor sum_ours(const Setup& s) {
  return aggregate_sum(s.adjacency, s.x);
}
at::Tensor sum_index_add(const Setup& s) {
  return index_sum(s, s.x.index_select(0, s.source));
}
at::Tensor sum_sparse_csr(const Setup& s) {
  static const at::Tensor csr =
      at::sparse_csr_tensor(s.adjacency.by_target().offsets, s.source, at::ones({kEdges}),
                            {kNodes, kNodes}, at::TensorOptions().dtype(at::kFloat));
  return csr.mm(s.x);
}

at::Tensor weighted_ours(const Setup& s) {
  return aggregate_sum(s.adjacency, s.x, s.weights);
}
at::Tensor weighted_index_add(const Setup& s) {
  return index_sum(s, s.x.index_select(0, s.source) * s.weights.unsqueeze(1));
}

at::Tensor gated_ours(const Setup& s) {
  return aggregate_gated(s.adjacency, s.x, s.gates, s.gate, omen::torch_kit::Reduce::kSum);
}
at::Tensor gated_index_add(const Setup& s) {
  return index_sum(s, s.x.index_select(0, s.source) * s.gates.index_select(0, s.gate));
}

at::Tensor attention_ours(const Setup& s) {
  const at::Tensor a = omen::torch_kit::segment_softmax(s.weights, s.adjacency.by_target().offsets);
  return aggregate_sum(s.adjacency, s.x, a);
}
at::Tensor attention_index_add(const Setup& s) {
  const at::Tensor top =
      at::full({kNodes}, -1e30).scatter_reduce(0, s.target, s.weights.detach(), "amax");
  const at::Tensor e = (s.weights - top.index_select(0, s.target)).exp();
  const at::Tensor total = at::zeros({kNodes}).index_add(0, s.target, e);
  const at::Tensor a = e / total.index_select(0, s.target);
  return index_sum(s, s.x.index_select(0, s.source) * a.unsqueeze(1));
}

using Variant = at::Tensor (*)(const Setup&);

void forward_backward(const Setup& s, Variant variant) {
  for (const at::Tensor& t : {s.x, s.gates, s.weights}) at::Tensor(t).mutable_grad().reset();
  variant(s).backward(s.grad);
}

/// The same sums as loops, without autograd around them.
void loop_rows(const omen::torch_kit::CompressedRows& rows, const float* x, float* y) {
  const std::int64_t* offsets = rows.offsets.const_data_ptr<std::int64_t>();
  const std::int64_t* neighbours = rows.neighbours.const_data_ptr<std::int64_t>();
#pragma omp parallel for
  for (std::int64_t r = 0; r < kNodes; ++r) {
    std::fill_n(y + r * kWidth, kWidth, 0.0f);
    for (std::int64_t s = offsets[r]; s < offsets[r + 1]; ++s)
      for (std::int64_t k = 0; k < kWidth; ++k) y[r * kWidth + k] += x[neighbours[s] * kWidth + k];
  }
}

void bench_variant(benchmark::State& state, Variant variant) {
  Setup& s = setup();
  forward_backward(s, variant);
  for (auto _ : state) forward_backward(s, variant);
}

void bench_loop(benchmark::State& state) {
  Setup& s = setup();
  for (auto _ : state) {
    at::Tensor y = at::empty({kNodes, kWidth});
    at::Tensor grad_x = at::empty({kNodes, kWidth});
    loop_rows(s.adjacency.by_target(), s.x.const_data_ptr<float>(), y.mutable_data_ptr<float>());
    loop_rows(s.adjacency.by_source(), s.grad.const_data_ptr<float>(),
              grad_x.mutable_data_ptr<float>());
    benchmark::DoNotOptimize(grad_x.const_data_ptr<float>());
  }
}

void bench_sort(benchmark::State& state) {
  Setup& s = setup();
  for (auto _ : state)
    benchmark::DoNotOptimize(Adjacency::from_edges(s.source, s.target, kNodes, kNodes).num_edges());
}

void add(const char* name, const std::function<void(benchmark::State&)>& body) {
  benchmark::RegisterBenchmark(name, body)
      ->Unit(benchmark::kMillisecond)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
}

void add_variant(const char* name, Variant variant) {
  add(name, [variant](benchmark::State& state) { bench_variant(state, variant); });
}

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double timed(const Setup& s, Variant variant) {
  const double before = cpu_ms();
  forward_backward(s, variant);
  return cpu_ms() - before;
}

bool same_answers(const Setup& s, Variant a, Variant b) {
  forward_backward(s, a);
  const at::Tensor grad = s.x.grad();
  const bool same = at::allclose(a(s), b(s), 1e-4, 1e-4);
  forward_backward(s, b);
  return same && at::allclose(grad, s.x.grad(), 1e-4, 1e-4);
}

/// Both ways in turn, so that a slow moment of the machine hits both.
int show() {
  const Variant ours = omen::test::broken() ? sum_index_add : sum_ours;
  Setup& s = setup();
  if (!same_answers(s, sum_ours, sum_index_add)) {
    std::fputs("the two ways give different answers\n", stderr);
    return 1;
  }
  std::vector<double> fast, slow;
  for (int round = 0; round < 15; ++round) {
    fast.push_back(timed(s, ours));
    slow.push_back(timed(s, sum_index_add));
  }
  const double ratio = median(slow) / median(fast);
  return omen::test::show("torch_aggregation_speedup", ratio, "x", ">=", kGoal);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--show") return show();
  add_variant("sum/ours", sum_ours);
  add_variant("sum/index_add", sum_index_add);
  add_variant("sum/sparse_csr_mm", sum_sparse_csr);
  add("sum/openmp_loop", bench_loop);
  add_variant("weighted/ours", weighted_ours);
  add_variant("weighted/index_add", weighted_index_add);
  add_variant("gated/ours", gated_ours);
  add_variant("gated/index_add", gated_index_add);
  add_variant("attention/ours", attention_ours);
  add_variant("attention/index_add", attention_index_add);
  add("sort_edges", bench_sort);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
