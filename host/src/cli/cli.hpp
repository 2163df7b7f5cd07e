// SPDX-License-Identifier: Apache-2.0
// The command line: finds the verb, parses its flags, runs it, and turns failures into messages and
// exit codes.
#pragma once

namespace omen::host::cli {

int run(int argc, char** argv);

}  // namespace omen::host::cli
