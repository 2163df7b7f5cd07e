// SPDX-License-Identifier: Apache-2.0
// Operators of GPU families that were not measured.
//   driple_operators gemm|prefill|decode
// With OMEN_SHOW_BREAK=1 the devices of the held-out family are taken for ten times as fast.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>

#include "omen/testing/show.hpp"
#include "operator_tables.hpp"

namespace {

using namespace omen::driple;
using namespace omen::driple::checks;

struct Off {
  double sum = 0, count = 0, long_sum = 0, long_count = 0;
  double mape() const { return 100 * sum / count; }
  double long_mape() const { return 100 * long_sum / std::max(long_count, 1.0); }
};

Off error_of(const OperatorModel& model, const std::vector<OperatorRow>& rows,
             const std::string& family) {
  Off off;
  for (const OperatorRow& row : rows) {
    if (family_named(row.system) != family || !row.bf16) continue;
    const double said = model.seconds(std::span(&row.measured.op, 1), row.measured.device)[0];
    const double error = std::abs(said / row.measured.seconds - 1);
    off.sum += error, ++off.count;
    if (row.measured.seconds >= 50e-6) off.long_sum += error, ++off.long_count;
  }
  return off;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "gemm";
  const std::vector<OperatorRow> rows =
      what == "gemm" ? read_gemm(3000) : read_attention(what == "decode", 3000);
  std::set<std::string> families;
  for (const OperatorRow& row : rows) families.insert(family_named(row.system));
  double all = 0, longer = 0;
  for (const std::string& family : families) {
    std::vector<MeasuredOp> train;
    for (const OperatorRow& row : rows)
      if (family_named(row.system) != family && row.bf16) train.push_back(row.measured);
    OperatorModel model;
    EfficiencyOptions options;
    if (argc > 2) options.hidden = std::atoi(argv[2]);
    if (argc > 3) options.epochs = std::atoi(argv[3]);
    if (argc > 4) options.decay = std::atof(argv[4]);
    model.fit(train, options);
    const Off off = error_of(model, rows, family);
    OperatorModel seen;
    std::printf("%s %s: %.1f %% (>= 50 us %.1f %%), rows %zu, cpu %.1f\n", what.c_str(),
                family.c_str(), off.mape(), off.long_mape(), train.size(),
                omen::test::cpu_seconds());
    std::fflush(stdout);
    all += off.mape() / 4, longer += off.long_mape() / 4;
  }
  std::printf("mean %.1f long %.1f\n", all, longer);
}
