// SPDX-License-Identifier: Apache-2.0
// The command line of a load.
#include "measure/load_command.hpp"

#include <omen/error.hpp>

namespace omen::interference {

CommandLine load_command(const std::string& load, const std::string& devices, double seconds) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error)
    throw Error(OMEN_UNAVAILABLE, "cannot find this program to start a load with it",
                "Measure on a Linux machine with /proc.");
  return {"setpriv",     "--pdeathsig",  "KILL",
          "sh",          "-c",           R"(exec "$0" "$@" > /dev/null 2>&1)",
          self.string(), "interference", "work",
          load,          "--seconds",    std::to_string(seconds),
          "--devices",   devices};
}

}  // namespace omen::interference
