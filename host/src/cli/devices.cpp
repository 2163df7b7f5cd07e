// SPDX-License-Identifier: Apache-2.0
// `omen devices`: published figures of devices by name, each with where it was published.
#include "cli/command_line.hpp"
#include "cli/completion.hpp"
#include "cli/console.hpp"
#include "cli/figure_text.hpp"
#include "cli/verbs.hpp"
#include "data/registry_services.hpp"
#include "omen/join.hpp"
#include "text/json_writer.hpp"

namespace omen::host::cli {
namespace {

using telemetry::PublishedDevice;

constexpr const char* kNotOpened = "not opened";

struct DevicesRequest {
  std::string name;  // empty: all
};

// What a list of all devices says of each; the rest stands under its name.
constexpr const char* kShown[] = {"fp32_flops", "fp16_flops", "memory_bytes",
                                  "bandwidth_bytes_per_s", "tdp_w"};

void write_device(JsonWriter& json, const PublishedDevice& device) {
  json.object().field("name", device.name).strings("aliases", device.aliases);
  json.field("kind", device.kind).field("vendor", device.vendor);
  json.field("architecture", device.architecture).field("year", device.year);
  if (!device.note.empty()) json.field("note", device.note);
  json.key("figures").array();
  for (const auto& [key, value] : device.figures) {
    const PublishedDevice::Source* source = device.find_source(key);
    json.object().field("figure", key).field("value", value);
    json.field("source", source ? source->url : "").field("opened", source && source->opened).end();
  }
  json.end().end();
}

std::string devices_json(const std::vector<const PublishedDevice*>& shown) {
  JsonWriter json;
  json.object().field("format_version", 1).key("devices").array();
  for (const PublishedDevice* device : shown) write_device(json, *device);
  return json.end().end().text();
}

void print_all(const Globals& globals) {
  TextTable table({{"device"},
                   {"kind"},
                   {"year", true},
                   {"fp32", true},
                   {"fp16", true},
                   {"memory", true},
                   {"bandwidth", true},
                   {"power", true}});
  for (const PublishedDevice& device : telemetry::published_devices()) {
    std::vector<Cell> row = {
        {device.name, Style::kAccent}, device.kind, std::to_string(device.year)};
    for (const char* key : kShown) {
      const std::optional<double> value = device.figure(key);
      row.emplace_back(value ? figure_text(key, *value) : "-");
    }
    table.add(std::move(row));
  }
  print_table(globals, table);
  note(globals, "all figures of one, and where each was published: omen devices NAME");
}

void print_one(const Globals& globals, const PublishedDevice& device) {
  if (!globals.plain) {
    print(device.name + "  " + device.kind + ", " + device.architecture + ", " +
          std::to_string(device.year) + "\n");
    if (!device.aliases.empty()) print("  also: " + join(device.aliases) + "\n");
    if (!device.note.empty()) print("  " + device.note + "\n");
  }
  TextTable table({{"figure"}, {"value", true}, {"published at", false, true}, {""}});
  bool all_opened = true;
  for (const auto& [key, value] : device.figures) {
    const PublishedDevice::Source* source = device.find_source(key);
    const bool opened = source && source->opened;
    all_opened &= opened;
    table.add({{key, Style::kAccent},
               figure_text(key, value),
               source ? source->url : "-",
               opened ? Cell("") : Cell(kNotOpened, Style::kWarn)});
  }
  print_table(globals, table);
  if (!all_opened)
    note(globals, std::string(kNotOpened) +
                      ": the page could not be opened when the figure was written down, from what "
                      "is known of it");
}

int run_devices(const Globals& globals, const DevicesRequest& request) {
  const PublishedDevice* one = request.name.empty() ? nullptr : &registered_device(request.name);
  if (globals.json) {
    std::vector<const PublishedDevice*> shown;
    for (const PublishedDevice& device : telemetry::published_devices())
      if (!one || one == &device) shown.push_back(&device);
    print(devices_json(shown));
  } else if (one) {
    print_one(globals, *one);
  } else {
    print_all(globals);
  }
  return kOk;
}

void complete_devices(Offers& offers) {
  for (const PublishedDevice& device : telemetry::published_devices())
    for (const std::string& alias : device.aliases)
      if (alias.find(' ') == std::string::npos) offers.add(alias, device.name);
}

void describe_devices(CommandLine& line) {
  auto& r = line.request(run_devices);
  line.word("NAME", r.name, "a device as a driver or a person spells it: a100, \"GTX 1080\"");
}

}  // namespace

Verb devices_verb() {
  return {"devices", "published figures of GPUs and processors, with their sources",
          "omen devices\nomen devices a100\nomen devices \"GTX 1080\" --json", describe_devices,
          complete_devices};
}

}  // namespace omen::host::cli
