// SPDX-License-Identifier: Apache-2.0
// A day of ticks on a simulated clock: memory must not grow, neither while recording nor while
// finishing.
//   telemetry_day DIRECTORY
// With OMEN_SHOW_BREAK=1 every row is kept in memory as well.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "omen/telemetry/record_log.hpp"
#include "omen/telemetry/sampler.hpp"
#include "omen/telemetry/summary.hpp"
#include "omen/testing/show.hpp"

namespace {

using namespace omen::telemetry;
namespace test = omen::test;

constexpr std::int64_t kInterval = 100 * kNsPerMs;
constexpr std::int64_t kTicks = 24 * 3600 * (kNsPerSecond / kInterval);
constexpr int kSeries = 12;

// Anonymous memory of this process in MB; mapped files do not count.
double anonymous_mb() {
  std::ifstream in("/proc/self/status");
  std::string word;
  double kib = 0;
  while (in >> word)
    if (word == "RssAnon:") in >> kib;
  return kib / 1024;
}

// Values that do not compress: every one differs from the one before.
class Busy final : public Source {
 public:
  explicit Busy(MetricTable& metrics) : metric_(metrics.id("cpu.busy_percent")) {}
  std::string_view name() const override { return "busy"; }
  void sample(std::int64_t t_ns, std::vector<Sample>& rows) override {
    for (int i = 0; i < kSeries; ++i)
      rows.push_back({t_ns, 50 + 50 * std::sin(static_cast<double>(++count_)), metric_, i, 0});
  }

 private:
  std::int32_t metric_;
  std::int64_t count_ = 0;
};

struct Growth {
  double base = 0, most = 0;
  void look() { most = std::max(most, anonymous_mb() - base); }
};

int record_day(const std::filesystem::path& log, Growth& growth, bool keep) {
  MetricTable metrics;
  Notes notes;
  SimulatedClock clock(kNsPerMs);
  LogWriter writer(log, metrics);
  writer.begin_workload(0, 0);
  Sampler sampler("day", clock, kInterval, notes);
  sampler.add(std::make_unique<Busy>(metrics));
  std::atomic<bool> stop{false};
  std::int64_t ticks = 0;
  std::vector<Sample> kept;
  sampler.run(stop, 0, [&](const std::vector<Sample>& rows) {
    writer.put(rows);
    if (keep) kept.insert(kept.end(), rows.begin(), rows.end());
    if (++ticks % 10 == 0) writer.flush();
    if (ticks == 600) growth.base = anonymous_mb();
    if (ticks > 600 && ticks % 6000 == 0) growth.look();
    if (ticks >= kTicks) stop = true;
  });
  writer.finish();
  return test::show("day_ticks", static_cast<double>(sampler.report().ticks), "ticks",
                    ">=", static_cast<double>(kTicks));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path directory = argv[1];
  const auto log = directory / "day.log", file = directory / "day.omt";
  Growth recording, finishing;
  int missed = record_day(log, recording, test::broken());
  missed += test::show("day_recording_growth", recording.most, "MB", "<=", 4);

  finishing.base = anonymous_mb();
  std::atomic<bool> finished{false};
  std::thread watcher([&] {
    while (!finished) {
      finishing.look();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const OpenRows open = [&] { return std::make_unique<LogReader>(log); };
  write_container(open, file);
  const RowReaderPtr reader = open();
  const Summary summary = summarise(*reader);
  plot_json(open, {});
  finished = true;
  watcher.join();
  missed += test::show("day_finishing_growth", finishing.most, "MB", "<=", 32);
  missed += test::show("day_rows", static_cast<double>(summary.rows), "rows",
                       ">=", static_cast<double>(kTicks * kSeries));
  test::show("day_log_size", static_cast<double>(std::filesystem::file_size(log)) * 1e-6, "MB");
  std::filesystem::remove(log);
  std::filesystem::remove(file);
  return missed > 0 ? 1 : 0;
}
