// SPDX-License-Identifier: Apache-2.0
// Two receivers of one error would release it twice.
// expect: deleted (function|constructor)|implicitly deleted
#include "omen/error.hpp"

void receive(omen::ErrorOut& from) {
#if OMEN_MUST_FAIL
  omen::ErrorOut other = from;
#else
  omen::ErrorOut& other = from;
#endif
  other.check(OMEN_OK);
}
