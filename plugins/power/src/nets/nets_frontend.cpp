// SPDX-License-Identifier: Apache-2.0
// Recognises descriptions, layer tables, model files and names.
#include "nets/nets_frontend.hpp"

#include <omen/host.hpp>
#include <omen/opgraph/words.hpp>

#include "hardware/hardware_columns.hpp"
#include "hardware/hardware_file.hpp"
#include "nets/mobile_names.hpp"
#include "nets/net_source.hpp"
#include "nets/net_tables.hpp"
#include "nets/nets_json.hpp"
#include "nets/text_file.hpp"
#include "nets/topology_csv.hpp"

namespace omen::power {
namespace {

Table workload_table(const std::vector<Net>& nets, const std::vector<Hardware>& hardware,
                     bool all_parameters) {
  std::vector<std::int64_t> id;
  std::vector<std::string> group, name;
  std::vector<double> macs, flops, weights, activations, live, intensity;
  std::vector<double> bits_w, bits_a, bits_psum, batch, parameters, cache;
  bool from_model = false, keeps = false;
  for (std::size_t i = 0; i < nets.size(); ++i) {
    const NetTotals totals = totals_of(nets[i]);
    id.push_back(static_cast<std::int64_t>(i));
    group.push_back(net_key(nets[i]));
    name.push_back(nets[i].name);
    macs.push_back(totals.macs);
    flops.push_back(totals.flops());
    weights.push_back(totals.weights);
    activations.push_back(totals.activations);
    live.push_back(totals.peak_live * nets[i].bits.act / 8);
    intensity.push_back(totals.intensity);
    bits_w.push_back(nets[i].bits.weight);
    bits_a.push_back(nets[i].bits.act);
    bits_psum.push_back(nets[i].bits.psum);
    batch.push_back(nets[i].batch);
    parameters.push_back(nets[i].parameters);
    cache.push_back(nets[i].cache_bytes);
    from_model = from_model || nets[i].parameters > 0;
    keeps = keeps || nets[i].cache_bytes > 0;
  }
  TableBuilder table;
  table.add("workload_id", id)
      .add_categories("group", group)
      .add_strings("name", name)
      .add("graph_id", id)
      .add("macs", std::move(macs), {{"omen.unit", "1"}})
      .add("flops", std::move(flops), {{"omen.unit", "1"}})
      .add("weights", std::move(weights), {{"omen.unit", "1"}})
      .add("activations", std::move(activations), {{"omen.unit", "1"}})
      .add("live_bytes", std::move(live), {{"omen.unit", "B"}})
      .add("macs_per_byte", std::move(intensity), {{"omen.unit", "1/B"}});
  if (from_model) table.add("parameters", std::move(parameters), {{"omen.unit", "1"}});
  if (keeps) table.add("cache_bytes", std::move(cache), {{"omen.unit", "B"}});
  if (all_parameters)
    add_hardware(table, hardware, ConstantColumns::kept);
  else
    table.add("bits_w", std::move(bits_w))
        .add("bits_a", std::move(bits_a))
        .add("bits_psum", std::move(bits_psum))
        .add("batch", std::move(batch));
  return table.finish();
}

// Front ends that keep the operations as they are know more of a model file than this one.
constexpr int kModelFile = 35;

}  // namespace

int NetsFrontend::sniff(const char* path, std::string_view head) {
  if (!head.data()) return path && mobile_net(path) ? 80 : 0;
  if (is_topology(head)) return 80;
#if OMEN_POWER_ONNX
  if (path && is_onnx_path(path) && !head.empty()) return kModelFile;
#endif
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return 0;
  if (head.find(kNetsFormat) != std::string_view::npos) return 90;
  return is_transformer_config(head) ? kModelFile : 0;
}

void NetsFrontend::lower(const char* path, const TablesOut& out, const Run& run) {
  if (!path)
    throw Error(OMEN_INVALID_ARGUMENT, "power.nets reads a network, and none was given",
                "Name a description such as plugins/power/examples/mobile.json.");
  run.step(-1, "read");
  const NetRun asked{*opgraph::mode_of(options_.mode), options_.batch, options_.sequence,
                     options_.cached, opgraph::precision_of(options_.weights)};
  std::vector<std::string> warnings;
  const std::vector<Net> nets = read_nets(path, asked, &warnings);
  for (const std::string& sentence : warnings)
    log(OMEN_LOG_WARN, "power.nets", file_name(path) + ": " + sentence);
  std::vector<Hardware> hardware;
  if (!options_.hardware.empty())
    for (const Net& net : nets) {
      Hardware own;
      own.bits_w = net.bits.weight;
      own.bits_a = net.bits.act;
      own.bits_psum = net.bits.psum;
      own.batch = net.batch;
      hardware.push_back(
          parse_hardware(read_text_file(options_.hardware), file_name(options_.hardware), own));
    }
  out.put("workloads", workload_table(nets, hardware, !hardware.empty()));
  out.put("nodes", node_table(nets, true));
  out.put("edges", edge_table(nets));
}

Component nets_component() {
  return frontend<NetsFrontend, NetsOptions>(
             "power.nets",
             "networks from JSON, SCALE-Sim layer tables, ONNX, config.json and names")
      .reads(".json", ".csv", ".onnx")
      .writes("workloads", "nodes@pw-blocks/1", "edges")
      .caps(OMEN_CAP_BITWISE_REPEATABLE);
}

}  // namespace omen::power
