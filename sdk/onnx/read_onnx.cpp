// SPDX-License-Identifier: Apache-2.0
// A file to a job.
#include "omen/onnx/read_onnx.hpp"

#include <omen/error.hpp>
#include <omen/opgraph/words.hpp>

#include "graph_builder.hpp"

namespace omen::onnxgraph {
namespace {

using namespace omen::opgraph;

// That of most weights.
Precision precision_in(const ::onnx::GraphProto& graph) {
  double narrow = 0, brain = 0, wide = 0, twice = 0;
  for (const auto& tensor : graph.initializer()) {
    double count = 1;
    for (const std::int64_t size : tensor.dims()) count *= double(size);
    if (tensor.data_type() == ::onnx::TensorProto::FLOAT16) narrow += count;
    if (tensor.data_type() == ::onnx::TensorProto::BFLOAT16) brain += count;
    if (tensor.data_type() == ::onnx::TensorProto::FLOAT) wide += count;
    if (tensor.data_type() == ::onnx::TensorProto::DOUBLE) twice += count;
  }
  if (narrow > wide && narrow > brain) return Precision::fp16;
  if (brain > wide) return Precision::bf16;
  return twice > wide ? Precision::fp64 : Precision::fp32;
}

}  // namespace

OnnxJob read_onnx(std::string_view bytes, const std::string& name, const OnnxRun& run) {
  ::onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      model.graph().node_size() == 0)
    throw Error(OMEN_INVALID_DATA, name + ": no ONNX model with nodes",
                "Export it again, with opset 13 to 23.");
  const Precision precision = run.precision.value_or(precision_in(model.graph()));
  GraphBuilder builder(model.graph(), model_shapes(model, run), run, precision);
  builder.build();
  OnnxJob result;
  result.warnings = builder.warnings();
  ForwardGraph forward = builder.take();
  if (forward.size() == 0)
    throw Error(OMEN_INVALID_DATA, name + ": nothing depends on an input",
                "Export the model with its inputs.");
  Job& job = result.job;
  job.name = name;
  job.facts.mode = run.mode;
  job.facts.precision = precision;
  job.facts.batch = builder.batch() > 0 ? builder.batch() : double(run.batch);
  job.facts.parameters = job.facts.active_parameters = forward.parameter_count();
  job.facts.weight_bytes = job.facts.parameters * bytes_of(precision);
  if (run.mode != Mode::train) {
    job.graph = forward.take();
    return result;
  }
  TrainingOptions options;
  options.optimizer = run.optimizer;
  options.precision = precision;
  const StateBytes states = state_bytes(job.facts.parameters, options);
  job.facts.gradient_bytes = states.gradients;
  job.facts.optimizer_bytes = states.optimizer;
  if (run.optimizer != Optimizer::none) job.facts.optimizer = word(run.optimizer);
  job.graph = training_graph(std::move(forward), options);
  return result;
}

}  // namespace omen::onnxgraph
