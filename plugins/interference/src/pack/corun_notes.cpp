// SPDX-License-Identifier: Apache-2.0
// Finds measured pairs whose jobs are near those of a queue.
#include "pack/corun_notes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tables/csv_text.hpp"

namespace omen::interference {
namespace {

constexpr std::size_t kMostNotes = 3;
constexpr double kWideRange = 8;    // largest over smallest from which logarithms are compared
constexpr double kOtherFamily = 1;  // as far as a deviation of every number
constexpr double kOtherPlace = 1;   // the same for another device or another way to share
constexpr const char* kPartnerPrefix = "partner_";

std::string text_or_empty(const CsvText& csv, std::size_t row, const std::string& column) {
  return csv.has(column) ? csv.text(row, csv.index(column)) : std::string();
}

// Columns X of numbers that have a counterpart partner_X.
std::vector<std::string> paired_numbers(const CsvText& csv) {
  std::vector<std::string> names;
  for (std::size_t column = 0; column < csv.header().size(); ++column) {
    const std::string& name = csv.header()[column];
    if (csv.has(kPartnerPrefix + name) && csv.holds_numbers(column)) names.push_back(name);
  }
  return names;
}

// Distances along one number: in deviations of all values there are.
class NumberScale {
 public:
  explicit NumberScale(const std::vector<double>& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    logarithmic_ = *least > 0 && *most > kWideRange * *least;
    double mean = 0, squares = 0;
    for (const double value : values) mean += bent(value) / static_cast<double>(values.size());
    for (const double value : values) squares += std::pow(bent(value) - mean, 2);
    if (squares > 0) deviation_ = std::sqrt(squares / static_cast<double>(values.size()));
  }
  double between(double a, double b) const { return (bent(a) - bent(b)) / deviation_; }

 private:
  double bent(double value) const { return logarithmic_ ? std::log(value) : value; }

  bool logarithmic_ = false;
  double deviation_ = 1;
};

double other_place(const std::string& asked, const std::string& measured) {
  return asked.empty() || measured.empty() || asked == measured ? 0 : kOtherPlace;
}

}  // namespace

std::size_t CorunNotes::index_of(Job job) {
  const auto at = std::find(jobs_.begin(), jobs_.end(), job);
  if (at != jobs_.end()) return static_cast<std::size_t>(at - jobs_.begin());
  jobs_.push_back(std::move(job));
  return jobs_.size() - 1;
}

void CorunNotes::read(const std::string& path, const std::string& whose) {
  const CsvText csv = CsvText::read(path);
  const std::size_t job = csv.index("job"), partner = csv.index("partner"), rho = csv.index("rho");
  const std::vector<std::string> numbers = paired_numbers(csv);
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const auto job_at = [&](std::size_t name, const std::string& prefix) {
      Job made{csv.text(row, name), text_or_empty(csv, row, prefix + "family"), {}};
      for (const std::string& number : numbers)
        if (const double value = csv.number(row, csv.index(prefix + number)); std::isfinite(value))
          made.numbers[number] = value;
      return index_of(std::move(made));
    };
    const double speed = csv.number(row, rho);
    if (!std::isfinite(speed)) continue;
    const std::size_t first = job_at(job, ""), second = job_at(partner, kPartnerPrefix);
    notes_.push_back({first, second, text_or_empty(csv, row, "device"),
                      text_or_empty(csv, row, "mode"), whose, speed});
  }
}

void CorunNotes::place(const Table& workloads, const Queue& queue) {
  std::vector<std::map<std::string, double>> asked(queue.jobs.size());
  std::map<std::string, std::vector<double>> values;
  for (std::size_t column = 0; column < workloads.columns(); ++column) {
    const std::string name(workloads.name(column));
    const bool noted = std::any_of(jobs_.begin(), jobs_.end(),
                                   [&](const Job& job) { return job.numbers.count(name) > 0; });
    if (!noted || !is_number(workloads.type(column))) continue;
    const std::vector<double> numbers = workloads.numbers(column);
    for (std::size_t row = 0; row < numbers.size(); ++row)
      if (std::isfinite(numbers[row])) {
        asked[row][name] = numbers[row];
        values[name].push_back(numbers[row]);
      }
  }
  for (const Job& job : jobs_)
    for (const auto& [name, value] : job.numbers)
      if (const auto known = values.find(name); known != values.end())
        known->second.push_back(value);
  std::map<std::string, NumberScale> scales;
  for (const auto& [name, all] : values) scales.emplace(name, all);

  apart_.clear();
  for (std::size_t row = 0; row < queue.jobs.size(); ++row) {
    const QueuedJob& own = queue.jobs[row];
    std::vector<std::optional<double>> distances;
    for (const Job& job : jobs_) {
      const bool family = !own.family.empty() && own.family == job.family;
      double squares = 0, count = 0;
      for (const auto& [name, value] : asked[row])
        if (const auto other = job.numbers.find(name); other != job.numbers.end()) {
          squares += std::pow(scales.at(name).between(value, other->second), 2);
          ++count;
        }
      if (own.name == job.name)
        distances.emplace_back(0);
      else if (count == 0 && !family)
        distances.emplace_back();
      else
        distances.emplace_back((count > 0 ? std::sqrt(squares / count) : 0) +
                               (family ? 0 : kOtherFamily));
    }
    apart_.push_back(std::move(distances));
  }
}

std::string CorunNotes::about(std::size_t job, std::size_t partner, const std::string& device,
                              const std::string& mode) const {
  std::vector<std::pair<double, const Note*>> near;
  for (const Note& note : notes_) {
    const std::optional<double>&first = apart_[job][note.job],
          &second = apart_[partner][note.partner];
    if (!first || !second) continue;
    near.emplace_back(
        *first + *second + other_place(device, note.device) + other_place(mode, note.mode), &note);
  }
  const std::size_t shown = std::min(near.size(), kMostNotes);
  // Notes lie in the order in which they were read, which settles ties.
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(shown), near.end());
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [distance, note] = near[i];
    char speed[32], far[32] = "the same";
    std::snprintf(speed, sizeof speed, " %.2f", note->rho);
    if (distance > 0) std::snprintf(far, sizeof far, "%.1f away", distance);
    text += (i == 0 ? "; measured: " : ", ") + jobs_[note->job].name + " beside " +
            jobs_[note->partner].name + speed + " (" + far;
    text += note->whose.empty() ? ")" : ", " + note->whose + ")";
  }
  return text;
}

}  // namespace omen::interference
