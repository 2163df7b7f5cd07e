// SPDX-License-Identifier: Apache-2.0
// Executes the code blocks of a document: each names a recipe, whose script is run and whose output
// must be as printed.
//   recipe_runner DOCUMENT RECIPES SOURCE OMEN list          prints the recipes of the document
//   recipe_runner DOCUMENT RECIPES SOURCE OMEN run NAME      runs one in an empty directory
// A block follows the line `<!-- recipe: NAME -->`. Lines that start with "$ " are commands and
// equal NAME.sh; the others are their output and equal NAME.expected. Numbers are compared within 2
// %, times are masked, "..." stands for any lines.
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

using Lines = std::vector<std::string>;

struct Recipe {
  Lines commands, output;
};

Lines read_lines(const fs::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path.string() + " cannot be read");
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A command may go on over lines that end in a backslash.
Recipe split_block(const Lines& block) {
  Recipe recipe;
  bool continued = false;
  const bool session =
      std::any_of(block.begin(), block.end(), [](auto& l) { return l.starts_with("$ "); });
  for (const std::string& line : block) {
    const bool starts = line.starts_with("$ ");
    if (!session)
      recipe.commands.push_back(line);
    else if (starts || continued)
      recipe.commands.push_back(starts ? line.substr(2) : line);
    else
      recipe.output.push_back(line);
    continued = (starts || continued || !session) && line.ends_with("\\");
  }
  return recipe;
}

std::map<std::string, Recipe> recipes_of(const fs::path& document) {
  static const std::regex marker(R"(^<!-- recipe: ([a-z0-9_-]+) -->$)");
  std::map<std::string, Recipe> recipes;
  std::string name;
  Lines block;
  bool inside = false;
  for (const std::string& line : read_lines(document)) {
    std::smatch match;
    const bool fence = line.starts_with("```");
    if (fence && !inside && name.empty())
      throw std::runtime_error("a code block without a recipe follows: " + line);
    if (fence && inside) {
      if (!recipes.emplace(name, split_block(block)).second)
        throw std::runtime_error("recipe " + name + " is there twice");
      name.clear();
      block.clear();
    }
    if (fence)
      inside = !inside;
    else if (inside)
      block.push_back(line);
    else if (std::regex_match(line, match, marker))
      name = match[1];
  }
  return recipes;
}

// The commands of a recipe file, without comments and settings of the shell.
Lines script_commands(const fs::path& path) {
  Lines commands;
  for (const std::string& line : read_lines(path))
    if (!line.empty() && line[0] != '#') commands.push_back(line);
  return commands;
}

std::string normal(const std::string& line) {
  static const std::regex time(R"(\b[0-9]+(\.[0-9]+)? (ms|s)\b|\b[0-9]+ min [0-9]+ s\b)"),
      blanks(R"([ \t]+)");
  return std::regex_replace(std::regex_replace(line, time, "<time>"), blanks, " ");
}

bool same_number(const std::string& a, const std::string& b) {
  const double x = std::stod(a), y = std::stod(b);
  return a == b || std::fabs(x - y) <= 0.02 * std::max(std::fabs(x), std::fabs(y));
}

// Equal text around numbers that are close.
bool same_line(const std::string& wanted, const std::string& found) {
  static const std::regex number(R"([0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?)");
  const std::string a = normal(wanted), b = normal(found);
  if (std::regex_replace(a, number, "#") != std::regex_replace(b, number, "#")) return false;
  std::sregex_iterator x(a.begin(), a.end(), number), y(b.begin(), b.end(), number), end;
  for (; x != end && y != end; ++x, ++y)
    if (!same_number(x->str(), y->str())) return false;
  return x == end && y == end;
}

bool matches(const Lines& wanted, std::size_t w, const Lines& found, std::size_t f) {
  if (w == wanted.size()) return f == found.size();
  if (wanted[w] == "...") {
    for (std::size_t rest = f; rest <= found.size(); ++rest)
      if (matches(wanted, w + 1, found, rest)) return true;
    return false;
  }
  return f < found.size() && same_line(wanted[w], found[f]) && matches(wanted, w + 1, found, f + 1);
}

// A directory like a clone: everything of the source tree by link, and results that stay outside of
// it.
fs::path make_workspace(const fs::path& source) {
  std::string name = (fs::temp_directory_path() / "omen-recipe-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("no temporary directory");
  for (const char* entry : {"examples", "data", "docs", "plugins"})
    if (fs::exists(source / entry))
      fs::create_directory_symlink(source / entry, fs::path(name) / entry);
  for (const char* script : {"run.sh", "test.sh"}) {
    const fs::path path = fs::path(name) / script;
    std::ofstream(path) << "#!/bin/sh\nexec '" << (source / script).string() << "' \"$@\"\n";
    fs::permissions(path, fs::perms::owner_all);
  }
  return name;
}

Lines run_script(const fs::path& script, const fs::path& directory, const fs::path& omen) {
  const fs::path output = directory / ".output";
  const std::string command =
      "cd '" + directory.string() + "' && PATH='" + omen.parent_path().string() +
      "':\"$PATH\" LC_ALL=C " + "XDG_DATA_HOME='" + directory.string() +
      "/.data' bash -eo pipefail '" + script.string() + "' > '" + output.string() + "' 2> '" +
      (directory / ".errors").string() + "' < /dev/null";
  const int status = std::system(command.c_str());
  if (status != 0) {
    for (const std::string& line : read_lines(directory / ".errors"))
      std::printf("  %s\n", line.c_str());
    throw std::runtime_error(script.filename().string() + " ends with status " +
                             std::to_string(WEXITSTATUS(status)));
  }
  return read_lines(output);
}

void print_block(const char* title, const Lines& lines) {
  std::printf("--- %s\n", title);
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
}

int run_recipe(const std::string& name, const Recipe& recipe, const fs::path& recipes,
               const fs::path& source, const fs::path& omen) {
  const fs::path script = recipes / (name + ".sh");
  if (script_commands(script) != recipe.commands) {
    print_block("commands in the document", recipe.commands);
    print_block(script.filename().c_str(), script_commands(script));
    return 1;
  }
  const fs::path stored = recipes / (name + ".expected");
  if (fs::exists(stored) && read_lines(stored) != recipe.output) {
    print_block("output in the document", recipe.output);
    print_block(stored.filename().c_str(), read_lines(stored));
    return 1;
  }
  const fs::path directory = make_workspace(source);
  const Lines found = run_script(script, directory, omen);
  // A block that shows no output only has to succeed.
  const bool good = !fs::exists(stored) || matches(recipe.output, 0, found, 0);
  if (!good) {
    print_block("expected", recipe.output);
    print_block("found", found);
  }
  fs::remove_all(directory);
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Lines words(argv + 1, argv + argc);
  try {
    if (words.size() < 5)
      throw std::runtime_error("usage: recipe_runner DOCUMENT RECIPES SOURCE OMEN list|run [NAME]");
    const auto recipes = recipes_of(words[0]);
    if (words[4] == "list") {
      for (const auto& [name, recipe] : recipes) std::printf("%s\n", name.c_str());
      return recipes.empty() ? 1 : 0;
    }
    const auto at = recipes.find(words.at(5));
    if (at == recipes.end()) throw std::runtime_error(words[0] + " has no recipe " + words[5]);
    return run_recipe(at->first, at->second, words[1], words[2], words[3]);
  } catch (const std::exception& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
