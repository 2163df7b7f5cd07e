// SPDX-License-Identifier: Apache-2.0
// Entry of the shared object with LLVM.
#include <omen/plugin.hpp>

#include "frontend/examples_frontend.hpp"
#include "frontend/kernels_frontend.hpp"
#include "frontend/programl_frontend.hpp"
#include "graph/program_message.hpp"
#include "opencl/split_scorer.hpp"

namespace omen::loadbalance {
namespace {

constexpr const char* kProgramlCite =
    "Cummins et al., ProGraML: A Graph-based Program Representation for Data Flow Analysis and "
    "Compiler Optimizations, ICML 2021";

}  // namespace
}  // namespace omen::loadbalance

OMEN_PLUGIN(
    "loadbalance-llvm", "0.1.0", "Apache-2.0",
    omen::frontend<omen::loadbalance::ProgramlFrontend, omen::loadbalance::ProgramlOptions>(
        "loadbalance.programl", "OpenCL kernels and LLVM IR as program graphs")
        .reads(".cl", ".ll", ".bc")
        .writes("workloads", "nodes@programl/1", "edges")
        .caps(OMEN_CAP_BITWISE_REPEATABLE)
        .cite(omen::loadbalance::kProgramlCite),
    omen::frontend<omen::loadbalance::ExamplesFrontend, omen::loadbalance::ExamplesOptions>(
        "loadbalance.examples", "data-flow questions about program graphs, with their answers")
        .reads(".cl", ".ll", ".bc")
        .writes("workloads", "nodes@programl/1", "edges", "node_features", "node_targets")
        .caps(OMEN_CAP_BITWISE_REPEATABLE)
        .cite(omen::loadbalance::kProgramlCite),
    omen::frontend<omen::loadbalance::KernelsFrontend, omen::loadbalance::KernelsOptions>(
        "loadbalance.kernels", "an OpenCL kernel for those who run it, without a graph")
        .reads(".cl")
        .writes("workloads")
        .caps(OMEN_CAP_BITWISE_REPEATABLE),
    omen::scorer<omen::loadbalance::SplitScorer, omen::loadbalance::SplitScorerOptions>(
        "loadbalance.split", "which work-groups of a kernel each of two devices should compute")
        .reads("workloads", "workloads.divisible:optional", "workloads.divisible_along:optional",
               "workloads.wgsize:optional", "workloads.input_size:optional", "candidates",
               "predictions.t_cpu_ms:optional", "predictions.t_gpu_ms:optional"),
    omen::graph_writer<omen::loadbalance::write_message_file>(".pb", ".pbtxt"))
