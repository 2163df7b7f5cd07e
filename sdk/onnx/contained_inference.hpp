// SPDX-License-Identifier: Apache-2.0
// Inference of shapes that cannot take this process with it.
#ifndef OMEN_ONNX_CONTAINED_INFERENCE_HPP
#define OMEN_ONNX_CONTAINED_INFERENCE_HPP

#include <onnx/onnx_pb.h>

namespace omen::onnxgraph {

// Adds what libonnx infers to the values and outputs of `model`. libonnx divides by strides and
// follows types without a look at them, so it runs in a child; a model that it crashes on or that
// takes too long stays as it is.
void infer_shapes(::onnx::ModelProto& model);

}  // namespace omen::onnxgraph

#endif  // OMEN_ONNX_CONTAINED_INFERENCE_HPP
