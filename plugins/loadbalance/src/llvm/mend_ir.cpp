// SPDX-License-Identifier: Apache-2.0
// Mends old textual IR in one pass over the text each.
#include "llvm/mend_ir.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace omen::loadbalance {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$' ||
         c == '-';
}

std::size_t skip_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}

std::size_t skip_word(std::string_view text, std::size_t at) {
  while (at < text.size() && is_word(text[at])) ++at;
  return at;
}

// Behind the quote that ends the string which begins at `at`.
std::size_t skip_string(std::string_view text, std::size_t at) {
  const std::size_t end = text.find('"', at + 1);
  return end == std::string_view::npos ? text.size() : end + 1;
}

// Behind the bracket that matches the one at `at`.
std::size_t skip_brackets(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if ((c == ')' || c == ']' || c == '}' || c == '>') && --depth == 0) return at + 1;
    ++at;
  }
  return at;
}

// The pointee of the pointer type at the start of `argument`; empty where there is none.
std::string_view pointee_of(std::string_view argument) {
  std::size_t at = skip_spaces(argument, 0);
  const std::size_t start = at;
  if (at >= argument.size()) return {};
  if (argument[at] == '%' || argument[at] == '@') ++at;
  if (at < argument.size() && argument[at] == '"')
    at = skip_string(argument, at);
  else if (at < argument.size() &&
           (argument[at] == '[' || argument[at] == '{' || argument[at] == '<'))
    at = skip_brackets(argument, at);
  else
    at = skip_word(argument, at);
  std::string_view pointee;
  for (;;) {
    const std::size_t before = at;
    at = skip_spaces(argument, at);
    if (argument.substr(at, 10) == "addrspace(") at = skip_brackets(argument, at + 9);
    if (at >= argument.size()) break;
    if (argument[at] == '(') {  // a function type
      at = skip_brackets(argument, at);
    } else if (argument[at] == '*') {
      pointee = argument.substr(start, before - start);
      ++at;
    } else {
      break;
    }
  }
  return pointee;
}

bool takes_type(std::string_view word) {
  return word == "byval" || word == "sret";
}

// The line at `at`, without its end.
std::string_view line_at(std::string_view text, std::size_t at) {
  return text.substr(at, text.find('\n', at) - at);
}

// "!12 = distinct !DILocation(...)" becomes "!12 = !{}"; empty for other lines.
std::string emptied_debug_node(std::string_view line) {
  if (line.empty() || line[0] != '!') return {};
  const std::size_t equals = line.find(" = ");
  if (equals == std::string_view::npos || equals < 2) return {};
  for (const char c : line.substr(1, equals - 1))
    if (!std::isdigit(static_cast<unsigned char>(c))) return {};
  std::string_view value = line.substr(equals + 3);
  if (value.substr(0, 9) == "distinct ") value.remove_prefix(9);
  if (value.substr(0, 3) != "!DI") return {};
  return std::string(line.substr(0, equals)) + " = !{}";
}

bool is_debug_call(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (line.substr(0, 5) == "tail ") line.remove_prefix(5);
  return line.substr(0, 20) == "call void @llvm.dbg.";
}

// Appends the line without "!dbg !N" and the comma before it.
void append_without_attachment(std::string_view line, std::string& out) {
  for (;;) {
    const std::size_t at = line.find("!dbg !");
    if (at == std::string_view::npos) break;
    std::size_t keep = at;
    while (keep > 0 && (line[keep - 1] == ' ' || line[keep - 1] == ',')) --keep;
    out += line.substr(0, keep);
    std::size_t end = at + 6;
    while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end]))) ++end;
    line.remove_prefix(end);
  }
  out += line;
}

}  // namespace

std::string mend_attributes(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 64);
  std::vector<std::size_t> starts;  // of the argument that each open bracket is at
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
    } else if (c == ';') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      starts.push_back(++at);
    } else if (c == ')' || c == ']' || c == '}' || c == '>') {
      if (!starts.empty()) starts.pop_back();
      ++at;
    } else if (c == ',') {
      ++at;
      if (!starts.empty()) starts.back() = at;
    } else if (is_word(c) || c == '%' || c == '@' || c == '!' || c == '#') {
      const std::size_t end = skip_word(text, at + 1);
      if (!starts.empty() && takes_type(text.substr(at, end - at)) &&
          (end >= text.size() || text[end] != '(')) {
        out += text.substr(copied, end - copied);
        copied = end;
        const std::string_view type = pointee_of(text.substr(starts.back(), at - starts.back()));
        if (!type.empty()) out += "(" + std::string(type) + ")";
      }
      at = end;
    } else {
      ++at;
    }
  }
  out += text.substr(copied);
  return out;
}

std::string drop_debug_info(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = line_at(text, at);
    at += line.size() + 1;
    if (is_debug_call(line) || line.substr(0, 12) == "!llvm.dbg.cu") continue;
    if (const std::string emptied = emptied_debug_node(line); !emptied.empty())
      out += emptied;
    else
      append_without_attachment(line, out);
    if (at <= text.size()) out += '\n';
  }
  return out;
}

}  // namespace omen::loadbalance
