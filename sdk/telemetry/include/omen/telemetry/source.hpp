// SPDX-License-Identifier: Apache-2.0
// What a sampler reads from: rows, metric names, remarks for the user, and the Source interface.
#ifndef OMEN_TELEMETRY_SOURCE_HPP
#define OMEN_TELEMETRY_SOURCE_HPP

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "omen/error.hpp"

namespace omen::telemetry {

// One row of `counters`. t_ns counts from the start of its workload.
struct Sample {
  std::int64_t t_ns = 0;
  double value = 0;
  std::int32_t metric = 0;
  std::int32_t device = kWholeMachine;
  std::int32_t pid = 0;  // 0: of no single process

  static constexpr std::int32_t kWholeMachine = -1;
};

// Numbers for metric names, in order of first use. [any-thread]
class MetricTable {
 public:
  std::int32_t id(std::string_view name);
  std::string name(std::int32_t id) const;
  std::int32_t size() const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> names_;
  std::map<std::string_view, std::int32_t> ids_;
};

enum class NoteKind : std::uint8_t {
  kWarning,  // part of the measurement is missing or doubtful
  kAbsent,   // the machine does not have it, or does not show it to this user
  kDetail    // a quantity that this device does not offer
};

// Something the user should know about the measurement; equal ones are counted, not repeated.
struct Note {
  NoteKind kind = NoteKind::kWarning;
  std::string source;
  std::string message;
  std::string hint;
  std::int64_t count = 0;
};

// [any-thread]
class Notes {
 public:
  void add(NoteKind kind, std::string_view source, const std::string& message,
           const std::string& hint = {});
  std::vector<Note> list() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Note> notes_;
};

// Where the kernel's files lie; tests point these at fixture trees.
struct Roots {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
  std::filesystem::path kernel_log = "/dev/kmsg";
};

// What every source needs; the members outlive the sources.
struct Context {
  Roots roots;
  MetricTable& metrics;
  Notes& notes;
};

// A core, GPU, disk, rail ... that rows refer to by its number within the family.
struct DeviceInfo {
  std::string family;
  std::int32_t index = 0;
  std::string name;
  std::vector<std::pair<std::string, std::string>> facts;
};

// Reads one subsystem. Factories throw OMEN_UNAVAILABLE with a hint where it is missing or
// forbidden. A value that cannot be read gives no row, never a zero. [serial]
class Source {
 public:
  virtual ~Source() = default;
  virtual std::string_view name() const = 0;
  // Appends the rows of one tick. Rates need two ticks, so the first one gives levels only.
  virtual void sample(std::int64_t t_ns, std::vector<Sample>& rows) = 0;
  virtual std::vector<DeviceInfo> devices() const { return {}; }
};

using SourcePtr = std::unique_ptr<Source>;

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_SOURCE_HPP
