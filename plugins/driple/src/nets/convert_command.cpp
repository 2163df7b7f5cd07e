// SPDX-License-Identifier: Apache-2.0
// Writes the container that omen train would have written.
#include "nets/convert_command.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <string_view>

#include "nets/net_model.hpp"
#include "nets/published_weights.hpp"
#include "omen/container.hpp"
#include "omen/error.hpp"
#include "omen/json_text.hpp"

namespace omen::driple {
namespace {

constexpr const char* kUsage =
    "Use: omen driple convert FILE.pkl|FILE.safetensors OUT.omen [--operations ops.csv]";

constexpr std::array<std::string_view, 4> kDistributed = {"gpu_mem_util", "gpu_util", "net_rx",
                                                          "net_tx"};
constexpr std::array<std::string_view, 4> kSingle = {"gpu_mem_util", "gpu_util", "cpu_util",
                                                     "gpu_memory"};
constexpr std::array<std::string_view, 3> kDistributedParts = {"idle", "active", "peak"};
// The published table has the first two under each other's header; these are their meanings.
constexpr std::array<std::string_view, 4> kSingleParts = {"burst", "idle", "peak", "time"};

template <class Resources, class Parts>
std::vector<std::string> crossed(const Resources& resources, const Parts& parts) {
  std::vector<std::string> names;
  for (const std::string_view resource : resources)
    for (const std::string_view part : parts)
      names.push_back(std::string(resource) + "_" + std::string(part));
  return names;
}

// Outputs in the published order, known by their number.
std::vector<std::string> output_names(std::int64_t count) {
  if (count == 12) return crossed(kDistributed, kDistributedParts);
  if (count == 16) return crossed(kSingle, kSingleParts);
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back("output_" + std::to_string(i));
  return names;
}

OpFrequencies read_frequencies(const std::string& path) {
  if (path.empty()) return {};
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(OMEN_NOT_FOUND, path + " cannot be read", "Give the op frequency table.");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return OpFrequencies::parse(text, path);
}

void write_model(const NetModel& model, const std::string& path) {
  container::Writer file;
  ArtifactWriter out(file.sink());
  model.save(out);
  std::string targets;
  for (const OutputScale& output : model.outputs)
    targets += (targets.empty() ? "" : ",") + (R"({"name":)" + json_quote(output.name)) +
               R"(,"unit":"1","direction":"lower","kind":"number"})";
  file.put_meta("omen.format", "model/1");
  file.put_meta("omen.plugin", "driple-nets");
  file.put_meta("omen.component", "driple.gcn");
  file.put_meta("omen.options", "{}");
  file.put_meta("omen.targets", "[" + targets + "]");
  file.put_meta("summary",
                "published weights; answers are in units of label maxima that were not published");
  file.write(path);
}

}  // namespace

std::vector<Option<ConvertOptions>> ConvertOptions::spec() {
  using O = ConvertOptions;
  return options(opt(&O::operations, "operations",
                     "op frequency table that the weights were trained with; without it every "
                     "operation is unknown")
                     .path());
}

int ConvertCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                        const Run& run) {
  if (args.size() != 2)
    throw Error(OMEN_INVALID_ARGUMENT, "convert needs a state dictionary and a file to write",
                kUsage);
  run.step(0, "read");
  NetModel model;
  model.network = published_network(args[0]);
  model.frequencies = read_frequencies(options_.operations);
  const std::int64_t outputs = model.network->options().outputs;
  for (const std::string& name : output_names(outputs))
    model.outputs.push_back({name, {{"omen.unit", "1"}, {"omen.direction", "lower"}}});
  run.step(0.5, "write");
  write_model(model, args[1]);
  const std::vector<std::string> what = {"model", "outputs", "parameters", "operations"};
  const std::vector<std::string> value = {args[1], std::to_string(outputs),
                                          std::to_string(model.network->state().parameter_count()),
                                          std::to_string(model.frequencies.size())};
  out.put("converted",
          TableBuilder().add_strings("what", what).add_strings("value", value).finish());
  return 0;
}

}  // namespace omen::driple
