// SPDX-License-Identifier: Apache-2.0
// Reads and makes vocabularies, and finds stand-ins for texts that they lack.
#include "graph/vocabulary.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

#include "graph/own_vocabulary.hpp"

namespace omen::loadbalance {
namespace {

constexpr std::string_view kProgramlHeader =
    "cumulative_frequency\tcumulative_node_frequency\tcount\ttext";
constexpr std::string_view kOwnHeader = "count\ttext";

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

// The length of the structure name that begins at `text[0] == '%'`.
std::size_t name_length(std::string_view text) {
  if (text.size() > 1 && text[1] == '"') {
    const std::size_t end = text.find('"', 2);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  const std::size_t end = text.find_first_of(" ,*)]}>", 1);
  return end == std::string_view::npos ? text.size() : end;
}

// Array lengths become N, and names of structures "struct".
std::string normalised(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '%' && text.size() > i + 1) {
      out += "struct";
      i += name_length(text.substr(i));
    } else if (text[i] == '[' && i + 1 < text.size() && is_decimal(text[i + 1])) {
      out += "[N";
      for (++i; i < text.size() && is_decimal(text[i]);) ++i;
    } else {
      out += text[i++];
    }
  }
  return out;
}

std::string without_address_spaces(std::string text) {
  constexpr std::string_view kWord = " addrspace(";
  for (std::size_t at; (at = text.find(kWord)) != std::string::npos;) {
    const std::size_t end = text.find(')', at);
    text.erase(at, end == std::string::npos ? end : end + 1 - at);
  }
  return text;
}

std::size_t stars_of(std::string_view text) {
  return text.size() - (text.find_last_not_of('*') + 1);
}

// Splits "[N x T]**" into T and "**"; false where the text is no array.
bool peel_array(const std::string& text, std::string& element, std::string& stars) {
  constexpr std::string_view kOpen = "[N x ";
  const std::size_t count = stars_of(text);
  const std::string_view body(text.data(), text.size() - count);
  if (body.substr(0, kOpen.size()) != kOpen || body.back() != ']') return false;
  element = body.substr(kOpen.size(), body.size() - kOpen.size() - 1);
  stars.assign(count, '*');
  return true;
}

// "<4 x float>*" becomes "float*".
std::string without_vector(const std::string& text) {
  const std::size_t count = stars_of(text);
  const std::size_t by = text.rfind(" x ");
  if (text.empty() || text[0] != '<' || by == std::string::npos || text.size() < count + 1 ||
      text[text.size() - count - 1] != '>')
    return text;
  return text.substr(by + 3, text.size() - count - 1 - (by + 3)) + std::string(count, '*');
}

// "i24*" becomes "i32*"; beyond 128 bits there is nothing wider.
std::string usual_width(const std::string& text) {
  const std::size_t count = stars_of(text);
  int bits = 0;
  const char* end = text.data() + text.size() - count;
  if (text.empty() || text[0] != 'i') return text;
  const auto parsed = std::from_chars(text.data() + 1, end, bits);
  if (parsed.ec != std::errc() || parsed.ptr != end) return text;
  for (const int usual : {1, 8, 16, 32, 64, 128})
    if (bits <= usual) return "i" + std::to_string(usual) + std::string(count, '*');
  return "i128" + std::string(count, '*');
}

// Everything that a module can hold whatever it was compiled from.
std::vector<std::string> texts_of_llvm() {
  std::vector<std::string> texts = {"[external]", "; undefined function", "var", "val", "*", "[]",
                                    "vector"};
  for (const char* opcode : {"ret",
                             "br",
                             "switch",
                             "indirectbr",
                             "invoke",
                             "resume",
                             "unreachable",
                             "cleanupret",
                             "catchret",
                             "catchswitch",
                             "callbr",
                             "fneg",
                             "add",
                             "fadd",
                             "sub",
                             "fsub",
                             "mul",
                             "fmul",
                             "udiv",
                             "sdiv",
                             "fdiv",
                             "urem",
                             "srem",
                             "frem",
                             "shl",
                             "lshr",
                             "ashr",
                             "and",
                             "or",
                             "xor",
                             "alloca",
                             "load",
                             "store",
                             "getelementptr",
                             "fence",
                             "cmpxchg",
                             "atomicrmw",
                             "trunc",
                             "zext",
                             "sext",
                             "fptoui",
                             "fptosi",
                             "uitofp",
                             "sitofp",
                             "fptrunc",
                             "fpext",
                             "ptrtoint",
                             "inttoptr",
                             "bitcast",
                             "addrspacecast",
                             "cleanuppad",
                             "catchpad",
                             "icmp",
                             "fcmp",
                             "phi",
                             "call",
                             "select",
                             "va_arg",
                             "extractelement",
                             "insertelement",
                             "shufflevector",
                             "extractvalue",
                             "insertvalue",
                             "landingpad",
                             "freeze"})
    texts.push_back(opcode);
  for (const char* scalar :
       {"i1", "i8", "i16", "i32", "i64", "i128", "half", "bfloat", "float", "double", "fp128",
        "x86_fp80", "ppc_fp128", "struct", "function", "void", "label", "token", "metadata"}) {
    texts.push_back(scalar);
    texts.push_back(std::string(scalar) + "*");
    texts.push_back(std::string(scalar) + "**");
  }
  for (const char* scalar : {"i8", "i16", "i32", "i64", "half", "float", "double"})
    for (const char* width : {"2", "3", "4", "8", "16"}) {
      const std::string vector = std::string("<") + width + " x " + scalar + ">";
      texts.push_back(vector);
      texts.push_back(vector + "*");
    }
  return texts;
}

std::vector<std::string> texts_of_lines(std::istream& lines, std::size_t tabs,
                                        const std::string& path) {
  std::vector<std::string> texts;
  std::string line;
  for (std::size_t number = 2; std::getline(lines, line); ++number) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < tabs && at != std::string::npos; ++i) {
      at = line.find('\t', at);
      if (at != std::string::npos) ++at;
    }
    if (at == std::string::npos)
      throw Error(OMEN_INVALID_DATA, path + ":" + std::to_string(number) + ": expected " +
                                         std::to_string(tabs + 1) + " columns divided by tabs");
    texts.push_back(line.substr(at));
  }
  return texts;
}

Vocabulary parse(std::istream& in, const std::string& path) {
  std::string header;
  std::getline(in, header);
  if (header == kProgramlHeader) return {texts_of_lines(in, 3, path), Vocabulary::Lookup::kExact};
  if (header == kOwnHeader) return {texts_of_lines(in, 1, path), Vocabulary::Lookup::kSimilar};
  throw Error(OMEN_INVALID_DATA, path + " is no vocabulary",
              "its first line must be the header of ProGraML's programl.csv, or of a file that "
              "this plugin wrote");
}

}  // namespace

std::vector<std::string> similar_texts(std::string_view text) {
  std::vector<std::string> out = {normalised(text)};
  const auto add = [&](const std::string& next) {
    if (next != out.back()) out.push_back(next);
  };
  add(without_address_spaces(out.back()));
  std::string element, stars, inner, inner_stars;
  while (peel_array(out.back(), element, stars)) {
    if (peel_array(element, inner, inner_stars) && inner_stars.empty())
      add("[N x " + inner + "]" + stars);
    else
      add(element + stars);
  }
  add(without_vector(out.back()));
  if (const std::string& last = out.back(); last.find('(') != std::string::npos && last[0] != '(')
    add("function" + std::string(stars_of(last), '*'));
  if (out.back().find('{') != std::string::npos)
    add("struct" + std::string(stars_of(out.back()), '*'));
  add(usual_width(out.back()));
  while (stars_of(out.back()) > 1) add(out.back().substr(0, out.back().size() - 1));
  return out;
}

Vocabulary::Vocabulary(std::vector<std::string> texts, Lookup lookup)
    : texts_(std::move(texts)), lookup_(lookup) {
  ids_.reserve(texts_.size());
  for (std::size_t i = 0; i < texts_.size(); ++i)
    ids_.try_emplace(texts_[i], static_cast<std::int32_t>(i));
}

Vocabulary Vocabulary::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(OMEN_NOT_FOUND, "vocabulary '" + path + "' cannot be read",
                "give the path of ProGraML's programl.csv, or leave the option out for our own");
  return parse(file, path);
}

const Vocabulary& Vocabulary::own() {
  static const Vocabulary vocabulary = [] {
    std::istringstream text{std::string(kOwnVocabulary)};
    return parse(text, "the built-in vocabulary");
  }();
  return vocabulary;
}

std::int32_t Vocabulary::id(std::string_view text) const {
  if (const auto at = ids_.find(std::string(text)); at != ids_.end()) return at->second;
  if (lookup_ == Lookup::kSimilar)
    for (const std::string& similar : similar_texts(text))
      if (const auto at = ids_.find(similar); at != ids_.end()) return at->second;
  return unknown();
}

std::vector<std::int32_t> Vocabulary::ids(const ProgramGraph& graph) const {
  std::vector<std::int32_t> by_text, out;
  by_text.reserve(graph.texts.size());
  for (const std::string& text : graph.texts) by_text.push_back(id(text));
  out.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) out.push_back(by_text[static_cast<std::size_t>(node.text)]);
  return out;
}

void count_texts(const ProgramGraph& graph, TextCounts& counts) {
  std::vector<std::int64_t> by_text(graph.texts.size(), 0);
  for (const Node& node : graph.nodes) ++by_text[static_cast<std::size_t>(node.text)];
  for (std::size_t t = 0; t < by_text.size(); ++t)
    if (by_text[t] > 0) counts[normalised(graph.texts[t])] += by_text[t];
}

std::string vocabulary_file(const TextCounts& counts, std::int64_t least) {
  TextCounts kept;
  for (const auto& [text, count] : counts)
    if (count >= least) kept.emplace(text, count);
  for (const std::string& text : texts_of_llvm()) {
    const auto at = counts.find(text);
    kept.emplace(text, at == counts.end() ? 0 : at->second);
  }
  std::vector<std::pair<std::string, std::int64_t>> order(kept.begin(), kept.end());
  // The map is sorted by text, so a stable sort leaves ties in that order.
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out = std::string(kOwnHeader) + "\n";
  for (const auto& [text, count] : order) out += std::to_string(count) + "\t" + text + "\n";
  return out;
}

}  // namespace omen::loadbalance
