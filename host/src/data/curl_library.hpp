// SPDX-License-Identifier: Apache-2.0
// The part of libcurl's C interface that downloads need, found at run time.
#pragma once

#include <cstdint>

namespace omen::host::curl {

// Values of curl/curl.h, which never change: an option is its number plus 10000 for a pointer,
// 20000 for a function, 30000 for a 64-bit number.
enum Option : int {
  kErrorBuffer = 10010,
  kWriteData = 10001,
  kUrl = 10002,
  kRange = 10007,
  kUserAgent = 10018,
  kHttpHeader = 10023,
  kHeaderData = 10029,
  kCaFile = 10065,
  kProgressData = 10057,
  kProtocols = 10318,          // since 7.85
  kRedirectProtocols = 10319,  // since 7.85
  kNoProgress = 43,
  kFollowLocation = 52,
  kMaxRedirects = 68,
  kConnectTimeout = 78,
  kNoSignal = 99,
  kLowSpeedLimit = 19,
  kLowSpeedTime = 20,
  kWriteFunction = 20011,
  kHeaderFunction = 20079,
  kProgressFunction = 20219,
};
enum Info : int { kResponseCode = 0x200002 };
enum Code : int {
  kOk = 0,
  kCouldNotResolve = 6,
  kCouldNotConnect = 7,
  kPartialFile = 18,
  kAbortedByCallback = 42,
  kGotNothing = 52,
  kWriteError = 23,
  kCertificate = 60,
};
inline constexpr int kErrorSize = 256;

using WriteFunction = std::size_t (*)(char* bytes, std::size_t one, std::size_t count, void* data);
using ProgressFunction = int (*)(void* data, std::int64_t total, std::int64_t now,
                                 std::int64_t upload_total, std::int64_t upload_now);

struct Library {
  int (*global_init)(long flags);
  void* (*easy_init)();
  void (*easy_cleanup)(void*);
  int (*easy_setopt)(void*, int option, ...);
  int (*easy_perform)(void*);
  int (*easy_getinfo)(void*, int info, ...);
  const char* (*easy_strerror)(int);
  void* (*slist_append)(void*, const char*);
  void (*slist_free_all)(void*);
};

// Opened once and kept for ever; OMEN_UNAVAILABLE with the package to install.
const Library& library();

}  // namespace omen::host::curl
