// SPDX-License-Identifier: Apache-2.0
// Failures of NVML as a user meets them: what `omen profile` says, its exit code, and the rows it
// keeps.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "omen/telemetry/imports.hpp"
#include "omen/telemetry/summary.hpp"
#include "support.hpp"

namespace omen::telemetry {
namespace {

using test::TempTree;
using ::testing::HasSubstr;

struct Outcome {
  int exit_code = -1;
  std::string out, err;
};

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

Outcome run_omen(const TempTree& tree, std::vector<std::string> words) {
  words.insert(words.begin(), std::string(OMEN_TEST_BUILD_DIR) + "/bin/omen");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string out = tree / "out", err = tree / "err";
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), kFlags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), kFlags, 0600);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(error, 0) << words[0];
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(out), text_of(err)};
}

struct Failure {
  const char* name;
  const char* faults;
  const char* library;  // directory of the fake
  const char* message;  // on stderr
  int exit_code;        // the job exits with 3
  const char* kept;     // a metric whose rows are kept, or nothing
  const char* lost;     // one that has none, or nothing
  int device = 0;       // of both
  int rows = 2;         // kept at least
};

class NvmlFailure : public ::testing::TestWithParam<Failure> {};

TEST_P(NvmlFailure, SaysWhyKeepsItsRowsAndTheExitCodeOfTheJob) {
  const Failure& failure = GetParam();
  TempTree tree;
  setenv("OMEN_FAKE_NVML", failure.faults, 1);
  const std::string trace = tree / "trace.omt";
  const Outcome run = run_omen(
      tree, {"profile", "--plugin-path", std::string(OMEN_TEST_BUILD_DIR) + "/plugins", "--with",
             "telemetry.nvml", "--interval_ms", "20", "--nvml_library",
             std::string(OMEN_FAKE_NVML_DIR) + "/" + failure.library + "/libnvidia-ml.so.1",
             "--no-plot", "-v", "-o", trace, "--", "/bin/sh", "-c", "echo ran; sleep 0.5; exit 3"});
  EXPECT_THAT(run.err, HasSubstr(failure.message));
  EXPECT_EQ(run.exit_code, failure.exit_code) << run.err;
  EXPECT_FALSE(std::filesystem::exists(trace + ".partial"));
  if (!failure.kept) {
    EXPECT_EQ(run.out, "") << "a job without its measurement is not started";
    EXPECT_FALSE(std::filesystem::exists(trace));
    return;
  }
  EXPECT_EQ(run.out, "ran\n") << run.err;
  ASSERT_TRUE(std::filesystem::exists(trace)) << run.err;
  const RowReaderPtr reader = open_trace(trace);
  const Summary summary = summarise(*reader);
  const SeriesSummary* kept = summary.find(failure.kept, failure.device);
  ASSERT_TRUE(kept) << "no rows of " << failure.kept;
  EXPECT_GE(kept->rows(), failure.rows);
  if (failure.lost) {
    EXPECT_FALSE(summary.find(failure.lost, failure.device));
  }
  EXPECT_EQ(summary.find("job.exit_code")->last(), 3);
}

constexpr int kUnavailable = 1;
constexpr int kOfTheJob = 3;

INSTANTIATE_TEST_SUITE_P(
    Named, NvmlFailure,
    ::testing::Values(
        Failure{"no_library", "", "nowhere", "no NVIDIA driver", kUnavailable, nullptr, nullptr},
        Failure{"no_functions", "", "empty", "lacks the functions", kUnavailable, nullptr, nullptr},
        Failure{"driver_not_loaded", "driver_not_loaded", "current", "modprobe nvidia",
                kUnavailable, nullptr, nullptr},
        Failure{"driver_mismatch", "driver_mismatch", "current", "reboot", kUnavailable, nullptr,
                nullptr},
        Failure{"no_permission", "no_permission", "current", "/dev/nvidia*", kUnavailable, nullptr,
                nullptr},
        Failure{"blocked_by_scheduler", "blocked", "current", "--gres=gpu:1", kUnavailable, nullptr,
                nullptr},
        Failure{"zero_devices", "zero_devices", "current", "shows no GPU", kUnavailable, nullptr,
                nullptr},
        Failure{"absurd_count", "absurd_count", "current", "claims 4000000000 GPUs", kUnavailable,
                nullptr, nullptr},
        Failure{"all_devices_dead", "all_dead", "current", "GPU is lost", kUnavailable, nullptr,
                nullptr},
        Failure{"one_device_dead", "one_dead", "current", "gpu 1 cannot be opened", kOfTheJob,
                "gpu.util_percent", nullptr},
        Failure{"lost_mid_run", "lost=5", "current", "gpu 0 (Fake A100) was lost", kOfTheJob,
                "gpu.util_percent", nullptr},
        Failure{"reset_required", "reset_required=5", "current", "GPU requires reset", kOfTheJob,
                "gpu.util_percent", nullptr},
        Failure{"energy_jumps_back", "energy_back=4", "current",
                "energy counter jumped back from 1100 J to 5 J", kOfTheJob, "gpu.energy_j",
                nullptr},
        Failure{"slow_calls", "slow=60,devices=1", "current", "ticks were missed", kOfTheJob,
                "gpu.util_percent", nullptr},
        Failure{"utilisation_over_100", "over_100", "current",
                "impossible values of gpu.util_percent", kOfTheJob, "gpu.power_w",
                "gpu.util_percent"},
        Failure{"not_available", "not_available", "current", "has no value for gpu.power_w",
                kOfTheJob, "gpu.mem_total_bytes", "gpu.power_w"},
        Failure{"not_a_number", "nan_power", "current", "has no value for gpu.power_instant_w",
                kOfTheJob, "gpu.power_w", "gpu.power_instant_w"},
        Failure{"not_supported", "no_power", "current", "does not offer gpu.power_w", kOfTheJob,
                "gpu.util_percent", "gpu.power_w"},
        Failure{"flaky", "flaky,devices=1", "current", "gpu.util_percent failed: Unknown Error",
                kOfTheJob, "gpu.util_percent", nullptr},
        Failure{"always_fails", "broken_power", "current",
                "gpu.power_w failed 10 times in a row and is given up", kOfTheJob,
                "gpu.util_percent", "gpu.power_w"},
        Failure{"no_process_permission", "no_process_permission", "current",
                "no permission to read gpu.process_mem_bytes", kOfTheJob, "gpu.util_percent",
                "gpu.process_mem_bytes"},
        Failure{"lying_process_count", "lying_process_count", "current",
                "gpu.process_mem_bytes failed", kOfTheJob, "gpu.util_percent",
                "gpu.process_mem_bytes"},
        Failure{"old_driver", "", "old", "wrote", kOfTheJob, "gpu.power_w", "gpu.energy_j"},
        Failure{"mig", "mig,devices=1", "current", "does not offer gpu.util_percent", kOfTheJob,
                "gpu.mem_total_bytes", "gpu.util_percent"},
        Failure{"hangs", "hang=60000,devices=1", "current",
                "a driver call did not return; its sampler was left behind", kOfTheJob,
                "job.wall_s", "gpu.util_percent", -1, 1},
        Failure{"one_of_two_hangs", "hang=60000,devices=2", "current",
                "gpu 0: a driver call did not return; its sampler was left behind", kOfTheJob,
                "gpu.util_percent", nullptr, 1, 10},
        Failure{"mig_instance", "mig,devices=1", "current", "does not offer gpu.util_percent",
                kOfTheJob, "gpu.mem_used_bytes", "gpu.power_w", 1002}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace omen::telemetry
