// SPDX-License-Identifier: Apache-2.0
// The components that train: MPI, LibTorch and JPEG.
#include <omen/plugin.hpp>

#include "advise/advise_command.hpp"
#include "run/make_data_command.hpp"
#include "run/pipeline_profiler.hpp"
#include "run/rank_command.hpp"
#include "run/run_command.hpp"
#include "serve/serve_command.hpp"

OMEN_PLUGIN("ensemble-run", "0.1.0", "Apache-2.0", omen::ensemble::run_component(),
            omen::ensemble::rank_component(), omen::ensemble::serve_component(),
            omen::ensemble::advise_component(), omen::ensemble::make_data_component(),
            omen::ensemble::pipeline_profiler_component())
