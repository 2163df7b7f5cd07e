// SPDX-License-Identifier: Apache-2.0
// Calls the profiler through the host and reads its counters.
#include "opencl/measured_run.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "omen/host.hpp"
#include "opencl/profiler.hpp"

namespace omen::loadbalance {
namespace {

using nlohmann::json;

json profiler_options(const SplitOptions& options, const std::string& shares, double start) {
  return {{"kernel", options.kernel},
          {"on", options.on},
          {"global", options.global},
          {"local", options.local},
          {"cl_std", options.cl_std},
          {"arg", options.arg},
          {"define", options.define},
          {"include_dir", options.include_dir},
          {"include", options.include},
          {"input_size", options.input_size},
          {"wgsize", options.wgsize},
          {"repeats", options.repeats},
          {"kernel_timeout", options.kernel_timeout},
          {"tolerance", options.tolerance},
          {"min_gain", options.min_gain},
          {"force", options.force},
          {"shares", shares},
          {"start_share", start}};
}

bool has_crashed(const Error& error) {
  const json details = json::parse(error.details_json(), nullptr, false);
  return details.is_object() && details.value("outcome", "") == "CRASHED";
}

// What the process wrote before it died; empty: no argument had to do with it.
std::string named_overrun(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

[[noreturn]] void explain_crash(const Error& error, const std::string& path,
                                const std::string& overrun) {
  if (!overrun.empty())
    throw Error(OMEN_INVALID_DATA, "the kernel of " + path + " " + overrun,
                "mend the kernel, give the buffer its size with --arg I=buffer:BYTES, or counts "
                "their values with --arg I=VALUE");
  throw Error(OMEN_INTERNAL, "the driver died while it ran " + path + ": " + error.what(),
              "run it again, or try other devices with --on", error.details_json());
}

void read_row(const std::string& name, int device, double value, MeasuredRun& run) {
  const auto is = [&name](const char* metric) { return name == metric; };
  if (is(metric::kStart)) run.start_share = value;
  if (is(metric::kShare)) run.samples.push_back({value, {}, SearchStep::kSweep});
  if (is(metric::kStep)) run.samples.back().step = static_cast<SearchStep>(static_cast<int>(value));
  if (is(metric::kSplit)) run.samples.back().time.total_ms = value;
  if (is(metric::kDevice))
    (device == 0 ? run.samples.back().time.first_ms : run.samples.back().time.second_ms) = value;
  if (is(metric::kWhole)) run.whole_ms[static_cast<std::size_t>(device)] = value;
  if (is(metric::kBestShare)) run.best_share = value;
  if (is(metric::kBest)) run.best_ms = value;
  if (is(metric::kBestSplit)) run.split_share = value;
  if (is(metric::kBestSplitMs)) run.split_ms = value;
  if (is(metric::kSingle)) run.single_ms = value;
  if (is(metric::kDoubt)) run.doubt = static_cast<GainDoubt>(static_cast<int>(value));
  if (is(metric::kEqual)) run.agreement.equal = value != 0;
  if (is(metric::kInEveryBit)) run.agreement.in_every_bit = value != 0;
  if (is(metric::kError)) run.agreement.largest_error = value;
  if (is(metric::kErrorAt)) run.agreement.parameter = static_cast<int>(value);
  if (is(metric::kMerge)) run.merge_ms = value;
}

std::array<OpenClDevice, 2> devices_from(const std::string& text) {
  const json list = json::parse(text);
  std::array<OpenClDevice, 2> devices;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i].platform = list.at(i).at("platform");
    devices[i].device = list.at(i).at("device");
    devices[i].units_of = list.at(i).at("units");
    devices[i].name = list.at(i).at("name");
  }
  return devices;
}

}  // namespace

double MeasuredRun::alone_ms(int device) const {
  double best = 0;
  for (const SplitSample& sample : samples)
    if (sample.share == (device == 0 ? 100 : 0) && (best == 0 || sample.time.total_ms < best))
      best = sample.time.total_ms;
  return best;
}

MeasuredRun measure_run(const Run& run, const std::string& path, const SplitOptions& options,
                        const std::string& shares, double start_share) {
  MeasuredRun measured;
  std::error_code none_yet;
  std::filesystem::remove(overrun_file(run), none_yet);
  try {
    const Table rows = call::collect(run, "loadbalance.opencl", json{{"source", path}}.dump(),
                                     profiler_options(options, shares, start_share).dump())
                           .read_all();
    measured.devices = devices_from(rows.metadata(kDevicesKey));
    const StringColumn names = rows.strings("metric");
    const auto devices = rows.column<std::int32_t>("device");
    const auto values = rows.column<double>("value");
    for (std::int64_t row = 0; row < rows.rows(); ++row)
      read_row(std::string(names[row]), devices[row], values[row], measured);
  } catch (const Error& error) {
    if (!has_crashed(error)) throw;
    explain_crash(error, path, named_overrun(overrun_file(run)));
  }
  return measured;
}

}  // namespace omen::loadbalance
