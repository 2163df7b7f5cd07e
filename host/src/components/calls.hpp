// SPDX-License-Identifier: Apache-2.0
// omen.call/1: one component calls another through the registry, with its default model.
#ifndef OMEN_HOST_CALLS_HPP
#define OMEN_HOST_CALLS_HPP

#include "components/registry.hpp"
#include "omen/abi.h"

namespace omen::host {

// Where calls look components up; borrowed. Without it the first call searches the usual places.
void use_registry_for_calls(const Registry& registry);

const omen_call_ext* call_extension() noexcept;

// Destroys the objects that are kept between calls; before a plugin ends.
void drop_idle_components();

}  // namespace omen::host

#endif  // OMEN_HOST_CALLS_HPP
