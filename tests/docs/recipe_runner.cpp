// SPDX-License-Identifier: Apache-2.0
// Executes the code blocks of documents, whose output must be as printed.
//   recipe_runner blocks SOURCE DOCUMENT...               which are run, and why others are not
//   recipe_runner figures FILE DOCUMENT...                whether figures are as measured
//   recipe_runner run DOCUMENT RECIPES SOURCE OMEN NAME   runs one in an empty directory
// A block follows `<!-- recipe: NAME -->` or `<!-- not run: REASON -->`. Lines that start with "$ "
// are commands, the others their output: numbers are compared within 2 %, times are masked, "..."
// stands for any lines. Where RECIPES (or -) has NAME.sh and NAME.expected, they equal the block.
// A marker may hold commands of its own over several lines: they come first, and are all there is
// for a block that is no shell, which they find as block.json, block.cpp ... `needs plugin NAME`,
// `needs opencl` and `needs data` skip a recipe where something is missing.
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "document.hpp"
#include "figures.hpp"

namespace fs = std::filesystem;

namespace {

using docs::Block;
using docs::Lines;
using docs::read_lines;

constexpr int kSkipped = 77;

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
  for (const char* entry : {"examples", "data", "docs", "plugins", "tasks"})
    if (fs::exists(source / entry))
      fs::create_directory_symlink(source / entry, fs::path(name) / entry);
  for (const char* script : {"run.sh", "test.sh"}) {
    const fs::path path = fs::path(name) / script;
    std::ofstream(path) << "#!/bin/sh\nexec '" << (source / script).string() << "' \"$@\"\n";
    fs::permissions(path, fs::perms::owner_all);
  }
  return name;
}

// What every recipe starts with.
constexpr const char* kPreamble = R"(needs() {
  case $1 in
    plugin) omen list --plain | grep "^$2 " >/dev/null && return ;;
    opencl) ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 && return ;;
    data) [ -n "${OMEN_DATA:-}" ] && return ;;
  esac
  echo "needs $*" >&2
  exit 77
}
)";

void write_lines(std::ostream& out, const Lines& lines) {
  for (const std::string& line : lines) out << line << '\n';
}

void write_script(const Block& block, const fs::path& directory) {
  std::ofstream script(directory / ".script");
  script << kPreamble;
  write_lines(script, block.before);
  if (block.is_shell()) {
    write_lines(script, block.commands);
  } else {
    std::ofstream file(directory / ("block." + block.language));
    write_lines(file, block.content);
  }
}

int run_script(const fs::path& directory, const fs::path& source, const fs::path& omen) {
  const std::string place = directory.string();
  const std::string command = "cd '" + place + "' && PATH='" + omen.parent_path().string() +
                              "':\"$PATH\" LC_ALL=C " + "OMEN_SOURCE='" + source.string() +
                              "' OMEN_BUILD='" + omen.parent_path().parent_path().string() +
                              "' XDG_DATA_HOME='" + place +
                              "/.data' bash -eo pipefail .script > .output 2> .errors < /dev/null";
  const int status = WEXITSTATUS(std::system(command.c_str()));
  if (status != 0)
    for (const std::string& line : read_lines(directory / ".errors"))
      std::printf("  %s\n", line.c_str());
  return status;
}

void print_block(const char* title, const Lines& lines) {
  std::printf("--- %s\n", title);
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
}

// The block and the files beside the documents say the same.
bool same_as_stored(const Block& block, const fs::path& recipes) {
  const fs::path script = recipes / (block.name + ".sh");
  const fs::path stored = recipes / (block.name + ".expected");
  if (script_commands(script) != block.commands) {
    print_block("commands in the document", block.commands);
    print_block(script.filename().c_str(), script_commands(script));
    return false;
  }
  if (fs::exists(stored) && read_lines(stored) != block.output) {
    print_block("output in the document", block.output);
    print_block(stored.filename().c_str(), read_lines(stored));
    return false;
  }
  return true;
}

int run_recipe(const Block& block, const fs::path& recipes, const fs::path& source,
               const fs::path& omen) {
  if (recipes != "-" && !same_as_stored(block, recipes)) return 1;
  const fs::path directory = make_workspace(source);
  write_script(block, directory);
  const int status = run_script(directory, source, omen);
  const Lines found = read_lines(directory / ".output");
  // A block that shows no output only has to succeed.
  const bool good = block.output.empty() || matches(block.output, 0, found, 0);
  if (status == 0 && !good) {
    print_block("expected", block.output);
    print_block("found", found);
  }
  fs::remove_all(directory);
  if (status == kSkipped) return kSkipped;
  if (status != 0) std::printf("error: recipe %s ends with %d\n", block.name.c_str(), status);
  return status == 0 && good ? 0 : 1;
}

int show_blocks(const fs::path& source, const Lines& documents) {
  int run = 0, left = 0, missing = 0;
  for (const std::string& document : documents) {
    for (const std::string& file : docs::missing_files(document, source)) {
      std::printf("%s names %s, which is not there\n", document.c_str(), file.c_str());
      ++missing;
    }
    for (const Block& block : docs::blocks_of(document)) {
      ++(block.not_run.empty() ? run : left);
      if (!block.not_run.empty())
        std::printf("not run: %s, %s block: %s\n", document.c_str(), block.language.c_str(),
                    block.not_run.c_str());
    }
  }
  std::printf("%zu documents, %d blocks run, %d not run\n", documents.size(), run, left);
  return run > 0 && missing == 0 ? 0 : 1;
}

int check_figures(const fs::path& file, const Lines& documents) {
  int quoted = 0, wrong = 0;
  for (const std::string& document : documents)
    for (const std::string& line : docs::wrong_figures(file, document, quoted)) {
      std::printf("%s: %s\n", document.c_str(), line.c_str());
      ++wrong;
    }
  std::printf("%d figures quoted, %d wrong\n", quoted, wrong);
  return quoted > 0 && wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Lines words(argv + 1, argv + argc);
  try {
    if (words.size() > 2 && words[0] == "blocks")
      return show_blocks(words[1], Lines(words.begin() + 2, words.end()));
    if (words.size() > 2 && words[0] == "figures")
      return check_figures(words[1], Lines(words.begin() + 2, words.end()));
    if (words.size() != 6 || words[0] != "run")
      throw std::runtime_error("usage: recipe_runner blocks|figures|run ...");
    for (const Block& block : docs::blocks_of(words[1]))
      if (block.name == words[5]) return run_recipe(block, words[2], words[3], words[4]);
    throw std::runtime_error(words[1] + " has no recipe " + words[5]);
  } catch (const std::exception& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
