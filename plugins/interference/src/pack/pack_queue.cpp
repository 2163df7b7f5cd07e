// SPDX-License-Identifier: Apache-2.0
// Reads queues and lists pairs.
#include "pack/pack_queue.hpp"

#include <charconv>
#include <cmath>
#include <omen/error.hpp>
#include <set>

namespace omen::interference {
namespace {

std::vector<double> numbers_or(const Table& table, const char* name, double otherwise) {
  const auto column = table.find(name);
  std::vector<double> values(static_cast<std::size_t>(table.rows()), otherwise);
  if (!column || !is_number(table.type(*column))) return values;
  const std::vector<double> read = table.numbers(*column);
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (std::isnan(read[row])) continue;
    if (read[row] < 0)
      throw Error(OMEN_INVALID_DATA,
                  std::string(name) + " of row " + std::to_string(row + 1) + " is below 0");
    values[row] = read[row];
  }
  return values;
}

std::vector<std::string> texts_of(const Table& table, const char* name) {
  std::vector<std::string> values(static_cast<std::size_t>(table.rows()));
  const auto column = table.find(name);
  if (!column || !is_text(table.type(*column))) return values;
  const StringColumn read = table.strings(*column);
  for (std::int64_t row = 0; row < read.size(); ++row)
    values[static_cast<std::size_t>(row)] = read[row];
  return values;
}

std::vector<std::string> split_list(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t first = 0;
  while (first <= text.size() && !text.empty()) {
    const std::size_t end = std::min(text.find(at, first), text.size());
    if (end > first) parts.push_back(text.substr(first, end - first));
    first = end + 1;
  }
  return parts;
}

// Columns that describe a job; the others are keys or belong to the queue.
bool is_job_column(std::string_view name) {
  static const std::set<std::string_view> other = {
      "workload_id", "group",      "name",           "graph_id", "device",
      "mode",        "never_with", "observed_rho",   "beside",   "protected",
      "deadline_s",  "memory_mib", "gpu_memory_mib", "solo_s",   "job"};
  return other.count(name) == 0 && name.rfind("partner", 0) != 0;
}

// One way to run one job.
struct Way {
  std::size_t job;
  std::ptrdiff_t partner;  // -1: alone
  std::string device, mode;
};

std::vector<Way> ways_of(const Queue& queue, const std::vector<GpuKind>& gpus,
                         const std::vector<std::string>& modes) {
  std::vector<Way> ways;
  for (std::size_t job = 0; job < queue.jobs.size(); ++job)
    for (const GpuKind& gpu : gpus) {
      const std::string& device = gpu.name.empty() ? queue.devices[job] : gpu.name;
      ways.push_back({job, -1, device, {}});
      for (std::size_t other = 0; other < queue.jobs.size(); ++other) {
        // Without a list of GPUs, jobs that name different ones cannot meet.
        const bool meet = !gpu.name.empty() || queue.devices[other] == queue.devices[job];
        if (other == job || !meet) continue;
        for (const std::string& mode : modes)
          ways.push_back({job, static_cast<std::ptrdiff_t>(other), device, mode});
      }
    }
  return ways;
}

void put_partner_column(TableBuilder& table, const Table& workloads, std::size_t column,
                        const std::string& name, const std::vector<Way>& ways) {
  if (is_text(workloads.type(column))) {
    const StringColumn read = workloads.strings(column);
    std::vector<std::string> texts;
    std::vector<bool> known;
    for (const Way& way : ways) {
      known.push_back(way.partner >= 0 && !read.is_null(way.partner));
      texts.emplace_back(known.back() ? std::string(read[way.partner]) : std::string());
    }
    table.add_categories(name, texts).valid(known);
    return;
  }
  if (!is_number(workloads.type(column))) return;
  const std::vector<double> read = workloads.numbers(column);
  std::vector<double> numbers;
  std::vector<bool> known;
  for (const Way& way : ways) {
    const double value = way.partner >= 0 ? read[static_cast<std::size_t>(way.partner)] : NAN;
    known.push_back(std::isfinite(value));
    numbers.push_back(known.back() ? value : 0);
  }
  table.add(name, std::move(numbers)).valid(known);
}

}  // namespace

std::vector<GpuKind> parse_gpus(const std::string& text) {
  std::vector<GpuKind> gpus;
  for (const std::string& part : split_list(text, ',')) {
    const std::size_t colon = part.find(':');
    GpuKind gpu{part.substr(0, colon), 0};
    if (colon != std::string::npos) {
      const char *first = part.data() + colon + 1, *last = part.data() + part.size();
      const auto [end, error] = std::from_chars(first, last, gpu.capacity_mib);
      if (error != std::errc() || end != last || !(gpu.capacity_mib > 0))
        throw Error(OMEN_INVALID_ARGUMENT, "'" + part + "' is no GPU with its memory",
                    "Write NAME or NAME:MIB, such as v100:16160.");
    }
    gpus.push_back(gpu);
  }
  if (gpus.empty()) gpus.emplace_back();
  return gpus;
}

Queue read_queue(const Table& workloads) {
  Queue queue;
  const std::vector<double> id = workloads.numbers("workload_id");
  const std::vector<double> solo = numbers_or(workloads, "solo_s", 1),
                            memory = numbers_or(workloads, "memory_mib", -1),
                            deadline = numbers_or(workloads, "deadline_s", -1),
                            guarded = numbers_or(workloads, "protected", 0);
  const std::vector<std::string> name = texts_of(workloads, "name"),
                                 job = texts_of(workloads, "job"),
                                 family = texts_of(workloads, "family"),
                                 never = texts_of(workloads, "never_with");
  queue.devices = texts_of(workloads, "device");
  queue.beside = texts_of(workloads, "beside");
  queue.observed_rho = numbers_or(workloads, "observed_rho", NAN);
  queue.capacity_mib = numbers_or(workloads, "gpu_memory_mib", NAN);
  for (std::size_t row = 0; row < id.size(); ++row) {
    queue.ids.push_back(static_cast<std::int64_t>(id[row]));
    queue.index[queue.ids.back()] = row;
    QueuedJob made;
    made.name = !job[row].empty()    ? job[row]
                : !name[row].empty() ? name[row]
                                     : "job " + std::to_string(queue.ids.back());
    made.family = family[row];
    if (!(solo[row] > 0))
      throw Error(OMEN_INVALID_DATA, "solo_s of " + made.name + " is not above 0");
    made.solo_s = solo[row];
    made.memory_mib = memory[row];
    made.deadline_s = deadline[row];
    made.is_protected = guarded[row] > 0;
    made.never_with = split_list(never[row], ';');
    queue.jobs.push_back(std::move(made));
  }
  return queue;
}

Table list_ways(const Table& workloads, const Queue& queue, const std::vector<GpuKind>& gpus,
                const std::vector<std::string>& modes) {
  const std::vector<Way> ways = ways_of(queue, gpus, modes);
  std::vector<std::int64_t> id, partner_id;
  std::vector<std::int32_t> candidate;
  std::vector<std::string> name, partner, device, mode;
  for (const Way& way : ways) {
    const bool same = !id.empty() && id.back() == queue.ids[way.job];
    candidate.push_back(same ? candidate.back() + 1 : 0);
    id.push_back(queue.ids[way.job]);
    const bool alone = way.partner < 0;
    const auto other = static_cast<std::size_t>(alone ? 0 : way.partner);
    partner_id.push_back(alone ? -1 : queue.ids[other]);
    partner.push_back(alone ? std::string() : queue.jobs[other].name);
    device.push_back(way.device);
    mode.push_back(way.mode);
    std::string shown = alone ? "alone" : "beside " + partner.back();
    if (gpus.size() > 1) shown += " on " + way.device;
    if (modes.size() > 1 && !alone) shown += " by " + way.mode;
    name.push_back(shown);
  }
  TableBuilder table;
  table.add("workload_id", std::move(id)).add("candidate_id", std::move(candidate));
  table.add_strings("name", name).add_categories("partner", partner);
  table.add("partner_id", std::move(partner_id));
  table.add_categories("device", device).add_categories("mode", mode);
  for (std::size_t column = 0; column < workloads.columns(); ++column)
    if (is_job_column(workloads.name(column)))
      put_partner_column(table, workloads, column, "partner_" + std::string(workloads.name(column)),
                         ways);
  if (const auto graph = workloads.find("graph_id"))
    put_partner_column(table, workloads, *graph, "partner_graph_id", ways);
  return table.finish();
}

}  // namespace omen::interference
