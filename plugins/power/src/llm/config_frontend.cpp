// SPDX-License-Identifier: Apache-2.0
// Counts parameters and cache bytes, and draws the model as its kinds of blocks.
#include "llm/config_frontend.hpp"

#include <filesystem>
#include <omen/opgraph/transformer_config.hpp>
#include <omen/opgraph/words.hpp>

namespace omen::power {
namespace {

using opgraph::TransformerConfig;

// Bytes of keys and values that one token adds, at 16 bits. Sliding and linear attention keep what
// does not grow with the sequence, so their blocks add nothing.
double cache_bytes_per_token(const TransformerConfig& config) {
  constexpr double kBytes = 2;
  double values = 0;
  const std::int64_t blocks = config.decoder_layers > 0 ? config.decoder_layers : config.layers;
  for (std::int64_t block = 0; block < blocks; ++block) {
    if (config.kind(block) != opgraph::AttentionKind::full) continue;
    values += config.latent.used()
                  ? static_cast<double>(config.latent.key_value_rank + config.latent.rope_width)
                  : 2.0 * static_cast<double>(config.key_heads * config.head_width);
  }
  return kBytes * values;
}

struct NodeColumns {
  std::vector<std::int64_t> graph;
  std::vector<std::int32_t> node;
  std::vector<std::string> op;
  std::vector<double> parameters, active, count;

  void add(const char* kind, double all, double passed, double times) {
    graph.push_back(0);
    node.push_back(static_cast<std::int32_t>(node.size()));
    op.emplace_back(kind);
    parameters.push_back(all);
    active.push_back(passed);
    count.push_back(times);
  }
};

}  // namespace

ConfiguredModel load_model(const std::string& path) {
  const TransformerConfig config = opgraph::load_config(path);
  const opgraph::ParameterCount count = opgraph::parameters_of(config);
  ConfiguredModel model;
  model.name = config.name;
  model.precision = opgraph::word(config.weights.value_or(config.precision));
  model.shape.parameters = count.all;
  model.shape.active = count.active;
  model.shape.layers = static_cast<double>(config.layers + config.decoder_layers);
  model.shape.hidden = static_cast<double>(config.hidden);
  model.shape.cache_bytes = cache_bytes_per_token(config);
  model.shape.experts = static_cast<double>(config.experts.count);
  model.shape.experts_per_token = static_cast<double>(config.experts.per_token);
  return model;
}

int ConfigFrontend::sniff(const char* path, std::string_view head) {
  if (!head.data() || std::filesystem::path(path).extension() != ".json") return 0;
  const bool transformer = head.find("\"model_type\"") != std::string_view::npos &&
                           (head.find("\"hidden_size\"") != std::string_view::npos ||
                            head.find("\"n_embd\"") != std::string_view::npos ||
                            head.find("\"d_model\"") != std::string_view::npos);
  // A front end that lists the operations of a step knows more of the file than this one.
  return transformer ? 40 : 0;
}

void ConfigFrontend::lower(const char* path, const TablesOut& out, const Run&) {
  if (!path)
    throw Error(OMEN_INVALID_ARGUMENT, "power.config reads a file, and none was given",
                "Name a config.json.");
  const ConfiguredModel model = load_model(path);
  const ModelShape& m = model.shape;
  out.put("workloads", TableBuilder()
                           .add("workload_id", std::vector<std::int64_t>{0})
                           .add_strings("name", {model.name})
                           .add("graph_id", std::vector<std::int64_t>{0})
                           .add("parameters", std::vector<double>{m.parameters})
                           .add("active_parameters", std::vector<double>{m.active})
                           .add("layers", std::vector<double>{m.layers})
                           .add("hidden", std::vector<double>{m.hidden})
                           .add("cache_bytes_per_token", std::vector<double>{m.cache_bytes},
                                {{"omen.unit", "B"}})
                           .add("experts", std::vector<double>{m.experts})
                           .add("experts_per_token", std::vector<double>{m.experts_per_token})
                           .add_strings("precision", {model.precision})
                           .finish());
  // The blocks of one kind are one node, as all of them cost the same.
  NodeColumns nodes;
  nodes.add("prompt", 0, 0, 1);
  nodes.add(m.has_experts() ? "block-with-experts" : "block", m.parameters, m.active, m.layers);
  nodes.add("token", 0, 0, 1);
  out.put("nodes", TableBuilder()
                       .add("graph_id", nodes.graph)
                       .add("node_id", nodes.node)
                       .add_categories("op", nodes.op)
                       .add("parameters", nodes.parameters)
                       .add("active_parameters", nodes.active)
                       .add("count", nodes.count)
                       .metadata("omen.dialect", "llm/1")
                       .finish());
  out.put("edges", TableBuilder()
                       .add("graph_id", std::vector<std::int64_t>{0, 0})
                       .add("src", std::vector<std::int32_t>{0, 1})
                       .add("dst", std::vector<std::int32_t>{1, 2})
                       .finish());
}

Component config_component() {
  return frontend<ConfigFrontend>("power.config",
                                  "config.json of a transformer as parameters and cache bytes")
      .reads(".json")
      .writes("workloads", "nodes@llm/1", "edges");
}

}  // namespace omen::power
