// SPDX-License-Identifier: Apache-2.0
// The components that open at once: no MPI, no LibTorch, no JPEG.
#include <omen/plugin.hpp>

#include "plan/plan_command.hpp"
#include "plan/plan_scorer.hpp"
#include "rate/rate_predictor.hpp"
#include "spec/spec_frontend.hpp"

OMEN_PLUGIN("ensemble", "0.1.0", "Apache-2.0", omen::ensemble::spec_component(),
            omen::ensemble::rate_component(), omen::ensemble::plan_component(),
            omen::ensemble::plan_command_component())
