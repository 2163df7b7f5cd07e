// SPDX-License-Identifier: Apache-2.0
// CSV reading in MB/s, against a plain loop of getline and strtod over the same text.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <sstream>

#include "tables/table_io.hpp"

namespace {

// 200,000 rows of an integer, two measured numbers and a short name.
const std::string& sample() {
  static const std::string text = [] {
    std::string rows = "id,time_ms,power_w,kernel\n";
    std::uint32_t state = 1;
    const char* names[] = {"gemm", "conv2d", "softmax", "layer_norm"};
    for (int i = 0; i < 200000; ++i) {
      state = state * 1664525 + 1013904223;
      rows += std::to_string(i) + "," + std::to_string(state % 100000 * 1e-3) + "," +
              std::to_string(state % 7919 * 0.037) + "," + names[state >> 30] + "\n";
    }
    return rows;
  }();
  return text;
}

void set_rate(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(sample().size()));
}

void BM_StreamCsv(benchmark::State& state) {
  for (auto _ : state) {
    std::istringstream in(sample());
    omen::TableStream stream = omen::host::stream_csv(in, "bench");
    double sum = 0;
    while (const auto batch = stream.next())
      for (const double value : batch->column<double>("time_ms")) sum += value;
    benchmark::DoNotOptimize(sum);
  }
  set_rate(state);
}

// No quotes, no types, no checks: what a quick script in C++ would do.
void BM_GetlineStrtod(benchmark::State& state) {
  for (auto _ : state) {
    std::istringstream in(sample());
    std::string line;
    std::getline(in, line);
    std::vector<long long> ids;
    std::vector<double> times, powers;
    std::vector<std::string> names;
    while (std::getline(in, line)) {
      char* at = line.data();
      ids.push_back(std::strtoll(at, &at, 10));
      times.push_back(std::strtod(at + 1, &at));
      powers.push_back(std::strtod(at + 1, &at));
      names.emplace_back(at + 1);
    }
    benchmark::DoNotOptimize(times.data());
    benchmark::DoNotOptimize(names.data());
  }
  set_rate(state);
}

void BM_WriteCsv(benchmark::State& state) {
  std::istringstream in(sample());
  const omen::Table table = omen::host::stream_csv(in, "bench").read_all();
  for (auto _ : state) {
    std::ostringstream out;
    omen::host::write_csv(out, table);
    benchmark::DoNotOptimize(out.str().size());
  }
  set_rate(state);
}

BENCHMARK(BM_StreamCsv)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_GetlineStrtod)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WriteCsv)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
