// SPDX-License-Identifier: Apache-2.0
// The time of records: "2026-01-31T12:00:00Z".
#ifndef OMEN_UTC_TIME_HPP
#define OMEN_UTC_TIME_HPP

#include <time.h>

#include <string>

namespace omen {

// `format` as strftime knows it, in UTC.
inline std::string utc_now(const char* format = "%Y-%m-%dT%H:%M:%SZ") {
  const time_t now = ::time(nullptr);
  struct tm parts {};
  ::gmtime_r(&now, &parts);
  char text[64];
  return {text, ::strftime(text, sizeof text, format, &parts)};
}

}  // namespace omen

#endif  // OMEN_UTC_TIME_HPP
