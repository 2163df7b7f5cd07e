// SPDX-License-Identifier: Apache-2.0
// For loops that are compiled for the base instruction set and, on x86-64, once more for AVX2.
#pragma once

// Forced inlining lets each caller compile the body for its own instruction set.
#define OMEN_KERNEL_BODY [[gnu::always_inline]] inline

// The last statement of a void function: a call of such a body, for the processor at hand.
#if defined(__x86_64__)
#define OMEN_DISPATCH(call)                                              \
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) { \
    [&]() __attribute__((target("avx2,fma"))) {                          \
      call;                                                              \
    }                                                                    \
    ();                                                                  \
    return;                                                              \
  }                                                                      \
  call
#else
#define OMEN_DISPATCH(call) call
#endif
