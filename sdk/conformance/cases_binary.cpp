// SPDX-License-Identifier: Apache-2.0
// Cases about the library: what it exports, where it looks for others, and what its entry does.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "elf_file.hpp"
#include "omen/instrumented.hpp"
#include "process_state.hpp"
#include "trial.hpp"

namespace omen::conformance {
namespace {

// Sanitizers keep a shadow of what the entry touches.
#if OMEN_INSTRUMENTED
constexpr std::size_t kEntryBytes = std::size_t{64} << 20;
#else
constexpr std::size_t kEntryBytes = std::size_t{8} << 20;
#endif

ElfFacts elf(Trial& trial) {
  if (std::error_code failed; !std::filesystem::exists(trial.manifest().library, failed))
    skip("the library is missing; see manifest.digest");
  try {
    return read_elf(trial.manifest().library);
  } catch (const Error& error) {
    fail(error.what());
  }
}

std::string first_few(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 3; ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > 3) text += " and " + std::to_string(names.size() - 3) + " more";
  return text;
}

void one_export(Trial& trial) {
  std::vector<std::string> exports = elf(trial).exports;
  require(std::count(exports.begin(), exports.end(), "omen_plugin_entry") == 1,
          "the library does not export omen_plugin_entry");
  exports.erase(std::find(exports.begin(), exports.end(), "omen_plugin_entry"));
  require(exports.empty(), "the library also exports " + first_few(exports));
}

void no_text_relocations(Trial& trial) {
  require(!elf(trial).text_relocations, "the library has text relocations; compile with -fPIC");
}

void runpath(Trial& trial) {
  for (const std::string& entry : elf(trial).runpath)
    require(entry == "$ORIGIN" || entry.rfind("$ORIGIN/", 0) == 0,
            "RUNPATH holds '" + entry + "', which is not beside the library");
}

void no_unique(Trial& trial) {
  const std::vector<std::string> unique = elf(trial).unique;
  require(unique.empty(), "symbols that ignore RTLD_LOCAL: " + first_few(unique) +
                              "; compile with -fno-gnu-unique");
}

void loads(Trial& trial) {
  trial.entry();
}

void right_major(Trial& trial) {
  const omen_plugin_entry_fn entry = trial.entry();
  const omen_plugin* plugin =
      across("the entry", [&] { return entry(OMEN_ABI_MAJOR, OMEN_ABI_MINOR); });
  require(plugin != nullptr, "entry gives NULL for ABI " + std::to_string(OMEN_ABI_MAJOR) + "." +
                                 std::to_string(OMEN_ABI_MINOR));
  require(plugin->abi_major == OMEN_ABI_MAJOR,
          "descriptor says ABI major " + std::to_string(plugin->abi_major) + ", this host has " +
              std::to_string(OMEN_ABI_MAJOR));
  require(plugin->abi_minor <= OMEN_ABI_MINOR,
          "descriptor wants minor " + std::to_string(plugin->abi_minor) + ", newer than this host");
  require(plugin->struct_size >= offsetof(omen_plugin, deinit), "descriptor has no struct_size");
  for (const omen_component* component : components_of(*plugin))
    require(component->struct_size >= sizeof(omen_component) && component->vtable,
            std::string("component ") + (component->id ? component->id : "?") +
                " has no struct_size or no table");
}

void wrong_major(Trial& trial) {
  const omen_plugin_entry_fn entry = trial.entry();
  for (const std::uint32_t major : {OMEN_ABI_MAJOR + 1, 4096U})
    require(across("the entry", [&] { return entry(major, 0); }) == nullptr,
            "entry gives a descriptor to a host of major " + std::to_string(major));
}

void pure_entry(Trial& trial) {
  const omen_plugin_entry_fn entry = trial.entry();
  const ProcessState before = ProcessState::now();
  const int threads = thread_count();
  const std::size_t memory = resident_bytes();
  const omen_plugin *first = nullptr, *second = nullptr;
  std::string said;
  {
    OutputTrap trap;
    across("the entry", [&] {
      first = entry(OMEN_ABI_MAJOR, OMEN_ABI_MINOR);
      second = entry(OMEN_ABI_MAJOR, OMEN_ABI_MINOR);
    });
    said = trap.written_to_stdout() + trap.written_to_stderr();
  }
  require(first == second, "entry gives another descriptor each time");
  require(said.empty(), "entry writes: " + said.substr(0, 80));
  require(thread_count() == threads, "entry starts threads");
  require(resident_bytes() < memory + kEntryBytes,
          "entry takes more than " + std::to_string(kEntryBytes >> 20) + " MB");
  for (const std::string& change : before.changes(ProcessState::now()))
    fail("after entry, " + change);
}

}  // namespace

std::vector<Case> binary_cases() {
  return {
      {"binary.one-export", "the library exports omen_plugin_entry and nothing else.", 1, 10, 0,
       nullptr, one_export, false},
      {"binary.no-text-relocations", "the library is position independent.", 1, 10, 0, nullptr,
       no_text_relocations, false},
      {"binary.runpath", "the library finds its own libraries relative to itself.", 1, 10, 0,
       nullptr, runpath, false},
      {"binary.no-gnu-unique", "no symbol ignores RTLD_LOCAL.", 1, 10, 0, nullptr, no_unique,
       false},
      {kLoads, "the library opens with RTLD_NOW and RTLD_LOCAL.", 1, 20, 0, nullptr, loads},
      {"binary.right-major", "entry gives a complete descriptor of this host's ABI.", 1, 20, 0,
       nullptr, right_major},
      {"binary.wrong-major", "entry gives NULL to a host of another major.", 1, 20, 0, nullptr,
       wrong_major},
      {"binary.pure-entry", "entry has no side effects.", 1, 20, 0, nullptr, pure_entry},
  };
}

}  // namespace omen::conformance
