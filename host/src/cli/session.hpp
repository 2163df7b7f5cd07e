// SPDX-License-Identifier: Apache-2.0
// What verbs that run components share: the registry, the settings of a run, progress, output files
// and run records.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cli/console.hpp"
#include "pipeline/pipeline.hpp"
#include "progress.hpp"
#include "text/files.hpp"

namespace omen::host {
class JsonWriter;
}

namespace omen::host::cli {

class Session {
 public:
  // `title` heads the progress line; `output` is -o, and makes a directory where it names one.
  Session(const Globals& globals, const RunChoices& run, const Flags& flags,
          const std::string& title, const std::string& output, double interval_level = 0.90);

  const Globals& globals() const noexcept { return globals_; }
  const Registry& registry() const noexcept { return registry_; }
  const Components& components() const noexcept { return *components_; }
  FlagBook& flags() noexcept { return flags_; }
  Progress& progress() noexcept { return *progress_; }
  // Set where -o names a directory.
  const std::filesystem::path& output_directory() const noexcept { return directory_; }
  double elapsed() const;

  // Fields of a run record that are the same for every verb; the caller closes the object.
  void begin_record(JsonWriter& json, const char* verb) const;

 private:
  const Globals& globals_;
  Registry registry_;
  FlagBook flags_;
  std::filesystem::path directory_;
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<Components> components_;
  std::unique_ptr<ComponentsInUse> in_use_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// For verbs that open components only where a dataset has to be made.
class RecipeDoor {
 public:
  explicit RecipeDoor(const Globals& globals)
      : registry_(Registry::discover(globals.plugin_path)),
        components_(registry_, {}),
        in_use_(components_) {}

 private:
  Registry registry_;
  Components components_;
  ComponentsInUse in_use_;
};

// By suffix: .csv, .jsonl, .json (an array of rows), .omt.
void write_rows(const std::filesystem::path& path, const std::string& table_name,
                const Table& table);
std::string csv_text(const Table& table);
// A component by its id, or by the id of a plugin that has one such component or marks a default.
ComponentRef named_component(const Registry& registry, std::uint32_t kind, const std::string& name);
// Takes a leading word that names a component of this kind out of `words`.
void take_component(const Registry& registry, std::uint32_t kind, std::vector<std::string>& words,
                    std::string& component);

}  // namespace omen::host::cli
