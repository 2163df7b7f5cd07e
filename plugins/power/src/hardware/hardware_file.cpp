// SPDX-License-Identifier: Apache-2.0
// Reads both forms into the same parameters.
#include "hardware/hardware_file.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <omen/error.hpp>
#include <omen/join.hpp>
#include <sstream>
#include <vector>

#include "hardware/hardware_columns.hpp"

namespace omen::power {
namespace {

constexpr const char* kHardwareHint = "See \"Accelerators\" in plugins/power/README.md.";

[[noreturn]] void refuse_hardware(const std::string& source, const std::string& what) {
  throw Error(OMEN_INVALID_DATA, source + ": " + what, kHardwareHint);
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string::npos
             ? ""
             : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

double number_from(const std::string& text, const std::string& source, const std::string& key) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    refuse_hardware(source, key + " '" + text + "' is not a number");
  return value;
}

struct ConfigKey {
  const char* key;
  double Hardware::*field;
};
constexpr ConfigKey kConfigKeys[] = {{"ArrayHeight", &Hardware::rows},
                                     {"ArrayWidth", &Hardware::cols},
                                     {"IfmapSramSzkB", &Hardware::ifmap_kb},
                                     {"FilterSramSzkB", &Hardware::weight_kb},
                                     {"OfmapSramSzkB", &Hardware::ofmap_kb}};

Hardware checked(Hardware hardware, const std::string& source) {
  if (const std::string fault = fault_of(hardware); !fault.empty()) refuse_hardware(source, fault);
  return hardware;
}

void set_choice(Hardware& hardware, const std::string& key, const std::string& word,
                const std::string& source) {
  if (key == "dataflow") {
    const auto parsed = parse_dataflow(word);
    if (!parsed) refuse_hardware(source, "dataflow '" + word + "' is none of os, ws, is, rs");
    hardware.dataflow = *parsed;
    return;
  }
  const auto parsed = parse_dram(word);
  if (!parsed)
    refuse_hardware(source,
                    "dram '" + word + "' is none of " +
                        join(std::vector<std::string>(kDramNames.begin(), kDramNames.end())));
  hardware.dram = *parsed;
}

}  // namespace

Hardware parse_scale_sim(const std::string& text, const std::string& source,
                         const Hardware& otherwise) {
  Hardware made = otherwise;
  made.bits_w = made.bits_a = 8;
  std::istringstream lines(text);
  std::string line;
  bool array = false;
  while (std::getline(lines, line)) {
    const std::size_t split = line.find_first_of(":=");
    if (split == std::string::npos) continue;
    const std::string key = trimmed(line.substr(0, split)), value = trimmed(line.substr(split + 1));
    for (const ConfigKey& known : kConfigKeys)
      if (key == known.key) {
        made.*known.field = number_from(value, source, key);
        array = true;
      }
    if (key == "Dataflow") set_choice(made, "dataflow", value, source);
    if (key == "Bandwidth")
      made.bw_gbps =
          number_from(value.substr(0, value.find(',')), source, key) * made.freq_mhz / 1e3;
  }
  if (!array)
    refuse_hardware(source, "has neither ArrayHeight nor a buffer: no configuration of SCALE-Sim");
  return checked(made, source);
}

Hardware parse_hardware_json(const std::string& text, const std::string& source,
                             const Hardware& otherwise) {
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object()) refuse_hardware(source, "is not a JSON object of parameters");
  Hardware made = otherwise;
  for (const auto& item : document.items()) {
    const std::string& key = item.key();
    bool known = false;
    for (const HardwareColumn& column : kHardwareColumns) {
      if (key != column.name) continue;
      if (!item.value().is_number()) refuse_hardware(source, key + " is not a number");
      made.*column.field = item.value().get<double>();
      known = true;
    }
    if (key == "dataflow" || key == "dram") {
      if (!item.value().is_string()) refuse_hardware(source, key + " is not a word");
      set_choice(made, key, item.value().get<std::string>(), source);
      known = true;
    }
    if (key == "zero_gate") {
      if (!item.value().is_boolean()) refuse_hardware(source, key + " is neither true nor false");
      made.zero_gate = item.value().get<bool>();
      known = true;
    }
    if (!known) {
      std::vector<std::string> names;
      for (const HardwareColumn& column : kHardwareColumns) names.emplace_back(column.name);
      refuse_hardware(source, "'" + key + "' is no parameter; known are " + join(names) +
                                  ", dataflow, dram, zero_gate");
    }
  }
  return checked(made, source);
}

Hardware parse_hardware(const std::string& text, const std::string& source,
                        const Hardware& otherwise) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{'
             ? parse_hardware_json(text, source, otherwise)
             : parse_scale_sim(text, source, otherwise);
}

}  // namespace omen::power
