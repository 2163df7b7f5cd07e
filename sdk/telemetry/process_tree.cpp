// SPDX-License-Identifier: Apache-2.0
// CPU, memory and traffic of a process together with all its descendants.
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>

#include "kernel_file.hpp"
#include "omen/telemetry/clock.hpp"
#include "omen/telemetry/sources.hpp"

namespace omen::telemetry {
namespace {

namespace fs = std::filesystem;

fs::path process_dir(const Roots& roots, pid_t pid) {
  return roots.proc / std::to_string(pid);
}

// The fields of /proc/PID/stat after the command, which may itself hold blanks and brackets.
std::optional<std::vector<std::int64_t>> stat_fields(std::string_view text) {
  const std::size_t close = text.rfind(')');
  if (close == std::string_view::npos) return std::nullopt;
  Scanner scanner(text.substr(close + 1));
  std::vector<std::int64_t> fields{scanner.word().empty() ? 0
                                                          : 1};  // the state letter holds its place
  while (const auto value = scanner.number<std::int64_t>()) fields.push_back(*value);
  if (fields.size() < 22) return std::nullopt;
  return fields;
}
// Numbers of proc(5) minus 3: the vector starts at the state.
enum StatField {
  kParent = 1,
  kUtime = 11,
  kStime,
  kChildUtime,
  kChildStime,
  kThreads = 17,
  kStartTime = 19,
  kRssPages = 21
};

std::vector<pid_t> children_from_task(const fs::path& process) {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& task : fs::directory_iterator(process / "task", error)) {
    const auto text = read_small_file(task.path() / "children");
    if (!text) continue;
    Scanner scanner(*text);
    while (const auto pid = scanner.number<pid_t>()) children.push_back(*pid);
  }
  return children;
}

// Without the kernel's lists of children every process is asked for its parent.
std::multimap<pid_t, pid_t> children_by_scan(const fs::path& proc) {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(proc, error)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad != std::errc{} || end != name.data() + name.size()) continue;
    const auto text = read_small_file(entry.path() / "stat");
    const auto fields = text ? stat_fields(*text) : std::nullopt;
    if (fields) children.emplace(static_cast<pid_t>((*fields)[kParent]), pid);
  }
  return children;
}

bool kernel_lists_children(const fs::path& process) {
  std::error_code error;
  for (const auto& task : fs::directory_iterator(process / "task", error))
    return fs::exists(task.path() / "children", error);
  return false;
}

// The seeds and everything below them, each once.
std::vector<pid_t> expand(const Roots& roots, std::vector<pid_t> found) {
  const bool listed = kernel_lists_children(process_dir(roots, found.front()));
  const std::multimap<pid_t, pid_t> scanned =
      listed ? std::multimap<pid_t, pid_t>{} : children_by_scan(roots.proc);
  std::set<pid_t> seen(found.begin(), found.end());
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::vector<pid_t> children;
    if (listed) {
      children = children_from_task(process_dir(roots, found[i]));
    } else {
      const auto [first, last] = scanned.equal_range(found[i]);
      for (auto at = first; at != last; ++at) children.push_back(at->second);
    }
    for (const pid_t child : children)
      if (seen.insert(child).second) found.push_back(child);
  }
  return found;
}

class ProcessTree final : public Source {
 public:
  ProcessTree(const Context& context, pid_t root)
      : roots_(context.roots), metrics_(context.metrics), root_(root) {
    if (!fs::exists(process_dir(roots_, root)))
      throw Error(OMEN_UNAVAILABLE, "no process " + std::to_string(root),
                  "Give the pid of a running process: ps -e shows them.");
    cpu_ = metrics_.id("proc.cpu_percent");
    rss_ = metrics_.id("proc.rss_bytes");
    threads_ = metrics_.id("proc.threads");
    processes_ = metrics_.id("proc.processes");
    read_ = metrics_.id("proc.read_bytes_per_s");
    write_ = metrics_.id("proc.write_bytes_per_s");
    switches_ = metrics_.id("proc.context_switches_per_s");
  }

  std::string_view name() const override { return "process_tree"; }

  void sample(std::int64_t t_ns, std::vector<Sample>& rows) override {
    Totals totals;
    find_members(t_ns);
    for (auto at = members_.begin(); at != members_.end();) {
      const bool alive = add_process(at->first, at->second, totals);
      at = alive ? std::next(at) : forget(at);
    }
    if (totals.processes == 0) return;
    const auto put = [&](std::int32_t metric, std::optional<double> value) {
      if (value) rows.push_back({t_ns, *value, metric, Sample::kWholeMachine, root_});
    };
    static const double ticks_per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
    const auto cores = cpu_rate_.per_second(t_ns, monotone(totals.cpu_ticks) / ticks_per_s);
    put(cpu_, cores ? std::optional(*cores * 100) : std::nullopt);
    put(rss_, totals.rss_bytes);
    put(threads_, totals.threads);
    put(processes_, totals.processes);
    if (totals.io_readable) {
      put(read_, read_rate_.per_second(t_ns, totals.read_bytes + ended_.read_bytes));
      put(write_, write_rate_.per_second(t_ns, totals.write_bytes + ended_.write_bytes));
    }
    put(switches_, switch_rate_.per_second(t_ns, totals.switches + ended_.switches));
  }

 private:
  struct Totals {
    double cpu_ticks = 0, rss_bytes = 0, threads = 0, processes = 0;
    double read_bytes = 0, write_bytes = 0, switches = 0;
    bool io_readable = true;
  };
  struct Member {
    std::int64_t start_time = -1;
    double read_bytes = 0, write_bytes = 0, switches = 0;
  };

  // Members stay members after their parent ended. Looking for new ones gets half a percent of one
  // core, so a job with thousands of threads is searched less often than it is measured.
  void find_members(std::int64_t t_ns) {
    if (t_ns < next_search_ns_) return;
    const std::int64_t before = thread_cpu_ns();
    std::vector<pid_t> seeds{root_};
    for (const auto& [pid, member] : members_)
      if (pid != root_) seeds.push_back(pid);
    for (const pid_t pid : expand(roots_, std::move(seeds))) members_.try_emplace(pid);
    next_search_ns_ = t_ns + 200 * (thread_cpu_ns() - before);
  }

  // False for a process that ended, or whose pid is used anew.
  bool add_process(pid_t pid, Member& member, Totals& totals) {
    const fs::path dir = process_dir(roots_, pid);
    const auto text = read_small_file(dir / "stat");
    const auto fields = text ? stat_fields(*text) : std::nullopt;
    if (!fields) return false;
    if (member.start_time >= 0 && (*fields)[kStartTime] != member.start_time) return false;
    member.start_time = (*fields)[kStartTime];
    static const double page_bytes = static_cast<double>(sysconf(_SC_PAGESIZE));
    // Times of children that were waited for stay in their parent: short-lived ones are not lost.
    for (const StatField field : {kUtime, kStime, kChildUtime, kChildStime})
      totals.cpu_ticks += static_cast<double>((*fields)[field]);
    totals.rss_bytes += static_cast<double>((*fields)[kRssPages]) * page_bytes;
    totals.threads += static_cast<double>((*fields)[kThreads]);
    totals.processes += 1;
    read_io(dir, member, totals);
    read_switches(dir, member, totals);
    return true;
  }

  // What an ended process has moved stays in the sums, so that rates do not fall below zero.
  std::map<pid_t, Member>::iterator forget(std::map<pid_t, Member>::iterator at) {
    ended_.read_bytes += at->second.read_bytes;
    ended_.write_bytes += at->second.write_bytes;
    ended_.switches += at->second.switches;
    return members_.erase(at);
  }

  static void read_io(const fs::path& dir, Member& member, Totals& totals) {
    const auto text = read_small_file(dir / "io");
    if (!text) {
      totals.io_readable = false;  // another user's process
      return;
    }
    Scanner scanner(*text);
    while (!scanner.at_end()) {
      Scanner line(scanner.line());
      const std::string_view key = line.word();
      if (key == "read_bytes:") member.read_bytes = line.number<double>().value_or(0);
      if (key == "write_bytes:") member.write_bytes = line.number<double>().value_or(0);
    }
    totals.read_bytes += member.read_bytes;
    totals.write_bytes += member.write_bytes;
  }

  static void read_switches(const fs::path& dir, Member& member, Totals& totals) {
    const auto text = read_small_file(dir / "status");
    if (!text) return;
    double sum = 0;
    // The two counters are the last lines, so the search starts from the end.
    for (const std::string_view key :
         {"\nvoluntary_ctxt_switches:", "\nnonvoluntary_ctxt_switches:"})
      if (const std::size_t at = text->rfind(key); at != std::string_view::npos)
        sum += Scanner(text->substr(at + key.size())).number<double>().value_or(0);
    member.switches = sum;
    totals.switches += sum;
  }

  // A child that nobody waits for takes its CPU time with it; the total then stands still.
  double monotone(double ticks) {
    highest_ticks_ = std::max(highest_ticks_, ticks);
    return highest_ticks_;
  }

  Roots roots_;
  MetricTable& metrics_;
  pid_t root_;
  std::int32_t cpu_, rss_, threads_, processes_, read_, write_, switches_;
  std::map<pid_t, Member> members_;
  Totals ended_;
  RateMeter cpu_rate_, read_rate_, write_rate_, switch_rate_;
  double highest_ticks_ = 0;
  std::int64_t next_search_ns_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace

std::vector<pid_t> process_tree(const Roots& roots, pid_t root) {
  if (!fs::exists(process_dir(roots, root))) return {};
  return expand(roots, {root});
}

SourcePtr make_process_tree(const Context& context, pid_t root) {
  return std::make_unique<ProcessTree>(context, root);
}

}  // namespace omen::telemetry
