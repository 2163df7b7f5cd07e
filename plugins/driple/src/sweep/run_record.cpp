// SPDX-License-Identifier: Apache-2.0
// Lines of a name and a value; values of the grid's dimensions have names with a dot before them.
#include "sweep/run_record.hpp"

#include <fstream>

#include "omen/join.hpp"
#include "omen/json_text.hpp"
#include "omen/pending_file.hpp"

namespace omen::driple {
namespace {

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return text;
}

std::optional<int> int_in(const std::string& text) {
  try {
    return std::stoi(text);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::string quoted_command(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + json_quote(word);
  return text;
}

void write_run(const std::filesystem::path& directory, const RunRecord& record) {
  std::string text;
  for (const auto& [name, value] : record.point) text += "." + name + "=" + one_line(value) + "\n";
  text += "command=" + one_line(record.command) + "\noutcome=" + record.outcome +
          "\nreason=" + one_line(record.reason) +
          "\nexit_code=" + std::to_string(record.exit_code) +
          "\nsignal=" + std::to_string(record.signal) + "\n";
  PendingFile file(directory / kRunFile);
  file.append(text.data(), text.size());
  file.commit();
}

std::optional<RunRecord> read_run(const std::filesystem::path& directory) {
  std::ifstream file(directory / kRunFile);
  if (!file) return std::nullopt;
  RunRecord record;
  for (std::string line; std::getline(file, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) return std::nullopt;
    const std::string name = line.substr(0, equals), value = line.substr(equals + 1);
    if (name.starts_with("."))
      record.point.emplace_back(name.substr(1), value);
    else if (name == "command")
      record.command = value;
    else if (name == "outcome")
      record.outcome = value;
    else if (name == "reason")
      record.reason = value;
    else if (const auto number = int_in(value); number && name == "exit_code")
      record.exit_code = *number;
    else if (number && name == "signal")
      record.signal = *number;
  }
  if (record.outcome.empty()) return std::nullopt;
  return record;
}

}  // namespace omen::driple
