// SPDX-License-Identifier: Apache-2.0
// Runs the conformance cases of a plugin, each in its own process, and reports what fired.
#include "pipeline/verify.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <ostream>
#include <regex>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "components/host_services.hpp"
#include "components/manifest.hpp"
#include "components/options.hpp"
#include "components/run_context.hpp"
#include "omen/conformance/conformance.hpp"
#include "omen/error.hpp"
#include "worker/child_process.hpp"
#include "worker/line_channel.hpp"

namespace omen::host {
namespace {

namespace fs = std::filesystem;
using conformance::CaseInfo;
using conformance::Result;
using conformance::Verdict;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr std::chrono::milliseconds kVerifyLookEvery{20};

struct CaseOutcome {
  CaseInfo info;
  Result result = {};
  double seconds = 0;
  bool done = false;
};

// What a case may ask of the host that runs it.
class CaseEnvironment {
 public:
  CaseEnvironment(const fs::path& plugin_json, std::uint64_t seed, int level) {
    environment_.seed = seed;
    environment_.level = level;
    try {
      manifest_ = read_manifest(plugin_json);
    } catch (const Error&) {
      return;  // manifest.schema is the case that says so
    }
    services_ = std::make_unique<HostServices>(manifest_);
    environment_.host = services_->c();
    environment_.resolve_option = [this](const std::string& component, const std::string& key,
                                         const std::string& text) {
      resolve(component, key, text);
    };
  }
  const conformance::Environment& get() const { return environment_; }

 private:
  void resolve(const std::string& id, const std::string& key, const std::string& text) const {
    OptionSources sources;
    sources.use_environment = false;
    sources.flags.emplace_back(key, text);
    for (const ComponentInfo& component : manifest_.components)
      if (component.id == id && component.option(key)) resolve_options(component, sources);
  }

  Manifest manifest_;
  std::unique_ptr<HostServices> services_;
  conformance::Environment environment_;
};

std::string last_line_of_log(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const auto at = text.rfind('\n');
  return at == std::string::npos ? text : text.substr(at + 1);
}

// The verdict that a child wrote, or what became of the child.
Result verdict_of(ChildProcess& child, LineChannel& channel) {
  if (const std::optional<std::string> line = channel.buffered()) {
    const Json message = Json::parse(*line, nullptr, false);
    if (message.is_object() && message.contains("verdict"))
      if (const auto verdict = conformance::verdict_from_name(message.value("verdict", "")))
        return {*verdict, message.value("message", "")};
  }
  std::string why = child.end_reason().empty() ? "ended without a verdict" : child.end_reason();
  if (const std::string words = last_line_of_log(child.stderr_tail()); !words.empty())
    why += "; it last wrote: " + words;
  return {Verdict::kCrash, why};
}

std::string limit_text(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g s", seconds);
  return text.data();
}

class Runner {
 public:
  Runner(const VerifyRequest& request, fs::path plugin_json)
      : request_(request),
        plugin_json_(std::move(plugin_json)),
        quirks_(conformance::quirks_from_file(plugin_json_)) {}

  // Cases that the request asks for, in order. Throws std::regex_error.
  std::vector<CaseOutcome> plan() const {
    std::vector<CaseOutcome> planned;
    const std::regex include(request_.include), exclude(request_.exclude);
    for (CaseInfo& info : conformance::list_cases(*quirks_, request_.level)) {
      if (!request_.include.empty() && !std::regex_search(info.id, include)) continue;
      if (!request_.exclude.empty() && std::regex_search(info.id, exclude)) continue;
      planned.push_back({std::move(info)});
    }
    return planned;
  }

  void run(std::vector<CaseOutcome>& planned) {
    if (!library_opens(planned))
      for (CaseOutcome& outcome : planned)
        if (outcome.info.opens && !outcome.done) {
          outcome.result = {Verdict::kSkip,
                            std::string("the library does not open; see ") + conformance::kLoads};
          outcome.done = true;
        }
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < planned.size() && !interrupted(); i = next++)
        if (!planned[i].done) run_one(planned[i]);
    };
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    const unsigned jobs = request_.in_process ? 1 : request_.jobs ? request_.jobs : cores;
    std::vector<std::thread> workers;
    for (unsigned i = 1; i < jobs; ++i) workers.emplace_back(work);
    work();
    for (std::thread& worker : workers) worker.join();
  }

 private:
  void run_one(CaseOutcome& outcome) {
    const auto started = Clock::now();
    outcome.result = request_.in_process ? run_here(outcome.info) : run_apart(outcome.info);
    outcome.seconds = std::chrono::duration<double>(Clock::now() - started).count();
    outcome.done = true;
  }

  // Asked first and once, so that a library that does not open is one line and not one for each
  // case; where the case was not asked for, it joins the plan only as a failure.
  bool library_opens(std::vector<CaseOutcome>& planned) {
    const auto needs = [](const CaseOutcome& one) { return one.info.opens; };
    if (std::none_of(planned.begin(), planned.end(), needs)) return true;
    const auto is_loads = [](const CaseInfo& info) { return info.id == conformance::kLoads; };
    const auto asked = std::find_if(planned.begin(), planned.end(),
                                    [&](const CaseOutcome& one) { return is_loads(one.info); });
    if (asked != planned.end()) {
      run_one(*asked);
      return !conformance::is_failure(asked->result.verdict);
    }
    std::vector<CaseInfo> first = conformance::list_cases(*quirks_, 1);
    const auto found = std::find_if(first.begin(), first.end(), is_loads);
    if (found == first.end()) return true;
    CaseOutcome loads{std::move(*found)};
    run_one(loads);
    if (!conformance::is_failure(loads.result.verdict)) return true;
    planned.insert(planned.begin(), std::move(loads));
    return false;
  }

  Result run_here(const CaseInfo& info) {
    const CaseEnvironment environment(plugin_json_, request_.seed, request_.level);
    return conformance::run_case(info.id, *quirks_, environment.get());
  }

  Result run_apart(const CaseInfo& info) {
    SpawnRequest spawn;
    spawn.program = fs::read_symlink("/proc/self/exe");
    spawn.arguments = {"__verify", plugin_json_.string(), info.id, std::to_string(request_.seed),
                       std::to_string(request_.level)};
    ChildProcess child(std::move(spawn));
    LineChannel channel(child.channel());
    const double seconds = request_.timeout_s > 0 ? request_.timeout_s : info.timeout_s;
    const std::uint64_t memory = (request_.memory_mb ? request_.memory_mb : info.memory_mb) << 20;
    const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
    while (!child.ended()) {
      if (Clock::now() > deadline) {
        child.kill();
        return {Verdict::kTimeout, "no verdict within " + limit_text(seconds)};
      }
      if (child.resident() > memory) {
        child.kill();
        return {Verdict::kCrash,
                "ended: it used more than " + std::to_string(memory >> 20) + " MB"};
      }
      if (interrupted()) return {Verdict::kSkip, "interrupted"};
      if (child.wait_readable(kVerifyLookEvery) && !channel.fill())
        child.wait_end(kVerifyLookEvery);
    }
    while (channel.fill()) continue;
    return verdict_of(child, channel);
  }

  const VerifyRequest& request_;
  fs::path plugin_json_;
  std::unique_ptr<conformance::PluginQuirks> quirks_;
};

std::array<int, 6> count(const std::vector<CaseOutcome>& outcomes) {
  std::array<int, 6> counts{};
  for (const CaseOutcome& outcome : outcomes)
    ++counts[static_cast<std::size_t>(outcome.result.verdict)];
  return counts;
}

void print_case(std::ostream& out, const CaseOutcome& outcome) {
  out << std::left << std::setw(8) << conformance::verdict_name(outcome.result.verdict)
      << outcome.info.id;
  if (outcome.result.verdict == Verdict::kPass) {
    out << '\n';
    return;
  }
  if (outcome.result.verdict == Verdict::kSkip) {
    out << ": " << outcome.result.message << '\n';
    return;
  }
  out << "\n        rule: " << outcome.info.description
      << "\n        but:  " << outcome.result.message << '\n';
}

void print_text(std::ostream& out, const VerifyRequest& request,
                const std::vector<CaseOutcome>& outcomes, double seconds) {
  for (const CaseOutcome& outcome : outcomes)
    if (request.verbose || outcome.result.verdict >= Verdict::kWarn) print_case(out, outcome);
  const std::array<int, 6> counts = count(outcomes);
  static constexpr std::array<const char*, 6> kWords = {"passed", "skipped", "warned",
                                                        "failed", "crashed", "timed out"};
  const char* separator = "";
  for (const std::size_t i : {0, 2, 3, 4, 5, 1}) {
    if (counts[i] == 0 && i != 0) continue;
    out << separator << counts[i] << ' ' << kWords[i];
    separator = ", ";
  }
  out << " at level " << request.level << " in " << std::fixed << std::setprecision(1) << seconds
      << " s\n";
}

void print_json(std::ostream& out, const VerifyRequest& request, const fs::path& plugin_json,
                const std::vector<CaseOutcome>& outcomes, bool good) {
  Json cases = Json::array();
  for (const CaseOutcome& o : outcomes)
    cases.push_back({{"id", o.info.id},
                     {"level", o.info.level},
                     {"verdict", conformance::verdict_name(o.result.verdict)},
                     {"message", o.result.message},
                     {"description", o.info.description},
                     {"seconds", o.seconds}});
  Json counts = Json::object();
  const std::array<int, 6> found = count(outcomes);
  for (std::size_t i = 0; i < found.size(); ++i)
    counts[conformance::verdict_name(static_cast<Verdict>(i))] = found[i];
  const Json document = {{"format_version", 1},
                         {"plugin", plugin_json.string()},
                         {"level", request.level},
                         {"seed", request.seed},
                         {"ok", good},
                         {"counts", counts},
                         {"cases", cases}};
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void print_matrix(std::ostream& out, const fs::path& plugin_json,
                  const std::vector<CaseOutcome>& outcomes) {
  std::vector<std::pair<CaseInfo, Result>> results;
  for (const CaseOutcome& outcome : outcomes) results.emplace_back(outcome.info, outcome.result);
  out << conformance::feature_matrix(plugin_json, results);
}

}  // namespace

int run_verify(const VerifyRequest& request, std::ostream& out, std::ostream& err) {
  std::error_code failed;
  fs::path plugin_json = fs::absolute(request.plugin);
  if (fs::is_directory(plugin_json, failed)) plugin_json /= "plugin.json";
  if (!fs::exists(plugin_json, failed)) {
    err << "error: there is no " << plugin_json.string()
        << "\n  hint: give the directory of a plugin that was built\n";
    return 4;
  }
  try {
    Runner runner(request, plugin_json);
    std::vector<CaseOutcome> outcomes = runner.plan();
    const auto started = Clock::now();
    runner.run(outcomes);
    const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
    if (interrupted()) return 130;
    const bool good = std::none_of(
        outcomes.begin(), outcomes.end(),
        [](const CaseOutcome& outcome) { return conformance::is_failure(outcome.result.verdict); });
    if (request.json)
      print_json(out, request, plugin_json, outcomes, good);
    else if (request.markdown)
      print_matrix(out, plugin_json, outcomes);
    else
      print_text(out, request, outcomes, seconds);
    return good ? 0 : 1;
  } catch (const std::regex_error& error) {
    err << "error: --include or --exclude is no regular expression: " << error.what() << '\n';
    return 2;
  } catch (const Error& error) {
    err << "error: " << error.what() << '\n';
    if (!error.hint().empty()) err << "  hint: " << error.hint() << '\n';
    return 4;
  }
}

int verify_case_main(int argc, char** argv) {
  if (argc < 6) {
    std::fputs("error: __verify is for omen itself\n", stderr);
    return 2;
  }
  const fs::path plugin_json = argv[2];
  Result result;
  try {
    const auto quirks = conformance::quirks_from_file(plugin_json);
    // Never destroyed: the plugin may use its host until the very end.
    auto* const environment =
        new CaseEnvironment(plugin_json, std::strtoull(argv[4], nullptr, 10), std::atoi(argv[5]));
    result = conformance::run_case(argv[3], *quirks, environment->get());
  } catch (const std::exception& error) {
    result = {Verdict::kFail, error.what()};
  }
  const Json message = {{"verdict", conformance::verdict_name(result.verdict)},
                        {"message", result.message}};
  LineChannel(kChannelFd).send(message.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::fflush(nullptr);
  std::_Exit(0);
}

}  // namespace omen::host
