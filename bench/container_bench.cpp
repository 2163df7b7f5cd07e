// SPDX-License-Identifier: Apache-2.0
// What loading a container costs: 256 MB in the page cache, opened, checked and every byte summed,
// against memcpy and the same sum.
//   container_bench         Google Benchmark figures
//   container_bench --show  acceptance figures; OMEN_SHOW_BREAK=1 checks the digest while loading
#include <benchmark/benchmark.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "omen/container.hpp"
#include "omen/median.hpp"
#include "omen/testing/show.hpp"

namespace omen::container {
namespace {

constexpr std::size_t kTensors = 64;
constexpr std::size_t kTensorBytes = std::size_t{4} << 20;

// A file that lives as long as the program; writing it leaves it in the page cache.
class SampleFile {
 public:
  SampleFile() {
    path_ = std::filesystem::temp_directory_path() /
            ("omen-container-bench-" + std::to_string(::getpid()) + ".omen");
    Writer writer;
    std::vector<std::uint32_t> values(kTensorBytes / sizeof(std::uint32_t));
    std::uint32_t state = 1;
    for (std::size_t t = 0; t < kTensors; ++t) {
      for (std::uint32_t& value : values) value = state = state * 1664525 + 1013904223;
      writer.put_tensor("layer" + std::to_string(t), "U32",
                        {static_cast<std::int64_t>(values.size())}, values.data(), kTensorBytes);
    }
    writer.write(path_);
  }
  ~SampleFile() { std::filesystem::remove(path_); }
  SampleFile(const SampleFile&) = delete;
  SampleFile& operator=(const SampleFile&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

const SampleFile& sample() {
  static const SampleFile file;
  return file;
}

std::uint64_t sum_bytes(const void* bytes, std::size_t size) {
  const auto* first = static_cast<const unsigned char*>(bytes);
  return std::accumulate(first, first + size, std::uint64_t{0});
}

std::uint64_t load_and_sum(bool check_digest) {
  const Reader reader = Reader::open(sample().path());
  if (check_digest)
    for (int i = 0; i < 8; ++i) reader.verify_digest();
  std::uint64_t sum = 0;
  for (const Entry& entry : reader.entries())
    sum += sum_bytes(reader.bytes(entry), entry.end - entry.begin);
  return sum;
}

// The data as it lies in memory after a first read; both buffers have been touched before.
class MemoryTwin {
 public:
  MemoryTwin() : source_(kTensors * kTensorBytes), target_(source_.size()) {
    const Reader reader = Reader::open(sample().path());
    std::memcpy(source_.data(), reader.bytes(reader.entries()[0]), source_.size());
  }
  std::uint64_t copy_and_sum() {
    std::memcpy(target_.data(), source_.data(), source_.size());
    benchmark::ClobberMemory();
    return sum_bytes(target_.data(), target_.size());
  }

 private:
  std::vector<char> source_, target_;
};

void BM_LoadAndSum(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(load_and_sum(false));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kTensors * kTensorBytes));
}
void BM_CopyAndSum(benchmark::State& state) {
  MemoryTwin twin;
  for (auto _ : state) benchmark::DoNotOptimize(twin.copy_and_sum());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kTensors * kTensorBytes));
}
void BM_Digest(benchmark::State& state) {
  const Reader reader = Reader::open(sample().path());
  for (auto _ : state) benchmark::DoNotOptimize(reader.digest());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kTensors * kTensorBytes));
}
BENCHMARK(BM_LoadAndSum)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_CopyAndSum)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Digest)->Unit(benchmark::kMillisecond);

double cpu_ms() {
  struct timespec now {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

template <class Body>
double timed_ms(Body&& body) {
  const double before = cpu_ms();
  body();
  return cpu_ms() - before;
}

int show() {
  constexpr double kGoal = 2;
  constexpr int kRounds = 7;
  const bool broken = test::broken();
  MemoryTwin twin;
  std::uint64_t loaded = 0, copied = 0;
  std::vector<double> loads, copies, digests;
  const Reader reader = Reader::open(sample().path());
  // Rounds alternate, so that a busy moment of the machine meets both sides.
  for (int round = 0; round < kRounds; ++round) {
    loads.push_back(timed_ms([&] { loaded = load_and_sum(broken); }));
    copies.push_back(timed_ms([&] { copied = twin.copy_and_sum(); }));
  }
  for (int round = 0; round < 3; ++round)
    digests.push_back(timed_ms([&] { reader.verify_digest(); }));
  if (loaded != copied) {
    std::fprintf(stderr, "error: the sums differ\n");
    return 1;
  }
  const double ratio = median(loads) / median(copies);
  std::printf("load and sum %.1f ms, memcpy and sum %.1f ms of CPU time\n", median(loads),
              median(copies));
  test::show("container_digest_ms", median(digests), "ms");
  return test::show("container_load_sum_ratio", ratio, "x", "<=", kGoal);
}

}  // namespace
}  // namespace omen::container

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--show") == 0) return omen::container::show();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
