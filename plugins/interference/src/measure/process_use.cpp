// SPDX-License-Identifier: Apache-2.0
// Adds up the kernel's files about a tree of processes.
#include "measure/process_use.hpp"

#include <unistd.h>

#include <fstream>
#include <omen/telemetry/source.hpp>
#include <omen/telemetry/sources.hpp>
#include <sstream>
#include <string>

namespace omen::interference {
namespace {

// Ticks in user and kernel mode are the 14th and 15th word of stat; the second is a name in
// brackets that may hold anything.
double ticks_of(const std::string& stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream words(stat.substr(name_end + 1));
  std::string skipped;
  for (int word = 3; word < 14; ++word) words >> skipped;
  double user = 0, system = 0;
  words >> user >> system;
  return user + system;
}

}  // namespace

ProcessUse process_use(pid_t root) {
  ProcessUse all;
  for (const pid_t pid : telemetry::process_tree(telemetry::Roots{}, root)) {
    const std::string directory = "/proc/" + std::to_string(pid);
    std::string stat;
    std::ifstream stat_file(directory + "/stat");
    std::getline(stat_file, stat);
    all.cpu_s += ticks_of(stat) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    std::ifstream memory_file(directory + "/statm");
    double pages = 0, resident = 0;
    memory_file >> pages >> resident;
    all.memory_mib += resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
  }
  return all;
}

}  // namespace omen::interference
