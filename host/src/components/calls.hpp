// SPDX-License-Identifier: Apache-2.0
// omen.call/1: one component calls another through the door in use, with its default model.
#ifndef OMEN_HOST_CALLS_HPP
#define OMEN_HOST_CALLS_HPP

#include "omen/abi.h"

namespace omen::host {

const omen_call_ext* call_extension() noexcept;

}  // namespace omen::host

#endif  // OMEN_HOST_CALLS_HPP
