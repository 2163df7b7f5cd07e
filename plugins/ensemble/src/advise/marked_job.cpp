// SPDX-License-Identifier: Apache-2.0
// Python finds the marks before the job begins; they write a file once enough batches are timed.
#include "advise/marked_job.hpp"

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <omen/error.hpp>
#include <omen/pending_file.hpp>
#include <omen/telemetry/job.hpp>
#include <optional>

#include "advise/python_modules.hpp"

namespace omen::ensemble {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kLookAtMarks = 100ms, kPatience = 5s;

// Python imports a module of this name by itself, before the first line of a program.
constexpr const char* kFirstModule = "sitecustomize.py";
constexpr const char* kFirstLines = "import omen_marks\nomen_marks.watch_loaders()\n";

void write_modules(const fs::path& directory) {
  fs::create_directories(directory);
  replace_file(directory / "omen_marks.py", kMarksModule);
  replace_file(directory / "omen_ring.py", kRingModule);
  replace_file(directory / kFirstModule, kFirstLines);
}

std::optional<JobCosts> read_costs(const fs::path& path) {
  std::ifstream in(path);
  const nlohmann::json facts = nlohmann::json::parse(in, nullptr, false);
  if (!facts.is_object()) return {};
  JobCosts costs;
  costs.source = facts.value("source", "");
  costs.batches = facts.value("batches", std::int64_t{0});
  costs.images = facts.value("images", std::int64_t{0});
  costs.batch = facts.value("batch", 0.0);
  costs.prepare_cpu_s = facts.value("prepare_cpu_s", 0.0);
  costs.prepare_wall_s = facts.value("prepare_wall_s", 0.0);
  costs.train_cpu_s = facts.value("train_cpu_s", 0.0);
  costs.train_wall_s = facts.value("train_wall_s", 0.0);
  return costs;
}

void end_job(telemetry::Job& child) {
  ::kill(child.pid(), SIGTERM);
  if (child.wait(kPatience.count())) return;
  ::kill(child.pid(), SIGKILL);
  child.wait(kPatience.count());
}

std::string python_path(const fs::path& first) {
  const char* before = std::getenv("PYTHONPATH");
  return first.string() + (before && *before ? std::string(":") + before : "");
}

}  // namespace

JobCosts run_marked_job(const MarkedJob& job, const std::function<void()>& step) {
  write_modules(job.directory);
  const fs::path marks = job.directory / "marks.json";
  std::error_code none;
  fs::remove(marks, none);
  // What a job prints is not our answer.
  std::vector<std::string> words = {"/bin/sh", "-c", "exec \"$@\" >&2", "advise"};
  words.insert(words.end(), job.words.begin(), job.words.end());
  std::vector<std::pair<std::string, std::string>> environment = {
      {"OMEN_MARKS", marks.string()},
      {"OMEN_MARKS_BATCHES", std::to_string(job.batches)},
      {"PYTHONPATH", python_path(job.directory)}};
  if (!job.ring.empty()) environment.emplace_back("OMEN_RING", job.ring);
  telemetry::Job child = telemetry::Job::start(words, environment);
  bool ended = false, enough = false;
  try {
    while (!ended && !enough) {
      ended = child.wait(kLookAtMarks.count());
      enough = job.batches > 0 && fs::exists(marks);
      step();
    }
  } catch (...) {
    end_job(child);
    throw;
  }
  if (!ended) end_job(child);
  const auto costs = read_costs(marks);
  if (ended && (child.end().signal != 0 || child.end().exit_code != 0) && !enough)
    throw Error(
        OMEN_UNAVAILABLE,
        "the job ended with " + (child.end().signal ? "signal " + std::to_string(child.end().signal)
                                                    : std::to_string(child.end().exit_code)),
        "It must run by itself first; what it said stands above.");
  if (!costs || costs->images == 0)
    throw Error(OMEN_INVALID_DATA, "the job ended and no batch of it was timed",
                "Batches of PyTorch's DataLoader and of RingReader are seen, from the third on; "
                "around others write: from omen_marks import timed; for batch in timed(batches):");
  return *costs;
}

}  // namespace omen::ensemble
