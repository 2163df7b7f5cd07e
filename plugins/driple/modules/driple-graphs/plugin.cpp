// SPDX-License-Identifier: Apache-2.0
// Entry of the shared object with the front ends.
#include <omen/plugin.hpp>

#include "graphs/graphdef_frontend.hpp"
#include "graphs/neusight_frontend.hpp"
#include "graphs/transformer_frontend.hpp"
#include "graphs/zoo_frontend.hpp"

#if OMEN_DRIPLE_ONNX
#include "graphs/onnx_frontend.hpp"
#define OMEN_DRIPLE_ONNX_PARTS , omen::driple::onnx_component()
#else
#define OMEN_DRIPLE_ONNX_PARTS
#endif

OMEN_PLUGIN("driple-graphs", "0.1.0", "Apache-2.0",
            omen::frontend<omen::driple::ZooFrontend, omen::driple::ZooOptions>(
                "driple.zoo", "image networks by name as op graphs, or the profiled grid")
                .writes("workloads", "nodes@step/1", "edges")
                .caps(OMEN_CAP_BITWISE_REPEATABLE | OMEN_CAP_GENERATES),
            omen::frontend<omen::driple::TransformerFrontend, omen::driple::TransformerOptions>(
                "driple.transformer", "steps of transformers from config.json")
                .reads(".json")
                .writes("workloads", "nodes@step/1", "edges")
                .caps(OMEN_CAP_BITWISE_REPEATABLE),
            omen::frontend<omen::driple::NeusightFrontend>(
                "driple.neusight", "graphs of the steps that NeuSight measured, for recipes")
                .writes("workloads", "nodes@step/1", "edges")
                .caps(OMEN_CAP_BITWISE_REPEATABLE),
            omen::frontend<omen::driple::GraphdefFrontend, omen::driple::GraphdefOptions>(
                "driple.graphdef", "TensorFlow GraphDefs, text or binary, as op graphs")
                .reads(".pbtxt", ".pb", ".graphdef")
                .writes("workloads", "nodes@step/1", "edges")
                .caps(OMEN_CAP_BITWISE_REPEATABLE) OMEN_DRIPLE_ONNX_PARTS)
