// SPDX-License-Identifier: Apache-2.0
// The registry of devices and the datasets, behind the boundary.
#include "data/registry_services.hpp"

#include <map>
#include <set>

#include "components/withheld.hpp"
#include "data/dataset.hpp"
#include "omen/dataset.hpp"
#include "omen/join.hpp"

namespace omen::host {
namespace {

using telemetry::PublishedDevice;

omen_status find_named(const omen_host*, const char* spelling, const char** name,
                       omen_error* error) {
  return detail::guard(error,
                       [&] { *name = registered_device(spelling ? spelling : "").name.c_str(); });
}

// Texts that are made once, because callers keep what they are given.
const char* source_text(const PublishedDevice::Source& source) {
  static const auto* const texts = [] {
    auto* made = new std::map<const PublishedDevice::Source*, std::string>;
    for (const PublishedDevice& device : telemetry::published_devices())
      for (const PublishedDevice::Source& one : device.sources)
        (*made)[&one] = one.url + (one.opened ? "" : " (not opened)");
    return made;
  }();
  return texts->at(&source).c_str();
}

omen_status device_figure(const omen_host*, const char* spelling, const char* key, double* value,
                          const char** source, omen_error* error) {
  return detail::guard(error, [&] {
    const PublishedDevice& device = registered_device(spelling ? spelling : "");
    const std::string wanted = key ? key : "";
    const std::optional<double> found = device.figure(wanted);
    if (!found)
      throw Error(OMEN_NOT_FOUND, "no figure '" + wanted + "' is known of " + device.name,
                  "Measure it: omen doctor --devices");
    *value = *found;
    const PublishedDevice::Source* from = device.find_source(wanted);
    if (source) *source = from ? source_text(*from) : "";
  });
}

Table device_table() {
  const auto& devices = telemetry::published_devices();
  std::set<std::string> keys;
  std::vector<std::string> name, kind, vendor, architecture;
  std::vector<std::int64_t> year;
  for (const PublishedDevice& device : devices) {
    name.push_back(device.name);
    kind.push_back(device.kind);
    vendor.push_back(device.vendor);
    architecture.push_back(device.architecture);
    year.push_back(device.year);
    for (const auto& [key, value] : device.figures) keys.insert(key);
  }
  TableBuilder builder;
  builder.add_strings("name", name).add_categories("kind", kind).add_categories("vendor", vendor);
  builder.add_categories("architecture", architecture).add("year", year);
  for (const std::string& key : keys) {
    std::vector<double> values;
    std::vector<bool> known;
    for (const PublishedDevice& device : devices) {
      known.push_back(device.figure(key).has_value());
      values.push_back(device.figure(key).value_or(0));
    }
    builder.add(key, values).valid(known);
  }
  return builder.finish();
}

omen_status put_device_table(const omen_host*, ArrowArrayStream* out, omen_error* error) {
  return detail::guard(error, [&] { TableStream(device_table()).export_to(out); });
}

omen_status open_dataset(const omen_host*, const char* name, const omen_tables_out* out,
                         omen_error* error) {
  return detail::guard(error, [&] {
    const DatasetInfo info = find_dataset(name ? name : "");
    std::vector<std::string> measured;
    for (const TargetSpec& target : info.targets) measured.push_back(target.name);
    const TablesOut tables(out);
    for (const auto& [table, rows] : load_dataset(info))
      if (!is_withheld(table))
        tables.put(table.c_str(), TableStream(without_columns(rows, measured)));
  });
}

}  // namespace

const PublishedDevice& registered_device(const std::string& spelling) {
  if (const PublishedDevice* device = telemetry::find_device(spelling)) return *device;
  const std::vector<std::string> near = telemetry::near_devices(spelling);
  throw Error(OMEN_NOT_FOUND, "there is no device '" + spelling + "' in the registry",
              near.empty()
                  ? "See all with: omen devices. Figures of others can stand in a table of yours."
                  : "Did you mean " + join(near) + "?");
}

const omen_devices_ext* devices_extension() noexcept {
  static const omen_devices_ext extension = {sizeof(omen_devices_ext), 0, find_named, device_figure,
                                             put_device_table};
  return &extension;
}

const omen_datasets_ext* datasets_extension() noexcept {
  static const omen_datasets_ext extension = {sizeof(omen_datasets_ext), 0, open_dataset};
  return &extension;
}

}  // namespace omen::host
