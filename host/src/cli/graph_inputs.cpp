// SPDX-License-Identifier: Apache-2.0
// Unfolds directories and keeps the journal of `omen graph --resume`.
#include "cli/graph_inputs.hpp"

#include <algorithm>
#include <fstream>

#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

bool is_hidden(const fs::path& path) {
  return path.filename().string().rfind('.', 0) == 0;
}

// Files below a directory, sorted by name so that every run numbers them alike.
std::vector<fs::path> files_below(const fs::path& directory) {
  std::vector<fs::path> files;
  fs::recursive_directory_iterator at(directory, fs::directory_options::skip_permission_denied);
  for (const fs::recursive_directory_iterator end; at != end; ++at) {
    if (is_hidden(at->path())) {
      if (at->is_directory()) at.disable_recursion_pending();
    } else if (at->is_regular_file()) {
      files.push_back(at->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<GraphInput> unfold(const Components& components, const std::vector<std::string>& inputs,
                               const std::string& component) {
  std::vector<GraphInput> list;
  for (const std::string& input : inputs) {
    std::error_code error;
    if (!fs::is_directory(input, error) || recognise(components, input, component)) {
      list.push_back({input, fs::path(input).stem().string(), std::nullopt});
      continue;
    }
    const std::size_t before = list.size();
    for (const fs::path& file : files_below(input))
      if (const auto frontend = recognise(components, file.string(), component))
        list.push_back(
            {file.string(), fs::relative(file, input).replace_extension().string(), frontend});
    if (list.size() == before)
      throw Error(OMEN_INVALID_DATA, "no front end recognises a file below '" + input + "'",
                  "see what is installed with: omen list");
  }
  return list;
}

GraphJournal::GraphJournal(const fs::path& output, bool resume)
    : file_(output.parent_path() / ".omen-graph-journal.jsonl") {
  if (!resume) {
    std::error_code ignored;
    fs::remove(file_, ignored);
    return;
  }
  std::ifstream in(file_);
  for (std::string line; std::getline(in, line);) done_.insert(line);
}

std::string GraphJournal::line_of(const GraphInput& input, const std::string& settings,
                                  const fs::path& output) {
  std::error_code error;
  const fs::file_time_type changed = fs::last_write_time(input.path, error);
  return "[" + json_quote(input.path) + ", " + json_quote(output.string()) + ", " +
         std::to_string(changed.time_since_epoch().count()) + ", " + json_quote(settings) + "]";
}

bool GraphJournal::has(const GraphInput& input, const std::string& settings,
                       const fs::path& output) const {
  std::error_code error;
  return fs::exists(output, error) && done_.count(line_of(input, settings, output)) > 0;
}

void GraphJournal::add(const GraphInput& input, const std::string& settings,
                       const fs::path& output) {
  const std::lock_guard lock(mutex_);
  std::ofstream out(file_, std::ios::app);
  out << line_of(input, settings, output) << std::endl;
  if (!out)
    throw Error(OMEN_IO, "cannot note a finished graph in " + file_.string(),
                "check that its directory has room");
}

}  // namespace omen::host::cli
