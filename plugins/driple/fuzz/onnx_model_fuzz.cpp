// SPDX-License-Identifier: Apache-2.0
// ONNX models of any kind: an error that names what is wrong, or a graph in order of finite costs.
// needs: Omen::onnx
// covers: sdk/onnx/read_onnx.cpp
// covers: sdk/onnx/graph_builder.cpp
// covers: sdk/onnx/model_shapes.cpp
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <omen/error.hpp>
#include <omen/onnx/read_onnx.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  omen::onnxgraph::OnnxRun run;
  run.batch = 2;
  run.mode = size % 2 == 0 ? omen::opgraph::Mode::train : omen::opgraph::Mode::infer;
  try {
    const omen::onnxgraph::OnnxJob result = read_onnx(bytes, "fuzz.onnx", run);
    if (!(result.job.facts.parameters >= 0)) std::abort();
    for (const omen::opgraph::Edge& edge : result.job.graph.edges)
      if (edge.src >= edge.dst) std::abort();
    for (const omen::opgraph::Op& op : result.job.graph.ops)
      if (!std::isfinite(op.flops) || !(op.flops >= 0) || !(op.bytes_read >= 0)) std::abort();
  } catch (const omen::Error& error) {
    if (error.code() == OMEN_INTERNAL) std::abort();
  }
  return 0;
}
