// SPDX-License-Identifier: Apache-2.0
// Figures as the host takes them: series, axes with units, panels, marks, and any text.
#include "omen/figure.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace omen {
namespace {

using nlohmann::json;

json drawn(const Figure& figure) {
  return json::parse(figure.json());
}

TEST(Figure, AxesShowTitlesUnitsAndZero) {
  Figure figure("a \"split\" </script>");
  figure.x_axis({"share", "%"}).y_axis(FigureAxis("time", "ms").from_zero().logarithmic());
  const json layout = drawn(figure)["layout"];
  EXPECT_EQ(layout["title"]["text"], "a \"split\" &lt;/script>");
  EXPECT_EQ(layout["xaxis"]["title"]["text"], "share in %");
  EXPECT_EQ(layout["yaxis"]["title"]["text"], "time in ms");
  EXPECT_EQ(layout["yaxis"]["rangemode"], "tozero");
  EXPECT_EQ(layout["yaxis"]["type"], "log");
  EXPECT_TRUE(figure.empty());
}

TEST(Figure, LinesAndMarkersWithErrors) {
  Figure figure;
  figure.lines("curve", {0, 0.1 + 0.2}, {1, std::nan("")}).colour("#123456");
  figure.markers("best", {50}, {2}).marker_size(11).error_x({3}, {4}).error_y({1}, {2});
  figure.lines("many", {1}, {1}).dense();
  const json data = drawn(figure)["data"];
  ASSERT_EQ(data.size(), 3u);
  EXPECT_EQ(data[0]["type"], "scatter");
  EXPECT_EQ(data[0]["mode"], "lines");
  EXPECT_EQ(data[0]["x"], (json{0, 0.3}));
  EXPECT_TRUE(data[0]["y"][1].is_null());
  EXPECT_EQ(data[0]["line"]["color"], "#123456");
  EXPECT_EQ(data[1]["mode"], "markers");
  EXPECT_EQ(data[1]["marker"]["size"], 11);
  EXPECT_EQ(data[1]["error_x"]["arrayminus"], json{3});
  EXPECT_EQ(data[1]["error_x"]["array"], json{4});
  EXPECT_EQ(data[1]["error_y"]["array"], json{2});
  EXPECT_EQ(data[2]["type"], "scattergl");
  EXPECT_FALSE(figure.empty());
}

TEST(Figure, PanelsLieAboveEachOther) {
  Figure figure;
  EXPECT_EQ(figure.add_panel({"GPU"}), 0u);
  EXPECT_EQ(figure.add_panel({"CPU"}), 1u);
  figure.lines("a", {1}, {1}).panel(0);
  figure.lines("b", {1}, {1}).panel(1);
  figure.height(460).without_legend().shared_hover();
  const json all = drawn(figure);
  const json& layout = all["layout"];
  EXPECT_FALSE(all["data"][0].contains("yaxis"));
  EXPECT_EQ(all["data"][1]["yaxis"], "y2");
  EXPECT_EQ(layout["yaxis"]["title"]["text"], "GPU");
  EXPECT_EQ(layout["yaxis2"]["title"]["text"], "CPU");
  EXPECT_EQ(layout["yaxis"]["domain"][1], 1);
  EXPECT_GT(layout["yaxis"]["domain"][0], layout["yaxis2"]["domain"][1]);
  EXPECT_EQ(layout["height"], 460);
  EXPECT_EQ(layout["showlegend"], false);
  EXPECT_EQ(layout["hovermode"], "x unified");
}

TEST(Figure, MarksAndStripes) {
  Figure figure;
  figure.mark(4.2, "epoch").stripe(1, 2, "rgba(1, 2, 3, 0.5)", 1);
  EXPECT_EQ(figure.stripes(), 1u);
  const json layout = drawn(figure)["layout"];
  EXPECT_EQ(layout["shapes"][0]["x0"], 4.2);
  EXPECT_EQ(layout["annotations"][0]["text"], "epoch");
  EXPECT_EQ(layout["shapes"][1]["yref"], "y2 domain");
  EXPECT_EQ(layout["shapes"][1]["fillcolor"], "rgba(1, 2, 3, 0.5)");
}

TEST(Figure, BarsAndHeatMaps) {
  Figure figure;
  figure.bars("loss", {"mean", "gbt"}, {9.5, 3}).error_y({1, 1}, {2, 2});
  figure.heat_map("ms", {"c1", "c2"}, {"r1"}, {{1, std::nan("")}});
  const json data = drawn(figure)["data"];
  EXPECT_EQ(data[0]["type"], "bar");
  EXPECT_EQ(data[0]["x"], (json{"mean", "gbt"}));
  EXPECT_EQ(data[0]["y"], (json{9.5, 3}));
  EXPECT_EQ(data[1]["type"], "heatmap");
  EXPECT_EQ(data[1]["z"][0][0], 1);
  EXPECT_TRUE(data[1]["z"][0][1].is_null());
  EXPECT_EQ(data[1]["colorbar"]["title"]["text"], "ms");
}

TEST(Figure, GanttRowsRunFromBeginToEnd) {
  Figure figure;
  figure.x_axis({"time", "s"}).gantt("copy", {{"gpu 0", 1, 3, "in"}, {"gpu 1", 2, 2.5, "out"}});
  figure.gantt("compute", {{"gpu 0", 3, 9, ""}});
  const json all = drawn(figure);
  EXPECT_EQ(all["data"][0]["orientation"], "h");
  EXPECT_EQ(all["data"][0]["y"], (json{"gpu 0", "gpu 1"}));
  EXPECT_EQ(all["data"][0]["base"], (json{1, 2}));
  EXPECT_EQ(all["data"][0]["x"], (json{2, 0.5}));
  EXPECT_EQ(all["data"][0]["text"], (json{"in", "out"}));
  EXPECT_EQ(all["data"][1]["name"], "compute");
  EXPECT_EQ(all["layout"]["barmode"], "overlay");
  EXPECT_EQ(all["layout"]["yaxis"]["autorange"], "reversed");
}

TEST(Figure, TakesAnyText) {
  Figure figure("\xff\xfe");
  figure.lines("line\nwith \"quotes\" and \x01", {1}, {1});
  figure.bars("a && vector<int>", {"<b>"}, {1});
  const json data = drawn(figure)["data"];
  EXPECT_EQ(data[0]["name"], "line\nwith \"quotes\" and \x01");
  EXPECT_EQ(data[1]["name"], "a &amp;&amp; vector&lt;int>") << "no tags";
  EXPECT_EQ(data[1]["x"][0], "&lt;b>");
}

}  // namespace
}  // namespace omen
