// SPDX-License-Identifier: Apache-2.0
// Finds the columns of jobs and of their partners, and keeps every job once.
#include "pair/pair_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <omen/learn/dataset_reader.hpp>
#include <omen/learn/errors.hpp>
#include <omen/learn/graph_statistics.hpp>
#include <unordered_map>

namespace omen::interference {
namespace {

constexpr int kMostPartners = 7;
constexpr const char* kJobColumn = "job";

std::string partner_prefix(int partner) {
  return partner == 1 ? "partner_" : "partner" + std::to_string(partner) + "_";
}
// The column with the partner's name.
std::string partner_column(int partner) {
  return partner == 1 ? "partner" : "partner" + std::to_string(partner);
}
bool is_partner_column(const std::string& name) {
  return name.rfind("partner", 0) == 0;
}

// Sizes of the partners' graphs, as those of the jobs themselves; a partner's graph is named by its
// graph_id or, in a queue without such a column, by its row.
void add_partner_graphs(const Dataset& data, learn::Rows& rows,
                        const std::function<void()>& check) {
  if (!rows.has_graphs) return;
  learn::GraphStatistics graphs;
  for (const char* table : {"nodes", "edges"}) {
    if (!data.has(table)) continue;
    TableStream stream = data.stream(table);
    for (auto batch = stream.next(); batch; batch = stream.next()) {
      check();
      table == std::string_view("nodes") ? graphs.add_nodes(*batch) : graphs.add_edges(*batch);
    }
  }
  for (int partner = 1; partner <= kMostPartners; ++partner) {
    const std::string prefix = partner_prefix(partner);
    std::vector<std::int64_t> ids;
    for (const std::string& name : {prefix + "graph_id", prefix + "id"})
      for (const learn::Column& column : rows.frame.columns)
        if (ids.empty() && column.name == name && !column.categorical)
          for (const double id : column.numbers)
            ids.push_back(std::isnan(id) ? -1 : static_cast<std::int64_t>(id));
    if (!ids.empty()) graphs.append_to(rows.frame, prefix + "graph.", ids);
  }
}

class Frame {
 public:
  explicit Frame(const learn::Rows& rows) {
    for (const learn::Column& column : rows.frame.columns) columns_[column.name] = &column;
  }
  const learn::Column* find(const std::string& name) const {
    const auto at = columns_.find(name);
    return at == columns_.end() ? nullptr : at->second;
  }
  const std::map<std::string, const learn::Column*>& all() const { return columns_; }

 private:
  std::map<std::string, const learn::Column*> columns_;
};

double number_at(const learn::Column* column, std::size_t row) {
  if (!column || column->categorical) return std::numeric_limits<double>::quiet_NaN();
  return column->numbers[row];
}
std::string text_at(const learn::Column* column, std::size_t row) {
  if (!column || !column->categorical || column->codes[row] < 0) return {};
  return column->labels[static_cast<std::size_t>(column->codes[row])];
}

PairColumns columns_of(const Frame& frame) {
  PairColumns found;
  for (const auto& [name, column] : frame.all()) {
    if (is_partner_column(name) || name == kJobColumn || name == kRhoColumn) continue;
    const bool paired = frame.find(partner_prefix(1) + name) != nullptr;
    if (paired)
      (column->categorical ? found.texts : found.numbers).push_back(name);
    else if (column->categorical)
      found.shared.push_back(name);
  }
  return found;
}

JobProfile profile_at(const Frame& frame, const PairColumns& columns, const std::string& prefix,
                      const std::string& name_column, std::size_t row) {
  JobProfile job;
  job.name = text_at(frame.find(name_column), row);
  for (const std::string& name : columns.numbers)
    job.numbers.push_back(number_at(frame.find(prefix + name), row));
  for (const std::string& name : columns.texts)
    job.texts.push_back(text_at(frame.find(prefix + name), row));
  return job;
}

// Bytes that two jobs share only where everything that is known of them is the same.
std::string key_of(const JobProfile& job) {
  std::string key = job.name + '\0';
  for (const double value : job.numbers) {
    const double shown = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
    key.append(reinterpret_cast<const char*>(&shown), sizeof shown);
  }
  for (const std::string& text : job.texts) key += text + '\0';
  return key;
}

}  // namespace

bool JobProfile::is_blank() const {
  return std::all_of(numbers.begin(), numbers.end(), [](double v) { return std::isnan(v); }) &&
         std::all_of(texts.begin(), texts.end(), [](const std::string& t) { return t.empty(); });
}

bool JobProfile::operator==(const JobProfile& other) const {
  return key_of(*this) == key_of(other);
}

std::int32_t PairRows::job_index(const JobProfile& job) {
  const auto at = std::find(jobs.begin(), jobs.end(), job);
  if (at != jobs.end()) return static_cast<std::int32_t>(at - jobs.begin());
  jobs.push_back(job);
  return static_cast<std::int32_t>(jobs.size() - 1);
}

std::int32_t PairRows::context_index(const std::vector<std::string>& context) {
  const auto at = std::find(contexts.begin(), contexts.end(), context);
  if (at != contexts.end()) return static_cast<std::int32_t>(at - contexts.begin());
  contexts.push_back(context);
  return static_cast<std::int32_t>(contexts.size() - 1);
}

PairRows read_pair_rows(const Dataset& data, const PairColumns* as,
                        const std::function<void()>& check) {
  learn::Rows read = learn::read_rows(data, {}, check);
  add_partner_graphs(data, read, check);
  const Frame frame(read);
  const PairColumns columns = as ? *as : columns_of(frame);
  PairRows all;
  all.numbers = columns.numbers;
  all.texts = columns.texts;
  all.shared = columns.shared;
  all.has_candidates = !read.candidate_id.empty();
  std::unordered_map<std::string, std::int32_t> known;
  const auto index_of = [&](JobProfile job) {
    const auto [at, is_new] =
        known.emplace(key_of(job), static_cast<std::int32_t>(all.jobs.size()));
    if (is_new) all.jobs.push_back(std::move(job));
    return at->second;
  };
  for (std::size_t row = 0; row < read.workload_id.size(); ++row) {
    PairRow made;
    made.workload_id = read.workload_id[row];
    if (all.has_candidates) made.candidate_id = read.candidate_id[row];
    if (!read.group.empty()) made.group = read.group[row];
    made.victim = index_of(profile_at(frame, columns, "", kJobColumn, row));
    for (int partner = 1; partner <= kMostPartners; ++partner) {
      JobProfile other =
          profile_at(frame, columns, partner_prefix(partner), partner_column(partner), row);
      if (other.is_blank() && other.name.empty()) continue;
      made.partners.push_back(index_of(std::move(other)));
    }
    std::vector<std::string> context;
    for (const std::string& name : columns.shared)
      context.push_back(text_at(frame.find(name), row));
    made.context = all.context_index(context);
    all.rows.push_back(std::move(made));
  }
  return all;
}

std::vector<double> read_rho(const Dataset& data, const PairRows& rows) {
  const Table targets = data.table("targets");
  if (!targets.has(kRhoColumn))
    learn::throw_bad_data("the data has no target 'rho'",
                          "Rows need the speed beside the partner relative to alone; see "
                          "plugins/interference/README.md.");
  const std::vector<double> value = targets.numbers(kRhoColumn);
  const std::vector<double> id = targets.numbers("workload_id");
  std::unordered_map<std::int64_t, double> by_id;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] < 0)
      learn::throw_bad_data("a relative speed is " + std::to_string(value[i]),
                            "Speeds and times are above 0; leave the cell empty where nothing was "
                            "measured.");
    by_id[static_cast<std::int64_t>(id[i])] = value[i];
  }
  std::vector<double> rho;
  for (const PairRow& row : rows.rows) {
    const auto at = by_id.find(row.workload_id);
    rho.push_back(at == by_id.end() ? std::numeric_limits<double>::quiet_NaN() : at->second);
  }
  return rho;
}

}  // namespace omen::interference
