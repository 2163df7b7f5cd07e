// SPDX-License-Identifier: Apache-2.0
// Recognises descriptions, layer tables and names.
#include "nets/nets_frontend.hpp"

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
  std::vector<double> bits_w, bits_a, bits_psum, batch;
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
  if (all_parameters)
    add_hardware(table, hardware, ConstantColumns::kept);
  else
    table.add("bits_w", std::move(bits_w))
        .add("bits_a", std::move(bits_a))
        .add("bits_psum", std::move(bits_psum))
        .add("batch", std::move(batch));
  return table.finish();
}

}  // namespace

int NetsFrontend::sniff(const char* path, std::string_view head) {
  if (!head.data()) return path && mobile_net(path) ? 80 : 0;
  if (is_topology(head)) return 80;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return 0;
  return head.find(kNetsFormat) != std::string_view::npos ? 90 : 0;
}

void NetsFrontend::lower(const char* path, const TablesOut& out, const Run& run) {
  if (!path)
    throw Error(OMEN_INVALID_ARGUMENT, "power.nets reads a network, and none was given",
                "Name a description such as plugins/power/examples/mobile.json.");
  run.step(-1, "read");
  const std::vector<Net> nets = read_nets(path);
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
             "power.nets", "networks from JSON descriptions, SCALE-Sim layer tables and names")
      .reads(".json", ".csv")
      .writes("workloads", "nodes@pw-blocks/1", "edges")
      .caps(OMEN_CAP_BITWISE_REPEATABLE);
}

}  // namespace omen::power
