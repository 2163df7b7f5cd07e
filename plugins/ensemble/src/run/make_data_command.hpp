// SPDX-License-Identifier: Apache-2.0
// `omen ensemble make-data FILE`: generated images as a packed JPEG file.
#pragma once

#include <omen/plugin.hpp>

namespace omen::ensemble {

Component make_data_component();

}  // namespace omen::ensemble
