// SPDX-License-Identifier: Apache-2.0
// The directory of one call, and the files that a program keeps as its model.
#include "work_directory.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <omen/container.hpp>
#include <omen/error.hpp>

namespace omen::external {
namespace fs = std::filesystem;
namespace {

std::string read_file(const fs::path& file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(file.c_str(), "rb"),
                                                           std::fclose);
  if (!in) throw Error(OMEN_IO, "cannot read " + file.string() + ": " + std::strerror(errno));
  std::string bytes(static_cast<std::size_t>(fs::file_size(file)), '\0');
  if (std::fread(bytes.data(), 1, bytes.size(), in.get()) != bytes.size())
    throw Error(OMEN_IO, "cannot read " + file.string() + ": it became shorter",
                "Let the program wait for what it started.");
  return bytes;
}

bool leads_out(const fs::path& name) {
  if (name.empty() || name.is_absolute()) return true;
  for (const fs::path& part : name)
    if (part == ".." || part == ".") return true;
  return !name.has_filename();
}

}  // namespace

WorkDirectory::WorkDirectory(const std::string& parent) {
  const fs::path base = parent.empty() ? fs::temp_directory_path() : fs::path(parent);
  std::string pattern = (fs::absolute(base) / "external-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    throw Error(OMEN_IO, "cannot make a directory in " + base.string() + ": " + strerror(errno));
  path_ = pattern;
}

WorkDirectory::~WorkDirectory() {
  try {
    fs::remove_all(path_);
  } catch (...) {
    // Out of memory, or a file that cannot be removed: the host clears the directory around it.
  }
}

Files read_files(const fs::path& directory) {
  Files files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    const std::string name = entry.path().lexically_relative(directory).string();
    if (entry.is_symlink() || !(entry.is_regular_file() || entry.is_directory()))
      throw Error(OMEN_INVALID_DATA, "state/" + name + " is no plain file",
                  "Let the program copy what it needs into state/.");
    if (entry.is_regular_file()) files[name] = read_file(entry.path());
  }
  return files;
}

void write_files(const fs::path& directory, const Files& files) {
  fs::create_directories(directory);
  for (const auto& [name, bytes] : files) {
    if (leads_out(name))
      throw Error(OMEN_INVALID_DATA, "the model holds a file '" + name + "' outside of its state",
                  "Do not use this model.");
    fs::create_directories((directory / name).parent_path());
    container::write_file(directory / name, bytes);
  }
}

}  // namespace omen::external
