// SPDX-License-Identifier: Apache-2.0
// Asks the probing profiler and puts its figures into words.
#include "cli/doctor_devices.hpp"

#include <nlohmann/json.hpp>

#include "cli/figure_text.hpp"
#include "cli/session.hpp"

namespace omen::host::cli {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<Cell>;

constexpr const char* kProbe = "telemetry.probe";
constexpr double kTimeoutSeconds = 300;

std::string absent_json(const std::string& message, const std::string& hint) {
  return Json{
      {"devices", Json::array()},
      {"absent", Json::array({Json{{"kind", "probe"}, {"message", message}, {"hint", hint}}})}}
      .dump();
}

// The published peak that a measured rate is a share of.
std::string peak_of(const std::string& figure) {
  if (figure == "gemm_fp32_flops" || figure == "conv_fp32_flops") return "fp32_flops";
  if (figure == "gemm_tf32_flops") return "tf32_flops";
  if (figure == "gemm_fp16_flops" || figure == "conv_fp16_flops") return "fp16_flops";
  return figure == "triad_bytes_per_s" ? "bandwidth_bytes_per_s" : "";
}

std::string beside_published(const Json& published, const std::string& figure, double value) {
  const std::string peak = peak_of(figure);
  if (!published.is_object() || !published["figures"].contains(peak)) return {};
  const double rated = published["figures"][peak].get<double>();
  char text[80];
  std::snprintf(text, sizeof text, ", %.0f %% of the %s published", 100 * value / rated,
                figure_text(peak, rated).c_str());
  return text;
}

void add_device(const Json& device, std::vector<Row>& rows) {
  const std::string label =
      device.value("kind", "") + " " + std::to_string(device.value("index", 0));
  rows.push_back({Cell(label, Style::kGood), "name", device.value("name", "")});
  for (const auto& [key, value] : device["facts"].items())
    rows.push_back({"", key, value.get<std::string>()});
  for (const auto& [key, value] : device["figures"].items()) {
    const double number = value.get<double>();
    rows.push_back(
        {"", key, figure_text(key, number) + beside_published(device["published"], key, number)});
  }
}

}  // namespace

std::string probe_devices(const Globals& globals) {
  RunChoices choices;
  choices.isolate = true;
  choices.timeout_seconds = kTimeoutSeconds;
  Session session(globals, choices, {}, "doctor", {});
  for (const ComponentRef& ref : session.registry().components(OMEN_PROFILER)) {
    if (ref.info->id != kProbe) continue;
    try {
      const OptionValues options =
          resolve_options(*ref.info, session.flags().sources_for(*ref.info));
      session.progress().update(-1, "measuring devices");
      std::string found = session.components().profiler(ref, options).probe();
      session.progress().finish();
      if (Json::accept(found)) return found;
      return absent_json(std::string(kProbe) + " did not answer with JSON", "build it again");
    } catch (const Error& error) {
      session.progress().finish();
      return absent_json(error.what(), error.hint());
    }
  }
  return absent_json(std::string("no plugin has the profiler ") + kProbe,
                     "build or install the telemetry plugin");
}

std::vector<Row> probe_rows(const std::string& probe_json) {
  std::vector<Row> rows;
  const Json found = Json::parse(probe_json, nullptr, false);
  if (!found.is_object()) return rows;
  for (const Json& device : found["devices"]) add_device(device, rows);
  for (const Json& part : found["absent"])
    rows.push_back({Cell("none", Style::kWarn), part.value("kind", ""),
                    part.value("message", "") + "; " + part.value("hint", "")});
  return rows;
}

}  // namespace omen::host::cli
