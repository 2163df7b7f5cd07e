// SPDX-License-Identifier: Apache-2.0
// Reads --models and sweep files.
#include "train/model_list.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <omen/error.hpp>
#include <omen/join.hpp>
#include <omen/near_names.hpp>
#include <sstream>

namespace omen::ensemble {
namespace {

struct OptimiserEntry {
  Optimiser optimiser;
  const char* name;
};
constexpr OptimiserEntry kOptimiserTable[] = {
    {Optimiser::kSgd, "sgd"}, {Optimiser::kMomentum, "momentum"}, {Optimiser::kAdam, "adam"}};

constexpr std::int64_t kMostCopies = 1024;

[[noreturn]] void bad_models(const std::string& what, const std::string& hint) {
  throw Error(OMEN_INVALID_ARGUMENT, what, hint);
}

std::vector<std::string> cut(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, at);) {
    const std::size_t from = part.find_first_not_of(" \t\r"), to = part.find_last_not_of(" \t\r");
    parts.push_back(from == std::string::npos ? "" : part.substr(from, to - from + 1));
  }
  return parts;
}

template <class Number>
Number number_in(const std::string& text, const std::string& where) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    bad_models(where + ": '" + text + "' is no number", "Correct the cell.");
  return value;
}

void check_source(const std::string& source) {
  if (is_built_in(source)) return;
  if (source.ends_with(".pt") && std::filesystem::exists(source)) return;
  const std::vector<std::string> known = built_in_networks(), near = near_names(source, known);
  bad_models("model '" + source + "' is neither built in nor a TorchScript file that exists",
             (near.empty() ? "" : "Did you mean " + join(near, " or ") + "?  ") + "Built in are " +
                 join(known) + ".");
}

void set_cell(ModelChoice& model, const std::string& column, const std::string& cell,
              const std::string& where) {
  if (column == "model") {
    model.source = cell;
  } else if (column == "name") {
    model.name = cell;
  } else if (column == "learning_rate") {
    model.learning_rate = number_in<double>(cell, where);
  } else if (column == "seed") {
    model.seed = number_in<std::uint64_t>(cell, where);
  } else if (column == "ranks") {
    model.ranks = number_in<std::int64_t>(cell, where);
  } else if (column == "optimiser") {
    const auto known = parse_optimiser(cell);
    if (!known)
      bad_models(where + ": optimiser '" + cell + "' is not known", "Use sgd, momentum or adam.");
    model.optimiser = *known;
  } else {
    bad_models(where + ": column '" + column + "' is not known",
               "Known are model, name, learning_rate, seed, optimiser and ranks.");
  }
}

void read_sweep(const std::string& path, const ModelChoice& defaults,
                std::vector<ModelChoice>& models) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line))
    bad_models("cannot read the sweep '" + path + "'", "Give a CSV file.");
  const std::vector<std::string> columns = cut(line, ',');
  if (std::find(columns.begin(), columns.end(), "model") == columns.end())
    bad_models("'" + path + "' has no column 'model'", "Name the network of each row there.");
  for (int row = 2; std::getline(in, line); ++row) {
    const std::vector<std::string> cells = cut(line, ',');
    if (cells.empty()) continue;
    const std::string where = path + ":" + std::to_string(row);
    if (cells.size() > columns.size()) bad_models(where + ": more cells than columns", "");
    ModelChoice model = defaults;
    model.seed += models.size();
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (!cells[i].empty()) set_cell(model, columns[i], cells[i], where);
    models.push_back(model);
  }
}

// "tiny*3": the network and how often.
std::pair<std::string, std::int64_t> copies_of(const std::string& item) {
  const std::size_t star = item.rfind('*');
  if (star == std::string::npos) return {item, 1};
  const auto count = number_in<std::int64_t>(item.substr(star + 1), "model '" + item + "'");
  if (count < 1 || count > kMostCopies)
    bad_models("model '" + item + "' asks for " + std::to_string(count) + " copies",
               "Use 1 to " + std::to_string(kMostCopies) + ".");
  return {item.substr(0, star), count};
}

void name_apart(std::vector<ModelChoice>& models) {
  std::map<std::string, int> seen;
  for (ModelChoice& model : models) {
    std::string stem =
        model.name.empty() ? std::filesystem::path(model.source).stem().string() : model.name;
    // Names become file names.
    std::replace_if(
        stem.begin(), stem.end(),
        [](unsigned char c) { return !std::isalnum(c) && c != '-' && c != '_'; }, '-');
    const int before = seen[stem]++;
    model.name = before == 0 ? stem : stem + "-" + std::to_string(before + 1);
  }
}

}  // namespace

const char* optimiser_name(Optimiser optimiser) {
  for (const OptimiserEntry& entry : kOptimiserTable)
    if (entry.optimiser == optimiser) return entry.name;
  return "";
}
std::optional<Optimiser> parse_optimiser(std::string_view text) {
  for (const OptimiserEntry& entry : kOptimiserTable)
    if (text == entry.name) return entry.optimiser;
  return {};
}

std::vector<ModelChoice> parse_models(const std::string& text, const ModelChoice& defaults) {
  std::vector<ModelChoice> models;
  for (const std::string& item : cut(text, ',')) {
    if (item.ends_with(".csv")) {
      read_sweep(item, defaults, models);
      continue;
    }
    const auto [source, copies] = copies_of(item);
    for (std::int64_t i = 0; i < copies; ++i) {
      ModelChoice model = defaults;
      model.source = source;
      model.seed += models.size();
      models.push_back(model);
    }
  }
  if (models.empty()) bad_models("there is no model to train", "Name one: --models tiny");
  for (const ModelChoice& model : models) {
    check_source(model.source);
    if (model.ranks < 1 || !(model.learning_rate > 0))
      bad_models("model '" + model.source + "' needs a learning rate above 0 and at least one rank",
                 "");
  }
  name_apart(models);
  return models;
}

}  // namespace omen::ensemble
