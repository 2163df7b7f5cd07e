// SPDX-License-Identifier: Apache-2.0
// Forecast, measured correction and report of one divided kernel.
#include "opencl/run_command.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "opencl/emit_c.hpp"
#include "opencl/forecast.hpp"
#include "opencl/measured_run.hpp"
#include "opencl/profiler.hpp"
#include "opencl/record.hpp"
#include "opencl/split_job.hpp"

namespace omen::loadbalance {
namespace {

constexpr const char* kRunCommand = "loadbalance.run";

std::string text_of(const std::array<std::size_t, 3>& sizes, unsigned count) {
  std::string text;
  for (unsigned d = 0; d < count; ++d) text += (d ? " x " : "") + std::to_string(sizes[d]);
  return text;
}

std::string short_text(double value, int digits = 4) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

std::string with_unit(double value, const std::string& unit, int digits = 4) {
  return short_text(value, digits) + " " + unit;
}

Table arguments_table(const KernelLaunch& job) {
  std::vector<std::int32_t> index;
  std::vector<std::string> names, types, values, origins;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    index.push_back(static_cast<std::int32_t>(i));
    names.push_back(job.parameters()[i].name);
    types.push_back(job.parameters()[i].type);
    values.push_back(job.arguments[i].meaning);
    origins.emplace_back(job.arguments[i].made ? "made from the signature" : "given");
  }
  return TableBuilder()
      .add("index", std::move(index))
      .add_strings("name", names)
      .add_strings("type", types)
      .add_strings("value", values)
      .add_strings("origin", origins)
      .finish();
}

Table plan_table(const KernelLaunch& job, const MeasuredRun& measured) {
  const SplitPlan plan = job.plan(measured.best_share);
  const unsigned dimensions = job.range.dimensions;
  std::vector<std::string> ids, names, offsets, sizes;
  std::vector<double> shares;
  std::vector<std::int64_t> groups;
  const auto add = [&](const OpenClDevice& device, const Part& part, std::size_t count) {
    ids.push_back(device.id());
    names.push_back(device.name);
    offsets.push_back(text_of(part.offset, dimensions));
    sizes.push_back(text_of(part.size, dimensions));
    groups.push_back(static_cast<std::int64_t>(count));
    shares.push_back(100.0 * static_cast<double>(count) / static_cast<double>(plan.groups));
  };
  add(measured.devices[0], plan.first, plan.first_groups);
  add(measured.devices[1], plan.second, plan.groups - plan.first_groups);
  return TableBuilder()
      .add_strings("device", ids)
      .add_strings("name", names)
      .add("share", std::move(shares), {{"omen.unit", "%"}})
      .add("groups", std::move(groups))
      .add_strings("offset", offsets)
      .add_strings("size", sizes)
      .finish();
}

// What the forecast says of a share: both devices work at once on their parts.
double forecast_ms(const std::optional<Forecast>& forecast, double share) {
  if (!forecast || !forecast->first_ms || !forecast->second_ms) return std::nan("");
  return std::max(*forecast->first_ms * share, *forecast->second_ms * (100 - share)) / 100;
}

Table steps_table(const std::vector<SplitSample>& samples,
                  const std::optional<Forecast>& forecast) {
  std::vector<std::string> steps;
  std::vector<double> shares, totals, firsts, seconds, predicted;
  std::vector<bool> known;
  for (const SplitSample& sample : samples) {
    steps.emplace_back(kSearchStepNames[static_cast<std::size_t>(sample.step)]);
    shares.push_back(sample.share);
    totals.push_back(sample.time.total_ms);
    firsts.push_back(sample.time.first_ms);
    seconds.push_back(sample.time.second_ms);
    predicted.push_back(forecast_ms(forecast, sample.share));
    known.push_back(!std::isnan(predicted.back()));
  }
  const Metadata ms = {{"omen.unit", "ms"}};
  TableBuilder builder;
  builder.add_strings("step", steps)
      .add("share", std::move(shares), {{"omen.unit", "%"}})
      .add("time", std::move(totals), ms)
      .add("first_device", std::move(firsts), ms)
      .add("second_device", std::move(seconds), ms);
  if (std::find(known.begin(), known.end(), true) != known.end())
    builder.add("predicted", std::move(predicted), ms).valid(known);
  return builder.finish();
}

// Pairs of what and value for people.
class Report {
 public:
  void add(const char* what, std::string value) {
    what_.emplace_back(what);
    value_.push_back(std::move(value));
  }
  Table finish() const {
    return TableBuilder().add_strings("what", what_).add_strings("value", value_).finish();
  }

 private:
  std::vector<std::string> what_, value_;
};

std::string agreement_text(const KernelLaunch& job, const Agreement& agreement, double tolerance) {
  if (agreement.in_every_bit) return "equal in every bit";
  const std::string error =
      with_unit(agreement.largest_error, "of the largest magnitude", 3) + ", argument '" +
      job.parameters()[static_cast<std::size_t>(agreement.parameter)].name + "'";
  if (agreement.equal)
    return "equal within " + short_text(tolerance, 3) + "; largest error " + error;
  return "DIFFERENT; largest error " + error;
}

std::string gain_text(const MeasuredRun& measured) {
  const std::string gain = with_unit(measured.gain(), "x");
  switch (measured.doubt) {
    case GainDoubt::kMeasuringError:
      return gain + ", a measuring error: halves of one device gain 2 x at most";
    case GainDoubt::kUnevenWork:
      return gain + ", more than " + with_unit(largest_gain(measured.split_share), "x", 3) +
             " for equal groups";
    case GainDoubt::kNone:
      break;
  }
  return gain;
}

// Where a time or share that was measured lies outside of what was predicted.
void add_surprises(const MeasuredRun& measured, const Forecast& forecast, Report& report) {
  const auto outside = [&report](const std::string& what, double value, const Interval& interval,
                                 const char* unit) {
    if (!interval.low || !interval.high || (value >= *interval.low && value <= *interval.high))
      return;
    report.add("remark", what + " is " + with_unit(value, unit) + ", predicted were " +
                             short_text(*interval.low) + " to " + with_unit(*interval.high, unit));
  };
  outside("the measured share", measured.split_share, forecast.share_interval, "%");
  outside("the first device alone", measured.alone_ms(0), forecast.first_interval, "ms");
  outside("the second device alone", measured.alone_ms(1), forecast.second_interval, "ms");
}

void add_remarks(const MeasuredRun& measured, const std::optional<Forecast>& forecast,
                 Report& report) {
  if (measured.doubt == GainDoubt::kUnevenWork)
    report.add("remark",
               "uneven work: some work-groups take longer than others, so the best share "
               "depends on the data");
  if (measured.doubt == GainDoubt::kMeasuringError)
    report.add("remark",
               "the times cannot be right; measure again on a machine that does nothing "
               "else");
  if (forecast) add_surprises(measured, *forecast, report);
}

Table result_table(const KernelLaunch& job, const MeasuredRun& measured,
                   const std::optional<Forecast>& forecast, const RunOptions& options) {
  Report report;
  report.add("range", text_of(job.range.global, job.range.dimensions) + " in groups of " +
                          text_of(job.range.local, job.range.dimensions));
  if (forecast) {
    std::string text = with_unit(forecast->share, "%");
    const Interval& interval = forecast->share_interval;
    if (interval.low && interval.high)
      text += " [" + short_text(*interval.low) + " to " + short_text(*interval.high) + "]";
    if (!forecast->status.empty() && forecast->status != "ok")
      text += " (" + forecast->status + ")";
    report.add("predicted share", text);
    if (forecast->gain) report.add("predicted gain", with_unit(*forecast->gain, "x"));
  } else {
    report.add("start",
               with_unit(measured.start_share,
                         options.share >= 0 ? "%, as given" : "%, by compute units and clock"));
  }
  report.add("measured share", with_unit(measured.split_share, "%"));
  report.add("split", with_unit(measured.split_ms, "ms"));
  report.add("better device alone", with_unit(measured.single_ms, "ms"));
  report.add("measured gain", gain_text(measured));
  const bool both = measured.best_share > 0 && measured.best_share < 100;
  const bool gains = measured.gain() * (1 - options.min_gain) > 1;
  report.add("advice",
             both ? "divide the work at " + with_unit(measured.best_share, "%")
                  : "use device " + measured.devices[measured.best_share > 50 ? 0 : 1].id() +
                        " alone: the split " +
                        (gains ? "is not the faster one in most turns"
                               : "gains less than " + with_unit(100 * options.min_gain, "%")));
  report.add("results", agreement_text(job, measured.agreement, options.tolerance));
  add_remarks(measured, forecast, report);
  for (const std::string& note : job.kernel.verdict.notes)
    report.add("note", note + "; checked in this run");
  if (!job.kernel.rewritten.empty()) report.add("rewritten", join(job.kernel.rewritten));
  return report.finish();
}

// One row of numbers for scripts; people read them in the report.
Table figures_table(const MeasuredRun& measured, const std::optional<Forecast>& forecast) {
  TableBuilder builder;
  builder.metadata("omen.render", "none");
  const auto add = [&builder](const char* name, const char* unit, std::optional<double> value) {
    if (value) builder.add(name, std::vector<double>{*value}, {{"omen.unit", unit}});
  };
  if (forecast) {
    add("predicted_share", "%", forecast->share);
    add("predicted_share_low", "%", forecast->share_interval.low);
    add("predicted_share_high", "%", forecast->share_interval.high);
    add("predicted_gain", "x", forecast->gain);
  }
  add("start_share", "%", measured.start_share);
  add("measured_share", "%", measured.split_share);
  add("split_ms", "ms", measured.split_ms);
  add("better_alone_ms", "ms", measured.single_ms);
  add("measured_gain", "x", measured.gain());
  add("advised_share", "%", measured.best_share);
  add("largest_error", "", measured.agreement.largest_error);
  builder.add_bools("equal_in_every_bit", {measured.agreement.in_every_bit});
  builder.add_bools("results_agree", {measured.agreement.equal});
  return builder.finish();
}

void draw(const Run& run, const KernelLaunch& job, const MeasuredRun& measured,
          std::vector<SplitSample> samples, const std::optional<Forecast>& forecast) {
  using nlohmann::json;
  std::sort(samples.begin(), samples.end(),
            [](const SplitSample& a, const SplitSample& b) { return a.share < b.share; });
  json shares = json::array(), times = json::array(), xs = json::array(), ys = json::array();
  for (const SplitSample& sample : samples) {
    shares.push_back(sample.share);
    times.push_back(sample.time.total_ms);
  }
  json data = json::array({{{"type", "scatter"},
                            {"mode", "lines+markers"},
                            {"name", "measured"},
                            {"x", shares},
                            {"y", times}}});
  if (forecast && forecast->first_ms && forecast->second_ms) {
    for (int share = 0; share <= 100; share += 2) {
      xs.push_back(share);
      ys.push_back(forecast_ms(forecast, share));
    }
    data.push_back({{"type", "scatter"},
                    {"mode", "lines"},
                    {"line", {{"dash", "dot"}}},
                    {"name", "predicted"},
                    {"x", xs},
                    {"y", ys}});
  }
  const json figure = {
      {"data", data},
      {"layout",
       {{"title",
         {{"text", job.kernel.signature.kernel + " on " + measured.devices[0].name + " and " +
                       measured.devices[1].name}}},
        {"xaxis", {{"title", {{"text", "share of the first device [%]"}}}}},
        {"yaxis", {{"title", {{"text", "time [ms]"}}}, {"rangemode", "tozero"}}}}}};
  put_figure(run, "share", figure.dump(), steps_table(samples, forecast));
}

// Lines that the host prints as they are.
Table code_table(const std::string& code) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < code.size();) {
    const std::size_t end = std::min(code.find('\n', at), code.size());
    lines.push_back(code.substr(at, end - at));
    at = end + 1;
  }
  return TableBuilder().add_strings("code", lines).metadata("omen.render", "text").finish();
}

// For the devices that a run would take; where this machine has none, for those of --on, or for
// any.
std::string emitted(const Run& run, const KernelLaunch& job, const std::string& path,
                    const RunOptions& options, double start) {
  EmittedDevices devices;
  try {
    const MeasuredRun plan = measure_run(run, path, options, shares::kPlan, start);
    return emit_host_code(job, plan.devices, plan.start_share, path);
  } catch (const Error& error) {
    if (error.code() != OMEN_UNAVAILABLE) throw;
    log(OMEN_LOG_INFO, kRunCommand, std::string("no device is looked at: ") + error.what());
  }
  if (const auto wanted = parse_devices(options.on)) {
    devices.emplace();
    for (std::size_t i = 0; i < 2; ++i) static_cast<DeviceChoice&>((*devices)[i]) = (*wanted)[i];
  } else if (!options.on.empty()) {
    throw Error(OMEN_INVALID_ARGUMENT, "devices '" + options.on + "' are not understood",
                "write two of them as P:D,P:D, or P:D/U for U of the compute units of one");
  }
  return emit_host_code(job, devices, start >= 0 ? start : 50, path);
}

void check_arguments(const std::vector<std::string>& args) {
  if (args.size() != 1)
    throw Error(OMEN_INVALID_ARGUMENT,
                args.empty() ? "no OpenCL source was given" : "one OpenCL source is run at a time",
                "write: omen loadbalance run kernel.cl --kernel NAME --global 1M");
}

}  // namespace

int RunCommand::run(const std::vector<std::string>& args, const TablesOut& out, const Run& run) {
  check_arguments(args);
  const std::string path = std::filesystem::absolute(args[0]).string();
  run.step(0, "compile");
  const KernelLaunch job = prepare_launch(run, path, options_);
  run.step(0.1, "predict");
  std::string why;
  const std::map<std::string, Table> tables = kernel_tables(
      run, path, options_, job.kernel.signature.kernel,
      static_cast<double>(job.range.group_items()), static_cast<double>(job.buffer_bytes()));
  const std::optional<Forecast> predicted =
      options_.share >= 0 ? std::nullopt
                          : forecast(run, tables, options_.predictor, options_.model, why);
  if (!why.empty()) log(OMEN_LOG_WARN, kRunCommand, "no share was predicted: " + why);
  const double start = predicted ? predicted->share : options_.share;
  if (options_.emit == "c") {
    out.put("code", code_table(emitted(run, job, path, options_, start)));
    return 0;
  }
  run.step(0.2, "run");
  const MeasuredRun measured = measure_run(run, path, options_, shares::kFind, start);
  std::vector<SplitSample> samples = measured.samples;
  if (options_.sweep) {
    const MeasuredRun swept = measure_run(run, path, options_, "step:5", start);
    samples.insert(samples.end(), swept.samples.begin(), swept.samples.end());
  }
  out.put("arguments", arguments_table(job));
  out.put("figures", figures_table(measured, predicted));
  out.put("plan", plan_table(job, measured));
  out.put("result", result_table(job, measured, predicted, options_));
  out.put("steps", steps_table(samples, predicted));
  draw(run, job, measured, samples, predicted);
  if (!options_.record.empty()) record_run(options_.record, tables, measured);
  if (measured.agreement.equal) return 0;
  log(OMEN_LOG_ERROR, kRunCommand, "the divided run gives other results than one device");
  return 1;
}

}  // namespace omen::loadbalance
