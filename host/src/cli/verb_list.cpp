// SPDX-License-Identifier: Apache-2.0
// The table of verbs: a new one is its own file, which defines NAME_verb(), and one line here.
#include "cli/verbs.hpp"

namespace omen::host::cli {

// In the order of the help.
#define OMEN_VERBS(VERB) \
  VERB(list)             \
  VERB(info)             \
  VERB(doctor)           \
  VERB(devices)          \
  VERB(predict)          \
  VERB(train)            \
  VERB(observe)          \
  VERB(score)            \
  VERB(compare)          \
  VERB(runs)             \
  VERB(rerun)            \
  VERB(graph)            \
  VERB(profile)          \
  VERB(mark)             \
  VERB(models)           \
  VERB(data)             \
  VERB(task)             \
  VERB(trust)            \
  VERB(verify)           \
  VERB(new)              \
  VERB(completion)

#define OMEN_DECLARE_VERB(name) Verb name##_verb();
OMEN_VERBS(OMEN_DECLARE_VERB)
#undef OMEN_DECLARE_VERB

std::span<const Verb> verbs() {
#define OMEN_CALL_VERB(name) name##_verb(),
  static const Verb kVerbs[] = {OMEN_VERBS(OMEN_CALL_VERB)};
#undef OMEN_CALL_VERB
  return kVerbs;
}

const Verb* find_verb(std::string_view name) {
  for (const Verb& verb : verbs())
    if (name == verb.name) return &verb;
  return nullptr;
}

}  // namespace omen::host::cli
