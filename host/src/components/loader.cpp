// SPDX-License-Identifier: Apache-2.0
// Opens libraries and asks for their descriptors; the only file that knows Boost.DLL.
#include <dlfcn.h>

#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <deque>
#include <mutex>

#include "components/elf_exports.hpp"
#include "components/loader.hpp"
#include "library.hpp"
#include "omen/container.hpp"
#include "omen/error.hpp"

namespace omen::host {
namespace fs = std::filesystem;
namespace dll = boost::dll;
namespace {

constexpr const char* kEntry = "omen_plugin_entry";
constexpr auto kMode = dll::load_mode::rtld_now | dll::load_mode::rtld_local;

std::string version(std::uint32_t major, std::uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

// Everything that was ever opened, reachable so that leak checkers stay quiet; nothing is unloaded.
const dll::shared_library& keep(dll::shared_library library) {
  static std::mutex mutex;
  static auto* const kept = new std::deque<dll::shared_library>;
  const std::lock_guard lock(mutex);
  return kept->emplace_back(std::move(library));
}

void check_export(const std::string& who, const fs::path& library) {
  const std::vector<std::string> symbols = exported_symbols(library);
  if (std::find(symbols.begin(), symbols.end(), kEntry) == symbols.end())
    throw Error(OMEN_INVALID_DATA,
                who + ": " + library.filename().string() + " does not export " + kEntry,
                "Define it with OMEN_PLUGIN(...) and build with omen_add_plugin().");
}

// What the dynamic linker says; an error number stands for it in the exception of Boost.
std::string linker_text(const fs::path& path, const char* otherwise) {
  if (void* const opened = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    ::dlclose(opened);
    return otherwise;
  }
  const char* const text = ::dlerror();
  return text ? text : otherwise;
}

const dll::shared_library& open_library(const std::string& who, const fs::path& path) {
  try {
    return keep(dll::shared_library(path, kMode));
  } catch (const std::exception& e) {
    throw Error(OMEN_UNAVAILABLE, who + " cannot be opened: " + linker_text(path, e.what()),
                "install what is missing, or put it beside the plugin; see what each plugin lacks "
                "with: omen doctor");
  }
}

}  // namespace

void check_abi(const std::string& who, std::uint32_t major, std::uint32_t minor) {
  const std::string host = version(OMEN_ABI_MAJOR, OMEN_ABI_MINOR);
  if (major != OMEN_ABI_MAJOR)
    throw Error(OMEN_UNSUPPORTED,
                who + " has ABI " + version(major, minor) + ", this host has " + host +
                    "; the majors must be equal",
                "Build the plugin against the SDK of this omen.");
  if (minor > OMEN_ABI_MINOR)
    throw Error(OMEN_UNSUPPORTED,
                who + " has ABI " + version(major, minor) + ", newer than this host's " + host,
                "Use an omen as new as the plugin.");
}

const omen_plugin& open_plugin_library(const std::string& who, const fs::path& path) {
  check_export(who, path);
  const auto& library = open_library(who, path);
  const auto entry = library.get<const omen_plugin*(std::uint32_t, std::uint32_t)>(kEntry);
  const omen_plugin* plugin = entry(OMEN_ABI_MAJOR, OMEN_ABI_MINOR);
  if (!plugin)
    throw Error(OMEN_UNSUPPORTED,
                who + " refuses ABI " + version(OMEN_ABI_MAJOR, OMEN_ABI_MINOR) +
                    " of this host: it was built for another major",
                "Build the plugin against the SDK of this omen.");
  check_abi(who, plugin->abi_major, plugin->abi_minor);
  return *plugin;
}

bool start_cuda_driver() {
  static const bool started = [] {
    try {
      const auto& driver =
          keep(dll::shared_library("libcuda.so.1", kMode | dll::load_mode::search_system_folders));
      return driver.has("cuInit") && driver.get<int(unsigned)>("cuInit")(0) == 0;
    } catch (const std::exception&) {
      return false;
    }
  }();
  return started;
}

Manifest describe_library(const fs::path& path) {
  const fs::path absolute = fs::absolute(path);
  Manifest manifest = describe(open_plugin_library(path.filename().string(), absolute));
  manifest.library = path.filename().string();
  manifest.sha256 = container::sha256_file(absolute);
  manifest.size = fs::file_size(absolute);
  return manifest;
}

}  // namespace omen::host
