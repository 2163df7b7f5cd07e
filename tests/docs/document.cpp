// SPDX-License-Identifier: Apache-2.0
// Reads blocks and markers line by line.
#include "document.hpp"

#include <algorithm>
#include <fstream>
#include <regex>
#include <stdexcept>

namespace docs {
namespace {

// A command may go on over lines that end in a backslash.
void split_session(const Lines& lines, Block& block) {
  const bool session =
      std::any_of(lines.begin(), lines.end(), [](auto& line) { return line.starts_with("$ "); });
  bool continued = false;
  for (const std::string& line : lines) {
    const bool starts = line.starts_with("$ ");
    if (!session)
      block.commands.push_back(line);
    else if (starts || continued)
      block.commands.push_back(starts ? line.substr(2) : line);
    else
      block.output.push_back(line);
    continued = (starts || continued || !session) && line.ends_with("\\");
  }
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path) {}

  void read(const std::string& line) {
    ++number_;
    const bool fence = line.starts_with("```");
    if (inside_) {
      if (fence)
        close();
      else
        lines_.push_back(line);
    } else if (in_marker_) {
      if (line == "-->")
        in_marker_ = false;
      else
        next_.before.push_back(line);
    } else if (fence) {
      open(line.substr(3));
    } else if (!read_marker(line)) {
      read_text(line);
    }
    blank_ = line.empty();
  }

  std::vector<Block> take() {
    if (inside_ || in_marker_) fail("a block or a marker has no end");
    return std::move(blocks_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(path_.string() + ":" + std::to_string(number_) + ": " + what);
  }

  bool read_marker(const std::string& line) {
    static const std::regex recipe(R"(^<!-- recipe: ([a-z0-9_-]+)( -->)?$)"),
        reason(R"(^<!-- not run: (.+) -->$)");
    std::smatch match;
    if (std::regex_match(line, match, recipe)) {
      next_.name = match[1];
      in_marker_ = !match[2].matched;
    } else if (std::regex_match(line, match, reason)) {
      next_.not_run = match[1];
    } else {
      return false;
    }
    marked_ = true;
    return true;
  }

  void read_text(const std::string& line) {
    if (!line.empty() && marked_) fail("a marker without a code block below it");
    in_list_ = line.starts_with("- ") || (in_list_ && (line.empty() || line[0] == ' '));
    if (blank_ && !in_list_ && line.starts_with("    ")) fail("a code block without a fence");
    const std::size_t text = line.find_first_not_of(' ');
    if (text != line.npos && text > 0 && line.compare(text, 3, "```") == 0)
      fail("a fence that does not start its line");
  }

  void open(const std::string& language) {
    if (!marked_)
      fail(
          "a code block without a marker; put <!-- recipe: NAME --> or <!-- not run: REASON --> "
          "above it");
    next_.language = language;
    inside_ = true;
  }

  void close() {
    for (const Block& block : blocks_)
      if (!next_.name.empty() && block.name == next_.name)
        fail("recipe " + next_.name + " is there twice");
    if (next_.is_shell())
      split_session(lines_, next_);
    else
      next_.content = lines_;
    blocks_.push_back(std::move(next_));
    next_ = {};
    lines_.clear();
    inside_ = marked_ = false;
  }

  std::filesystem::path path_;
  std::vector<Block> blocks_;
  Block next_;
  Lines lines_;
  int number_ = 0;
  bool inside_ = false, in_marker_ = false, marked_ = false, blank_ = true, in_list_ = false;
};

}  // namespace

Lines read_lines(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path.string() + " cannot be read");
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Lines missing_files(const std::filesystem::path& document, const std::filesystem::path& source) {
  // A link is relative to its document; a path in backquotes starts at the top and has no pattern.
  static const std::regex link(R"(\]\(([^)#:]+)(#[^)]*)?\))"),
      path(R"(`((host|sdk|tests|tools|docs|cmake)/[A-Za-z0-9_./-]+)`)");
  Lines missing;
  bool inside = false;
  for (const std::string& line : read_lines(document)) {
    if (line.starts_with("```")) inside = !inside;
    if (inside) continue;
    for (std::sregex_iterator at(line.begin(), line.end(), link), end; at != end; ++at)
      if (!std::filesystem::exists(document.parent_path() / (*at)[1].str()))
        missing.push_back((*at)[1]);
    for (std::sregex_iterator at(line.begin(), line.end(), path), end; at != end; ++at)
      if (!std::filesystem::exists(source / (*at)[1].str())) missing.push_back((*at)[1]);
  }
  return missing;
}

std::vector<Block> blocks_of(const std::filesystem::path& document) {
  Reader reader(document);
  for (const std::string& line : read_lines(document)) reader.read(line);
  return reader.take();
}

}  // namespace docs
