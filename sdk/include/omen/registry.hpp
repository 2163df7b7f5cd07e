// SPDX-License-Identifier: Apache-2.0
// Devices and datasets that the host knows by name.
#ifndef OMEN_REGISTRY_HPP
#define OMEN_REGISTRY_HPP

#include <map>
#include <optional>
#include <string>

#include "omen/ext/registry.h"
#include "omen/host.hpp"

namespace omen {

// Published figures of devices; omen/ext/registry.h names them.
namespace devices {

// The name of the device that a spelling means; OMEN_NOT_FOUND with near names.
inline std::string find(const std::string& spelling) {
  const char* name = nullptr;
  ErrorOut error;
  error.check(detail::host_extension<omen_devices_ext>(OMEN_EXT_DEVICES)
                  .find(detail::host_slot(), spelling.c_str(), &name, error));
  return name;
}

struct Figure {
  double value = 0;
  std::string source;
};

// Nothing where it was not published; OMEN_NOT_FOUND where the device is not known.
inline std::optional<Figure> figure(const std::string& spelling, const std::string& key) {
  const std::string device = find(spelling);
  Figure found;
  const char* source = nullptr;
  ErrorOut error;
  const omen_status status =
      detail::host_extension<omen_devices_ext>(OMEN_EXT_DEVICES)
          .figure(detail::host_slot(), device.c_str(), key.c_str(), &found.value, &source, error);
  if (status == OMEN_NOT_FOUND) return std::nullopt;
  error.check(status);
  found.source = source;
  return found;
}

inline Table all() {
  ArrowArrayStream out{};
  ErrorOut error;
  error.check(detail::host_extension<omen_devices_ext>(OMEN_EXT_DEVICES)
                  .table(detail::host_slot(), &out, error));
  return TableStream::import(&out).read_all();
}

}  // namespace devices

// The tables of a dataset by name, without its answers.
inline std::map<std::string, Table> dataset_inputs(const std::string& name) {
  TableCollector tables;
  ErrorOut error;
  error.check(detail::host_extension<omen_datasets_ext>(OMEN_EXT_DATASETS)
                  .open(detail::host_slot(), name.c_str(), tables.c(), error));
  return tables.take();
}

}  // namespace omen

#endif  // OMEN_REGISTRY_HPP
