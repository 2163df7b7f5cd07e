// SPDX-License-Identifier: Apache-2.0
// Merging of the original's files.
#include "corpus/corpus_files.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <omen/error.hpp>
#include <omen/host.hpp>
#include <set>
#include <sstream>

#include "hardware/hardware_columns.hpp"
#include "nets/nets_json.hpp"
#include "nets/text_file.hpp"

namespace omen::power {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFilesHint =
    "A collection has nets_*.json and train_*.txt or val_*.txt; see plugins/power/README.md.";

std::vector<std::string> files_like(const std::string& directory, const std::string& prefix,
                                    const std::string& suffix) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(prefix, 0) == 0 && entry.path().extension() == suffix)
      found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// "net_0012", "12" and "runs/nets_3/12.json" are the same network.
std::string plain_name(std::string name) {
  name = fs::path(name).filename().string();
  if (const std::size_t dot = name.rfind(".json"); dot != std::string::npos) name.resize(dot);
  if (name.rfind("net_", 0) == 0) name.erase(0, 4);
  const std::size_t digits = name.find_first_not_of('0');
  const bool numeric = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
  return numeric ? (digits == std::string::npos ? "0" : name.substr(digits)) : name;
}

// Lower snake case: "Freq MHz" is "freq_mhz".
std::string plain_column(const std::string& text) {
  std::string made;
  for (const char c : text) {
    const char low = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    const bool kept = (low >= 'a' && low <= 'z') || (low >= '0' && low <= '9');
    if (kept)
      made += low;
    else if (!made.empty() && made.back() != '_')
      made += '_';
  }
  while (!made.empty() && made.back() == '_') made.pop_back();
  return made;
}

std::vector<std::string> split_fields(const std::string& line) {
  const char separator = line.find('\t') != std::string::npos  ? '\t'
                         : line.find(',') != std::string::npos ? ','
                                                               : ' ';
  std::vector<std::string> fields;
  std::istringstream stream(line);
  std::string field;
  while (std::getline(stream, field, separator)) {
    const std::size_t first = field.find_first_not_of(" \r");
    if (first == std::string::npos) {
      if (separator != ' ') fields.emplace_back();
      continue;
    }
    fields.push_back(field.substr(first, field.find_last_not_of(" \r") - first + 1));
  }
  return fields;
}

class Merger {
 public:
  void read_networks(const std::string& path) {
    for (Net& net : parse_nets(read_text_file(path), file_name(path))) {
      const std::string key = net_key(net), id = std::to_string(net.id);
      const auto known = key_of_id_.emplace(id, key);
      if (!known.second && known.first->second != key)
        throw Error(OMEN_INVALID_DATA,
                    file_name(path) + ": network " + id + " is another one than in a file before",
                    "Give each network an id of its own.");
      const auto [at, fresh] = index_.emplace(key, corpus.nets.size());
      aliases_[plain_name(net.name)] = aliases_[id] = at->second;
      if (!fresh) continue;
      corpus.nets.push_back(std::move(net));
      corpus.key.push_back(key);
      corpus.family.push_back(Family::mobile);
      corpus.part.push_back(Part::train);
    }
  }

  void read_rows(const std::string& path, Part part) {
    std::istringstream lines(read_text_file(path));
    std::string line;
    std::getline(lines, line);
    std::map<std::string, std::size_t> column;
    for (const std::string& name : split_fields(line))
      column.emplace(plain_column(name), column.size());
    for (const char* needed : {"net", "p_core_w", "p_bw_w"})
      if (column.count(needed) == 0)
        throw Error(OMEN_INVALID_DATA, file_name(path) + " has no column '" + needed + "'",
                    kFilesHint);
    std::size_t number = 1;
    while (std::getline(lines, line)) {
      ++number;
      const std::vector<std::string> fields = split_fields(line);
      if (!fields.empty())
        add_row(fields, column, file_name(path) + ": line " + std::to_string(number), part);
    }
  }

  Corpus corpus;
  std::int64_t repeated = 0, noisy = 0;

 private:
  void add_row(const std::vector<std::string>& fields,
               const std::map<std::string, std::size_t>& column, const std::string& where,
               Part part) {
    const auto text = [&](const std::string& name) -> std::string {
      const auto at = column.find(name);
      if (at == column.end()) return {};
      if (at->second >= fields.size())
        throw Error(OMEN_INVALID_DATA, where + " has too few fields", kFilesHint);
      return fields[at->second];
    };
    const auto number = [&](const std::string& name, double otherwise) {
      const std::string value = text(name);
      if (value.empty()) return otherwise;
      double parsed = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
      if (error != std::errc() || end != value.data() + value.size())
        throw Error(OMEN_INVALID_DATA, where + ": " + name + " '" + value + "' is not a number",
                    kFilesHint);
      return parsed;
    };
    const auto net = aliases_.find(plain_name(text("net")));
    if (net == aliases_.end())
      throw Error(OMEN_INVALID_DATA,
                  where + " names network '" + text("net") + "', which no file has", kFilesHint);
    CorpusRow row;
    row.net = net->second;
    for (const HardwareColumn& one : kHardwareColumns)
      row.hardware.*one.field = number(one.name, row.hardware.*one.field);
    if (const auto flow = parse_dataflow(text("dataflow"))) row.hardware.dataflow = *flow;
    if (const auto dram = parse_dram(text("dram"))) row.hardware.dram = *dram;
    if (const std::string fault = fault_of(row.hardware); !fault.empty())
      throw Error(OMEN_INVALID_DATA, where + ": " + fault, kFilesHint);
    row.core_w = number("p_core_w", 0);
    row.memory_w = number("p_bw_w", 0);
    row.latency_s = number("latency_s", 0);
    if (part != Part::train) corpus.part[row.net] = part;
    keep(row);
  }
  void keep(const CorpusRow& row) {
    std::ostringstream key;
    key.precision(17);
    key << row.net << ' ' << static_cast<int>(row.hardware.dataflow) << ' '
        << static_cast<int>(row.hardware.dram);
    for (const HardwareColumn& one : kHardwareColumns) key << ' ' << row.hardware.*one.field;
    const std::array<double, 3> costs = {row.core_w, row.memory_w, row.latency_s};
    std::set<std::array<double, 3>>& seen = seen_[key.str()];
    if (!seen.insert(costs).second) {
      ++repeated;
      return;
    }
    noisy += seen.size() > 1;
    corpus.rows.push_back(row);
  }

  std::map<std::string, std::string> key_of_id_;
  std::map<std::string, std::size_t> index_, aliases_;
  std::map<std::string, std::set<std::array<double, 3>>> seen_;
};

}  // namespace

bool holds_corpus_files(const std::string& directory) {
  std::error_code ignored;
  return fs::is_directory(directory, ignored) && !files_like(directory, "nets_", ".json").empty();
}

Corpus read_corpus_files(const std::string& directory) {
  Merger merger;
  for (const std::string& path : files_like(directory, "nets_", ".json"))
    merger.read_networks(path);
  if (merger.corpus.nets.empty())
    throw Error(OMEN_INVALID_DATA, directory + " has no nets_*.json", kFilesHint);
  for (const std::string& path : files_like(directory, "train_", ".txt"))
    merger.read_rows(path, Part::train);
  for (const std::string& path : files_like(directory, "val_", ".txt"))
    merger.read_rows(path, Part::test);
  if (merger.corpus.rows.empty())
    throw Error(OMEN_INVALID_DATA, directory + " has no rows in train_*.txt or val_*.txt",
                kFilesHint);
  if (merger.repeated + merger.noisy > 0)
    log(OMEN_LOG_WARN, "power.corpus",
        std::to_string(merger.repeated) + " rows stand there twice and count once; " +
            std::to_string(merger.noisy) + " give another cost for the same accelerator");
  return std::move(merger.corpus);
}

}  // namespace omen::power
