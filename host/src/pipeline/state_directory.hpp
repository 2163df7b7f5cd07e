// SPDX-License-Identifier: Apache-2.0
// Where an unfinished call keeps what it needs to go on after a kill: omen_run.state_dir.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "components/components.hpp"
#include "omen/descriptor.hpp"
#include "tables/dataset_tables.hpp"

namespace omen::host {

// Bound to a fingerprint of everything that decides the result, and locked while it lives.
class StateDirectory {
 public:
  StateDirectory() = default;  // none
  // Makes it, or takes up what a call of the same fingerprint left there. OMEN_INVALID_STATE where
  // it holds the state of another one, is no state at all, or another process works in it.
  StateDirectory(const std::filesystem::path& path, const std::string& fingerprint);
  ~StateDirectory();  // removes one in which nothing is kept
  StateDirectory(const StateDirectory&) = delete;
  StateDirectory& operator=(const StateDirectory&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }  // empty: none
  // Whether a call left something here, before or now.
  bool keeps_something() const;
  // The call succeeded: what it kept is of no use any more.
  void finish();

 private:
  std::filesystem::path path_;
  Descriptor lock_;
};

// Files that options name change results without changing the options.
std::string digest_of_files(const ComponentInfo& info, const OptionValues& options);
// sha256 over library, component, options, the files they name, settings of the run, and `more`.
std::string call_fingerprint(const ComponentRef& ref, const OptionValues& options,
                             const RunSettings& run, const std::vector<std::string>& more);
// sha256 over names, columns and values.
std::string tables_digest(const Tables& tables);

}  // namespace omen::host
