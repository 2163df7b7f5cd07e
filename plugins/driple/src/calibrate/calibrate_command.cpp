// SPDX-License-Identifier: Apache-2.0
// Finds the step of a trace, observes it, and writes the corrected model.
#include "calibrate/calibrate_command.hpp"

#include <omen/tables.h>
#include <cstdlib>
#include <filesystem>
#include <omen/container.hpp>
#include <omen/host.hpp>
#include <omen/json_text.hpp>
#include <omen/opgraph/tables.hpp>

#include "step/step_predictor.hpp"
#include "sweep/trace_labels.hpp"

namespace omen::driple {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCalibrateUsage =
    "Use: omen driple calibrate TRACE --network resnet50 --front-end batch=64 --gpu v100 "
    "--write mine.omen.";
constexpr const char* kObservedRows = "omen.observed_rows";
constexpr const char* kDigest = "omen.digest";

// What ran where; a file that is named after its job says it by itself.
struct RecordedJob {
  std::string network, gpu, options;  // of the front end, as batch=64,optimizer=sgd
};

RecordedJob recorded_job(const std::string& trace, const CalibrateOptions& options) {
  RecordedJob job{options.network, options.gpu, options.front_end};
  const std::vector<std::string> named = job_of_file(trace);
  if (!named.empty() && job.network.empty()) {
    job.network = named[1];
    if (job.gpu.empty()) job.gpu = named[0];
    if (job.options.empty()) job.options = "batch=" + named[2] + ",optimizer=" + named[3];
  }
  if (job.network.empty() || job.gpu.empty())
    throw Error(OMEN_INVALID_ARGUMENT,
                std::string("calibrate needs to know what ran: ") +
                    (job.network.empty() ? "no network is named" : "no GPU is named"),
                kCalibrateUsage);
  return job;
}

std::string options_json(const std::string& list) {
  std::string json;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string piece = list.substr(at, end - at);
    const std::size_t equals = piece.find('=');
    if (equals == piece.npos || equals == 0)
      throw Error(OMEN_INVALID_ARGUMENT, "'" + piece + "' is no option of a front end",
                  "Write --front-end batch=64,optimizer=sgd.");
    json += (json.empty() ? "" : ",") + json_quote(piece.substr(0, equals)) + ":" +
            json_quote(piece.substr(equals + 1));
    at = end + 1;
  }
  return "{" + json + "}";
}

double step_seconds(const std::string& trace, const CalibrateOptions& options) {
  const TraceLabels labels = labels_of_trace(trace, {0, options.period_s});
  if (options.steps > 0) {
    const double seconds = labels.seconds.value_or(labels.covered_s);
    if (!(seconds > 0))
      throw Error(OMEN_INVALID_DATA, trace + " does not say how long the job ran",
                  "Record it with omen profile.");
    return seconds / static_cast<double>(options.steps);
  }
  if (labels.step_s) return *labels.step_s;
  throw Error(OMEN_INVALID_DATA, "no step can be found in " + trace,
              "Leave a mark at each step (omen mark), or give the number of steps with --steps.");
}

struct Question {
  MemoryDataset data;

  Question(const opgraph::Job& job, const RecordedJob& recorded, const CalibrateOptions& options,
           double seconds) {
    const std::vector<opgraph::Job> jobs = {job};
    data.put(OMEN_TABLE_WORKLOADS,
             opgraph::workload_columns(jobs)
                 .add_strings("gpu", {recorded.gpu})
                 .add_strings("framework", {options.framework})
                 .add_strings("framework_version", {options.framework_version})
                 .finish());
    data.put(OMEN_TABLE_NODES, opgraph::node_columns(jobs).finish());
    data.put(OMEN_TABLE_EDGES, opgraph::edge_columns(jobs).finish());
    data.put(OMEN_TABLE_TARGETS, TableBuilder()
                                     .add(OMEN_COLUMN_WORKLOAD_ID, std::vector<std::int64_t>{0})
                                     .add("step_ms", std::vector<double>{1e3 * seconds})
                                     .finish());
  }
  double ask(StepPredictor& predictor, const Run& run) const {
    const Table said = predictor.predict(data.view(), run).read_all();
    const std::vector<double> ms = said.numbers("step_ms");
    if (!(ms[0] > 0))
      throw Error(OMEN_INVALID_DATA, std::string(said.strings(OMEN_COLUMN_STATUS)[0]),
                  kCalibrateUsage);
    return ms[0];
  }
};

opgraph::Job lowered_job(const RecordedJob& recorded, const Run& run) {
  MemoryDataset tables;
  for (auto& [name, table] :
       call::lower(run, nullptr, recorded.network, options_json(recorded.options)))
    tables.put(name, std::move(table));
  std::vector<opgraph::Job> jobs = opgraph::read_jobs(tables.view());
  if (jobs.size() != 1)
    throw Error(OMEN_INVALID_DATA, recorded.network + " is not one job", kCalibrateUsage);
  return std::move(jobs[0]);
}

// All that the old model says of itself, with one more observed row.
void write_model(const StepPredictor& predictor, const container::Reader& old,
                 const std::string& path) {
  container::Writer file;
  ArtifactWriter out(file.sink());
  predictor.save(out);
  long rows = 1;
  for (const auto& [key, value] : old.metadata()) {
    if (key == kObservedRows)
      rows += std::strtol(value.c_str(), nullptr, 10);
    else if (key != kDigest && key.rfind("omen.", 0) == 0)
      file.put_meta(key, value);
  }
  file.put_meta(kObservedRows, std::to_string(rows));
  file.write(path);
}

}  // namespace

std::vector<Option<CalibrateOptions>> CalibrateOptions::spec() {
  using O = CalibrateOptions;
  return options(
      opt(&O::network, "network", "name or file of what ran; empty: as the trace's name says"),
      opt(&O::front_end, "front_end", "its options: batch=64,optimizer=sgd"),
      opt(&O::gpu, "gpu", "that it ran on; empty: as the trace's name says"),
      opt(&O::framework, "framework", "that ran it; each keeps a correction of its own"),
      opt(&O::framework_version, "framework_version", "of the framework; empty: any"),
      opt(&O::steps, "steps", "of the whole run; 0: the trace holds marks or a period")
          .range(0, 1e15),
      opt(&O::period_s, "period_s", "time between samples of traces that carry no time")
          .unit("s")
          .range(1e-4, 3600),
      opt(&O::model, "model", "model of driple.step to correct; empty: the one that came along")
          .path(),
      opt(&O::write, "write", "corrected model to write").path().required());
}

int CalibrateCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                          const Run& run) {
  if (args.size() != 1)
    throw Error(OMEN_INVALID_ARGUMENT, "calibrate needs one trace", kCalibrateUsage);
  const RecordedJob recorded = recorded_job(args[0], options_);
  const double seconds = step_seconds(args[0], options_);
  const Question question(lowered_job(recorded, run), recorded, options_, seconds);
  const std::string model =
      options_.model.empty() ? plugin_dir() + "/models/step.omen" : options_.model;
  const container::Reader old = container::Reader::open(model);
  StepPredictor predictor{StepPredictorOptions{}};
  predictor.load(ArtifactReader(old.source()));
  const double before = question.ask(predictor, run);
  predictor.observe(question.data.view(), run);
  const double after = question.ask(predictor, run);
  write_model(predictor, old, options_.write);
  const Metadata ms = {{"omen.unit", "ms"}};
  out.put("calibrated", TableBuilder()
                            .add_strings("network", {recorded.network})
                            .add_strings("gpu", {recorded.gpu})
                            .add_strings("framework", {options_.framework})
                            .add("measured_ms", std::vector<double>{1e3 * seconds}, ms)
                            .add("before_ms", std::vector<double>{before}, ms)
                            .add("after_ms", std::vector<double>{after}, ms)
                            .add_strings("model", {options_.write})
                            .finish());
  return 0;
}

Component calibrate_component() {
  return command<CalibrateCommand, CalibrateOptions>(
      "driple.calibrate", "correct the model of steps by a recorded run");
}

}  // namespace omen::driple
