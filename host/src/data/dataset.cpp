// SPDX-License-Identifier: Apache-2.0
// Reads, checks, loads and finds dataset directories.
#include "data/dataset.hpp"

#include <algorithm>
#include <set>

#include "components/registry.hpp"
#include "data/json_file.hpp"
#include "data/recipe.hpp"
#include "omen/container.hpp"
#include "tables/json_node.hpp"
#include "tables/table_io.hpp"
#include "worker/machine.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

constexpr const char* kInfoFile = "dataset.json";
constexpr int kDatasetVersion = 1;

void check_file_name(const JsonNode& node) {
  const fs::path name = node.text();
  const bool inside = !name.empty() && name.is_relative() &&
                      std::none_of(name.begin(), name.end(), [](const fs::path& part) {
                        return part == ".." || part == ".";
                      });
  if (!inside) node.fail("is '" + name.string() + "', which is not inside the dataset");
}

DatasetFile parse_file(const JsonNode& node) {
  expect_members(node, {"file", "sha256", "tables"});
  DatasetFile file;
  check_file_name(node.at("file"));
  file.name = node.text("file");
  file.sha256 = node.digest("sha256");
  file.tables = node.texts("tables");
  if (file.tables.empty()) node.at("tables").fail("names no table");
  return file;
}

void parse_columns(const JsonNode& root, DatasetInfo& info) {
  if (!root.has("columns")) return;
  const JsonNode columns = root.at("columns");
  for (const auto& [name, value] : columns.expect_object().items()) {
    const JsonNode column = columns.at(name.c_str());
    expect_members(column, {"unit", "meaning"});
    info.columns[name] = {column.text_or("unit", ""), column.text_or("meaning", "")};
  }
}

// The digest does not depend on the order of the files.
std::string digest_of(std::vector<DatasetFile> files) {
  std::sort(files.begin(), files.end(),
            [](const DatasetFile& a, const DatasetFile& b) { return a.name < b.name; });
  std::string text;
  for (const DatasetFile& file : files) {
    text += file.name + "\t" + file.sha256;
    for (const std::string& table : file.tables) text += "\t" + table;
    text += "\n";
  }
  return container::sha256(text.data(), text.size());
}

void parse_info(const JsonNode& root, DatasetInfo& info) {
  expect_members(root, {"format_version", "name", "summary", "origin", "license", "files",
                        "columns", "targets", "group", "rows", "recipe_sha256"});
  if (root.natural<int>("format_version") != kDatasetVersion)
    root.at("format_version").fail("is not 1", "Use an omen as new as the dataset.");
  info.name = root.text("name");
  check_data_name(info.name, "dataset");
  info.summary = root.text_or("summary", "");
  info.origin = root.text_or("origin", "");
  info.license = root.text_or("license", "");
  info.group = root.text_or("group", "");
  parse_columns(root, info);
  for (const std::string& target : root.texts("targets"))
    info.targets.push_back(parse_target(target));
  std::set<std::string> tables;
  for (const JsonNode& item : root.items("files")) {
    info.files.push_back(parse_file(item));
    for (const std::string& table : info.files.back().tables)
      if (!tables.insert(table).second) item.fail("names table '" + table + "' a second time");
  }
  if (!tables.count("workloads")) root.at("files").fail("hold no table 'workloads'");
  if (root.has("rows")) {
    const JsonNode rows = root.at("rows");
    for (const auto& [table, value] : rows.expect_object().items())
      info.rows[table] = rows.natural<std::int64_t>(table.c_str());
  }
  if (root.has("recipe_sha256")) info.recipe_sha256 = root.digest("recipe_sha256");
  info.digest = digest_of(info.files);
}

std::string target_text(const TargetSpec& target) {
  return target.name + ":" + target.unit + ":" + word_of(target.direction);
}

std::string info_json(const DatasetInfo& info) {
  JsonWriter json;
  json.object().field("format_version", kDatasetVersion).field("name", info.name);
  json.field("summary", info.summary).field("origin", info.origin).field("license", info.license);
  write_files(json, info.files);
  if (!info.rows.empty()) {
    json.key("rows").object();
    for (const auto& [table, rows] : info.rows) json.field(table, rows);
    json.end();
  }
  if (!info.group.empty()) json.field("group", info.group);
  if (!info.columns.empty()) {
    json.key("columns").object();
    for (const auto& [name, note] : info.columns) {
      json.key(name).object();
      if (!note.unit.empty()) json.field("unit", note.unit);
      if (!note.meaning.empty()) json.field("meaning", note.meaning);
      json.end();
    }
    json.end();
  }
  if (!info.targets.empty()) {
    json.key("targets").array();
    for (const TargetSpec& target : info.targets) json.value(target_text(target));
    json.end();
  }
  if (!info.recipe_sha256.empty()) json.field("recipe_sha256", info.recipe_sha256);
  return json.end().text();
}

void add_tables(const DatasetInfo& info, const DatasetFile& file, Tables& tables) {
  const fs::path path = info.directory / file.name;
  if (path.extension() != ".omt") {
    if (file.tables.size() != 1)
      throw Error(OMEN_INVALID_DATA, path.string() + " can hold one table only, but " +
                                         (info.directory / kInfoFile).string() + " names " +
                                         std::to_string(file.tables.size()));
    tables[file.tables[0]] = read_table(path);
    return;
  }
  const container::Reader reader = container::Reader::open(path);
  for (const std::string& name : file.tables) tables[name] = container::get_table(reader, name);
}

void check_ids(const DatasetInfo& info, const Table& workloads) {
  const auto ids = workloads.column<std::int64_t>("workload_id");
  for (std::int64_t row = 1; row < ids.size(); ++row)
    if (ids[row] <= ids[row - 1])
      throw Error(OMEN_INVALID_DATA,
                  "workload_id of dataset '" + info.name + "' does not rise: row " +
                      std::to_string(row) + " has " + std::to_string(ids[row]) + " after " +
                      std::to_string(ids[row - 1]),
                  "Sort the rows, or leave the column out: rows are then numbered.");
}

bool is_dataset(const fs::path& directory) {
  return fs::is_regular_file(directory / kInfoFile);
}

fs::path recipe_in(const std::vector<fs::path>& places, const std::string& name) {
  for (const fs::path& place : places) {
    const fs::path recipe = place / "recipes" / (name + ".json");
    if (fs::is_regular_file(recipe)) return recipe;
  }
  return {};
}

bool comes_with_omen(const fs::path& recipe) {
  std::error_code none;
  const fs::path place = fs::weakly_canonical(recipe.parent_path(), none);
  for (const fs::path& own : {share_directory() / "data", dataset_cache()})
    if (place == fs::weakly_canonical(own / "recipes", none)) return true;
  return false;
}

// Where a recipe exists, a dataset in the cache counts only if this very recipe made it. One of
// that name that the user imported, or that another recipe made, is not for a task's recipe to
// replace.
DatasetInfo from_recipe(const std::string& name, const fs::path& recipe) {
  const std::string digest = container::sha256_file(recipe);
  fs::path made = dataset_cache() / name;
  for (const bool apart : {false, true}) {
    if (apart) made = cache_directory() / "datasets-of-recipes" / digest.substr(0, 16) / name;
    if (!is_dataset(made)) break;
    DatasetInfo info = read_dataset_info(made);
    if (info.recipe_sha256 == digest) return info;
    if (!info.recipe_sha256.empty() && comes_with_omen(recipe)) break;
  }
  return make_dataset(read_recipe(recipe), made);
}

[[noreturn]] void not_found(const std::string& name, const std::vector<fs::path>& places) {
  std::string looked;
  for (const fs::path& place : places) looked += (looked.empty() ? "" : ", ") + place.string();
  std::vector<std::string> names;
  for (const DatasetEntry& entry : list_datasets()) names.push_back(entry.name);
  const auto near = near_names(name, names);
  throw Error(OMEN_NOT_FOUND, "dataset '" + name + "' not found",
              "looked in: " + looked + "\n" +
                  (near.empty() ? "" : "did you mean '" + near[0] + "'?  ") +
                  "see all with: omen data list");
}

}  // namespace

void write_files(JsonWriter& json, const std::vector<DatasetFile>& files) {
  json.key("files").array();
  for (const DatasetFile& file : files)
    json.object()
        .field("file", file.name)
        .field("sha256", file.sha256)
        .strings("tables", file.tables)
        .end();
  json.end();
}

const std::string& DatasetInfo::unit(const std::string& column) const {
  static const std::string none;
  const auto at = columns.find(column);
  return at == columns.end() ? none : at->second.unit;
}

void check_data_name(const std::string& name, const char* what) {
  const bool good =
      !name.empty() && name[0] != '.' && name[0] != '-' && name != "recipes" &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") == std::string::npos;
  if (!good)
    throw Error(OMEN_INVALID_ARGUMENT, "'" + name + "' is no name of a " + what,
                "Use lower-case letters, digits, '-', '_' and '.'.");
}

DatasetInfo read_dataset_info(const fs::path& directory) {
  DatasetInfo info;
  info.directory = directory;
  const fs::path file = directory / kInfoFile;
  if (!fs::exists(file))
    throw Error(OMEN_NOT_FOUND,
                "'" + directory.string() + "' is no dataset: it has no dataset.json",
                "Make one from a table with: omen data import FILE -o " + directory.string());
  read_json_file(file, [&](const JsonNode& root) { parse_info(root, info); });
  return info;
}

void verify_dataset(const DatasetInfo& info) {
  for (const DatasetFile& file : info.files) {
    const fs::path path = info.directory / file.name;
    const std::string have = container::sha256_file(path);
    if (have == file.sha256) continue;
    throw Error(OMEN_INVALID_DATA,
                path.string() + " was changed: its sha256 is " + have.substr(0, 12) +
                    "..., dataset.json says " + file.sha256.substr(0, 12) + "...",
                info.recipe_sha256.empty()
                    ? "Restore the file, or import it again under another name."
                    : "Make it again with: omen data make " + info.name);
  }
}

Tables load_dataset(const DatasetInfo& info) {
  Tables tables;
  for (const DatasetFile& file : info.files) add_tables(info, file, tables);
  complete_workloads(tables);
  check_ids(info, tables.at("workloads"));
  return tables;
}

DatasetInfo seal_dataset(DatasetInfo info) {
  check_data_name(info.name, "dataset");
  for (DatasetFile& file : info.files)
    file.sha256 = container::sha256_file(info.directory / file.name);
  info.digest = digest_of(info.files);
  container::write_file(info.directory / kInfoFile, info_json(info));
  return info;
}

fs::path dataset_cache() {
  return cache_directory() / "datasets";
}

std::vector<fs::path> data_places(const fs::path& beside) {
  std::vector<fs::path> places;
  if (!beside.empty()) {
    // tasks/<track>/x.json lies two levels below the directory that holds data/.
    fs::path directory = fs::absolute(beside).lexically_normal();
    for (int level = 0; level < 3; ++level, directory = directory.parent_path())
      if (fs::is_directory(directory / "data")) places.push_back(directory / "data");
  }
  places.push_back(share_directory() / "data");
  places.push_back(dataset_cache());
  return places;
}

DatasetInfo find_dataset(const std::string& name, const fs::path& beside) {
  if (name.empty()) throw Error(OMEN_INVALID_ARGUMENT, "the name of a dataset is empty");
  if (name.find('/') != std::string::npos || name[0] == '.') {
    const fs::path path = beside / name;
    return read_dataset_info(path.lexically_normal());
  }
  if (is_dataset(beside / name)) return read_dataset_info(beside / name);
  const std::vector<fs::path> places = data_places(beside);
  for (const fs::path& place : places)
    if (place != places.back() && is_dataset(place / name)) return read_dataset_info(place / name);
  const fs::path recipe = recipe_in(places, name);
  if (!recipe.empty()) return from_recipe(name, recipe);
  if (is_dataset(places.back() / name)) return read_dataset_info(places.back() / name);
  not_found(name, places);
}

std::vector<DatasetEntry> list_datasets() {
  std::map<std::string, DatasetEntry> found;
  const auto add = [&found](DatasetEntry entry) { found.emplace(entry.name, std::move(entry)); };
  std::error_code none;
  const std::vector<fs::path> places = data_places();
  for (const fs::path& place : places)
    for (const fs::directory_entry& item : fs::directory_iterator(place, none)) {
      if (!is_dataset(item.path())) continue;
      DatasetEntry entry{item.path().filename(), "", "", DatasetState::kReady, item.path(), ""};
      try {
        const DatasetInfo info = read_dataset_info(item.path());
        entry.summary = info.summary;
        entry.license = info.license;
      } catch (const Error& e) {
        entry.state = DatasetState::kBroken;
        entry.fault = e.what();
      }
      add(std::move(entry));
    }
  for (const fs::path& place : places)
    for (const fs::directory_entry& item : fs::directory_iterator(place / "recipes", none)) {
      if (item.path().extension() != ".json") continue;
      DatasetEntry entry{item.path().stem(), "", "", DatasetState::kToMake, item.path(), ""};
      try {
        const Recipe recipe = read_recipe(item.path());
        entry.summary = recipe.summary;
        entry.license = recipe.license;
        // What another version of the recipe made is made again on the next use.
        const auto made = found.find(entry.name);
        if (made != found.end() && is_dataset(dataset_cache() / entry.name) &&
            read_dataset_info(dataset_cache() / entry.name).recipe_sha256 != recipe.sha256)
          made->second.state = DatasetState::kToMake;
      } catch (const Error& e) {
        entry.state = DatasetState::kBroken;
        entry.fault = e.what();
      }
      add(std::move(entry));
    }
  std::vector<DatasetEntry> list;
  for (auto& [name, entry] : found) list.push_back(std::move(entry));
  return list;
}

}  // namespace omen::host
