// SPDX-License-Identifier: Apache-2.0
// Figures for put_figure(): lines, markers, bars, heat maps and Gantt charts over axes with units.
#ifndef OMEN_FIGURE_HPP
#define OMEN_FIGURE_HPP

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "omen/join.hpp"
#include "omen/json_text.hpp"

namespace omen {

// A unit stands behind the title: "time in ms".
struct FigureAxis {
  FigureAxis() = default;
  FigureAxis(std::string title_text, std::string unit_text = {})
      : title(std::move(title_text)), unit(std::move(unit_text)) {}
  FigureAxis& from_zero() {
    shows_zero = true;
    return *this;
  }
  FigureAxis& logarithmic() {
    is_logarithmic = true;
    return *this;
  }
  std::string text() const { return unit.empty() ? title : title + " in " + unit; }

  std::string title, unit;
  bool shows_zero = false, is_logarithmic = false;
};

// One bar of a Gantt chart: what happens in `row` from `begin` to `end`.
struct FigureSpan {
  std::string row;
  double begin = 0, end = 0;
  std::string text;
};

namespace detail {

// The members of a JSON object in the order in which they were first set.
class FigureMembers {
 public:
  FigureMembers& raw(std::string_view key, std::string json) {
    for (auto& [known, value] : members_)
      if (known == key) return value = std::move(json), *this;
    members_.emplace_back(key, std::move(json));
    return *this;
  }
  FigureMembers& text(std::string_view key, std::string_view value) {
    return raw(key, json_quote(value));
  }
  // Text that people read; a chart would take "<int>" in it for a tag.
  FigureMembers& shown(std::string_view key, std::string_view value) {
    return raw(key, shown_text(value));
  }
  FigureMembers& flag(std::string_view key, bool value) {
    return raw(key, value ? "true" : "false");
  }
  FigureMembers& number(std::string_view key, double value) { return raw(key, number_text(value)); }
  FigureMembers& numbers(std::string_view key, const std::vector<double>& values) {
    return raw(key, "[" + join(values, ",", number_text) + "]");
  }
  FigureMembers& shown(std::string_view key, const std::vector<std::string>& values) {
    return raw(key, "[" + join(values, ",", shown_text) + "]");
  }
  FigureMembers& object(std::string_view key, const FigureMembers& value) {
    return raw(key, value.json());
  }
  FigureMembers& title(std::string_view value) {
    return object("title", FigureMembers().shown("text", value));
  }
  std::string json() const {
    return "{" +
           join(members_, ",",
                [](const auto& member) { return json_quote(member.first) + ":" + member.second; }) +
           "}";
  }

  static std::string shown_text(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
      if (c == '&' || c == '<')
        escaped += c == '&' ? "&amp;" : "&lt;";
      else
        escaped += c;
    }
    return json_quote(escaped);
  }
  // A day in microseconds has eleven digits, and a screen shows four.
  static std::string number_text(double value) {
    std::string text;
    append_json_rounded(text, value, 12);
    return text;
  }

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

}  // namespace detail

// What a figure draws in one colour, with one entry in the legend.
class FigureSeries {
 public:
  explicit FigureSeries(detail::FigureMembers members) : members_(std::move(members)) {}

  // Panels are numbered from 0, the one at the top.
  FigureSeries& panel(std::size_t number) {
    panel_ = number;
    return *this;
  }
  // Any colour of CSS; without it the page chooses one that suits its theme.
  FigureSeries& colour(const std::string& css) {
    members_.object("marker", marker_.text("color", css));
    members_.object("line", detail::FigureMembers().text("color", css));
    return *this;
  }
  FigureSeries& marker_size(double pixels) {
    members_.object("marker", marker_.number("size", pixels));
    return *this;
  }
  // For lines and markers with thousands of points: drawn by the graphics card.
  FigureSeries& dense() {
    members_.text("type", "scattergl");
    return *this;
  }
  // Distances from the values, not bounds.
  FigureSeries& error_x(const std::vector<double>& below, const std::vector<double>& above) {
    return error("error_x", below, above);
  }
  FigureSeries& error_y(const std::vector<double>& below, const std::vector<double>& above) {
    return error("error_y", below, above);
  }

 private:
  friend class Figure;
  FigureSeries& error(const char* key, const std::vector<double>& below,
                      const std::vector<double>& above) {
    detail::FigureMembers bar;
    bar.text("type", "data").flag("symmetric", false);
    members_.object(key, bar.numbers("array", above).numbers("arrayminus", below));
    return *this;
  }

  detail::FigureMembers members_, marker_;
  std::size_t panel_ = 0;
};

// Panels lie above each other over one x axis; a figure has one until more are added. The text of
// json() is what put_figure() takes. References to series stay valid as long as the figure.
class Figure {
 public:
  explicit Figure(std::string title = {}) : title_(std::move(title)) {}

  Figure& x_axis(FigureAxis axis) {
    x_ = std::move(axis);
    return *this;
  }
  // Of the first panel.
  Figure& y_axis(FigureAxis axis) {
    panels_[0] = std::move(axis);
    return *this;
  }
  // The first call sets the axis of the panel that is there; returns the panel's number.
  std::size_t add_panel(FigureAxis y) {
    if (has_panels_) panels_.emplace_back();
    has_panels_ = true;
    panels_.back() = std::move(y);
    return panels_.size() - 1;
  }
  // In pixels; without it the figure fills its page.
  Figure& height(std::size_t pixels) {
    height_ = pixels;
    return *this;
  }
  Figure& without_legend() {
    legend_ = false;
    return *this;
  }
  // One box with the values of all series at the place of the mouse.
  Figure& shared_hover() {
    shared_hover_ = true;
    return *this;
  }

  FigureSeries& lines(const std::string& name, const std::vector<double>& x,
                      const std::vector<double>& y) {
    return scatter("lines", name, x, y);
  }
  FigureSeries& markers(const std::string& name, const std::vector<double>& x,
                        const std::vector<double>& y) {
    return scatter("markers", name, x, y);
  }
  // Bars of several series stand beside each other.
  FigureSeries& bars(const std::string& name, const std::vector<std::string>& labels,
                     const std::vector<double>& values) {
    return add(detail::FigureMembers()
                   .text("type", "bar")
                   .shown("name", name)
                   .shown("x", labels)
                   .numbers("y", values));
  }
  // `values` row by row; NaN leaves a hole.
  FigureSeries& heat_map(const std::string& unit, const std::vector<std::string>& columns,
                         const std::vector<std::string>& rows,
                         const std::vector<std::vector<double>>& values) {
    const auto row_text = [](const std::vector<double>& row) {
      return "[" + join(row, ",", detail::FigureMembers::number_text) + "]";
    };
    return add(detail::FigureMembers()
                   .text("type", "heatmap")
                   .shown("x", columns)
                   .shown("y", rows)
                   .raw("z", "[" + join(values, ",", row_text) + "]")
                   .object("colorbar", detail::FigureMembers().title(unit)));
  }
  // Rows from the top in the order in which they are first named.
  FigureSeries& gantt(const std::string& name, const std::vector<FigureSpan>& spans) {
    std::vector<std::string> rows, texts;
    std::vector<double> begins, lengths;
    for (const FigureSpan& span : spans) {
      rows.push_back(span.row);
      texts.push_back(span.text);
      begins.push_back(span.begin);
      lengths.push_back(span.end - span.begin);
    }
    has_spans_ = true;
    return add(detail::FigureMembers()
                   .text("type", "bar")
                   .text("orientation", "h")
                   .shown("name", name)
                   .shown("y", rows)
                   .numbers("base", begins)
                   .numbers("x", lengths)
                   .shown("text", texts));
  }

  // A dotted line through all panels, with its name.
  Figure& mark(double x, const std::string& text) {
    shapes_.push_back(
        shape("line", x, x, "paper")
            .object("line", detail::FigureMembers().number("width", 1).text("dash", "dot"))
            .json());
    notes_.push_back(detail::FigureMembers()
                         .number("x", x)
                         .number("y", 1)
                         .text("xref", "x")
                         .text("yref", "paper")
                         .shown("text", text)
                         .flag("showarrow", false)
                         .number("textangle", -90)
                         .text("yanchor", "top")
                         .text("xanchor", "left")
                         .json());
    return *this;
  }
  // A coloured background of one panel.
  Figure& stripe(double from, double to, const std::string& colour, std::size_t panel = 0) {
    shapes_.push_back(shape("rect", from, to, axis_name("y", panel) + " domain")
                          .text("fillcolor", colour)
                          .object("line", detail::FigureMembers().number("width", 0))
                          .text("layer", "below")
                          .json());
    return *this;
  }
  std::size_t stripes() const noexcept { return shapes_.size() - notes_.size(); }
  bool empty() const noexcept { return series_.empty(); }

  std::string json() const {
    const auto series_text = [](const FigureSeries& series) {
      detail::FigureMembers members = series.members_;
      if (series.panel_ > 0)
        members.text("xaxis", "x").text("yaxis", axis_name("y", series.panel_));
      return members.json();
    };
    return "{\"data\":[" + join(series_, ",", series_text) + "],\"layout\":" + layout() + "}";
  }

 private:
  // "y", "y2", "y3".
  static std::string axis_name(const std::string& letter, std::size_t panel) {
    return panel == 0 ? letter : letter + std::to_string(panel + 1);
  }
  static detail::FigureMembers shape(const char* type, double from, double to,
                                     const std::string& y_reference) {
    return detail::FigureMembers()
        .text("type", type)
        .text("xref", "x")
        .text("yref", y_reference)
        .number("x0", from)
        .number("x1", to)
        .number("y0", 0)
        .number("y1", 1);
  }
  static detail::FigureMembers axis_members(const FigureAxis& axis) {
    detail::FigureMembers members;
    if (!axis.title.empty()) members.title(axis.text());
    if (axis.shows_zero) members.text("rangemode", "tozero");
    if (axis.is_logarithmic) members.text("type", "log");
    return members;
  }
  FigureSeries& add(detail::FigureMembers members) {
    series_.emplace_back(std::move(members));
    return series_.back();
  }
  FigureSeries& scatter(const char* mode, const std::string& name, const std::vector<double>& x,
                        const std::vector<double>& y) {
    return add(detail::FigureMembers()
                   .text("type", "scatter")
                   .text("mode", mode)
                   .shown("name", name)
                   .numbers("x", x)
                   .numbers("y", y));
  }

  std::string layout() const {
    constexpr double kGap = 0.12;  // of a panel's height
    detail::FigureMembers members;
    if (!title_.empty()) members.title(title_);
    if (height_ > 0) members.number("height", static_cast<double>(height_));
    if (!legend_) members.flag("showlegend", false);
    if (shared_hover_) members.text("hovermode", "x unified");
    if (has_spans_) members.text("barmode", "overlay");
    const double share = 1.0 / static_cast<double>(panels_.size());
    detail::FigureMembers x = axis_members(x_);
    if (panels_.size() > 1) x.text("anchor", "free").number("position", 0);
    members.object("xaxis", x);
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      detail::FigureMembers y = axis_members(panels_[i]);
      const double top = 1 - static_cast<double>(i) * share;
      if (panels_.size() > 1) y.numbers("domain", {top - share * (1 - kGap), top});
      if (has_spans_) y.text("autorange", "reversed");
      members.object(axis_name("yaxis", i), y);
    }
    if (!shapes_.empty()) members.raw("shapes", "[" + join(shapes_, ",") + "]");
    if (!notes_.empty()) members.raw("annotations", "[" + join(notes_, ",") + "]");
    return members.json();
  }

  std::string title_;
  FigureAxis x_;
  std::vector<FigureAxis> panels_ = std::vector<FigureAxis>(1);
  std::deque<FigureSeries> series_;
  std::vector<std::string> shapes_, notes_;
  std::size_t height_ = 0;
  bool has_panels_ = false, legend_ = true, shared_hover_ = false, has_spans_ = false;
};

}  // namespace omen

#endif  // OMEN_FIGURE_HPP
