// SPDX-License-Identifier: Apache-2.0
// Parsing grids and filling commands in.
#include "sweep/grid.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "omen/error.hpp"
#include "omen/join.hpp"

namespace omen::driple {
namespace {

constexpr std::size_t kMostPoints = 1'000'000;
constexpr const char* kGridHint =
    "Write NAME=VALUE,VALUE for each dimension, such as \"model=vgg11,resnet50 batch=8,16\".";

bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

}  // namespace

void Grid::add(const std::string& part) {
  const std::size_t equals = part.find('=');
  Dimension dimension{part.substr(0, equals), {}};
  if (equals == std::string::npos || !is_word(dimension.name))
    throw Error(OMEN_INVALID_ARGUMENT, "'" + part + "' is no dimension of a grid", kGridHint);
  std::istringstream values(part.substr(equals + 1));
  for (std::string value; std::getline(values, value, ',');)
    if (!value.empty()) dimension.values.push_back(value);
  const auto same = [&](const Dimension& d) { return d.name == dimension.name; };
  if (dimension.values.empty() || std::any_of(dimensions_.begin(), dimensions_.end(), same))
    throw Error(OMEN_INVALID_ARGUMENT,
                "dimension '" + dimension.name + "' has no value or stands there twice", kGridHint);
  dimensions_.push_back(std::move(dimension));
  if (size() > kMostPoints)
    throw Error(OMEN_INVALID_ARGUMENT, "the grid has more than a million points",
                "Leave values out, or sweep parts of it.");
}

Grid Grid::parse(const std::string& text_or_file) {
  std::string text = text_or_file;
  if (std::error_code ignored; std::filesystem::is_regular_file(text_or_file, ignored)) {
    std::ifstream file(text_or_file);
    text.clear();
    for (std::string line; std::getline(file, line);) text += line.substr(0, line.find('#')) + "\n";
  }
  std::replace(text.begin(), text.end(), ';', ' ');
  Grid grid;
  std::istringstream parts(text);
  for (std::string part; parts >> part;) grid.add(part);
  if (grid.dimensions_.empty()) throw Error(OMEN_INVALID_ARGUMENT, "the grid is empty", kGridHint);
  return grid;
}

std::size_t Grid::size() const {
  std::size_t points = 1;
  for (const Dimension& dimension : dimensions_)
    points = std::min(kMostPoints + 1, points * dimension.values.size());
  return points;
}

Point Grid::point(std::size_t index) const {
  Point point(dimensions_.size());
  for (std::size_t i = dimensions_.size(); i-- > 0;) {
    const std::vector<std::string>& values = dimensions_[i].values;
    point[i] = {dimensions_[i].name, values[index % values.size()]};
    index /= values.size();
  }
  return point;
}

std::string point_name(const Point& point) {
  std::string name =
      join(point, "_", [](const auto& each) { return std::string_view(each.second); });
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '-' && c != '_'; }, '-');
  return name;
}

std::vector<std::string> filled_in(const std::vector<std::string>& words,
                                   const std::map<std::string, std::string>& values) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    std::string filled;
    std::size_t at = 0;
    for (std::size_t open = word.find('{'); open != std::string::npos; open = word.find('{', at)) {
      const std::size_t close = word.find('}', open);
      const std::string name =
          close == std::string::npos ? "" : word.substr(open + 1, close - open - 1);
      filled += word.substr(at, open - at);
      if (!is_word(name)) {  // braces of the command's own, such as JSON
        filled += '{';
        at = open + 1;
        continue;
      }
      const auto value = values.find(name);
      if (value == values.end())
        throw Error(OMEN_INVALID_ARGUMENT,
                    "the command has a place for {" + name + "}, which is no dimension of the grid",
                    "Add " + name + "=VALUE to the grid.");
      filled += value->second;
      at = close + 1;
    }
    out.push_back(filled + word.substr(at));
  }
  return out;
}

}  // namespace omen::driple
