// SPDX-License-Identifier: Apache-2.0
// One script in three roles: run by a person it submits itself, run by Slurm it works or reports.
#include "compare/slurm_script.hpp"

#include <charconv>

#include "omen/error.hpp"

namespace omen::host {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

constexpr const char* kRoles = R"sh(
role=${1:-}
case $role in
  share | report)
    cd "$directory"
    ;;
  *)
    mkdir -p "$run"
    array=$(sbatch --parsable --array="0-$((shares - 1))" --output="$run/share-%a.txt" "$@" \
      "$0" share)
    array=${array%%;*}
    report=$(sbatch --parsable --dependency="afterany:$array" --output="$run/report.txt" "$@" \
      "$0" report)
    echo "array $array works in $shares shares, job ${report%%;*} reports to $run/report.txt"
    exit
    ;;
esac

omen() {
  "$program" )sh";

constexpr const char* kWork = R"sh( "$@"
}

if [ "$role" = share ]; then
  omen --only-jobs "$SLURM_ARRAY_TASK_ID/$shares"
else
  # Folds that a share left undone are done here.
  omen
fi
)sh";

}  // namespace

std::string slurm_script(const SlurmArray& array) {
  std::string text = "#!/bin/sh\n";
  text += "# " + std::to_string(array.jobs) + " folds in " + std::to_string(array.shares) +
          " shares, then one report.\n";
  text += "# Submit with: sh THIS_FILE [SBATCH OPTION...], for example --partition NAME\n";
  text += "#SBATCH --job-name=omen-" + array.id + "\n";
  text += "#SBATCH --ntasks=1\n";
  text += "#SBATCH --cpus-per-task=" + std::to_string(array.cpus) + "\n";
  if (array.memory > 0)
    text += "#SBATCH --mem=" + std::to_string((array.memory + (1u << 20) - 1) >> 20) + "M\n";
  text += "set -eu\n";
  text += "program=" + quoted(array.program) + "\n";
  text += "directory=" + quoted(array.directory.string()) + "\n";
  text += "run=" + quoted(array.run_dir.string()) + "\n";
  text += "shares=" + std::to_string(array.shares) + "\n";
  return text + kRoles + array.command + " --run-dir \"$run\"" + kWork;
}

JobShare parse_share(const std::string& text) {
  JobShare share;
  const char* end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, share.index);
  if (index.ec == std::errc() && index.ptr != end && *index.ptr == '/') {
    const auto count = std::from_chars(index.ptr + 1, end, share.count);
    if (count.ec == std::errc() && count.ptr == end && share.index < share.count) return share;
  }
  throw Error(OMEN_INVALID_ARGUMENT, "'" + text + "' is no share of the jobs",
              "write I/N with I from 0 to N-1, such as --only-jobs 0/8");
}

std::vector<Job> jobs_of_share(const std::vector<Job>& jobs, const JobShare& share) {
  std::vector<Job> mine;
  for (std::size_t i = share.index; i < jobs.size(); i += share.count) mine.push_back(jobs[i]);
  return mine;
}

}  // namespace omen::host
