// SPDX-License-Identifier: Apache-2.0
// Runs one .case file: exit 0 when it holds, 1 when it does not, 77 when a needed tool is absent.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "case_file.hpp"
#include "omen/instrumented.hpp"
#include "process.hpp"

namespace fs = std::filesystem;

namespace omen::cases {
namespace {

constexpr int kSkip = 77;

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool matches(const LinePattern& pattern, const std::string& line) {
  if (pattern.kind == LinePattern::Kind::kExact) return pattern.text == line;
  return std::regex_search(line, std::regex(pattern.text));
}

// Whole-output match; 'stdout...' stands for any number of lines.
bool match_from(const std::vector<LinePattern>& patterns, size_t p,
                const std::vector<std::string>& lines, size_t l) {
  if (p == patterns.size()) return l == lines.size();
  if (patterns[p].kind == LinePattern::Kind::kAnyLines) {
    for (size_t rest = l; rest <= lines.size(); ++rest) {
      if (match_from(patterns, p + 1, lines, rest)) return true;
    }
    return false;
  }
  return l < lines.size() && matches(patterns[p], lines[l]) &&
         match_from(patterns, p + 1, lines, l + 1);
}

bool any_line(const std::vector<std::string>& lines, const std::string& pattern) {
  const std::regex regex(pattern);
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return std::regex_search(line, regex); });
}

void describe(const std::vector<LinePattern>& patterns) {
  for (const LinePattern& pattern : patterns) {
    const char* prefix = pattern.kind == LinePattern::Kind::kExact   ? "  "
                         : pattern.kind == LinePattern::Kind::kRegex ? "~ "
                                                                     : "...";
    std::printf("    %s%s\n", prefix, pattern.text.c_str());
  }
}

// Sanitizers make everything slower but no answer different.
constexpr int kTimeoutScale = OMEN_INSTRUMENTED ? 4 : 1;

// Reports every expectation that the outcome misses.
std::vector<std::string> misses(const Step& step, const Outcome& outcome) {
  std::vector<std::string> found;
  const auto out = split_lines(outcome.stdout_text);
  const auto err = split_lines(outcome.stderr_text);
  if (outcome.timed_out) {
    found.push_back("still running after " + std::to_string(kTimeoutScale * step.timeout_seconds) +
                    " s");
  } else if (outcome.exit_code != step.exit_code) {
    found.push_back("exit " + std::to_string(outcome.exit_code) + ", expected " +
                    std::to_string(step.exit_code));
  }
  if (step.stdout_empty && !out.empty()) found.push_back("stdout is not empty");
  if (step.stderr_empty && !err.empty()) found.push_back("stderr is not empty");
  if (!step.stdout_lines.empty() && !match_from(step.stdout_lines, 0, out, 0)) {
    found.push_back("stdout differs");
  }
  for (const std::string& pattern : step.stdout_without) {
    if (any_line(out, pattern)) found.push_back("stdout has a line like '" + pattern + "'");
  }
  for (const std::string& pattern : step.stderr_with) {
    if (!any_line(err, pattern)) found.push_back("stderr has no line like '" + pattern + "'");
  }
  for (const std::string& pattern : step.stderr_without) {
    if (any_line(err, pattern)) found.push_back("stderr has a line like '" + pattern + "'");
  }
  return found;
}

bool available(const std::string& need) {
  if (need.find('/') != std::string::npos) return fs::exists(need);
  const char* path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (access((fs::path(directory) / need).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// Sanitizer options pass through; everything else of the caller's environment stays outside.
Variables base_environment(const Variables& variables) {
  Variables environment = variables;
  for (const char* name : {"ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS",
                           "OMEN_TORCH_DIR", "OMEN_EXTRAS_DIR", "OMEN_DATA"}) {
    if (const char* value = std::getenv(name)) environment[name] = value;
  }
  const char* path = std::getenv("PATH");
  const std::string home = variables.at("TMP");
  environment["PATH"] = fs::path(variables.at("OMEN")).parent_path().string() + ":" +
                        (path != nullptr ? path : "/usr/bin:/bin");
  environment["HOME"] = home;
  environment["TMPDIR"] = home;
  environment["XDG_CACHE_HOME"] = home + "/.cache";
  environment["XDG_DATA_HOME"] = home + "/.local/share";
  environment["XDG_CONFIG_HOME"] = home + "/.config";
  environment["LC_ALL"] = "C";
  environment["TERM"] = "dumb";
  return environment;
}

bool run_steps(const CaseFile& file, const Variables& variables) {
  Variables environment = base_environment(variables);
  for (const auto& [name, value] : file.environment) environment[name] = value;
  const fs::path directory = variables.at("TMP");
  for (const Step& step : file.steps) {
    const Outcome outcome = run_shell(step.command, file.stdin_text, environment, directory,
                                      kTimeoutScale * step.timeout_seconds);
    const auto found = misses(step, outcome);
    if (found.empty()) continue;
    std::printf("FAIL %s\n  line %d: %s\n", file.name.c_str(), step.line, step.command.c_str());
    for (const std::string& miss : found) std::printf("  %s\n", miss.c_str());
    if (!step.stdout_lines.empty()) std::printf("  expected stdout:\n");
    describe(step.stdout_lines);
    std::printf("  --- stdout\n%s  --- stderr\n%s", outcome.stdout_text.c_str(),
                outcome.stderr_text.c_str());
    return false;
  }
  std::printf("PASS %s (%zu commands)\n", file.name.c_str(), file.steps.size());
  return true;
}

// The private directory of one case, removed with everything the case left in it.
class Workspace {
 public:
  Workspace() {
    std::string name = (fs::temp_directory_path() / "omen-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~Workspace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

int run_case(const fs::path& path, Variables variables) {
  const Workspace workspace;
  variables["TMP"] = workspace.path().string();
  variables["CASES"] = fs::absolute(path).parent_path().string();
  variables["RUNNER"] = fs::read_symlink("/proc/self/exe").string();
  const CaseFile file = parse_case(path, variables);
  for (const std::string& need : file.required) {
    if (available(need)) continue;
    std::printf("SKIP %s: %s is not available\n", file.name.c_str(), need.c_str());
    return kSkip;
  }
  return run_steps(file, variables) ? 0 : 1;
}

}  // namespace
}  // namespace omen::cases

// usage: case_runner NAME=VALUE... FILE (OMEN=<binary> and FIXTURES=<directory> are needed)
int main(int argc, char** argv) {
  omen::cases::Variables variables;
  fs::path path;
  for (int i = 1; i < argc; ++i) {
    const char* equals = std::strchr(argv[i], '=');
    if (equals == nullptr) {
      path = argv[i];
    } else {
      variables[std::string(argv[i], static_cast<size_t>(equals - argv[i]))] = equals + 1;
    }
  }
  if (path.empty() || variables.count("OMEN") == 0 || variables.count("FIXTURES") == 0) {
    std::fprintf(stderr, "usage: %s OMEN=<binary> FIXTURES=<directory> [NAME=VALUE...] FILE\n",
                 argv[0]);
    return 2;
  }
  try {
    return omen::cases::run_case(path, variables);
  } catch (const std::exception& error) {
    std::printf("FAIL %s\n", error.what());
    return 1;
  }
}
