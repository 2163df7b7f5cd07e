// SPDX-License-Identifier: Apache-2.0
// Makes chosen allocations of one library fail, and of no other code.
#ifndef OMEN_CONFORMANCE_ALLOCATION_HPP
#define OMEN_CONFORMANCE_ALLOCATION_HPP

#include <cstdint>
#include <string>

namespace omen::conformance {

// Redirects malloc, calloc, realloc and operator new where `library` imports them; what its own
// libraries allocate for themselves is not touched. Stays for the rest of the process.
// Returns the number of imports found.
int redirect_allocations(const std::string& library_path);

// Counts from now on; the allocation with this number (from 1) fails once, 0: none. One that
// happens below the frames of a third library, in a callback, is passed over for the next.
void fail_allocation(std::uint64_t number) noexcept;
// Allocations since fail_allocation was called.
std::uint64_t allocations_seen() noexcept;

}  // namespace omen::conformance

#endif  // OMEN_CONFORMANCE_ALLOCATION_HPP
