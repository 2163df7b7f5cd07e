// SPDX-License-Identifier: Apache-2.0
// Looks at names and first bytes.
#include "frontend/ir_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "omen/error.hpp"

namespace omen::loadbalance {

std::string read_file(const char* path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw Error(OMEN_IO, std::string("'") + path + "' is a directory",
                "Name a file in it; omen graph takes whole directories.");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(OMEN_IO, std::string("cannot open '") + path + "'", "Check the path.");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool looks_like_ir(std::string_view text) {
  for (const char* mark : {"; ModuleID", "target datalayout", "target triple", "source_filename",
                           "\ndefine ", "\ndeclare "})
    if (text.find(mark) != std::string_view::npos) return true;
  return text.substr(0, 7) == "define " || text.substr(0, 8) == "declare ";
}

bool is_another_form(const std::string& suffix) {
  static constexpr std::array kSuffixes = {".pb",  ".pbtxt", ".json", ".dot", ".svg", ".html",
                                           ".csv", ".md",    ".py",   ".c",   ".cc",  ".cpp"};
  return std::find(kSuffixes.begin(), kSuffixes.end(), suffix) != kSuffixes.end();
}

bool is_cuda_or_hip(const std::string& path) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  return suffix == ".cu" || suffix == ".hip";
}

bool is_spirv(std::string_view bytes) {
  return bytes.substr(0, 4) == std::string_view("\x03\x02\x23\x07", 4) ||
         bytes.substr(0, 4) == std::string_view("\x07\x23\x02\x03", 4);
}

}  // namespace omen::loadbalance
