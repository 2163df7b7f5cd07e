// SPDX-License-Identifier: Apache-2.0
// Fits the efficiencies of operators to the public tables and writes them for the plugin.
//   driple_fit_operators OUT.safetensors [fp32|gemm|prefill|decode|collectives]
// With the name of a table only its families are fitted anew, in a file that is there.
#include <cstdio>
#include <functional>
#include <omen/container.hpp>
#include <omen/learn/artifact_state.hpp>
#include <set>

#include "omen/testing/show.hpp"
#include "operator_tables.hpp"

using namespace omen::driple;
using namespace omen::driple::checks;

int main(int argc, char** argv) {
  if (data_directory().empty()) {
    std::puts("skipped: OMEN_DATA is not set: the operator tables are absent");
    return omen::test::kSkipped;
  }
  const std::string only = argc == 3 ? argv[2] : "";
  static const std::set<std::string> names = {"fp32", "gemm", "prefill", "decode", "collectives"};
  if (argc < 2 || argc > 3 || (!only.empty() && !names.count(only))) {
    std::puts("usage: driple_fit_operators OUT.safetensors [fp32|gemm|prefill|decode|collectives]");
    return 2;
  }
  constexpr std::size_t kRowsOfATable = 3000;
  std::vector<MeasuredOp> rows;
  const auto add = [&](const char* name, const std::function<std::vector<OperatorRow>()>& read) {
    if (!only.empty() && only != name) return;
    for (const OperatorRow& row : read()) rows.push_back(row.measured);
  };
  add("fp32", [] { return read_fp32_operators(kRowsOfATable); });
  add("gemm", [] { return read_gemm(kRowsOfATable); });
  add("prefill", [] { return read_attention(false, kRowsOfATable); });
  add("decode", [] { return read_attention(true, kRowsOfATable); });
  add("collectives", [] { return read_collectives(); });
  OperatorModel model;
  if (!only.empty())
    model.load(omen::learn::ArtifactSource(
        omen::ArtifactReader(omen::container::Reader::open(argv[1]).source())));
  model.fit(rows, {});
  omen::container::Writer writer;
  omen::ArtifactWriter out(writer.sink());
  omen::learn::ArtifactState state(out);
  model.save(state);
  writer.write(argv[1]);
  std::printf("%zu operators in %.0f CPU s\n", rows.size(), omen::test::cpu_seconds());
  return 0;
}
