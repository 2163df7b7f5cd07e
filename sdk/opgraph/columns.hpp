// SPDX-License-Identifier: Apache-2.0
// Names and places of the columns of step/1, for the writer and the reader.
#ifndef OMEN_OPGRAPH_COLUMNS_HPP
#define OMEN_OPGRAPH_COLUMNS_HPP

#include "omen/opgraph/op_graph.hpp"

namespace omen::opgraph::columns {

struct Real {
  const char* name;
  const char* unit;
  double Op::*place;
};
inline constexpr Real kNodeReals[] = {
    {"flops", "FLOP", &Op::flops},
    {"bytes_read", "B", &Op::bytes_read},
    {"bytes_written", "B", &Op::bytes_written},
    {"output_bytes", "B", &Op::output_bytes},
    {"parameter_bytes", "B", &Op::parameter_bytes},
    {"kernels", "", &Op::kernels},
};

struct Whole {
  const char* name;
  std::int64_t Op::*place;
};
inline constexpr Whole kNodeWholes[] = {
    {"batch", &Op::batch},   {"m", &Op::m},           {"n", &Op::n},
    {"k", &Op::k},           {"kernel", &Op::kernel}, {"stride", &Op::stride},
    {"groups", &Op::groups}, {"ranks", &Op::ranks},
};

struct Fact {
  const char* name;
  const char* unit;
  double StepFacts::*place;
};
inline constexpr Fact kFacts[] = {
    {"batch", "", &StepFacts::batch},
    {"tokens", "", &StepFacts::tokens},
    {"parameters", "", &StepFacts::parameters},
    {"active_parameters", "", &StepFacts::active_parameters},
    {"weight_bytes", "B", &StepFacts::weight_bytes},
    {"gradient_bytes", "B", &StepFacts::gradient_bytes},
    {"optimizer_bytes", "B", &StepFacts::optimizer_bytes},
    {"cache_bytes", "B", &StepFacts::cache_bytes},
    {"tensor_ranks", "", &StepFacts::tensor_ranks},
    {"pipeline_ranks", "", &StepFacts::pipeline_ranks},
    {"data_ranks", "", &StepFacts::data_ranks},
    {"expert_ranks", "", &StepFacts::expert_ranks},
    {"micro_batches", "", &StepFacts::micro_batches},
    {"in_flight", "", &StepFacts::in_flight},
};

inline constexpr const char* kOp = "op";
inline constexpr const char* kPhase = "phase";
inline constexpr const char* kPrecision = "precision";
inline constexpr const char* kShape = "shape";
inline constexpr const char* kText = "full_text";
inline constexpr const char* kMode = "mode";
inline constexpr const char* kOptimizer = "optimizer";
inline constexpr const char* kData = "data";

}  // namespace omen::opgraph::columns

#endif  // OMEN_OPGRAPH_COLUMNS_HPP
