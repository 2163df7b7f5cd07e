// SPDX-License-Identifier: Apache-2.0
// Abstracts printed instructions as the published dictionary does, scanner by scanner.
#include "graph/inst2vec.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace omen::loadbalance {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_local(char c) {
  return is_word(c) || c == '"' || c == '@' || c == '.' || c == '-' || c == ':';
}
bool is_global(char c) {
  return is_word(c) || c == '"' || c == '.' || c == '-' || c == '$' || c == '\\';
}
bool starts(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}
bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}
template <class Test>
std::size_t run_end(std::string_view text, std::size_t at, Test test) {
  while (at < text.size() && test(text[at])) ++at;
  return at;
}

// Rewrites the text from left to right: where `match` returns the end of what begins at a place,
// that piece is replaced.
template <class Match>
std::string replaced(std::string_view text, std::string_view by, Match match) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = match(text, at);
    if (end > at) {
      out += by;
      at = end;
    } else {
      out += text[at++];
    }
  }
  return out;
}

// Lines of a module that are no statements; the words are looked for anywhere, as published.
bool is_left_out(std::string_view text) {
  if (text.empty()) return true;
  if (holds(";!{}[]\n", text.substr(0, 1))) return true;
  for (const char* word : {"source_filename", "target triple", "target datalayout", "attributes",
                           "module asm ", "declare", "call void asm"})
    if (holds(text, word)) return true;
  return false;
}

// Names that are the beginning of longer ones must not be replaced inside of them, so the longest
// that fits is taken.
std::string with_definitions(std::string_view text, const StructDefinitions& structs) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::pair<std::string, std::string>* found = nullptr;
    if (text[at] == '%')
      for (const auto& entry : structs)
        if (starts(text.substr(at), entry.first) &&
            (!found || entry.first.size() > found->first.size()))
          found = &entry;
    if (found) {
      out += found->second;
      at += found->first.size();
    } else {
      out += text[at++];
    }
  }
  return out;
}

// Takes "metadata !12" and its comma out of the arguments of a call.
std::string without_metadata_arguments(std::string text) {
  constexpr std::string_view kWord = "metadata !";
  for (std::size_t from = 0;;) {
    std::size_t at = text.find(kWord, from);
    if (at == std::string::npos || !holds(text.substr(0, at), "(")) return text;
    std::size_t end = run_end(text, at + kWord.size(), is_word);
    if (end == at + kWord.size()) {
      from = end;
      continue;
    }
    if (at >= 2 && text.compare(at - 2, 2, ", ") == 0) at -= 2;
    if (text.compare(end, 2, ", ") == 0) end += 2;
    text.erase(at, end - at);
    from = at;
  }
}

// Everything from a mark to the end goes, unless the mark is inside of a string constant.
std::string cut_at(std::string text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return text;
  const std::size_t string = text.substr(0, at).find("c\"");
  if (string != std::string::npos && !holds(text.substr(string + 2, at - string - 2), "\""))
    return text;
  std::string_view kept = trimmed(std::string_view(text).substr(0, at));
  if (mark == '!' && !kept.empty() && kept.back() == ',')
    kept = trimmed(kept.substr(0, kept.size() - 1));
  return std::string(kept);
}

bool after_word(std::string_view text, std::size_t at) {
  return at > 0 && is_word(text[at - 1]);
}

std::size_t local_name(std::string_view text, std::size_t at) {
  if (text[at] != '%') return 0;
  const std::size_t end = run_end(text, at + 1, is_local);
  return end > at + 1 ? end : 0;
}

std::size_t global_name(std::string_view text, std::size_t at) {
  if (text[at] != '@' || (at >= 2 && text.substr(at - 2, 2) == "%\"")) return 0;
  const std::size_t end = run_end(text, at + 1, is_global);
  return end > at + 1 ? end : 0;
}

std::size_t hexadecimal(std::string_view text, std::size_t at) {
  if (after_word(text, at)) return 0;
  std::size_t digits = at + (text[at] == '-');
  if (text.substr(digits, 2) != "0x" && text.substr(digits, 2) != "0X") return 0;
  digits += 2;
  if (digits < text.size() && holds("hklmHKLM", text.substr(digits, 1))) ++digits;
  const std::size_t end = run_end(text, digits, is_hex);
  return end > digits ? end : 0;
}

std::size_t decimal(std::string_view text, std::size_t at) {
  if (after_word(text, at)) return 0;
  const std::size_t first = at + (text[at] == '-');
  const std::size_t point = run_end(text, first, is_digit);
  if (point == first || point >= text.size() || text[point] != '.') return 0;
  std::size_t end = run_end(text, point + 1, is_digit);
  if (end == point + 1) return 0;
  if (end < text.size() && text[end] == 'e') {
    std::size_t power = end + 1;
    if (power < text.size() && text[power] == '+') ++power;
    if (power < text.size() && text[power] == '-') ++power;
    const std::size_t last = run_end(text, power, is_digit);
    if (last > power) end = last;
  }
  return end;
}

// A blank and the digits behind it, but neither an alignment nor the length of an array.
std::size_t integer(std::string_view text, std::size_t at) {
  if (text[at] != ' ') return 0;
  if (at >= 5 && text.substr(at - 5, 5) == "align") return 0;
  if (at >= 1 && text[at - 1] == '[') return 0;
  const std::size_t first = at + 1 + (at + 1 < text.size() && text[at + 1] == '-');
  const std::size_t end = run_end(text, first, is_digit);
  return end > first ? end : 0;
}

std::size_t string_constant(std::string_view text, std::size_t at) {
  if (after_word(text, at) || text.substr(at, 2) != "c\"") return 0;
  const std::size_t end = text.rfind('"');
  return end > at + 2 ? end + 1 : 0;
}

// "i32 " in front of an index.
std::size_t integer_type(std::string_view text, std::size_t at) {
  if (text[at] != 'i') return 0;
  const std::size_t end = run_end(text, at + 1, is_digit);
  return end > at + 1 && end < text.size() && text[end] == ' ' ? end + 1 : 0;
}

}  // namespace

std::string inst2vec_statement(std::string_view printed, const StructDefinitions& structs) {
  std::string text = with_definitions(printed, structs);
  if (is_left_out(text)) return "";
  text = without_metadata_arguments(std::string(trimmed(text)));
  text = cut_at(cut_at(std::move(text), '!'), '#');
  text = replaced(text, "<%ID>", local_name);
  text = replaced(text, "<@ID>", global_name);
  text = replaced(text, "<FLOAT>", hexadecimal);
  text = replaced(text, "<FLOAT>", decimal);
  const bool element =
      starts(text, "<%ID> = extractelement") || starts(text, "<%ID> = insertelement");
  if (!element && !starts(text, "<%ID> = extractvalue") && !starts(text, "<%ID> = insertvalue"))
    text = replaced(text, " <INT>", integer);
  text = replaced(text, " <STRING>", string_constant);
  if (element) text = replaced(text, "<TYP> ", integer_type);
  return text;
}

Inst2vecDictionary Inst2vecDictionary::read(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    throw Error(OMEN_NOT_FOUND, "inst2vec dictionary '" + path + "' cannot be read",
                "Give a file of lines [id, \"statement\"].");
  Inst2vecDictionary dictionary;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const nlohmann::json entry = nlohmann::json::parse(line, nullptr, false);
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_number_integer() ||
        !entry[1].is_string())
      throw Error(OMEN_INVALID_DATA,
                  path + ":" + std::to_string(number) + ": expected [id, \"statement\"]",
                  "A compressed dictionary must be unpacked first.");
    dictionary.ids_.emplace(entry[1].get<std::string>(), entry[0].get<std::int32_t>());
  }
  const auto special = [&](const char* name) {
    const auto at = dictionary.ids_.find(name);
    if (at == dictionary.ids_.end())
      throw Error(OMEN_INVALID_DATA, path + " lacks the entry " + name);
    return at->second;
  };
  dictionary.unknown_ = special("!UNK");
  dictionary.identifier_ = special("!IDENTIFIER");
  dictionary.immediate_ = special("!IMMEDIATE");
  return dictionary;
}

std::int32_t Inst2vecDictionary::id(std::string_view printed,
                                    const StructDefinitions& structs) const {
  const auto at = ids_.find(inst2vec_statement(printed, structs));
  return at == ids_.end() ? unknown_ : at->second;
}

std::vector<std::int32_t> Inst2vecDictionary::ids(const ProgramGraph& graph,
                                                  const StructDefinitions& structs) const {
  if (graph.full_texts.size() != graph.nodes.size())
    throw Error(OMEN_INVALID_ARGUMENT, "statement ids need the full texts of a graph");
  std::vector<std::int32_t> out;
  out.reserve(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const NodeType type = graph.nodes[n].type;
    out.push_back(type == NodeType::kInstruction ? id(graph.full_texts[n], structs)
                  : type == NodeType::kVariable  ? identifier_
                                                 : immediate_);
  }
  return out;
}

}  // namespace omen::loadbalance
