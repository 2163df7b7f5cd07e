// SPDX-License-Identifier: Apache-2.0
// Shapes of every tensor of a model.
#ifndef OMEN_ONNX_MODEL_SHAPES_HPP
#define OMEN_ONNX_MODEL_SHAPES_HPP

#include <onnx/onnx_pb.h>

#include <omen/onnx/read_onnx.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace omen::onnxgraph {

using Sizes = std::vector<std::int64_t>;
using ShapeTable = std::unordered_map<std::string, Sizes>;

// Sizes that the inputs leave open are filled in first. Tensors whose shape cannot be told are left
// out.
ShapeTable model_shapes(const ::onnx::ModelProto& model, const OnnxRun& run);

}  // namespace omen::onnxgraph

#endif  // OMEN_ONNX_MODEL_SHAPES_HPP
