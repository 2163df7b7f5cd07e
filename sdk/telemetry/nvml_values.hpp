// SPDX-License-Identifier: Apache-2.0
// Answers of the NVIDIA driver: which codes are final, and what its numbers mean.
#pragma once

#include <limits>

#include "nvml_library.hpp"

namespace omen::telemetry {

inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

inline bool is_lost(nvmlReturn_t code) {
  return code == NVML_ERROR_GPU_IS_LOST || code == NVML_ERROR_RESET_REQUIRED ||
         code == NVML_ERROR_UNINITIALIZED;
}

// Codes that will not change while the run lasts.
inline bool is_final(nvmlReturn_t code) {
  return code == NVML_ERROR_NOT_SUPPORTED || code == NVML_ERROR_FUNCTION_NOT_FOUND ||
         code == NVML_ERROR_INVALID_ARGUMENT || code == NVML_ERROR_NO_PERMISSION ||
         code == NVML_ERROR_ARGUMENT_VERSION_MISMATCH || code == NVML_ERROR_DEPRECATED;
}

// Devices answer "not available" with all bits set.
inline double to_double(unsigned value) {
  return value == std::numeric_limits<unsigned>::max() ? kNoValue : value;
}
inline double to_double(unsigned long long value) {
  return value == std::numeric_limits<unsigned long long>::max() ? kNoValue
                                                                 : static_cast<double>(value);
}

inline double field_number(const nvmlFieldValue_t& field) {
  switch (field.valueType) {
    case NVML_VALUE_TYPE_DOUBLE:
      return field.value.dVal;
    case NVML_VALUE_TYPE_UNSIGNED_INT:
      return to_double(field.value.uiVal);
    case NVML_VALUE_TYPE_UNSIGNED_LONG:
      return static_cast<double>(field.value.ulVal);
    case NVML_VALUE_TYPE_UNSIGNED_LONG_LONG:
      return to_double(field.value.ullVal);
    case NVML_VALUE_TYPE_SIGNED_LONG_LONG:
      return static_cast<double>(field.value.sllVal);
    case NVML_VALUE_TYPE_SIGNED_INT:
      return field.value.siVal;
    default:
      return kNoValue;
  }
}

}  // namespace omen::telemetry
