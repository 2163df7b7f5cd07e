// SPDX-License-Identifier: Apache-2.0
// A comparison as part of the program: its progress, its log and its command line.
#include "cli/compare_run.hpp"

#include "text/json_writer.hpp"

namespace omen::host::cli {

std::int32_t screen_level(const Globals& globals) {
  if (globals.quiet) return OMEN_LOG_ERROR;
  return globals.verbose > 1 ? OMEN_LOG_DEBUG : globals.verbose ? OMEN_LOG_INFO : OMEN_LOG_WARN;
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789_-./=@,:+%") == std::string::npos;
    std::string quoted;
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += (line.empty() ? "" : " ") + (plain ? word : "'" + quoted + "'");
  }
  return line;
}

FinishedRun compare_in(Session& session, ComparePlan& plan, const CompareSettings& settings,
                       const std::vector<std::string>& warnings) {
  CompareFrame frame;
  frame.command = "omen " + shell_words(session.globals().command_line);
  frame.screen_level = screen_level(session.globals());
  frame.begin_record = [&](JsonWriter& json) { session.begin_record(json, "compare"); };
  frame.progress = [&](std::size_t done, std::size_t all) {
    session.progress().update(static_cast<double>(done) / static_cast<double>(all),
                              folds_text(done, all).c_str());
  };
  frame.end_progress = [&] { session.progress().finish(); };
  frame.elapsed = [&] { return session.elapsed(); };
  return run_comparison(plan, settings, frame, warnings);
}

}  // namespace omen::host::cli
