// SPDX-License-Identifier: Apache-2.0
// `omen verify`: resolves the plugin and hands over to the conformance cases.
#include "cli/console.hpp"
#include "cli/verbs.hpp"

namespace omen::host::cli {

int run_verify_verb(const Globals&, const VerifyRequest&) {
  throw Error(OMEN_UNSUPPORTED, "this build has no conformance cases");
}

}  // namespace omen::host::cli
