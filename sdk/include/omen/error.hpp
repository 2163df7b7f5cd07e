// SPDX-License-Identifier: Apache-2.0
// One error type for both sides of the boundary, and its only conversions to and from the C
// structs.
#ifndef OMEN_ERROR_HPP
#define OMEN_ERROR_HPP

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "omen/abi.h"

namespace omen {

// Message: lower case, names the object, no full stop. Hint: what to do next.
class Error : public std::runtime_error {
 public:
  Error(omen_status code, const std::string& message, std::string hint = {},
        std::string details_json = {})
      : std::runtime_error(message),
        code_(code),
        hint_(std::move(hint)),
        details_(std::move(details_json)) {}

  omen_status code() const noexcept { return code_; }
  const std::string& hint() const noexcept { return hint_; }
  const std::string& details_json() const noexcept { return details_; }

 private:
  omen_status code_;
  std::string hint_;
  std::string details_;
};

inline const char* status_name(omen_status status) noexcept {
  static constexpr const char* kNames[] = {
      "ok",           "cancelled",     "timeout",     "invalid argument", "invalid state",
      "invalid data", "not found",     "unsupported", "unavailable",      "out of memory",
      "i/o error",    "internal error"};
  return status >= OMEN_OK && status <= OMEN_INTERNAL ? kNames[status] : "unknown status";
}

// Receives an omen_error from a call: `ErrorOut e; e.check(vt->fit(object, run, train, valid, e));`
class ErrorOut {
 public:
  ErrorOut() noexcept : error_{} { error_.struct_size = sizeof error_; }
  ~ErrorOut() { clear(); }
  ErrorOut(const ErrorOut&) = delete;
  ErrorOut& operator=(const ErrorOut&) = delete;

  operator omen_error*() noexcept { return &error_; }

  // Throws what the callee reported, unless `status` is OMEN_OK.
  void check(omen_status status) {
    if (status == OMEN_OK) return;
    Error error(status, error_.message ? error_.message : status_name(status),
                error_.hint ? error_.hint : "", error_.details_json ? error_.details_json : "");
    clear();
    throw error;
  }

 private:
  void clear() noexcept {
    if (error_.release) error_.release(&error_);
    error_ = omen_error{};
    error_.struct_size = sizeof error_;
  }

  omen_error error_;
};

namespace detail {

inline char* copy_text(const std::string& text) noexcept {
  if (text.empty()) return nullptr;
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

inline void release_error(omen_error* error) noexcept {
  std::free(error->message);
  std::free(error->hint);
  std::free(error->details_json);
  error->message = error->hint = error->details_json = nullptr;
  error->release = nullptr;
}

inline omen_status fail(omen_error* out, omen_status code, const std::string& message,
                        const std::string& hint = {}, const std::string& details = {}) noexcept {
  if (!out || out->struct_size < sizeof(omen_error)) return code;
  if (out->release) out->release(out);
  out->message = copy_text(message);
  out->hint = copy_text(hint);
  out->details_json = copy_text(details);
  out->release = release_error;
  return code;
}

// Converts the exception in flight into a status; call only from a catch block.
inline omen_status fail_from_exception(omen_error* out) noexcept {
  try {
    throw;
  } catch (const Error& e) {
    return fail(out, e.code(), e.what(), e.hint(), e.details_json());
  } catch (const std::bad_alloc&) {
    return fail(out, OMEN_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return fail(out, OMEN_INTERNAL, e.what());
  } catch (...) {
    return fail(out, OMEN_INTERNAL, "unknown exception");
  }
}

// Runs the body of one slot; nothing that it throws escapes.
template <class Body>
omen_status guard(omen_error* out, Body&& body) noexcept {
  try {
    body();
    return OMEN_OK;
  } catch (...) {
    return fail_from_exception(out);
  }
}

// Arrow streams report errno values; the mapping is one to one so that no code is lost on the way.
inline int errno_of(omen_status status) noexcept {
  static constexpr int kErrno[] = {0,      ECANCELED, ETIMEDOUT, EINVAL, EPERM, EBADMSG,
                                   ENOENT, ENOTSUP,   ENODEV,    ENOMEM, EIO,   EPROTO};
  return status >= OMEN_OK && status <= OMEN_INTERNAL ? kErrno[status] : EPROTO;
}

inline omen_status status_of_errno(int code) noexcept {
  for (omen_status status = OMEN_OK; status <= OMEN_INTERNAL; ++status)
    if (errno_of(status) == code) return status;
  return OMEN_INTERNAL;
}

}  // namespace detail
}  // namespace omen

#endif  // OMEN_ERROR_HPP
