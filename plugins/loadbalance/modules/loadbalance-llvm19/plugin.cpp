// SPDX-License-Identifier: Apache-2.0
// Entry of the shared object with the newer LLVM.
#include <omen/plugin.hpp>

#include "newer/newer_frontend.hpp"

OMEN_PLUGIN("loadbalance-llvm19", "0.1.0", "Apache-2.0",
            omen::frontend<omen::loadbalance::NewerFrontend, omen::loadbalance::NewerOptions>(
                "loadbalance.programl19", "LLVM IR of versions 15 to 19 as program graphs")
                .reads(".ll", ".bc", ".spv")
                .writes("workloads", "nodes@programl/1", "edges")
                .caps(OMEN_CAP_BITWISE_REPEATABLE))
