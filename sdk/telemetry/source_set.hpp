// SPDX-License-Identifier: Apache-2.0
// The samplers of one recording, made of all sources that answer.
#ifndef OMEN_TELEMETRY_SOURCE_SET_HPP
#define OMEN_TELEMETRY_SOURCE_SET_HPP

#include <memory>
#include <vector>

#include "omen/telemetry/recording.hpp"

namespace omen::telemetry {

// The host, and two samplers for every GPU: one for the device and one for its PCIe counters, whose
// every reading blocks. A driver that is slow or hangs delays its own rows only.
struct SamplerSet {
  std::shared_ptr<Sampler> host;
  std::vector<std::shared_ptr<Sampler>> devices_and_links;

  std::vector<std::shared_ptr<Sampler>> used() const;
  std::vector<DeviceInfo> devices() const;
};

// `pid` is the process whose control group counts, 0 for this one. Throws OMEN_UNAVAILABLE where a
// required part does not answer, or nothing at all does.
SamplerSet make_samplers(const RecordOptions& options, const Context& context, pid_t pid);

}  // namespace omen::telemetry

#endif  // OMEN_TELEMETRY_SOURCE_SET_HPP
