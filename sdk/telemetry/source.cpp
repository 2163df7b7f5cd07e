// SPDX-License-Identifier: Apache-2.0
// Metric numbers and remarks, shared by all sampler threads.
#include "omen/telemetry/source.hpp"

namespace omen::telemetry {
namespace {
// A source that fails in ever new words must not fill the memory of a long run.
constexpr std::size_t kMostNotes = 256;
}  // namespace

std::int32_t MetricTable::id(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (const auto at = ids_.find(name); at != ids_.end()) return at->second;
  const auto id = static_cast<std::int32_t>(names_.size());
  ids_.emplace(names_.emplace_back(name), id);
  return id;
}

std::string MetricTable::name(std::int32_t id) const {
  const std::lock_guard lock(mutex_);
  return names_.at(static_cast<std::size_t>(id));
}

std::int32_t MetricTable::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int32_t>(names_.size());
}

void Notes::add(NoteKind kind, std::string_view source, const std::string& message,
                const std::string& hint) {
  const std::lock_guard lock(mutex_);
  for (Note& note : notes_) {
    if (note.source != source || note.message != message) continue;
    ++note.count;
    return;
  }
  if (notes_.size() >= kMostNotes) return;
  notes_.push_back({kind, std::string(source), message, hint, 1});
}

std::vector<Note> Notes::list() const {
  const std::lock_guard lock(mutex_);
  return notes_;
}

}  // namespace omen::telemetry
