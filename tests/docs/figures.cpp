// SPDX-License-Identifier: Apache-2.0
// Reads both sides line by line: the file has a line for each figure.
#include "figures.hpp"

#include <cmath>
#include <map>
#include <regex>

namespace docs {
namespace {

std::map<std::string, double> measured(const std::filesystem::path& file) {
  static const std::regex figure(R"re(^ *\{"name": "([^"]+)", "value": ([-+0-9.eE]+),.*$)re");
  std::map<std::string, double> values;
  std::smatch match;
  for (const std::string& line : read_lines(file))
    if (std::regex_match(line, match, figure)) values[match[1]] = std::stod(match[2]);
  return values;
}

struct Quote {
  std::string name, text;
  bool about = false;
};

std::vector<Quote> quotes_in(const std::string& marker) {
  static const std::regex entry(R"(([a-z0-9_.]+) (~?)([-+0-9.]+))");
  std::vector<Quote> quotes;
  for (std::sregex_iterator at(marker.begin(), marker.end(), entry), end; at != end; ++at)
    quotes.push_back({(*at)[1], (*at)[3], (*at)[2].length() > 0});
  return quotes;
}

bool says(const Quote& quote, double value) {
  const double text = std::stod(quote.text);
  if (quote.about) return std::fabs(text - value) <= 0.2 * std::fabs(value);
  const std::size_t point = quote.text.find('.');
  const auto digits = point == std::string::npos ? 0 : quote.text.size() - point - 1;
  return std::fabs(text - value) <= 0.5000001 * std::pow(10, -static_cast<double>(digits));
}

}  // namespace

Lines wrong_figures(const std::filesystem::path& file, const std::filesystem::path& document,
                    int& quoted) {
  const std::map<std::string, double> values = measured(file);
  const Lines lines = read_lines(document);
  Lines wrong;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with("<!-- figures: ")) continue;
    std::string marker = lines[i].substr(14), below;
    while (!lines[i].ends_with("-->") && ++i < lines.size()) marker += " " + lines[i];
    for (std::size_t at = i + 1; at < lines.size() && !lines[at].empty(); ++at)
      below += lines[at] + "\n";
    for (const Quote& quote : quotes_in(marker)) {
      ++quoted;
      const auto value = values.find(quote.name);
      if (value == values.end())
        wrong.push_back(quote.name + " is not in " + file.filename().string());
      else if (!says(quote, value->second))
        wrong.push_back(quote.name + " is quoted as " + quote.text + " and was measured as " +
                        std::to_string(value->second));
      if (below.find(quote.text) == std::string::npos)
        wrong.push_back(quote.name + ": " + quote.text + " does not stand below its marker");
    }
  }
  return wrong;
}

}  // namespace docs
