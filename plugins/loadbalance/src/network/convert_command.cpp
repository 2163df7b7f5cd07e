// SPDX-License-Identifier: Apache-2.0
// Writes the container that omen train would have written.
#include "network/convert_command.hpp"

#include <string>

#include "network/checkpoint.hpp"
#include "network/network_predictor.hpp"
#include "omen/container.hpp"
#include "omen/error.hpp"

namespace omen::loadbalance {
namespace {

constexpr const char* kUsage =
    "Use: omen loadbalance convert CHECKPOINT OUT.omen --vocabulary programl.csv";

void write_model(const ConvertedCheckpoint& converted, const std::string& path) {
  container::Writer file;
  ArtifactWriter out(file.sink());
  converted.model.save(out, nn::Precision::kSingle);
  const nn::Target& target = converted.model.targets.front();
  const bool number = target.classes.empty();
  file.put_meta("omen.format", "model/1");
  file.put_meta("omen.plugin", "loadbalance");
  file.put_meta("omen.component", kNetworkId);
  file.put_meta("omen.options", "{}");
  file.put_meta("omen.targets", std::string(R"([{"name":")") + target.name + R"(","unit":")" +
                                    (number ? "%" : "") + R"(","direction":"higher","kind":")" +
                                    (number ? "number" : "class") + R"("}])");
  file.put_meta("summary", "converted checkpoint; it speaks for an i7-3820 beside a GTX 970 only");
  file.write(path);
}

}  // namespace

std::vector<Option<ConvertOptions>> ConvertOptions::spec() {
  using O = ConvertOptions;
  return options(
      {opt(&O::vocabulary, "vocabulary", "the vocabulary file that the checkpoint was trained with")
           .path()
           .required()});
}

int ConvertCommand::run(const std::vector<std::string>& args, const TablesOut& out,
                        const Run& run) {
  if (args.size() != 2)
    throw Error(OMEN_INVALID_ARGUMENT, "convert needs a checkpoint and a file to write", kUsage);
  run.step(0, "read");
  const ConvertedCheckpoint converted =
      convert_checkpoint(read_checkpoint(args[0]), Vocabulary::read(options_.vocabulary));
  run.step(0.5, "write");
  write_model(converted, args[1]);
  std::vector<std::string> what = {"model", "target", "parameters", "parameters in use", "unused"};
  std::string unused;
  for (const std::string& name : converted.unused) unused += (unused.empty() ? "" : " ") + name;
  const std::vector<std::string> value = {
      args[1], converted.model.targets.front().name, std::to_string(converted.parameters),
      std::to_string(converted.model.network->state().parameter_count()), unused};
  out.put("converted",
          TableBuilder().add_strings("what", what).add_strings("value", value).finish());
  return 0;
}

}  // namespace omen::loadbalance
