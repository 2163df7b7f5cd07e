// SPDX-License-Identifier: Apache-2.0
// Tells the forms apart.
#include "nets/net_source.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <omen/error.hpp>
#include <omen/opgraph/transformer.hpp>

#include "nets/graph_net.hpp"
#include "nets/mobile_names.hpp"
#include "nets/nets_json.hpp"
#include "nets/text_file.hpp"
#include "nets/topology_csv.hpp"

#if OMEN_POWER_ONNX
#include <omen/onnx/read_onnx.hpp>
#endif

namespace omen::power {
namespace {

constexpr std::int64_t kUsualPrompt = 1024;
constexpr std::string_view kOnnxSuffix = ".onnx";

// That of the weights, where the file or the user says nothing else.
opgraph::Precision weights_of(const NetRun& run, opgraph::Precision otherwise) {
  return run.weights.value_or(otherwise);
}

GraphNet transformer_net(const std::string& text, const std::string& path, const NetRun& asked) {
  const std::filesystem::path file(path);
  std::string name = file.stem().string();
  if (name == "config" && file.has_parent_path()) name = file.parent_path().filename().string();
  const opgraph::TransformerConfig config = opgraph::read_config(text, name);
  opgraph::TransformerRun run;
  run.mode = asked.mode;
  run.batch = std::max<std::int64_t>(1, asked.batch);
  run.prompt = asked.sequence > 0 ? asked.sequence : kUsualPrompt;
  const bool decoding = run.mode == opgraph::Mode::decode;
  run.cached = decoding && asked.cached == 0 ? run.prompt : asked.cached;
  run.fused = run.mode != opgraph::Mode::infer;
  run.weights = asked.weights;
  const opgraph::Job job = opgraph::transformer_job(config, run);
  GraphNet made =
      net_of_graph(job, 1, weights_of(asked, config.weights.value_or(config.precision)));
  made.warnings.insert(made.warnings.end(), config.warnings.begin(), config.warnings.end());
  if (config.indexer.heads > 0)
    made.warnings.emplace_back("the part that chooses keys counts as attention");
  return made;
}

#if OMEN_POWER_ONNX
GraphNet onnx_net(const std::string& path, const NetRun& asked) {
  constexpr std::uintmax_t kMostModel = std::uintmax_t{2} << 30;  // what the format allows
  onnxgraph::OnnxRun run;
  if (asked.sequence > 0) run.sequence = asked.sequence;
  onnxgraph::OnnxJob read = onnxgraph::read_onnx(read_text_file(path, kMostModel),
                                                 std::filesystem::path(path).stem().string(), run);
  const auto images = std::max<std::int64_t>(1, static_cast<std::int64_t>(read.job.facts.batch));
  GraphNet made = net_of_graph(read.job, images, weights_of(asked, read.job.facts.precision));
  // Open first sizes were read as one image, which the accelerator repeats.
  if (images == 1 && asked.batch > 0) made.net.batch = static_cast<int>(asked.batch);
  made.warnings.insert(made.warnings.end(), read.warnings.begin(), read.warnings.end());
  return made;
}
#else
GraphNet onnx_net(const std::string&, const NetRun&) {
  throw Error(OMEN_UNAVAILABLE, "this build reads no ONNX models",
              "Build it where the ONNX library is: apt install libonnx-dev");
}
#endif

std::vector<Net> described_nets(const std::string& text, const std::string& source,
                                const NetRun& run) {
  std::vector<Net> nets;
  if (is_topology(text))
    nets.push_back(parse_topology(text, source));
  else
    nets = parse_nets(text, source);
  if (run.batch > 0)
    for (Net& net : nets) net.batch = static_cast<int>(run.batch);
  return nets;
}

}  // namespace

bool is_onnx_path(std::string_view path) {
  return path.size() > kOnnxSuffix.size() &&
         path.substr(path.size() - kOnnxSuffix.size()) == kOnnxSuffix;
}

bool is_transformer_config(std::string_view head) {
  return head.find("\"model_type\"") != head.npos && head.find(kNetsFormat) == head.npos;
}

std::vector<Net> read_nets(const std::string& path_or_name, const NetRun& run,
                           std::vector<std::string>* warnings) {
  std::error_code ignored;
  if (!std::filesystem::exists(path_or_name, ignored))
    if (auto net = mobile_net(path_or_name)) {
      if (run.batch > 0) net->batch = static_cast<int>(run.batch);
      return {std::move(*net)};
    }
  const bool onnx = is_onnx_path(path_or_name);
  const std::string text = onnx ? std::string() : read_text_file(path_or_name);
  if (!onnx && !is_transformer_config(text))
    return described_nets(text, file_name(path_or_name), run);
  GraphNet made = onnx ? onnx_net(path_or_name, run) : transformer_net(text, path_or_name, run);
  if (warnings)
    std::move(made.warnings.begin(), made.warnings.end(), std::back_inserter(*warnings));
  return {std::move(made.net)};
}

}  // namespace omen::power
