// SPDX-License-Identifier: Apache-2.0
// Components in a worker behind the same handles and tables as those in this process.
#ifndef OMEN_HOST_REMOTE_HPP
#define OMEN_HOST_REMOTE_HPP

#include <memory>
#include <string_view>

#include "components/component.hpp"
#include "components/manifest.hpp"
#include "worker/worker.hpp"

namespace omen::host {

// Each starts a worker, loads the plugin there and creates the object. The worker ends with the
// handle. Errors carry the outcome (outcome_of); after a crash every further call fails. Streams
// are lazy: each batch is fetched when it is read, and a failure half-way leaves the rows that came
// before it.
PredictorHandle remote_predictor(const Manifest& plugin, std::string_view id,
                                 const OptionValues& options, const WorkerLimits& limits);
FrontendHandle remote_frontend(const Manifest& plugin, std::string_view id,
                               const OptionValues& options, const WorkerLimits& limits);
ProfilerHandle remote_profiler(const Manifest& plugin, std::string_view id,
                               const OptionValues& options, const WorkerLimits& limits);
ScorerHandle remote_scorer(const Manifest& plugin, std::string_view id, const OptionValues& options,
                           const WorkerLimits& limits);
CommandHandle remote_command(const Manifest& plugin, std::string_view id,
                             const OptionValues& options, const WorkerLimits& limits);

class WorkerLink;

// Asks the front ends of a plugin that lives in a worker how sure they are; sniff has no object and
// so takes a worker of its own, which serves one question after the other. [any-thread]
class RemoteSniffer {
 public:
  RemoteSniffer(const Manifest& plugin, const WorkerLimits& limits);
  int sniff(std::string_view id, const char* path, std::string_view head);

 private:
  std::shared_ptr<WorkerLink> link_;
};

// omen.observe/1 on a predictor that remote_predictor made.
void remote_observe(PredictorHandle& predictor, const omen_run* run, const omen_dataset* measured);
// omen.graph-writer/1 of a plugin in a worker.
void remote_write_graph(const Manifest& plugin, const omen_run* run, const omen_dataset* in,
                        const char* path, const WorkerLimits& limits);

// Highest resident set that the worker of this predictor was seen with, in bytes.
std::uint64_t remote_peak_memory(const PredictorHandle& predictor);

}  // namespace omen::host

#endif  // OMEN_HOST_REMOTE_HPP
