// SPDX-License-Identifier: Apache-2.0
// Picks the reader for a file by its suffix.
#include "tables/table_io.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

#include "json_lines.hpp"
#include "omen/container.hpp"

namespace omen::host {
namespace {

std::string lower_suffix(const std::filesystem::path& path) {
  std::string suffix = path.extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  });
  return suffix;
}

Table read_container(const std::filesystem::path& path, const std::string& table) {
  const container::Reader reader = container::Reader::open(path);
  if (!table.empty()) return container::get_table(reader, table);
  const std::vector<std::string> names = container::table_names(reader);
  if (names.size() == 1) return container::get_table(reader, names[0]);
  std::string have;
  for (const std::string& name : names) have += (have.empty() ? "" : ", ") + name;
  throw Error(
      OMEN_INVALID_ARGUMENT,
      "'" + path.string() + "' holds " + std::to_string(names.size()) +
          " tables, so one has to be named",
      names.empty() ? "It may be a model; `omen models` reads those." : "It has: " + have + ".");
}

}  // namespace

Table read_table(const std::filesystem::path& path, const std::string& table, ReadOptions options) {
  const std::string suffix = lower_suffix(path);
  if (suffix == ".omt" || suffix == ".omen" || suffix == ".safetensors")
    return read_container(path, table);
  const bool csv = suffix == ".csv" || suffix == ".tsv";
  const bool lines = suffix == ".jsonl" || suffix == ".ndjson";
  if (!csv && !lines && suffix != ".json")
    throw Error(OMEN_UNSUPPORTED,
                "'" + path.string() + "' is no table that can be read by its suffix",
                "Use .csv, .tsv, .jsonl, .ndjson, .json or .omt.");
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path))
    throw Error(OMEN_IO,
                "cannot open '" + path.string() + "': " + std::strerror(in ? EISDIR : errno),
                "Check the path and its permissions.");
  options.batch_rows = std::numeric_limits<std::int64_t>::max();
  options.batch_bytes = std::numeric_limits<std::size_t>::max();
  options.delimiter = suffix == ".tsv" ? '\t' : ',';
  const std::string name = path.string();
  TableStream rows = csv     ? stream_csv(in, name, options)
                     : lines ? stream_json_lines(in, name, options)
                             : stream_json_array(in, name, options);
  return rows.read_all();
}

}  // namespace omen::host
