// SPDX-License-Identifier: Apache-2.0
// The files that `omen graph` works on, directories unfolded, and which of them were done before.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipeline/pipeline.hpp"

namespace omen::host::cli {

struct GraphInput {
  std::string path;
  std::string name;  // what % stands for: the stem, below a directory with its folders
  std::optional<ComponentRef> frontend;  // known already for files of a directory
};

// Inputs in the order given; a directory that no front end takes as a whole becomes its files,
// sorted, without hidden ones.
std::vector<GraphInput> unfold(const Components& components, const std::vector<std::string>& inputs,
                               const std::string& component);

// Remembers beside the outputs which inputs were written, with what settings, so that a run that
// was stopped can go on. [any-thread]
class GraphJournal {
 public:
  // Lies in the directory of `output`. Without `resume` an older journal is dropped.
  GraphJournal(const std::filesystem::path& output, bool resume);
  bool has(const GraphInput& input, const std::string& settings,
           const std::filesystem::path& output) const;
  void add(const GraphInput& input, const std::string& settings,
           const std::filesystem::path& output);

 private:
  static std::string line_of(const GraphInput& input, const std::string& settings,
                             const std::filesystem::path& output);
  std::filesystem::path file_;
  std::set<std::string> done_;
  std::mutex mutex_;
};

}  // namespace omen::host::cli
