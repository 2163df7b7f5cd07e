// SPDX-License-Identifier: Apache-2.0
// Parses .case files line by line; every directive is one word followed by its text.
#include "case_file.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <stdexcept>

namespace omen::cases {
namespace {

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

class Parser {
 public:
  Parser(const std::filesystem::path& path, const Variables& variables)
      : path_(path), variables_(variables) {}

  CaseFile parse() {
    std::ifstream in(path_);
    if (!in) throw std::runtime_error(path_.string() + ": cannot be read");
    std::string line;
    while (std::getline(in, line)) {
      ++line_number_;
      if (!line.empty()) parse_line(line);
    }
    if (file_.name.empty()) fail("no '# name:' line");
    if (file_.steps.empty()) fail("no 'run' line");
    for (const Step& step : file_.steps) check_step(step);
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw std::runtime_error(path_.string() + ":" + std::to_string(line_number_) + ": " + reason);
  }

  // What accepts any output looks like a check and is none.
  void check_step(const Step& step) {
    const bool any_output = std::all_of(
        step.stdout_lines.begin(), step.stdout_lines.end(),
        [](const LinePattern& line) { return line.kind == LinePattern::Kind::kAnyLines; });
    if (step.stdout_lines.empty() || !any_output) return;
    line_number_ = step.line;
    fail("'stdout...' alone accepts any output");
  }

  void parse_line(const std::string& line) {
    if (line[0] == '#') {
      constexpr std::string_view kName = "# name: ";
      if (line.starts_with(kName)) file_.name = line.substr(kName.size());
      return;
    }
    const size_t space = line.find(' ');
    const std::string word = line.substr(0, space);
    const std::string text = space == std::string::npos ? "" : line.substr(space + 1);
    if (!parse_setting(word, text) && !parse_expectation(word, text)) {
      fail("unknown directive '" + word + "'");
    }
  }

  // Directives that concern the whole case.
  bool parse_setting(const std::string& word, const std::string& text) {
    if (word == "env") {
      const size_t equals = text.find('=');
      if (equals == std::string::npos) fail("'env' needs NAME=VALUE");
      file_.environment[text.substr(0, equals)] = expand(text.substr(equals + 1), variables_);
    } else if (word == "stdin") {
      file_.stdin_text += text + "\n";
    } else if (word == "skip-without") {
      file_.required.push_back(expand(text, variables_));
    } else if (word == "run") {
      Step step;
      step.line = line_number_;
      step.command = text;
      file_.steps.push_back(std::move(step));
    } else {
      return false;
    }
    return true;
  }

  // Directives that concern the latest run.
  bool parse_expectation(const std::string& word, const std::string& text) {
    if (file_.steps.empty()) fail("'" + word + "' before the first 'run'");
    using Kind = LinePattern::Kind;
    Step& step = file_.steps.back();
    const std::map<std::string, std::function<void()>> directives = {
        {"exit", [&] { step.exit_code = number(text); }},
        {"timeout", [&] { step.timeout_seconds = number(text); }},
        {"stdout",
         [&] {
           step.stdout_lines.push_back({Kind::kExact, expand(text, variables_)});
         }},
        {"stdout~",
         [&] {
           step.stdout_lines.push_back({Kind::kRegex, text});
         }},
        {"stdout...",
         [&] {
           step.stdout_lines.push_back({Kind::kAnyLines, ""});
         }},
        {"stdout!~", [&] { step.stdout_without.push_back(text); }},
        {"stdout-empty", [&] { step.stdout_empty = true; }},
        {"stderr~", [&] { step.stderr_with.push_back(text); }},
        {"stderr!~", [&] { step.stderr_without.push_back(text); }},
        {"stderr-empty", [&] { step.stderr_empty = true; }},
    };
    const auto found = directives.find(word);
    if (found == directives.end()) return false;
    found->second();
    return true;
  }

  int number(const std::string& text) const {
    size_t used = 0;
    int value = 0;
    try {
      value = std::stoi(text, &used);
    } catch (const std::exception&) {
      fail("'" + text + "' is not a number");
    }
    if (used != text.size()) fail("'" + text + "' is not a number");
    return value;
  }

  std::filesystem::path path_;
  const Variables& variables_;
  CaseFile file_;
  int line_number_ = 0;
};

}  // namespace

std::string expand(std::string_view text, const Variables& variables) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      result += text[i++];
      continue;
    }
    const bool braces = i + 1 < text.size() && text[i + 1] == '{';
    const size_t begin = i + (braces ? 2 : 1);
    size_t end = begin;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const auto found = variables.find(std::string(text.substr(begin, end - begin)));
    if (found == variables.end()) {
      result += text[i++];
      continue;
    }
    result += found->second;
    i = braces ? end + 1 : end;
  }
  return result;
}

CaseFile parse_case(const std::filesystem::path& path, const Variables& variables) {
  return Parser(path, variables).parse();
}

}  // namespace omen::cases
