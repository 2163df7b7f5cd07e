// SPDX-License-Identifier: Apache-2.0
// Writes charts as pages that need no network: the chart library is copied into each of them.
#include "report/figure.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "page_parts.hpp"
#include "tables/table_io.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace {

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>)";
constexpr const char* kStyle = R"(</title>
<style>
:root { --page: #ffffff; --ink: #1f2937; --faint: #6b7280; }
@media (prefers-color-scheme: dark) { :root { --page: #14171c; --ink: #e5e7eb; --faint: #9ca3af; } }
html, body { margin: 0; height: 100%; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
body { display: flex; flex-direction: column; }
#figure { flex: 1; min-height: 320px; }
footer { padding: 4px 16px 10px; color: var(--faint); font-size: 12px; }
a { color: inherit; }
</style>
</head>
<body>
<div id="figure"></div>
)";
// Colours that the figure itself sets win over those of the theme.
constexpr const char* kScript = R"(
(function () {
  var query = window.matchMedia('(prefers-color-scheme: dark)');
  function merge(base, own) {
    var out = Object.assign({}, base);
    Object.keys(own || {}).forEach(function (key) {
      var both = out[key] && typeof out[key] === 'object' && !Array.isArray(own[key]) && typeof own[key] === 'object';
      out[key] = both ? merge(out[key], own[key]) : own[key];
    });
    return out;
  }
  function theme() {
    var dark = query.matches;
    var axis = {gridcolor: dark ? '#2b313a' : '#e5e7eb', zerolinecolor: dark ? '#3b434f' : '#d1d5db', automargin: true};
    return {paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)', autosize: true,
      font: {color: dark ? '#e5e7eb' : '#1f2937', family: 'system-ui, Helvetica, Arial, sans-serif'},
      colorway: ['#3a6fb0', '#d97706', '#3f8a52', '#b34a43', '#7a4fa3', '#0e7490'], xaxis: axis, yaxis: axis};
  }
  function draw() {
    Plotly.react('figure', figure.data || [], merge(theme(), figure.layout), {responsive: true, displaylogo: false});
  }
  query.addEventListener('change', draw);
  draw();
})();
)";

void check_name(const std::string& name) {
  const bool bad = name.empty() || name[0] == '.' || name.find_first_of("/\\") != std::string::npos;
  if (bad)
    throw Error(OMEN_INVALID_ARGUMENT, "'" + name + "' is no name for a figure",
                "use letters, digits, - and _");
}

template <class Write>
void write_file(const fs::path& path, Write&& write) {
  std::ofstream out(path, std::ios::binary);
  write(out);
  out.close();
  if (!out)
    throw Error(OMEN_IO, "file '" + path.string() + "' cannot be written: " + std::strerror(errno));
}

}  // namespace

void write_figure(const fs::path& directory, const std::string& name,
                  const std::string& plotly_json, const Table& table) {
  check_name(name);
  const auto figure = nlohmann::json::parse(plotly_json, nullptr, false);
  if (!figure.is_object() || !figure.contains("data") || !figure["data"].is_array())
    throw Error(OMEN_INVALID_DATA,
                "figure '" + name + "' is not {\"data\": [...], \"layout\": {...}}");
  const std::string library = chart_library();
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    throw Error(OMEN_IO, "directory " + directory.string() + " cannot be made: " + error.message());
  const bool has_table = table.columns() > 0;
  write_file(directory / (name + ".html"), [&](std::ostream& out) {
    out << kHead << escape_html(name) << kStyle;
    if (has_table)
      out << "<footer>The numbers: <a href=\"" << escape_html(name) << ".csv\">"
          << escape_html(name) << ".csv</a></footer>\n";
    out << "<script>" << library
        << "</script>\n<script>\nvar figure = " << escape_script(figure.dump()) << ";" << kScript
        << "</script>\n</body>\n</html>\n";
  });
  if (has_table)
    write_file(directory / (name + ".csv"), [&](std::ostream& out) { write_csv(out, table); });
}

}  // namespace omen::host
