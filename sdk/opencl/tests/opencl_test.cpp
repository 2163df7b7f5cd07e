// SPDX-License-Identifier: Apache-2.0
// OpenCL at run time: what is missing is said with what to install, and errors have names.
#include "omen/opencl.hpp"

#include <gmock/gmock.h>

namespace omen {
namespace {

using testing::HasSubstr;

Error error_of(const std::string& library) {
  try {
    const ClLibrary opened(library);
  } catch (const Error& error) {
    return error;
  }
  return {OMEN_OK, ""};
}

TEST(OpenCl, AnAbsentLibraryIsNoCrash) {
  const Error error = error_of("libNoSuchOpenCL.so.1");
  EXPECT_EQ(error.code(), OMEN_UNAVAILABLE);
  EXPECT_THAT(error.what(), HasSubstr("there is no OpenCL library: libNoSuchOpenCL.so.1"));
  EXPECT_THAT(error.hint(), HasSubstr("apt install"));
}

TEST(OpenCl, AnotherLibraryLacksItsFunctions) {
  const Error error = error_of("libc.so.6");
  EXPECT_EQ(error.code(), OMEN_UNAVAILABLE);
  EXPECT_THAT(error.what(), HasSubstr("has no clGetPlatformIDs"));
}

TEST(OpenCl, ErrorsHaveNames) {
  EXPECT_EQ(cl_error_name(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES (-5)");
  EXPECT_EQ(cl_error_name(-9999), "error -9999");
  EXPECT_NO_THROW(cl_check(CL_SUCCESS, "list platforms"));
  try {
    cl_check(CL_INVALID_VALUE, "list platforms");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "OpenCL cannot list platforms: CL_INVALID_VALUE (-30)");
  }
}

}  // namespace
}  // namespace omen
