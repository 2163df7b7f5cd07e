// SPDX-License-Identifier: Apache-2.0
// Jobs under the recorder: exit codes, marks, trees, repetitions, cancellation, and what a kill
// leaves.
#include "omen/telemetry/recording.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "omen/telemetry/marks.hpp"
#include "omen/telemetry/record_log.hpp"
#include "omen/telemetry/summary.hpp"
#include "support.hpp"

namespace omen::telemetry {
namespace {

using omen::test::thrown_by;
using test::TempTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RecordOptions options_in(const TempTree& tree) {
  RecordOptions options;
  options.interval_ns = 20 * kNsPerMs;
  options.host = Need::kRequired;
  options.nvml = options.amd = Need::kNo;
  options.directory = tree.root();
  return options;
}

Workload shell(const std::string& script) {
  Workload workload;
  workload.command = {"/bin/sh", "-c", script};
  return workload;
}

Summary summary_of(const Recording& recording) {
  LogReader reader(recording.log);
  Summary summary = summarise(reader);
  EXPECT_TRUE(reader.complete());
  return summary;
}

TEST(Recording, ExitCodeUsageAndOwnCostOfAJob) {
  TempTree tree;
  const Recording recording = record(
      options_in(tree), shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 7"), {});
  EXPECT_TRUE(recording.job.known);
  EXPECT_EQ(recording.job.exit_code, 7);
  EXPECT_EQ(recording.job.signal, 0);
  EXPECT_GT(recording.job.user_s, 0.01);
  const Summary summary = summary_of(recording);
  EXPECT_EQ(summary.find("job.exit_code")->last(), 7);
  EXPECT_GT(summary.find("job.wall_s")->last(), 0.02);
  EXPECT_GT(summary.find("proc.rss_bytes")->max(), 100'000);
  EXPECT_GT(summary.find("cpu.busy_percent")->rows(), 0);
  ASSERT_TRUE(summary.find("sampler.cpu_percent", 0));
  EXPECT_GT(summary.find("sampler.ticks", 0)->last(), 0);
  EXPECT_EQ(summary.metadata.at("interval_ns"), "20000000");
  EXPECT_THAT(summary.metadata.at("command"), HasSubstr("/bin/sh"));
  EXPECT_THAT(summary.metadata.at("devices"), HasSubstr("core 0"));
}

TEST(Recording, JobThatIsOverAtOnceStillHasRows) {
  TempTree tree;
  const Summary summary = summary_of(record(options_in(tree), shell("exit 0"), {}));
  EXPECT_GE(summary.find("mem.used_bytes")->rows(), 2);
  ASSERT_TRUE(summary.find("proc.processes"));
  EXPECT_GE(summary.find("proc.processes")->max(), 1);
}

TEST(Recording, SignalOfAJob) {
  TempTree tree;
  const Recording recording = record(options_in(tree), shell("kill -SEGV $$"), {});
  EXPECT_EQ(recording.job.signal, SIGSEGV);
  EXPECT_EQ(summary_of(recording).find("job.signal")->last(), SIGSEGV);
}

TEST(Recording, OutputOfTheJobIsUntouched) {
  TempTree tree;
  int pipe_fds[2];
  ASSERT_EQ(pipe(pipe_fds), 0);
  const int saved = dup(STDOUT_FILENO);
  fflush(stdout);
  dup2(pipe_fds[1], STDOUT_FILENO);
  record(options_in(tree), shell("printf 'a\\0b\\377'"), {});
  fflush(stdout);
  dup2(saved, STDOUT_FILENO);
  close(saved);
  close(pipe_fds[1]);
  char got[16] = {};
  ASSERT_EQ(read(pipe_fds[0], got, sizeof got), 4);
  EXPECT_EQ(std::string(got, 4), std::string("a\0b\377", 4));
  close(pipe_fds[0]);
}

TEST(Recording, UnknownCommandIsNotFoundAndTextIsNotRun) {
  TempTree tree;
  Workload workload;
  workload.command = {"no-such-command-here"};
  const Error missing = thrown_by([&] { record(options_in(tree), workload, {}); });
  EXPECT_EQ(missing.code(), OMEN_NOT_FOUND);
  EXPECT_THAT(missing.what(), HasSubstr("'no-such-command-here' not found"));
  tree.write("script", "hello");
  workload.command = {(tree / "script").string()};
  EXPECT_EQ(thrown_by([&] { record(options_in(tree), workload, {}); }).code(),
            OMEN_INVALID_ARGUMENT);
}

TEST(Recording, MarksCarryTheirOwnTime) {
  TempTree tree;
  const Recording recording = record(
      options_in(tree),
      shell("sleep 0.1; echo \"$(awk '{printf \"%.0f\", $1*1000000000}' /proc/uptime) start\" >> "
            "\"$OMEN_MARK_FILE\"; echo garbage >> \"$OMEN_MARK_FILE\"; sleep 0.1"),
      {});
  const Summary summary = summary_of(recording);
  ASSERT_TRUE(summary.find("mark.start"));
  EXPECT_NEAR(static_cast<double>(summary.find("mark.start")->first_t_ns()) * 1e-9, 0.1, 0.08);
  bool noted = false;
  for (const Note& note : recording.notes) noted |= note.source == "marks";
  EXPECT_TRUE(noted) << "the line that is no mark";
}

TEST(Marks, NamesAreChecked) {
  TempTree tree;
  EXPECT_EQ(thrown_by([&] { write_mark(tree / "none", "x"); }).code(), OMEN_NOT_FOUND);
  tree.write("marks", "");
  EXPECT_EQ(thrown_by([&] { write_mark(tree / "marks", ""); }).code(), OMEN_INVALID_ARGUMENT);
  EXPECT_EQ(thrown_by([&] { write_mark(tree / "marks", "a\nb"); }).code(), OMEN_INVALID_ARGUMENT);
  EXPECT_EQ(thrown_by([&] { write_mark(tree / "marks", std::string(101, 'x')); }).code(),
            OMEN_INVALID_ARGUMENT);
  write_mark(tree / "marks", "epoch 1");
  std::ifstream in(tree / "marks");
  std::string line;
  std::getline(in, line);
  EXPECT_THAT(line, ::testing::EndsWith(" epoch 1"));
}

TEST(Marks, LinesThatArriveInPiecesAndTooManyNames) {
  test::Bench bench;
  const SourcePtr source = make_marks(bench.context(), bench.tree / "marks", 100);
  std::ofstream out(bench.tree / "marks", std::ios::app);
  out << "1100 sta" << std::flush;
  bench.tick(*source, 0);
  EXPECT_TRUE(bench.rows.empty());
  out << "rt\n" << std::flush;
  bench.tick(*source, 0);
  ASSERT_EQ(bench.rows.size(), 1u);
  EXPECT_EQ(bench.rows[0].t_ns, 1000);
  for (int i = 0; i < 1200; ++i) out << "2000 name" << i << "\n";
  out.flush();
  bench.tick(*source, 0);
  EXPECT_EQ(bench.rows.size(), 1200u);
  EXPECT_LE(bench.metrics.size(), 1003);
  EXPECT_EQ(bench.values("mark.other").size(), 201u);
}

TEST(Recording, RepetitionsAreWorkloadsOfTheirOwn) {
  TempTree tree;
  Workload workload = shell("sleep 0.05");
  workload.repeat = 3;
  const Summary summary = summary_of(record(options_in(tree), workload, {}));
  EXPECT_THAT(summary.workloads(), ElementsAre(0, 1, 2));
  for (const std::int64_t id : {0, 1, 2}) {
    ASSERT_TRUE(summary.find("job.wall_s", -1, id));
    EXPECT_NEAR(summary.find("job.wall_s", -1, id)->last(), 0.06, 0.05);
  }
}

TEST(Recording, LeadAndTailSurroundTheJob) {
  TempTree tree;
  RecordOptions options = options_in(tree);
  options.lead_s = 0.2;
  options.tail_s = 0.2;
  const Summary summary = summary_of(record(options, shell("sleep 0.1"), {}));
  EXPECT_NEAR(summary.find("job.start_s")->last(), 0.25, 0.1);
  EXPECT_GT(summary.find("mem.used_bytes")->last_t_ns(), 450 * kNsPerMs);
  EXPECT_LT(summary.find("proc.processes")->last_t_ns(), 450 * kNsPerMs);
}

TEST(Recording, DurationEndsAJobAndWatchesAMachine) {
  TempTree tree;
  Workload workload = shell("sleep 30");
  workload.duration_s = 0.2;
  const Recording job = record(options_in(tree), workload, {});
  EXPECT_EQ(job.job.signal, SIGTERM);
  EXPECT_FALSE(job.cancelled);
  Workload machine;
  machine.duration_s = 0.2;
  const Recording idle = record(options_in(tree), machine, {});
  EXPECT_FALSE(idle.job.known);
  EXPECT_NEAR(summary_of(idle).find("job.wall_s")->last(), 0.2, 0.1);
}

TEST(Recording, CancelKeepsTheTraceAndEndsTheJob) {
  TempTree tree;
  RecordHooks hooks;
  const std::int64_t begin = machine_clock().now_ns();
  hooks.cancelled = [&] { return machine_clock().now_ns() - begin > 500 * kNsPerMs; };
  std::string live;
  hooks.live = [&](const std::string& line) { live = line; };
  const Recording recording = record(options_in(tree), shell("sleep 30"), hooks);
  EXPECT_TRUE(recording.cancelled);
  EXPECT_LT(machine_clock().now_ns() - begin, 3 * kNsPerSecond);
  EXPECT_EQ(recording.job.signal, SIGTERM);
  EXPECT_GT(summary_of(recording).find("cpu.busy_percent")->rows(), 2);
  EXPECT_THAT(live, HasSubstr("cpu "));
}

TEST(Recording, WatchesAProcessThatRunsAlready) {
  TempTree tree;
  const pid_t child = fork();
  if (child == 0) {
    const std::int64_t end = machine_clock().now_ns() + 300 * kNsPerMs;
    while (machine_clock().now_ns() < end) {
    }
    _exit(0);
  }
  Workload workload;
  workload.pid = child;
  const Recording recording = record(options_in(tree), workload, {});
  EXPECT_FALSE(recording.job.known) << "somebody else's child";
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  const Summary summary = summary_of(recording);
  EXPECT_GT(summary.find("proc.cpu_percent")->max(), 20);
  EXPECT_EQ(thrown_by([&] {
              Workload gone;
              gone.pid = child;
              record(options_in(tree), gone, {});
            }).code(),
            OMEN_NOT_FOUND);
}

TEST(Recording, KilledRecorderLosesAtMostASecond) {
  TempTree tree;
  const pid_t child = fork();
  if (child == 0) {
    Workload workload;
    workload.duration_s = 60;
    record(options_in(tree), workload, {});
    _exit(0);
  }
  const std::int64_t begin = machine_clock().now_ns();
  machine_clock().sleep_until(begin + 2500 * kNsPerMs);
  kill(child, SIGKILL);
  const double lived = static_cast<double>(machine_clock().now_ns() - begin) * 1e-9;
  waitpid(child, nullptr, 0);
  LogReader reader(tree / kLogName);
  const Summary summary = summarise(reader);
  EXPECT_FALSE(reader.complete());
  const double kept = static_cast<double>(summary.find("cpu.busy_percent")->last_t_ns()) * 1e-9;
  EXPECT_GT(kept, lived - 1.2) << "one second, and what the start of the process took";
  EXPECT_GT(summary.find("cpu.busy_percent")->rows(), 50);
}

TEST(Recording, RequiredPartThatIsMissingEndsItBeforeTheJobStarts) {
  TempTree tree;
  RecordOptions options = options_in(tree);
  options.host = Need::kNo;
  options.nvml = Need::kRequired;
  options.nvml_library = (tree / "libnvidia-ml.so.1").string();
  const Error error =
      thrown_by([&] { record(options, shell("touch " + (tree / "ran").string()), {}); });
  EXPECT_EQ(error.code(), OMEN_UNAVAILABLE);
  EXPECT_FALSE(std::filesystem::exists(tree / "ran"));
}

TEST(Recording, OptionalPartThatIsMissingIsANote) {
  TempTree tree;
  RecordOptions options = options_in(tree);
  options.nvml = Need::kOptional;
  options.nvml_library = (tree / "libnvidia-ml.so.1").string();
  const Recording recording = record(options, shell("exit 0"), {});
  bool noted = false;
  for (const Note& note : recording.notes)
    noted |= note.kind == NoteKind::kAbsent && note.source == "nvml" && !note.hint.empty();
  EXPECT_TRUE(noted);
  EXPECT_THAT(describe_devices(options), HasSubstr("no NVIDIA driver"));
}

TEST(Recording, NothingToMeasureIsUnavailable) {
  TempTree tree;
  RecordOptions options = options_in(tree);
  options.host = Need::kOptional;
  options.roots = {tree / "proc", tree / "sys"};
  EXPECT_THAT(thrown_by([&] { record(options, shell("exit 0"), {}); }).what(),
              HasSubstr("nothing can be measured"));
}

TEST(Workloads, DescriptionsAreChecked) {
  EXPECT_EQ(parse_workload("").duration_s, 1);
  EXPECT_EQ(parse_workload("{}").duration_s, 1);
  const Workload job = parse_workload(R"({"command": ["a", "b"], "repeat": 3, "duration_s": 2.5})");
  EXPECT_THAT(job.command, ElementsAre("a", "b"));
  EXPECT_EQ(job.repeat, 3);
  EXPECT_EQ(job.duration_s, 2.5);
  EXPECT_EQ(parse_workload(R"({"pid": 12})").pid, 12);
  for (const char* bad :
       {"[]", "{", R"({"command": "ls"})", R"({"command": []})", R"({"command": [1]})",
        R"({"pid": 0})", R"({"pid": 1.5})", R"({"duration_s": -1})", R"({"duration_s": "x"})",
        R"({"what": 1})", R"({"command": ["a"], "pid": 3})", R"({"pid": 3, "repeat": 2})",
        R"({"repeat": 0})"})
    EXPECT_EQ(thrown_by([&] { parse_workload(bad); }).code(), OMEN_INVALID_ARGUMENT) << bad;
}

}  // namespace
}  // namespace omen::telemetry
