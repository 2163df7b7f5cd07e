// SPDX-License-Identifier: Apache-2.0
// The checks of datasets and of tasks as one table or document.
#include "cli/check_report.hpp"

#include <algorithm>

#include "cli/console.hpp"

namespace omen::host::cli {

CheckReport::CheckReport(const char* list, const char* key, Heading subject, bool by_name)
    : key_(key), by_name_(by_name), table_({std::move(subject), {"outcome"}, {"", false, true}}) {
  json_.object().field("format_version", 1).key(list).array();
}

void CheckReport::add(const Checked& checked) {
  const CheckOutcome outcome = checked.outcome;
  failed_ |= outcome == CheckOutcome::kBad || (outcome == CheckOutcome::kMissing && by_name_);
  json_.object().field(key_, checked.subject).field("outcome", word_of(outcome));
  json_.field("message", checked.message).end();
  std::string message = checked.message;
  std::replace(message.begin(), message.end(), '\n', ' ');
  table_.add({{checked.subject, Style::kAccent},
              {word_of(outcome), outcome == CheckOutcome::kOk ? Style::kGood : Style::kBad},
              message});
}

int CheckReport::print(const Globals& globals) {
  if (globals.json)
    cli::print(json_.end().end().text());
  else
    print_table(globals, table_);
  return failed_ ? kBadData : kOk;
}

}  // namespace omen::host::cli
