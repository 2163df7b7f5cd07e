// SPDX-License-Identifier: Apache-2.0
// The code blocks of a Markdown file, and what their markers say about running them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace docs {

using Lines = std::vector<std::string>;

struct Block {
  std::string name;        // of the recipe; empty where the block is not run
  std::string not_run;     // the reason, where it is not run
  std::string language;    // of the fence: sh, console, json, cpp ...
  Lines before;            // commands of the marker: preparation, or what to do with a file
  Lines commands, output;  // of a shell block
  Lines content;           // of any other block, which the commands find as block.LANGUAGE
  bool is_shell() const { return language.empty() || language == "sh" || language == "console"; }
};

// Throws where a block has no marker, and where a line is indented into a block without a fence.
std::vector<Block> blocks_of(const std::filesystem::path& document);

// Files of the repository that a document links to or names in backquotes and that are not there.
Lines missing_files(const std::filesystem::path& document, const std::filesystem::path& source);

Lines read_lines(const std::filesystem::path& path);

}  // namespace docs
