// SPDX-License-Identifier: Apache-2.0
// Finds measured pairs with the same jobs or families.
#include "pack/corun_notes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tables/csv_text.hpp"

namespace omen::interference {
namespace {

constexpr std::size_t kMostNotes = 3;

}  // namespace

CorunNotes::CorunNotes(const std::string& path) {
  const CsvText csv = CsvText::read(path);
  const std::size_t job = csv.index("job"), partner = csv.index("partner"), rho = csv.index("rho");
  const bool families = csv.has("family") && csv.has("partner_family");
  for (std::size_t row = 0; row < csv.rows(); ++row)
    notes_.push_back({csv.text(row, job), csv.text(row, partner),
                      families ? csv.text(row, csv.index("family")) : std::string(),
                      families ? csv.text(row, csv.index("partner_family")) : std::string(),
                      csv.number(row, rho)});
}

std::string CorunNotes::about(const QueuedJob& job, const QueuedJob& partner) const {
  // 2 for the same job, 1 for the same family, for each of both.
  const auto nearness = [&](const Note& note) {
    const auto one = [](const QueuedJob& asked, const std::string& name,
                        const std::string& family) {
      if (name == asked.name) return 2;
      return !family.empty() && family == asked.family ? 1 : 0;
    };
    const int first = one(job, note.job, note.family);
    const int second = one(partner, note.partner, note.partner_family);
    return first > 0 && second > 0 ? first + second : 0;
  };
  std::vector<const Note*> near;
  for (const Note& note : notes_)
    if (nearness(note) > 0 && std::isfinite(note.rho)) near.push_back(&note);
  std::stable_sort(near.begin(), near.end(),
                   [&](const Note* a, const Note* b) { return nearness(*a) > nearness(*b); });
  std::string text;
  for (std::size_t i = 0; i < std::min(near.size(), kMostNotes); ++i) {
    char speed[32];
    std::snprintf(speed, sizeof speed, "%.2f", near[i]->rho);
    text += (i == 0 ? "; measured: " : ", ") + near[i]->job + " beside " + near[i]->partner + " " +
            speed;
  }
  return text;
}

}  // namespace omen::interference
