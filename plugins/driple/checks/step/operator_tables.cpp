// SPDX-License-Identifier: Apache-2.0
// Reads the tables and gives every row the costs that graphs give their operations.
#include "operator_tables.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <omen/csv_line.hpp>
#include <omen/error.hpp>
#include <omen/opgraph/costs.hpp>
#include <omen/opgraph/words.hpp>
#include <omen/telemetry/device_registry.hpp>
#include <stdexcept>

namespace omen::driple::checks {
namespace {

using namespace opgraph;

std::int64_t whole(const std::string& text) {
  return static_cast<std::int64_t>(std::strtod(text.c_str(), nullptr));
}

double milliseconds(const std::string& text) {
  return 1e-3 * std::strtod(text.c_str(), nullptr);
}

// Keeps at most so many rows of each key, thinning by twos as they come.
class Sampler {
 public:
  explicit Sampler(std::size_t most) : most_(most) {}
  void add(const std::string& key, OperatorRow row) {
    Kept& kept = kept_[key];
    if (kept.seen++ % kept.every != 0) return;
    kept.rows.push_back(std::move(row));
    if (kept.rows.size() < 2 * most_) return;
    for (std::size_t i = 0; 2 * i < kept.rows.size(); ++i) kept.rows[i] = kept.rows[2 * i];
    kept.rows.resize(kept.rows.size() / 2);
    kept.every *= 2;
  }
  std::vector<OperatorRow> take() {
    std::vector<OperatorRow> all;
    std::map<std::string, int> group;
    for (auto& [key, kept] : kept_)
      for (OperatorRow& row : kept.rows) {
        row.measured.group =
            group.emplace(row.system, static_cast<int>(group.size())).first->second;
        all.push_back(std::move(row));
      }
    return all;
  }

 private:
  struct Kept {
    std::vector<OperatorRow> rows;
    std::size_t seen = 0, every = 1;
  };
  std::size_t most_;
  std::map<std::string, Kept> kept_;
};

const Device& cached_device(const std::string& system) {
  static std::map<std::string, Device> known;
  const auto at = known.find(system);
  return at != known.end() ? at->second : known.emplace(system, device_named(system)).first->second;
}

OperatorRow row_of(const std::string& system, Op op, double seconds) {
  OperatorRow row;
  row.system = system;
  row.measured = {std::move(op), cached_device(system), seconds, 0};
  return row;
}

Op vector_op(const std::string& name, std::int64_t rows, std::int64_t columns) {
  const bool one_input = name.back() == 'u' && name != "relu" && name != "gelu";
  const OpClass kind = name == "softmax"                                    ? OpClass::softmax
                       : name == "layernorm"                                ? OpClass::norm
                       : name == "tanh" || name == "relu" || name == "gelu" ? OpClass::activation
                                                                            : OpClass::elementwise;
  const double inputs = kind == OpClass::elementwise && !one_input ? 2 : 1;
  return elementwise_op(kind, Precision::fp32, shape_of({rows, columns}), inputs);
}

void read_products(Sampler& sampler) {
  for_each_row("neusight/ops_matmul.csv.xz", {"op", "gpu", "split", "B", "M", "N", "K", "ms"},
               [&](const TextRow& r) {
                 MatmulDims dims;
                 dims.batch = r[0] == "bmm" ? whole(r[3]) : 1;
                 dims.m = whole(r[4]), dims.k = whole(r[5]), dims.n = whole(r[6]);
                 dims.right_bytes = 4.0 * static_cast<double>(dims.batch * dims.k * dims.n);
                 OperatorRow row =
                     row_of(r[1], matmul_op(Precision::fp32, 4, dims), milliseconds(r[7]));
                 row.small_shapes = r[2] == "train";
                 sampler.add(r[1] + r[0] + r[2], std::move(row));
               });
}

void read_convolutions(Sampler& sampler) {
  for_each_row("neusight/ops_conv.csv.xz",
               {"gpu", "split", "B", "Input_Channel", "Output_Channel", "kernel_size", "Input_Size",
                "Stride", "Padding", "ms"},
               [&](const TextRow& r) {
                 const std::int64_t kernel = whole(r[5]), size = whole(r[6]), stride = whole(r[7]);
                 const std::int64_t out = (size + 2 * whole(r[8]) - kernel) / stride + 1;
                 if (out < 1) return;
                 const Op op =
                     conv_op(Precision::fp32, {whole(r[2]), whole(r[3]), whole(r[4]), size * size,
                                               out * out, kernel * kernel, stride, 1});
                 OperatorRow row = row_of(r[0], op, milliseconds(r[9]));
                 row.small_shapes = true;
                 sampler.add(r[0] + "conv", std::move(row));
               });
}

// Thirteen tables of passes over memory that differ little.
constexpr std::size_t kKindsOfTraffic = 13;

void read_traffic(Sampler& sampler) {
  for_each_row("neusight/ops_vector.csv.xz", {"op", "gpu", "split", "B", "H", "ms"},
               [&](const TextRow& r) {
                 OperatorRow row =
                     row_of(r[1], vector_op(r[0], whole(r[3]), whole(r[4])), milliseconds(r[5]));
                 row.small_shapes = r[2] == "train";
                 sampler.add(r[1] + r[0] + r[2], std::move(row));
               });
}

}  // namespace

std::string data_directory() {
  const char* root = std::getenv("OMEN_DATA");
  if (!root) return "";
  const std::string path = std::string(root) + "/driple";
  return std::filesystem::exists(path + "/steptime") ? path : "";
}

void for_each_row(const std::string& file, const std::vector<std::string>& names,
                  const std::function<void(const TextRow&)>& row) {
  const std::string path = data_directory() + "/steptime/" + file;
  const bool packed = path.ends_with(".xz");
  const std::string command = "xz -dc '" + path + "'";
  std::unique_ptr<FILE, int (*)(FILE*)> in(
      packed ? popen(command.c_str(), "r") : std::fopen(path.c_str(), "r"),
      packed ? pclose : fclose);
  if (!in) throw std::runtime_error("cannot read " + path);
  char buffer[1 << 14];
  std::vector<std::size_t> place;
  while (std::fgets(buffer, sizeof buffer, in.get())) {
    const TextRow cells = csv_cells(buffer);
    if (place.empty()) {
      for (const std::string& name : names) {
        const auto at = std::find(cells.begin(), cells.end(), name);
        if (at == cells.end()) throw std::runtime_error(file + " has no column " + name);
        place.push_back(static_cast<std::size_t>(at - cells.begin()));
      }
      continue;
    }
    TextRow chosen;
    for (const std::size_t at : place) chosen.push_back(cells.at(at));
    row(chosen);
  }
}

std::vector<OperatorRow> read_fp32_operators(std::size_t most) {
  Sampler sampler(most), passes(most / kKindsOfTraffic);
  read_products(sampler);
  read_convolutions(sampler);
  read_traffic(passes);
  std::vector<OperatorRow> all = sampler.take();
  std::vector<OperatorRow> more = passes.take();
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

std::vector<OperatorRow> read_gemm(std::size_t most) {
  Sampler sampler(most);
  for_each_row("operators/gemm.csv.xz", {"system", "dtype", "m", "n", "k", "latency_ms"},
               [&](const TextRow& r) {
                 const bool half = r[1] == "bfloat16";
                 if (r[1] == "fp8_block") return;
                 MatmulDims dims;
                 dims.m = whole(r[2]), dims.n = whole(r[3]), dims.k = whole(r[4]);
                 const double width = half ? 2 : 1;
                 dims.right_bytes = width * static_cast<double>(dims.n * dims.k);
                 dims.parameters = true;
                 Op op = matmul_op(half ? Precision::bf16 : Precision::fp8, width, dims);
                 // Results of narrow products are wide.
                 op.bytes_written = 2.0 * static_cast<double>(dims.m * dims.n);
                 OperatorRow row = row_of(r[0], std::move(op), milliseconds(r[5]));
                 row.bf16 = half;
                 sampler.add(r[0] + r[1], std::move(row));
               });
  return sampler.take();
}

std::vector<OperatorRow> read_attention(bool decode, std::size_t most) {
  Sampler sampler(most);
  for_each_row(
      decode ? "operators/generation_attention.csv.xz" : "operators/context_attention.csv.xz",
      {"system", "kv_dtype", "batch", "isl", "step", "heads", "kv_heads", "head_dim", "window_size",
       "latency_ms"},
      [&](const TextRow& r) {
        const double window = std::strtod(r[8].c_str(), nullptr);
        AttentionDims dims;
        dims.sequences = whole(r[2]), dims.heads = whole(r[5]);
        dims.key_heads = std::max<std::int64_t>(whole(r[6]), 1);
        dims.width = dims.value_width = whole(r[7]);
        dims.key_value_width = r[1] == "bfloat16" ? 2 : 1;
        const double length = std::strtod(r[3].c_str(), nullptr),
                     step = std::strtod(r[4].c_str(), nullptr);
        const double keys = decode ? step + 1 : length;
        const double seen = window > 0 ? std::min(window, keys) : keys;
        dims.queries = decode ? 1 : whole(r[3]);
        dims.keys = static_cast<std::int64_t>(decode ? seen : keys);
        dims.pairs = decode ? seen : seen * (seen + 1) / 2 + (keys - seen) * seen;
        OperatorRow row = row_of(r[0], attention_op(Precision::bf16, dims), milliseconds(r[9]));
        row.bf16 = r[1] == "bfloat16";
        if (!decode && dims.queries < 2) return;
        sampler.add(r[0] + r[1], std::move(row));
      });
  return sampler.take();
}

std::vector<OperatorRow> read_collectives() {
  Sampler sampler(5000);
  static const std::map<std::string, OpClass> kinds = {{"all_reduce", OpClass::all_reduce},
                                                       {"all_gather", OpClass::all_gather},
                                                       {"reduce_scatter", OpClass::reduce_scatter},
                                                       {"alltoall", OpClass::all_to_all}};
  for_each_row(
      "operators/collectives.csv.xz", {"system", "op", "num_gpus", "bytes", "latency_ms", "kernel"},
      [&](const TextRow& r) {
        const auto kind = kinds.find(r[1]);
        // Kernels of one server's own take a fifth or five times as long for the same sum,
        // with or without launches; frameworks call the library.
        if (kind == kinds.end() || r[5] != "NCCL") return;
        sampler.add(r[0], row_of(r[0],
                                 collective_op(kind->second, Precision::bf16,
                                               std::strtod(r[3].c_str(), nullptr), whole(r[2])),
                                 milliseconds(r[4])));
      });
  return sampler.take();
}

const telemetry::PublishedDevice& registered(const std::string& system) {
  static const std::map<std::string, std::string> spellings = {{"a100_sxm", "A100-SXM4-80GB"},
                                                               {"b200_sxm", "B200"},
                                                               {"b300_sxm", "B300"},
                                                               {"gb200", "GB200"},
                                                               {"gb300", "GB300"},
                                                               {"h100_sxm", "H100"},
                                                               {"h200_sxm", "H200"},
                                                               {"l40s", "L40S"},
                                                               {"V100-PCIE-32GB", "V100 PCIe"},
                                                               {"P100-PCIE-16GB", "P100 PCIe"}};
  const auto known = spellings.find(system);
  const telemetry::PublishedDevice* found =
      telemetry::find_device(known == spellings.end() ? system : known->second);
  if (!found) throw std::runtime_error("no device is called " + system);
  return *found;
}

Device device_named(const std::string& system) {
  const std::optional<Device> device =
      device_of([&](const std::string& figure) { return registered(system).figure(figure); });
  if (!device) throw std::runtime_error(system + " has too few figures");
  return *device;
}

std::string family_named(const std::string& system) {
  static const std::map<std::string, std::string> families = {
      {"a100_sxm", "Ampere"}, {"l40s", "Ada"},           {"h100_sxm", "Hopper"},
      {"h200_sxm", "Hopper"}, {"b200_sxm", "Blackwell"}, {"b300_sxm", "Blackwell"},
      {"gb200", "Blackwell"}, {"gb300", "Blackwell"}};
  const auto known = families.find(system);
  return known == families.end() ? system : known->second;
}

}  // namespace omen::driple::checks
