// SPDX-License-Identifier: Apache-2.0
// Renames the axes of each figure and gives it a part of the height.
#include "statistics/report_page.hpp"

#include <nlohmann/json.hpp>

namespace omen::power {
namespace {

using Json = nlohmann::json;

constexpr double kPart_px = 400, kTop_px = 70, kTitle_px = 16;
// Above the plot stand its title and its legend, below it the title of the axis.
constexpr double kAbove_px = 92, kBelow_px = 62;
constexpr const char* kGrid = "rgba(128,128,128,0.25)";

std::string numbered(const std::string& name, std::size_t number) {
  return number == 0 ? name : name + std::to_string(number + 1);
}

}  // namespace

std::string ReportPage::json() const {
  const double height = static_cast<double>(parts_.size()) * kPart_px;
  Json page = {{"data", Json::array()}, {"layout", Json::object()}};
  Json& layout = page["layout"];
  layout["title"] = {{"text", title_},
                     {"yref", "container"},
                     {"y", 1},
                     {"yanchor", "top"},
                     {"pad", {{"t", kTitle_px}}}};
  layout["height"] = height + kTop_px;
  layout["margin"] = {{"t", kTop_px}, {"b", 0}, {"l", 60}, {"r", 16}};
  layout["annotations"] = Json::array();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Json figure = Json::parse(parts_[i].second);
    const double top = 1 - static_cast<double>(i) * kPart_px / height;
    for (Json trace : figure["data"]) {
      trace["xaxis"] = numbered("x", i);
      trace["yaxis"] = numbered("y", i);
      trace["legend"] = numbered("legend", i);
      page["data"].push_back(std::move(trace));
    }
    Json x = figure["layout"].value("xaxis", Json::object());
    Json y = figure["layout"].value("yaxis", Json::object());
    x["anchor"] = numbered("y", i);
    y["anchor"] = numbered("x", i);
    y["domain"] = {top - (kPart_px - kBelow_px) / height, top - kAbove_px / height};
    for (Json* axis : {&x, &y}) {
      (*axis)["gridcolor"] = kGrid;
      (*axis)["automargin"] = true;
    }
    layout[numbered("xaxis", i)] = x;
    layout[numbered("yaxis", i)] = y;
    layout[numbered("legend", i)] = {{"orientation", "h"},
                                     {"x", 0},
                                     {"xanchor", "left"},
                                     {"y", top - 36 / height},
                                     {"yanchor", "top"}};
    layout["annotations"].push_back({{"text", "<b>" + parts_[i].first + "</b>"},
                                     {"x", 0},
                                     {"xref", "paper"},
                                     {"xanchor", "left"},
                                     {"y", top - 8 / height},
                                     {"yref", "paper"},
                                     {"yanchor", "top"},
                                     {"showarrow", false}});
  }
  return page.dump();
}

}  // namespace omen::power
