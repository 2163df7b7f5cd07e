// SPDX-License-Identifier: Apache-2.0
// The published networks on our graphs of the published jobs, by the published protocol: 320 jobs
// of a GPU in Python's order, 192 to learn from, 64 to stop by, 64 to judge.
//   driple_net_accuracy judge KIND GPU MODEL.omen
//   driple_net_accuracy train KIND GPU EPOCHS OUT.omen [PRETRAINED.omen]
//   driple_net_accuracy transfer KIND GPU SCRATCH.omen EPOCHS TRANSFERRED.omen EPOCHS
//   PRETRAINED.omen
// Trainings are made by hand, with logarithms and an identity for a start, and kept; the checks
// judge what was kept. What the trainings of so many epochs cost is measured on a few of each.
// With OMEN_SHOW_BREAK=1 every job has the graph of the first, and transfer all rounds to train.
#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>

#include "nets/net_training.hpp"
#include "omen/container.hpp"
#include "omen/opgraph/tables.hpp"
#include "omen/opgraph/zoo.hpp"
#include "omen/testing/ready_run.hpp"
#include "omen/testing/show.hpp"
#include "published_split.hpp"
#include "sweep/perf_table.hpp"

namespace {

using namespace omen::driple;
namespace test = omen::test;

constexpr std::size_t kJobs = 320, kLearnt = 192, kStop = 64;

struct PublishedJob {
  std::vector<std::string> key;  // GPU, model, batch, optimizer, epochs, dataset
  std::map<Resource, PerfRow> rows;

  std::string name() const {
    std::string text;
    for (const std::string& part : key) text += (text.empty() ? "" : "_") + part;
    return text;
  }
};

std::vector<PublishedJob> jobs_of(const std::string& gpu, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const PerfTable table =
      parse_perf_csv(std::string(std::istreambuf_iterator<char>(file), {}), path);
  std::map<std::vector<std::string>, PublishedJob> jobs;
  for (PerfRow row : table.rows) {
    if (row.job[0] != gpu) continue;
    // Labels as they were published, under exchanged headers and in no order.
    if (row.mended) std::swap(row.idle, row.burst);
    PublishedJob& job = jobs[row.job];
    job.key = row.job;
    job.rows[row.resource] = row;
  }
  std::vector<PublishedJob> sorted;
  for (auto& [key, job] : jobs) sorted.push_back(std::move(job));
  std::sort(sorted.begin(), sorted.end(),
            [](const PublishedJob& a, const PublishedJob& b) { return a.name() < b.name(); });
  PythonRandom(42).shuffle(sorted);
  sorted.resize(std::min(sorted.size(), kJobs));
  return sorted;
}

// Nodes and edges of the jobs' training steps.
void put_graphs(const std::vector<PublishedJob>& jobs, omen::MemoryDataset& data, bool broken) {
  std::vector<omen::opgraph::Job> steps;
  for (const PublishedJob& job : jobs) {
    const PublishedJob& from = broken ? jobs.front() : job;
    omen::opgraph::ZooRun run;
    run.batch = std::stoll(from.key[2]);
    run.classes = from.key[5] == "imagenet" ? 1001 : 11;
    run.optimizer =
        from.key[3] == "adam" ? omen::opgraph::Optimizer::adam : omen::opgraph::Optimizer::sgd;
    steps.push_back(omen::opgraph::zoo_job(from.key[1], run));
  }
  data.put("workloads", omen::opgraph::workload_columns(steps).finish());
  data.put("nodes", omen::opgraph::node_columns(steps).finish());
  data.put("edges", omen::opgraph::edge_columns(steps).finish());
}

std::vector<Label> labels_of(const std::vector<PublishedJob>& jobs) {
  std::vector<Label> labels;
  for (const Resource resource :
       {Resource::gpu_mem_util, Resource::gpu_util, Resource::cpu_util, Resource::gpu_memory})
    for (int part = 0; part < 4; ++part) {
      Label label{std::string(word(resource)) + " " + std::to_string(part), {}, {}};
      for (const PublishedJob& job : jobs) {
        const PerfRow& row = job.rows.at(resource);
        label.value.push_back(part == 0   ? row.idle
                              : part == 1 ? row.burst
                              : part == 2 ? row.peak
                                          : row.seconds);
      }
      labels.push_back(std::move(label));
    }
  return labels;
}

// Rows [begin, begin + count) with their labels.
struct Part {
  JobRows rows;
  std::vector<Label> labels;

  Part(const JobRows& all, const std::vector<Label>& every, std::size_t begin, std::size_t count) {
    rows.graphs = all.graphs;
    const auto cut = [&](const auto& from, auto& to) {
      to.assign(from.begin() + static_cast<std::ptrdiff_t>(begin),
                from.begin() + static_cast<std::ptrdiff_t>(begin + count));
    };
    cut(all.workload_id, rows.workload_id);
    cut(all.graph, rows.graph);
    for (const Label& label : every) {
      labels.push_back({label.name, {}, {}});
      cut(label.value, labels.back().value);
    }
  }
  LabelledRows view() const { return {&rows, &labels}; }
};

// Over all 16 columns, masked ones as well: they are answered with their constant.
double error_of_all(const NetModel& model, const Part& part) {
  const double counted = scaled_error(model, part.view(), [](double) {});
  double varied = 0;
  for (const OutputScale& output : model.outputs) varied += output.masked ? 0 : 1;
  return counted * varied / static_cast<double>(model.outputs.size());
}

double constant_error(const NetModel& model, const Part& learnt, const Part& judged) {
  double sum = 0;
  for (std::size_t o = 0; o < model.outputs.size(); ++o) {
    double mean = 0;
    for (const double v : learnt.labels[o].value)
      mean += v / static_cast<double>(learnt.labels[o].value.size());
    for (const double v : judged.labels[o].value)
      sum += std::pow((v - mean) / model.outputs[o].scale, 2) /
             static_cast<double>(judged.labels[o].value.size());
  }
  return sum / static_cast<double>(model.outputs.size());
}

// What jobs of the same network, batch and optimizer had in training, or the mean of all.
double look_up_error(const NetModel& model, const std::vector<PublishedJob>& jobs,
                     const std::vector<Label>& labels) {
  const auto key = [&](std::size_t job) {
    return jobs[job].key[1] + " " + jobs[job].key[2] + " " + jobs[job].key[3];
  };
  double sum = 0, count = 0;
  for (std::size_t o = 0; o < labels.size(); ++o) {
    std::map<std::string, std::pair<double, double>> seen;
    for (std::size_t job = 0; job < kLearnt; ++job)
      for (const std::string& name : {key(job), std::string()}) {
        seen[name].first += labels[o].value[job];
        seen[name].second += 1;
      }
    for (std::size_t job = kLearnt + kStop; job < jobs.size(); ++job, ++count) {
      const auto at = seen.find(key(job));
      const auto& [total, rows] = at != seen.end() ? at->second : seen.at("");
      sum += std::pow((labels[o].value[job] - total / rows) / model.outputs[o].scale, 2);
    }
  }
  return sum / count;
}

NetModel read_kept(const std::string& path) {
  const omen::container::Reader file = omen::container::Reader::open(path);
  return NetModel::load(omen::ArtifactReader(file.source()));
}

void write_model(const NetModel& model, const std::string& path) {
  omen::container::Writer file;
  omen::ArtifactWriter out(file.sink());
  model.save(out);
  file.write(path);
}

// The jobs of a GPU with their graphs as `model` groups them.
struct Published {
  std::vector<PublishedJob> jobs;
  std::vector<Label> labels;
  JobRows rows;

  Part learnt() const { return {rows, labels, 0, kLearnt}; }
  Part stop() const { return {rows, labels, kLearnt, kStop}; }
  Part judged() const { return {rows, labels, kLearnt + kStop, kJobs - kLearnt - kStop}; }
};

// Counts how often operations occur where the model does not know yet.
Published read_published(const std::string& gpu, const std::string& perf, NetModel& model) {
  Published made;
  made.jobs = jobs_of(gpu, perf);
  made.labels = labels_of(made.jobs);
  omen::MemoryDataset tables;
  put_graphs(made.jobs, tables, test::broken());
  const auto graphs = read_op_rows(tables.view());
  if (model.frequencies.size() == 0) model.frequencies = count_frequencies(graphs);
  made.rows =
      read_job_rows(tables.view(), graphs, model.frequencies, model.grouping, [](double) {});
  return made;
}

int judge(const std::string& kind, const std::string& gpu, const std::string& perf,
          const std::string& path) {
  NetModel model = read_kept(path);
  const Published data = read_published(gpu, perf, model);
  const double error = error_of_all(model, data.judged());
  const int missed = test::show(kind + "_error_" + gpu, error, "MSE", "<",
                                constant_error(model, data.learnt(), data.judged()));
  test::show(kind + "_look_up_" + gpu, look_up_error(model, data.jobs, data.labels), "MSE");
  return missed;
}

// A network from scratch, or the late half of `pretrained`; returns CPU seconds.
double train_on(const Published& data, const std::string& kind, const std::string& pretrained,
                std::int64_t epochs, NetModel& model, std::vector<double>* course) {
  const Part learnt = data.learnt(), stop = data.stop();
  model.outputs.clear();
  for (const Label& label : learnt.labels) model.outputs.push_back(scale_of(label));
  if (pretrained.empty()) {
    model.features = FeatureScale::of(learnt.rows);
    NetworkOptions options;
    options.layer.kind = layer_kind_named(kind);
    options.identity_start = true;
    model.network = std::make_unique<Network>(options);
  } else {
    model.network =
        with_late_layer(*model.network, static_cast<std::int64_t>(model.outputs.size()));
  }
  NetTrainingOptions training;
  training.epochs = epochs;
  training.patience = 0;
  training.clip = 1;
  training.transfer = !pretrained.empty();
  const test::ReadyRun run(42, 1);
  const std::clock_t begin = std::clock();
  train_network(model, learnt.view(), stop.view(), training, run);
  if (course) *course = run.metric("valid_loss");
  return double(std::clock() - begin) / CLOCKS_PER_SEC;
}

int train(const std::string& kind, const std::string& gpu, const std::string& perf,
          std::int64_t epochs, const std::string& out, const std::string& pretrained) {
  NetModel model;
  if (!pretrained.empty()) model = read_kept(pretrained);
  const Published data = read_published(gpu, perf, model);
  std::vector<double> course;
  const double seconds = train_on(data, kind, pretrained, epochs, model, &course);
  for (std::size_t e = 0; e < course.size(); e += std::max<std::size_t>(1, course.size() / 10))
    std::printf("epoch %zu: validation %.4f\n", e + 1, course[e]);
  write_model(model, out);
  std::printf("%s on %s: %.2f CPU minutes, error %.4f\n", kind.c_str(), gpu.c_str(), seconds / 60,
              error_of_all(model, data.judged()));
  return 0;
}

// Of a training of so many epochs, from one of one epoch and one of four.
double seconds_of(const std::string& kind, const std::string& gpu, const std::string& perf,
                  const std::string& pretrained, std::int64_t epochs) {
  const auto spent = [&](std::int64_t some) {
    NetModel model;
    if (!pretrained.empty()) model = read_kept(pretrained);
    const Published data = read_published(gpu, perf, model);
    return train_on(data, kind, pretrained, some, model, nullptr);
  };
  const double one = spent(1), four = spent(4);
  return one + static_cast<double>(epochs - 1) * (four - one) / 3;
}

struct Kept {
  std::string path;
  std::int64_t epochs = 0;
};

int judge_transfer(const std::string& kind, const std::string& gpu, const std::string& perf,
                   const Kept& scratch, const Kept& transferred, const std::string& pretrained) {
  const auto error = [&](const std::string& path) {
    NetModel model = read_kept(path);
    const Published data = read_published(gpu, perf, model);
    return error_of_all(model, data.judged());
  };
  const double from_scratch = error(scratch.path);
  int missed = test::show(kind + "_transfer_error_" + gpu, error(transferred.path), "MSE",
                          "<=", from_scratch);
  const double whole = seconds_of(kind, gpu, perf, "", scratch.epochs);
  const double late = seconds_of(kind, gpu, perf, test::broken() ? "" : pretrained,
                                 test::broken() ? scratch.epochs : transferred.epochs);
  test::show(kind + "_scratch_seconds_" + gpu, whole, "CPU s");
  return missed | test::show(kind + "_transfer_time_" + gpu, late / whole, "x", "<=", 0.5);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const bool judges = what == "judge" && argc == 5, transfers = what == "transfer" && argc == 9;
  if (!judges && !transfers && !(what == "train" && (argc == 6 || argc == 7))) {
    std::puts(
        "use: driple_net_accuracy judge KIND GPU MODEL.omen\n"
        "     driple_net_accuracy train KIND GPU EPOCHS OUT.omen [PRETRAINED.omen]\n"
        "     driple_net_accuracy transfer KIND GPU SCRATCH.omen EPOCHS TRANSFERRED.omen EPOCHS "
        "PRETRAINED.omen");
    return 2;
  }
  const char* data = std::getenv("OMEN_DATA");
  const std::string perf = std::string(data ? data : "") + "/driple/training_perf_file.csv";
  if (!data || !std::ifstream(perf)) {
    std::puts("skipped: the perf table is missing: point OMEN_DATA at the data");
    return test::kSkipped;
  }
  at::set_num_threads(1);
  at::manual_seed(42);
  if (judges) return judge(argv[2], argv[3], perf, argv[4]);
  if (transfers)
    return judge_transfer(argv[2], argv[3], perf, {argv[4], std::atoll(argv[5])},
                          {argv[6], std::atoll(argv[7])}, argv[8]);
  return train(argv[2], argv[3], perf, std::atoll(argv[4]), argv[5], argc == 7 ? argv[6] : "");
}
