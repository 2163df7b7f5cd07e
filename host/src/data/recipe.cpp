// SPDX-License-Identifier: Apache-2.0
// Reads recipes and finds the raw files that they name.
#include "data/recipe.hpp"

#include <algorithm>
#include <cstdlib>

#include "components/registry.hpp"
#include "data/json_file.hpp"
#include "omen/container.hpp"
#include "tables/json_node.hpp"
#include "worker/machine.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

TextPairs pairs(const JsonNode& node, const char* key) {
  TextPairs list;
  if (!node.has(key)) return list;
  const JsonNode object = node.at(key);
  for (const auto& [name, value] : object.expect_object().items())
    list.emplace_back(name, object.text(name.c_str()));
  return list;
}

std::string raw_name(const JsonNode& node, const char* key, const Recipe& recipe) {
  const std::string& name = node.text(key);
  if (std::none_of(recipe.raw.begin(), recipe.raw.end(),
                   [&](const RawFile& raw) { return raw.file == name; }))
    node.at(key).fail("is '" + name + "', which is not among the raw files",
                      "List it under 'raw' with its sha256.");
  return name;
}

RawFile parse_raw(const JsonNode& node) {
  expect_members(node, {"file", "sha256", "url"});
  RawFile raw{node.text("file"), node.digest("sha256"), node.text_or("url", "")};
  const fs::path path = raw.file;
  if (path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end())
    node.at("file").fail("is not below the data directory");
  return raw;
}

SourceStep parse_source(const JsonNode& node, const Recipe& recipe) {
  expect_members(node, {"file", "unnamed", "text", "add"});
  return {raw_name(node, "file", recipe), node.text_or("unnamed", ""), node.texts("text"),
          pairs(node, "add")};
}

JoinStep parse_join(const JsonNode& node, const Recipe& recipe) {
  expect_members(node, {"file", "on", "take"});
  JoinStep join{raw_name(node, "file", recipe), pairs(node, "on"), pairs(node, "take")};
  if (join.on.empty()) node.fail("joins on no column");
  if (join.take.empty()) node.fail("takes no column");
  return join;
}

DeriveStep parse_derive(const JsonNode& node) {
  expect_members(node, {"column", "from", "match", "times", "product", "over", "percent_with",
                        "nearest", "texts"});
  DeriveStep derive;
  derive.column = node.text("column");
  derive.from = node.text_or("from", "");
  derive.match = node.text_or("match", "");
  derive.product = node.texts("product");
  if (node.has("over") && node.at("over").value().is_string())
    derive.over = {node.text("over")};
  else
    derive.over = node.texts("over");
  derive.percent_with = node.text_or("percent_with", "");
  derive.nearest = node.texts("nearest");
  derive.texts = node.texts("texts");
  if (node.has("times")) derive.times = node.number("times");
  const int ways = !derive.match.empty() + derive.multiplies() + !derive.texts.empty() +
                   !derive.percent_with.empty() + !derive.nearest.empty();
  if (ways != 1)
    node.fail(
        "needs exactly one of match, percent_with, nearest, texts, and a factor (times, product, "
        "over)");
  if (derive.from.empty() == (derive.texts.empty() && derive.product.empty()))
    node.fail("needs 'from', or 'texts' or 'product' without it");
  return derive;
}

DeviceStep parse_devices(const JsonNode& node) {
  expect_members(node, {"on", "take"});
  DeviceStep devices{node.text("on"), pairs(node, "take")};
  if (devices.take.empty()) node.fail("takes no figure");
  return devices;
}

WhereStep parse_where(const JsonNode& node) {
  expect_members(node, {"column", "is", "is_not", "known"});
  WhereStep where{node.text("column"), node.texts("is"), node.texts("is_not"), node.flag("known")};
  if (where.is.empty() && where.is_not.empty() && !where.known)
    node.fail("keeps every row: it needs is, is_not or known");
  return where;
}

ColumnStep parse_column(const JsonNode& node) {
  if (node.value().is_string()) return {node.text(), node.text()};
  expect_members(node, {"name", "from"});
  return {node.text("name"), node.text("from")};
}

GraphStep parse_graphs(const JsonNode& node) {
  expect_members(node, {"names", "take"});
  GraphStep graphs{node.texts("names"), pairs(node, "take")};
  if (graphs.names.empty()) node.fail("has no names to look for");
  return graphs;
}

TableSteps parse_table(const std::string& name, const JsonNode& node, const Recipe& recipe) {
  expect_members(
      node, {"sources", "only", "joins", "devices", "derive", "where", "graphs", "columns", "key"});
  TableSteps steps;
  steps.table = name;
  for (const JsonNode& item : node.items("sources"))
    steps.sources.push_back(parse_source(item, recipe));
  if (steps.sources.empty()) node.fail("has no sources");
  for (const JsonNode& item : node.items("only")) steps.only.push_back(parse_where(item));
  for (const JsonNode& item : node.items("devices")) steps.devices.push_back(parse_devices(item));
  for (const JsonNode& item : node.items("joins")) steps.joins.push_back(parse_join(item, recipe));
  for (const JsonNode& item : node.items("derive")) steps.derive.push_back(parse_derive(item));
  for (const JsonNode& item : node.items("where")) steps.where.push_back(parse_where(item));
  if (node.has("graphs")) steps.graphs.push_back(parse_graphs(node.at("graphs")));
  for (const JsonNode& item : node.items("columns")) steps.columns.push_back(parse_column(item));
  steps.key = node.texts("key");
  return steps;
}

void parse_columns(const JsonNode& root, Recipe& recipe) {
  if (!root.has("columns")) return;
  const JsonNode columns = root.at("columns");
  for (const auto& [name, value] : columns.expect_object().items()) {
    const JsonNode column = columns.at(name.c_str());
    expect_members(column, {"unit", "meaning"});
    recipe.columns[name] = {column.text_or("unit", ""), column.text_or("meaning", "")};
  }
}

std::vector<std::string> raw_names(const JsonNode& node, const char* key, const Recipe& recipe) {
  std::vector<std::string> names;
  for (const JsonNode& file : node.items(key)) {
    names.push_back(file.text());
    if (std::none_of(recipe.raw.begin(), recipe.raw.end(),
                     [&](const RawFile& raw) { return raw.file == names.back(); }))
      file.fail("is not among the raw files", "List it under 'raw' with its sha256.");
  }
  return names;
}

void parse_component(const JsonNode& root, Recipe& recipe) {
  if (!root.has("import")) return;
  const JsonNode node = root.at("import");
  expect_members(node, {"component", "files", "archives", "members", "keep", "options"});
  ComponentStep step;
  step.component = node.text("component");
  step.files = raw_names(node, "files", recipe);
  step.archives = raw_names(node, "archives", recipe);
  step.members = node.text_or("members", ".");
  step.options = pairs(node, "options");
  if (node.has("keep")) {
    const JsonNode keep = node.at("keep");
    for (const auto& [table, columns] : keep.expect_object().items())
      step.keep[table] = keep.texts(table.c_str());
  }
  recipe.components.push_back(std::move(step));
}

void parse_candidates(const JsonNode& root, Recipe& recipe) {
  if (!root.has("candidates")) return;
  const JsonNode node = root.at("candidates");
  expect_members(node, {"cost", "from", "by", "name", "columns"});
  CandidateSteps steps{node.text("cost"), pairs(node, "from"), node.texts("by"),
                       node.text_or("name", ""), node.texts("columns")};
  if (steps.by.empty() == steps.from.empty()) node.fail("needs either 'from' or 'by'");
  if (steps.by.empty() && steps.from.size() < 2)
    node.at("from").fail("names fewer than two candidates");
  if (steps.by.empty() != steps.name.empty()) node.fail("needs 'name' with 'by', and only then");
  recipe.candidates.push_back(std::move(steps));
}

void parse_recipe(const JsonNode& root, Recipe& recipe) {
  expect_members(root, {"format_version", "name", "summary", "origin", "license", "group", "raw",
                        "tables", "candidates", "import", "columns", "targets"});
  if (root.natural<int>("format_version") != 1)
    root.at("format_version").fail("is not 1", "Use an omen as new as the recipe.");
  recipe.name = root.text("name");
  check_data_name(recipe.name, "dataset");
  if (recipe.name != recipe.file.stem())
    root.at("name").fail("is '" + recipe.name + "', which is not the name of the file");
  recipe.summary = root.text("summary");
  recipe.origin = root.text("origin");
  recipe.license = root.text("license");
  recipe.group = root.text_or("group", "");
  for (const JsonNode& item : root.items("raw")) recipe.raw.push_back(parse_raw(item));
  if (root.has("tables")) {
    const JsonNode tables = root.at("tables");
    for (const auto& [name, value] : tables.expect_object().items())
      recipe.tables.push_back(parse_table(name, tables.at(name.c_str()), recipe));
  }
  parse_candidates(root, recipe);
  parse_component(root, recipe);
  if (recipe.tables.empty() && recipe.components.empty())
    root.fail("has neither 'tables' nor 'import'");
  parse_columns(root, recipe);
  for (const std::string& target : root.texts("targets"))
    recipe.targets.push_back(parse_target(target));
}

[[noreturn]] void raw_missing(const Recipe& recipe, const RawFile& raw, const char* data) {
  std::string hint;
  if (!raw.url.empty()) hint = "Fetch it with: omen data fetch " + recipe.name + "\n";
  hint += data && *data ? "OMEN_DATA is " + std::string(data) + ", which has no such file."
                        : "Set OMEN_DATA to the directory that holds " + raw.file + ".";
  throw Error(OMEN_NOT_FOUND,
              "dataset '" + recipe.name + "' is made from " + raw.file + ", which is not here",
              hint);
}

}  // namespace

Recipe read_recipe(const fs::path& file) {
  Recipe recipe;
  recipe.file = file;
  read_json_file(file, [&](const JsonNode& root) { parse_recipe(root, recipe); });
  recipe.sha256 = container::sha256_file(file);
  return recipe;
}

fs::path find_recipe(const std::string& name, const fs::path& beside) {
  if (fs::path(name).extension() == ".json" && fs::is_regular_file(name)) return name;
  std::vector<std::string> known;
  std::error_code none;
  for (const fs::path& place : data_places(beside)) {
    const fs::path recipe = place / "recipes" / (name + ".json");
    if (fs::is_regular_file(recipe)) return recipe;
    for (const fs::directory_entry& item : fs::directory_iterator(place / "recipes", none))
      known.push_back(item.path().stem());
  }
  const auto near = near_names(name, known);
  throw Error(OMEN_NOT_FOUND, "there is no recipe '" + name + "'",
              near.empty() ? "see all with: omen data list" : "did you mean '" + near[0] + "'?");
}

fs::path raw_cache() {
  return cache_directory() / "raw";
}

fs::path raw_path(const Recipe& recipe, const std::string& file) {
  const auto raw = std::find_if(recipe.raw.begin(), recipe.raw.end(),
                                [&](const RawFile& r) { return r.file == file; });
  if (raw == recipe.raw.end())
    throw Error(OMEN_INTERNAL, "recipe '" + recipe.name + "' does not list " + file);
  const char* const data = std::getenv("OMEN_DATA");
  std::vector<fs::path> places;
  if (data && *data) places.emplace_back(data);
  places.push_back(raw_cache());
  for (const fs::path& place : places) {
    const fs::path path = place / file;
    if (!fs::is_regular_file(path)) continue;
    const std::string have = container::sha256_file(path);
    if (have != raw->sha256)
      throw Error(OMEN_INVALID_DATA,
                  path.string() + " is not the file that recipe '" + recipe.name +
                      "' was written for: its sha256 is " + have.substr(0, 12) + "..., wanted " +
                      raw->sha256.substr(0, 12) + "...",
                  "Get the file of that digest, or change the recipe and its tasks.");
    return path;
  }
  raw_missing(recipe, *raw, data);
}

}  // namespace omen::host
