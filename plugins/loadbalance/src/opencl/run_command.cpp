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

// Without a forecast the devices share by units and clock.
double share_by_units(const SplitJob& job) {
  const auto power = [](const OpenClDevice& device) {
    return std::max(1u, device.compute_units) * std::max(device.clock_hz, 1.0);
  };
  return 100 * power(job.devices[0]) / (power(job.devices[0]) + power(job.devices[1]));
}

Table arguments_table(const SplitJob& job) {
  std::vector<std::int32_t> index;
  std::vector<std::string> names, types, values, origins;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    index.push_back(static_cast<std::int32_t>(i));
    names.push_back(job.signature.parameters[i].name);
    types.push_back(job.signature.parameters[i].type);
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

Table plan_table(const SplitJob& job, double share) {
  const SplitPlan plan = job.plan(share);
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
  add(job.devices[0], plan.first, plan.first_groups);
  add(job.devices[1], plan.second, plan.groups - plan.first_groups);
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

std::string agreement_text(const SplitJob& job, const Agreement& agreement, double tolerance) {
  if (agreement.in_every_bit) return "equal in every bit";
  const std::string error =
      with_unit(agreement.largest_error, "of the largest magnitude", 3) + ", argument '" +
      job.signature.parameters[static_cast<std::size_t>(agreement.parameter)].name + "'";
  if (agreement.equal)
    return "equal within " + short_text(tolerance, 3) + "; largest error " + error;
  return "DIFFERENT; largest error " + error;
}

Table result_table(const SplitJob& job, const MeasuredRun& measured, double start,
                   const std::optional<Forecast>& forecast, const RunOptions& options) {
  Report report;
  report.add("range", text_of(job.range.global, job.range.dimensions) + " in groups of " +
                          text_of(job.range.local, job.range.dimensions));
  if (forecast) {
    std::string text = with_unit(forecast->share, "%");
    if (forecast->low && forecast->high)
      text += " [" + short_text(*forecast->low) + " to " + short_text(*forecast->high) + "]";
    if (!forecast->status.empty() && forecast->status != "ok")
      text += " (" + forecast->status + ")";
    report.add("predicted share", text);
    if (forecast->gain) report.add("predicted gain", with_unit(*forecast->gain, "x"));
  } else {
    report.add("start", with_unit(start, options.share >= 0 ? "%, as given"
                                                            : "%, by compute units and clock"));
  }
  report.add("measured share", with_unit(measured.split_share, "%"));
  const double single = std::min(measured.alone_ms(0), measured.alone_ms(1));
  report.add("split", with_unit(measured.split_ms, "ms"));
  report.add("better device alone", with_unit(single, "ms"));
  report.add("measured gain", with_unit(single / measured.split_ms, "x"));
  const bool both = measured.best_share > 0 && measured.best_share < 100;
  report.add("advice", both ? "divide the work at " + with_unit(measured.best_share, "%")
                            : "use device " + job.devices[measured.best_share > 50 ? 0 : 1].id() +
                                  " alone: the split gains less than " +
                                  with_unit(100 * options.min_gain, "%"));
  report.add("results", agreement_text(job, measured.agreement, options.tolerance));
  for (const std::string& note : job.verdict.notes)
    report.add("note", note + "; checked in this run");
  if (!job.code.rewritten.empty()) {
    std::string names;
    for (const std::string& name : job.code.rewritten) names += (names.empty() ? "" : ", ") + name;
    report.add("rewritten", names);
  }
  return report.finish();
}

void draw(const Run& run, const SplitJob& job, std::vector<SplitSample> samples,
          const std::optional<Forecast>& forecast) {
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
         {{"text",
           job.signature.kernel + " on " + job.devices[0].name + " and " + job.devices[1].name}}},
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
  const SplitJob job = prepare_job(path, options_, run.seed());
  run.step(0.1, "predict");
  std::string why;
  const std::map<std::string, Table> tables = kernel_tables(
      run, path, options_, job.signature.kernel, static_cast<double>(job.range.group_items()),
      static_cast<double>(job.buffer_bytes()));
  const std::optional<Forecast> predicted =
      options_.share >= 0 ? std::nullopt
                          : forecast(run, tables, options_.predictor, options_.model, why);
  if (!why.empty()) log(OMEN_LOG_WARN, kRunCommand, "no share was predicted: " + why);
  const double start = options_.share >= 0 ? options_.share
                       : predicted         ? predicted->share
                                           : share_by_units(job);
  if (options_.emit == "c") {
    out.put("code", code_table(emit_host_code(job, start, path)));
    return 0;
  }
  run.step(0.2, "run");
  const MeasuredRun measured = measure_run(run, path, options_, "find", start);
  std::vector<SplitSample> samples = measured.samples;
  if (options_.sweep) {
    const MeasuredRun swept = measure_run(run, path, options_, "step:5", start);
    samples.insert(samples.end(), swept.samples.begin(), swept.samples.end());
  }
  out.put("arguments", arguments_table(job));
  out.put("plan", plan_table(job, measured.best_share));
  out.put("result", result_table(job, measured, start, predicted, options_));
  out.put("steps", steps_table(samples, predicted));
  draw(run, job, samples, predicted);
  if (!options_.record.empty()) record_run(options_.record, tables, measured);
  if (measured.agreement.equal) return 0;
  log(OMEN_LOG_ERROR, kRunCommand, "the divided run gives other results than one device");
  return 1;
}

}  // namespace omen::loadbalance
