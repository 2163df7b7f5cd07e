// SPDX-License-Identifier: Apache-2.0
// Colours and shapes of drawings: what kinds of nodes and edges look like.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace omen::host {

// How nodes of one kind look; fills are light enough for black text and differ in lightness for
// colour-blind eyes.
struct NodeStyle {
  const char* name;
  const char* fill;
  const char* line;
  const char* shape;  // further attributes
};
inline constexpr std::size_t kFamilyCount = 7;
// The first seven by OpFamily, then the parts of programs that are no operations.
inline constexpr std::array<NodeStyle, 12> kNodeStyles = {{
    {"compute", "#a7c7f2", "#3a6fb0", ""},
    {"elementwise", "#fbe3a3", "#b48a1c", ""},
    {"reduce, normalise", "#d9c2f0", "#7a4fa3", ""},
    {"memory, layout", "#bfe5c6", "#3f8a52", ""},
    {"control", "#f6c1bd", "#b34a43", ""},
    {"data", "#eceff3", "#8a94a3", ""},
    {"other", "#ffffff", "#6b7280", ""},
    {"variable", "#eef4fb", "#9bb3cc",
     " shape=ellipse style=filled fontsize=9 margin=\"0.04,0.02\""},
    {"constant", "#fff3df", "#d0a562",
     " shape=ellipse style=filled fontsize=9 margin=\"0.04,0.02\""},
    {"type", "#f1f0f4", "#a7a3b5", " shape=ellipse style=filled fontsize=9 margin=\"0.04,0.02\""},
    {"function elsewhere", "#f3e8fb", "#8b63b0", " shape=component style=filled"},
    {"outside", "#374151", "#111827", " shape=circle style=filled fontcolor=white margin=0.02"},
}};
inline constexpr std::size_t kVariableStyle = 7, kConstantStyle = 8, kTypeStyle = 9,
                             kDeclaredStyle = 10, kOutsideStyle = 11;

struct EdgeStyle {
  const char* kind;
  const char* attributes;
  const char* colour;
  const char* sample;
};
inline constexpr EdgeStyle kEdgeStyles[] = {
    {"data", "color=\"#4b5563\"", "#4b5563", "&#8212;&#8212;"},
    {"control", "color=\"#b34a43\" style=dashed", "#b34a43", "- - -"},
    {"call", "color=\"#7a4fa3\" style=bold", "#7a4fa3", "&#9473;&#9473;"},
    {"type", "color=\"#9ca3af\" style=dotted", "#9ca3af", "&#183; &#183; &#183;"}};
// In programs control is the spine of the picture, and values hang from it.
inline constexpr EdgeStyle kProgramEdgeStyles[] = {
    {"data", "color=\"#5b8fc9\"", "#5b8fc9", "&#8212;&#8212;"},
    {"control", "color=\"#1f2937\" penwidth=2 weight=12", "#1f2937", "&#9473;&#9473;"},
    {"call", "color=\"#8b63b0\" style=dashed", "#8b63b0", "- - -"},
    {"type", "color=\"#a7a3b5\" style=dotted", "#a7a3b5", "&#183; &#183; &#183;"}};

inline const EdgeStyle& edge_style(std::string_view kind, bool program) {
  for (const EdgeStyle& style : program ? kProgramEdgeStyles : kEdgeStyles)
    if (kind == style.kind) return style;
  return program ? kProgramEdgeStyles[0] : kEdgeStyles[0];
}

}  // namespace omen::host
