// SPDX-License-Identifier: Apache-2.0
// Fits the shares of idle and busy GPUs to the perf table and adds them to a model of steps, whose
// other parts stay as they are.
//   driple_add_shares MODEL.omen
#include <cstdio>
#include <map>
#include <omen/container.hpp>
#include <omen/learn/artifact_state.hpp>

#include "omen/testing/show.hpp"
#include "operator_tables.hpp"
#include "profiled_use.hpp"

namespace {

using namespace omen::driple;
using namespace omen::driple::checks;
namespace container = omen::container;

UseModel fitted_use() {
  const std::vector<ProfiledStep> steps = read_steps();
  const std::vector<JobRow> jobs = job_rows(steps, shipped_operator_model());
  std::map<std::string, JobRow> job_of;
  for (std::size_t s = 0; s < steps.size(); ++s) job_of[word_of(steps[s])] = jobs[s];
  std::vector<UseRow> rows;
  for (const ProfiledUse& use : read_use(Resource::gpu_util)) {
    const JobRow& job = job_of.at(use.step());
    rows.push_back(use.row(job, job.seconds));
  }
  UseModel model;
  model.fit(rows);
  return model;
}

// Shares that the model had before are left out.
void copy_others(const container::Reader& from, container::Writer& to) {
  for (const auto& [key, value] : from.metadata())
    if (key != "omen.digest") to.put_meta(key, value);
  for (const container::Entry& entry : from.entries())
    if (!entry.name.starts_with(UseModel::kTensors))
      to.put_tensor(entry.name, entry.dtype, entry.shape, from.bytes(entry),
                    entry.end - entry.begin);
}

}  // namespace

int main(int argc, char** argv) {
  if (data_directory().empty()) {
    std::puts("skipped: OMEN_DATA is not set: the perf table is absent");
    return omen::test::kSkipped;
  }
  if (argc != 2) {
    std::puts("usage: driple_add_shares MODEL.omen");
    return 2;
  }
  const container::Reader reader = container::Reader::open(argv[1]);
  container::Writer writer;
  copy_others(reader, writer);
  omen::ArtifactWriter out(writer.sink());
  omen::learn::ArtifactState state(out);
  out.put_meta(UseModel::kThere, "yes");
  fitted_use().save(state);
  writer.write(argv[1]);
  return 0;
}
