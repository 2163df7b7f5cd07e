// SPDX-License-Identifier: Apache-2.0
// OMEN_INSTRUMENTED: 1 where this build runs under AddressSanitizer or ThreadSanitizer, else 0.
#ifndef OMEN_INSTRUMENTED_HPP
#define OMEN_INSTRUMENTED_HPP

// gcc says so by macros, clang by features.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OMEN_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OMEN_INSTRUMENTED 1
#endif
#endif
#ifndef OMEN_INSTRUMENTED
#define OMEN_INSTRUMENTED 0
#endif

#endif  // OMEN_INSTRUMENTED_HPP
