// SPDX-License-Identifier: Apache-2.0
// Fits the efficiencies of operators to all public tables and writes them for the plugin.
//   driple_fit_operators OUT.safetensors
#include <cstdio>
#include <omen/container.hpp>
#include <omen/learn/artifact_state.hpp>

#include "omen/testing/show.hpp"
#include "operator_tables.hpp"

using namespace omen::driple;
using namespace omen::driple::checks;

int main(int argc, char** argv) {
  if (data_directory().empty()) {
    std::puts("skipped: OMEN_DATA is not set: the operator tables are absent");
    return omen::test::kSkipped;
  }
  if (argc != 2) {
    std::puts("usage: driple_fit_operators OUT.safetensors");
    return 2;
  }
  constexpr std::size_t kRowsOfATable = 3000;
  std::vector<MeasuredOp> rows;
  const auto add = [&](const std::vector<OperatorRow>& table) {
    for (const OperatorRow& row : table) rows.push_back(row.measured);
  };
  add(read_fp32_operators(kRowsOfATable));
  add(read_gemm(kRowsOfATable));
  add(read_attention(false, kRowsOfATable));
  add(read_attention(true, kRowsOfATable));
  add(read_collectives());
  OperatorModel model;
  model.fit(rows, {});
  omen::container::Writer writer;
  omen::ArtifactWriter out(writer.sink());
  omen::learn::ArtifactState state(out);
  model.save(state);
  writer.write(argv[1]);
  std::printf("%zu operators in %.0f CPU s\n", rows.size(), omen::test::cpu_seconds());
  return 0;
}
