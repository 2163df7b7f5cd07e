// SPDX-License-Identifier: Apache-2.0
// Reads the few lines of these documents that matter: names, actions, energies, areas.
#include "sim/accelergy_tables.hpp"

#include <charconv>
#include <omen/error.hpp>
#include <sstream>
#include <vector>

namespace omen::power {
namespace {

constexpr const char* kHint = "Give a file that Accelergy wrote, such as timeloop-mapper.ERT.yaml.";
constexpr double kWordBits = 16;

[[noreturn]] void refuse_table(const std::string& source, std::size_t line,
                               const std::string& what) {
  throw Error(OMEN_INVALID_DATA, source + ": line " + std::to_string(line) + ": " + what, kHint);
}

// "  - name: system.glb[1..1]" is {"name", "system.glb[1..1]"} and starts an item.
struct TableLine {
  std::string key, value;
  bool item = false;
};

TableLine split_line(std::string line) {
  TableLine made;
  const std::size_t comment = line.find(" #");
  if (comment != std::string::npos) line.resize(comment);
  std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return made;
  if (line.compare(first, 2, "- ") == 0) {
    made.item = true;
    first = line.find_first_not_of(" \t", first + 2);
    if (first == std::string::npos) return made;
  }
  const std::size_t colon = line.find(':', first);
  if (colon == std::string::npos) return made;
  made.key = line.substr(first, colon - first);
  const std::size_t value = line.find_first_not_of(" \t", colon + 1);
  if (value == std::string::npos) return made;
  made.value = line.substr(value, line.find_last_not_of(" \t\r") - value + 1);
  return made;
}

std::string short_name(const std::string& full) {
  const std::size_t dot = full.rfind('.', full.find('['));
  const std::size_t from = dot == std::string::npos ? 0 : dot + 1;
  return full.substr(from, full.find('[', from) - from);
}

double number_of(const std::string& text, const std::string& source, std::size_t line) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0))
    refuse_table(source, line, "'" + text + "' is not a number from 0");
  return value;
}

bool holds(const std::string& name, std::string_view part) {
  return name.find(part) != std::string::npos;
}

double action_of(const std::map<std::string, double>& actions, std::string_view name) {
  const auto at = actions.find(std::string(name));
  return at == actions.end() ? 0 : at->second;
}

double area_of(const ReferenceTables& tables, const std::string& component) {
  const auto at = tables.area_um2.find(component);
  return at == tables.area_um2.end() ? 0 : at->second;
}

}  // namespace

void read_reference_table(const std::string& text, const std::string& source,
                          ReferenceTables& into) {
  std::istringstream lines(text);
  std::string line, component, action;
  std::size_t number = 0, found = 0;
  bool in_actions = false, known = false;
  while (std::getline(lines, line)) {
    ++number;
    const TableLine at = split_line(line);
    if (at.key == "ERT" || at.key == "ART") known = true;
    if (at.key == "actions") in_actions = true;
    if (at.key == "name" && at.item) {
      // Tables are named by dots or a bracket, actions by one word.
      const bool table = at.value.find_first_of(".[") != std::string::npos;
      if (table) {
        component = short_name(at.value);
        in_actions = false;
      } else if (!in_actions) {
        refuse_table(source, number, "action '" + at.value + "' stands outside of a table");
      }
      action = table ? std::string() : at.value;
    }
    if (at.key != "energy" && at.key != "area") continue;
    if (component.empty() || (at.key == "energy" && action.empty()))
      refuse_table(source, number, at.key + " belongs to no component");
    const double value = number_of(at.value, source, number);
    ++found;
    if (at.key == "energy")
      into.energy_pj[component][action] = value;
    else
      into.area_um2[component] = value;
  }
  if (!known || found == 0)
    throw Error(OMEN_INVALID_DATA, source + " holds no energy or area reference table", kHint);
}

EnergyProfile profile_from(const ReferenceTables& tables, const std::string& name, double buffer_kb,
                           double buffer_word_bits) {
  EnergyProfile made;
  made.name = name;
  made.node_nm = 45;
  made.volts = 1;
  double storage = 0, storages = 0, storage_area = 0;
  bool computes = false;
  for (const auto& [component, actions] : tables.energy_pj) {
    const double read = action_of(actions, "read"), write = action_of(actions, "write");
    if (holds(component, "DRAM")) {
      made.dram_pj_per_bit.fill(read / buffer_word_bits);
    } else if (holds(component, "glb") || holds(component, "GlobalBuffer")) {
      made.buffer_pj = (read + write) / 2 * kWordBits / buffer_word_bits;
      made.buffer_kb = buffer_kb;
      made.buffer_um2_per_kb = area_of(tables, component) / buffer_kb;
    } else if (holds(component, "mac")) {
      computes = true;
      made.mac_pj = action_of(actions, "compute");
      made.mac_um2 = area_of(tables, component);
    } else if (read > 0) {
      storage += (read + write) / 2;
      storage_area += area_of(tables, component);
      ++storages;
    }
  }
  if (!computes)
    throw Error(OMEN_INVALID_DATA, name + " has no component that computes",
                "A component whose name holds 'mac' must have the action 'compute'.");
  if (storages > 0) made.register_pj = storage / storages;
  made.array_pj = 2 * made.register_pj;
  made.clock_pj = 0;
  constexpr double kElementBytes = 440;  // of the published design: 384 + 24 + 32
  if (storage_area > 0) made.register_um2_per_b = storage_area / kElementBytes;
  return made;
}

}  // namespace omen::power
