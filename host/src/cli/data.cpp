// SPDX-License-Identifier: Apache-2.0
// `omen data`: list, describe, import, make, check and fetch datasets.
#include <algorithm>
#include <cmath>

#include "cli/check_report.hpp"
#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/session.hpp"
#include "cli/verbs.hpp"
#include "data/fetch.hpp"
#include "data/import.hpp"
#include "data/recipe.hpp"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace fs = std::filesystem;
namespace {

struct DataRequest {
  std::string action = "list";
  std::vector<std::string> words;
  std::string name, output, format, component, group, summary, origin, license, sha256;
  std::vector<std::string> targets, key, text, numbers, units, renames;
  bool force = false;
  Flags flags;
  RunChoices run;
};

std::string digits(std::string_view digest) {
  return std::string(digest.substr(0, 12));
}

const std::string& only_word(const DataRequest& request, const char* what) {
  if (request.words.size() != 1)
    usage_error("omen data " + request.action + " takes one " + what, "see: omen data --help");
  return request.words[0];
}

// -------------------------------------------------------------------------------------------- list

int list(const Globals& globals) {
  TextTable table({{"dataset"}, {"state"}, {"licence", false, true}, {"summary", false, true}});
  JsonWriter json;
  json.object().field("format_version", 1).key("datasets").array();
  for (const DatasetEntry& entry : list_datasets()) {
    json.object().field("name", entry.name).field("state", word_of(entry.state));
    json.field("summary", entry.summary).field("license", entry.license);
    json.field("place", entry.place.string());
    if (!entry.fault.empty()) json.field("fault", entry.fault);
    json.end();
    const Style style = entry.state == DatasetState::kReady    ? Style::kGood
                        : entry.state == DatasetState::kBroken ? Style::kBad
                                                               : Style::kFaint;
    table.add({{entry.name, Style::kAccent},
               {word_of(entry.state), style},
               entry.license,
               entry.fault.empty() ? entry.summary : entry.fault});
  }
  if (globals.json)
    print(json.end().end().text());
  else
    print_table(globals, table);
  return kOk;
}

// -------------------------------------------------------------------------------------------- info

struct ColumnFacts {
  std::string table, name, type, unit, meaning, range;
  std::int64_t nulls = 0;
};

std::string range_of(const Table& table, std::size_t column) {
  if (table.type(column) == Type::kDictionary)
    return std::to_string(table.strings(column).value_count()) + " values";
  if (!is_number(table.type(column)) || table.type(column) == Type::kBool) return "";
  double low = INFINITY, high = -INFINITY;
  for (const double value : table.numbers(column)) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return low > high ? "" : format_number(low) + " .. " + format_number(high);
}

std::vector<ColumnFacts> column_facts(const DatasetInfo& info, const Tables& tables) {
  std::vector<ColumnFacts> facts;
  for (const auto& [name, table] : tables)
    for (std::size_t c = 0; c < table.columns(); ++c) {
      const std::string column(table.name(c));
      auto note = info.columns.find(name + "." + column);
      if (note == info.columns.end() && name == "workloads") note = info.columns.find(column);
      ColumnFacts fact{name, column, type_name(table.type(c)), "", "", range_of(table, c)};
      if (note != info.columns.end()) {
        fact.unit = note->second.unit;
        fact.meaning = note->second.meaning;
      }
      for (std::int64_t row = 0; row < table.rows(); ++row) fact.nulls += table.is_null(c, row);
      facts.push_back(std::move(fact));
    }
  return facts;
}

void print_info_json(const DatasetInfo& info, const Tables& tables) {
  JsonWriter json;
  json.object().field("format_version", 1).field("name", info.name).field("summary", info.summary);
  json.field("origin", info.origin).field("license", info.license);
  json.field("directory", info.directory.string()).field("digest", info.digest);
  json.field("group", info.group).key("targets").array();
  for (const TargetSpec& target : info.targets)
    json.object()
        .field("name", target.name)
        .field("unit", target.unit)
        .field("direction", word_of(target.direction))
        .end();
  json.end();
  write_files(json, info.files);
  json.key("tables").array();
  for (const auto& [name, table] : tables)
    json.object().field("name", name).field("rows", table.rows()).end();
  json.end().key("columns").array();
  for (const ColumnFacts& fact : column_facts(info, tables))
    json.object()
        .field("table", fact.table)
        .field("name", fact.name)
        .field("type", fact.type)
        .field("unit", fact.unit)
        .field("nulls", fact.nulls)
        .field("meaning", fact.meaning)
        .end();
  print(json.end().end().text());
}

int info(const Globals& globals, const DataRequest& request) {
  const RecipeDoor door(globals);
  const DatasetInfo info = find_dataset(only_word(request, "dataset"));
  const Tables tables = load_dataset(info);
  if (globals.json) {
    print_info_json(info, tables);
    return kOk;
  }
  std::string text = info.name + ": " + info.summary + "\n";
  text += "  origin   " + info.origin + "\n  licence  " + info.license + "\n";
  text += "  place    " + info.directory.string() + "\n  digest   " + info.digest + "\n";
  for (const auto& [name, table] : tables)
    text += "  table    " + name + ", " + std::to_string(table.rows()) + " rows\n";
  if (!info.group.empty()) text += "  group    " + info.group + "\n";
  for (const TargetSpec& target : info.targets)
    text += "  target   " + target.name + (target.unit.empty() ? "" : " in " + target.unit) + ", " +
            word_of(target.direction) + " is better\n";
  if (!globals.plain) print(text + "\n");
  TextTable table(
      {{"column"}, {"type"}, {"unit"}, {"range"}, {"nulls", true}, {"meaning", false, true}});
  for (const ColumnFacts& fact : column_facts(info, tables))
    table.add(
        {{fact.table == "workloads" ? fact.name : fact.table + "." + fact.name, Style::kAccent},
         fact.type,
         fact.unit,
         fact.range,
         fact.nulls > 0 ? std::to_string(fact.nulls) : "",
         fact.meaning});
  print_table(globals, table);
  return kOk;
}

// ----------------------------------------------------------------------------------- import, make

std::string name_for(const DataRequest& request) {
  if (!request.name.empty()) return request.name;
  if (!request.output.empty()) return fs::path(request.output).filename();
  if (!request.words.empty() && request.words[0] != "-") {
    std::string stem = fs::path(request.words[0]).stem();
    std::transform(stem.begin(), stem.end(), stem.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return stem;
  }
  usage_error("the dataset has no name", "name it with --name NAME, or say where with -o DIR");
}

fs::path directory_for(const DataRequest& request, const std::string& name) {
  check_data_name(name, "dataset");
  const fs::path directory =
      request.output.empty() ? dataset_cache() / name : fs::path(request.output);
  if (fs::exists(directory / "dataset.json") && !request.force)
    usage_error("dataset '" + name + "' exists in " + directory.string(),
                "replace it with --force, or give another name with --name");
  return directory;
}

TextPairs pairs_of(const char* flag, const std::vector<std::string>& texts) {
  TextPairs pairs;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == text.npos || equals + 1 == text.size())
      usage_error(std::string(flag) + " is '" + text + "', which is not COLUMN=VALUE",
                  std::string("write for example ") + flag + " time_ms=ms");
    pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return pairs;
}

DatasetInfo described(const DataRequest& request, const std::string& name) {
  DatasetInfo info;
  info.name = name;
  info.summary = request.summary;
  info.origin = request.origin;
  info.license = request.license;
  info.group = request.group;
  for (const std::string& target : request.targets) {
    info.targets.push_back(parse_target(target));
    if (!info.targets.back().unit.empty())
      info.columns[info.targets.back().name].unit = info.targets.back().unit;
  }
  for (const auto& [column, unit] : pairs_of("--unit", request.units))
    info.columns[column].unit = unit;
  return info;
}

void print_made(const Globals& globals, const DatasetInfo& info) {
  if (globals.json) {
    JsonWriter json;
    json.object().field("format_version", 1).field("name", info.name);
    json.field("directory", info.directory.string()).field("digest", info.digest);
    json.key("rows").object();
    for (const auto& [table, rows] : info.rows) json.field(table, rows);
    print(json.end().end().text());
    return;
  }
  std::string rows;
  for (const auto& [table, count] : info.rows)
    rows += (rows.empty() ? "" : ", ") + std::to_string(count) + " " + table;
  note(globals, "made dataset '" + info.name + "' in " + info.directory.string() + ": " + rows);
}

// A front end that reads the files, or generates workloads where there are none.
DatasetInfo import_component(const Globals& globals, const DataRequest& request,
                             const std::string& name, const fs::path& directory) {
  Session session(globals, request.run, request.flags, "import " + request.component, "");
  const ComponentRef ref =
      named_component(session.registry(), OMEN_GRAPH_FRONTEND, request.component);
  const OptionValues options = resolve_options(*ref.info, session.flags().sources_for(*ref.info));
  session.flags().finish();
  const std::vector<std::string> paths =
      request.action == "make" ? std::vector<std::string>{} : request.words;
  Tables tables = import_with(session.components(), ref, options, paths);
  session.progress().finish();
  DatasetInfo info = described(request, name);
  if (info.origin.empty()) info.origin = ref.info->id + " of " + ref.plugin->manifest.version;
  return write_dataset_directory(std::move(info), tables, directory);
}

DatasetInfo import_files(const Globals& globals, const DataRequest& request,
                         const std::string& name, const fs::path& directory) {
  ImportPlan plan;
  plan.info = described(request, name);
  plan.format = request.format;
  plan.renames = pairs_of("--rename", request.renames);
  plan.text = request.text;
  plan.numbers = request.numbers;
  plan.key = request.key;
  if (std::count(request.words.begin(), request.words.end(), "-") > 1)
    usage_error("standard input can be read once only");
  install_interrupt_handler();
  Progress progress("import " + name, !globals.quiet && !globals.plain);
  ImportHooks hooks;
  hooks.is_cancelled = interrupted;
  hooks.progress = [&](std::int64_t rows) {
    progress.update(-1, (std::to_string(rows) + " rows").c_str());
  };
  try {
    DatasetInfo made = import_tables(plan, request.words, directory, hooks);
    progress.finish();
    return made;
  } catch (const Error& e) {
    if (e.code() != OMEN_INVALID_DATA || request.words[0] == "-") throw;
    const RecipeDoor door(globals);
    throw naming_frontends(components_in_use(), request.words[0], e);
  }
}

int import(const Globals& globals, const DataRequest& request) {
  if (request.words.empty())
    usage_error("no file to import", "give one, or - for standard input; see: omen data --help");
  const std::string name = name_for(request);
  const fs::path directory = directory_for(request, name);
  const bool container = fs::path(request.words[0]).extension() == ".omt";
  DatasetInfo made;
  if (!request.component.empty()) {
    made = import_component(globals, request, name, directory);
  } else if (container) {
    if (request.words.size() > 1) usage_error("only one .omt file can be imported at a time");
    made = write_dataset_directory(described(request, name), read_dataset(request.words[0]),
                                   directory);
  } else {
    made = import_files(globals, request, name, directory);
  }
  print_made(globals, made);
  return kOk;
}

int make(const Globals& globals, const DataRequest& request) {
  const std::string& name = only_word(request, "dataset");
  if (!request.component.empty()) {
    print_made(globals, import_component(globals, request, name, directory_for(request, name)));
    return kOk;
  }
  const Recipe recipe = read_recipe(find_recipe(name));
  const fs::path directory =
      request.output.empty() ? dataset_cache() / recipe.name : directory_for(request, recipe.name);
  Session session(globals, request.run, request.flags, "make " + recipe.name, "");
  const DatasetInfo made = make_dataset(recipe, directory);
  session.progress().finish();
  print_made(globals, made);
  return kOk;
}

// ------------------------------------------------------------------------------------------- check

int check(const Globals& globals, const DataRequest& request) {
  const RecipeDoor door(globals);
  std::vector<std::string> names = request.words;
  if (names.empty())
    for (const DatasetEntry& entry : list_datasets()) names.push_back(entry.name);
  CheckReport report("datasets", "name", {"dataset"}, !request.words.empty());
  // A recipe without its raw files is no fault of the dataset.
  for (const std::string& name : names)
    report.add(check_of(name, [](const std::string& dataset) {
      const DatasetInfo info = find_dataset(dataset);
      verify_dataset(info);
      const Tables tables = load_dataset(info);
      check_columns(info, tables);
      return std::to_string(tables.at("workloads").rows()) + " workloads, digest " +
             digits(info.digest);
    }));
  return report.print(globals);
}

// ------------------------------------------------------------------------------------------- fetch

struct Download {
  FetchPlan plan;
  FetchResult result;
};

std::vector<Download> downloads_of(const DataRequest& request) {
  const std::string& word = only_word(request, "address or dataset");
  if (word.find("://") != std::string::npos) {
    std::string file = word.substr(word.find("://") + 3);
    file = file.substr(0, file.find_first_of("?#"));
    file = file.find('/') == file.npos ? "" : file.substr(file.rfind('/') + 1);
    if (request.output.empty() && file.empty())
      usage_error("the address names no file", "say where to put it with -o FILE");
    return {
        {{word, request.output.empty() ? fs::path(file) : fs::path(request.output), request.sha256},
         {}}};
  }
  const Recipe recipe = read_recipe(find_recipe(word));
  std::vector<Download> downloads;
  for (const RawFile& raw : recipe.raw)
    if (!raw.url.empty()) downloads.push_back({{raw.url, raw_cache() / raw.file, raw.sha256}, {}});
  if (downloads.empty())
    throw Error(OMEN_NOT_FOUND, "recipe '" + word + "' names no address to fetch from",
                "Get its raw files from: " + recipe.origin);
  return downloads;
}

int fetch(const Globals& globals, const DataRequest& request) {
  std::vector<Download> downloads = downloads_of(request);
  install_interrupt_handler();
  for (Download& download : downloads) {
    Progress progress("fetch " + download.plan.target.filename().string(),
                      !globals.quiet && !globals.plain);
    FetchHooks hooks;
    hooks.is_cancelled = interrupted;
    hooks.progress = [&](std::uint64_t done, std::uint64_t total) {
      const double share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : -1;
      progress.update(share, format_bytes(static_cast<double>(done)).c_str());
    };
    download.result = fetch_file(download.plan, hooks);
    progress.finish();
    note(globals, "fetched " + download.plan.target.string() + ", " +
                      format_bytes(static_cast<double>(download.result.bytes)) + ", sha256 " +
                      download.result.sha256);
  }
  if (!globals.json) return kOk;
  JsonWriter json;
  json.object().field("format_version", 1).key("files").array();
  for (const Download& download : downloads)
    json.object()
        .field("url", download.plan.url)
        .field("file", download.plan.target.string())
        .field("bytes", download.result.bytes)
        .field("resumed", download.result.resumed)
        .field("sha256", download.result.sha256)
        .end();
  print(json.end().end().text());
  return kOk;
}

int run_data(const Globals& globals, const DataRequest& request) {
  if (request.action == "info") return info(globals, request);
  if (request.action == "import") return import(globals, request);
  if (request.action == "make") return make(globals, request);
  if (request.action == "check") return check(globals, request);
  if (request.action == "fetch") return fetch(globals, request);
  if (!request.words.empty()) usage_error("omen data list takes no further words");
  return list(globals);
}

void complete_data(Offers& offers) {
  if (offers.at_first())
    offers.words({"list", "info", "import", "make", "check", "fetch"});
  else if (offers.line()[1] != "import")
    offers.datasets();
}

void describe_data(CommandLine& line) {
  auto& r = line.request(run_data);
  line.word("ACTION", r.action, "list, info, import, make, check or fetch")
      .one_of({"list", "info", "import", "make", "check", "fetch"});
  line.word("WORD", r.words,
            "datasets, files to import (- for standard input), or an address to fetch");
  line.value("--name", "NAME", r.name, "import: name of the dataset, by default that of the file");
  line.value("-o,--output", "PATH", r.output,
             "import, make: directory of the dataset, by default in the cache; fetch: file");
  line.value("--format", "FORMAT", r.format, "import: csv, tsv or jsonl, by default by the suffix")
      .one_of({"csv", "tsv", "jsonl"});
  line.value("--with,--frontend", "COMPONENT", r.component,
             "import: front end that reads the files; make: one that generates workloads");
  line.values("--target", "NAME[:UNIT[:lower|higher]]", r.targets,
              "import: column that was measured; may be repeated");
  line.value("--group", "COLUMN", r.group, "import: column whose rows belong together");
  line.values("--key", "COLUMN", r.key, "import: columns that together differ in every row");
  line.values("--text", "COLUMN", r.text, "import: read this column as text");
  line.values("--number", "COLUMN", r.numbers, "import: read this column as floating point");
  line.values("--unit", "COLUMN=UNIT", r.units, "import: unit of a column");
  line.values("--rename", "OLD=NEW", r.renames, "import: call a column of the file otherwise");
  line.value("--summary", "TEXT", r.summary, "import: one line about the data");
  line.value("--origin", "TEXT", r.origin, "import: where the data come from");
  line.value("--license", "TEXT", r.license, "import: licence of the data");
  line.value("--sha256", "HEX", r.sha256, "fetch: digest that the file must have");
  line.toggle("--force", r.force, "replace a dataset that exists");
  line.run_choices(r.run, r.flags);
}

}  // namespace

Verb data_verb() {
  return {"data",
          "list, describe, import, make, check and fetch datasets",
          "omen data list\nomen data info matmul-cpu\n"
          "omen data import runs.csv --target time_ms:ms:lower --group network --key name\n"
          "./measure | omen data import - --name mine --unit power=W\n"
          "omen data import src/*.cl --with COMPONENT --name kernels\n"
          "omen data make devmap\nomen data check\n"
          "omen data fetch https://example.org/runs.csv --sha256 HEX",
          describe_data,
          complete_data,
          OMEN_GRAPH_FRONTEND};
}

}  // namespace omen::host::cli
