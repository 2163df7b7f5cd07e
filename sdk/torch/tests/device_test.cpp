// SPDX-License-Identifier: Apache-2.0
// Device lists and the CUDA backend on machines without a driver, with a fake one, and with one.
#include "omen/torch/device.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "omen/error.hpp"

namespace omen::torch_kit {
namespace {

TEST(Device, WithoutADriverTheReasonIsClear) {
  const BackendStatus status = open_cuda_backend("libomen_no_such_driver.so.1");
  EXPECT_FALSE(status.available);
  EXPECT_EQ(status.reason, "no NVIDIA driver: libomen_no_such_driver.so.1 cannot be opened");
  EXPECT_EQ(status.hint, "install the NVIDIA driver, or run with --devices cpu");
  const BackendStatus other = open_cuda_backend("libm.so.6");
  EXPECT_EQ(other.reason,
            "libm.so.6 is not an NVIDIA driver: cuInit or cuDeviceGetCount is missing");
}

TEST(Device, ListsAreReadAndMissingDevicesAreUnavailable) {
  EXPECT_TRUE(pick_device("cpu").is_cpu());
  EXPECT_TRUE(pick_device("cpu,cuda:0").is_cpu());
  for (const char* bad : {"", "gpu", "cuda:", "cuda:x", "cuda:1x", "cuda:12345", "opencl:0"}) {
    try {
      pick_device(bad);
      ADD_FAILURE() << "'" << bad << "' was accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), OMEN_INVALID_ARGUMENT) << bad;
    }
  }
  try {
    EXPECT_TRUE(pick_device("cuda:0").is_cuda());  // a machine with a device
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), OMEN_UNAVAILABLE);
    EXPECT_EQ(std::string(e.what()).rfind("device 'cuda:0' is not usable: ", 0), 0u);
    EXPECT_EQ(std::string(e.what()).substr(31), open_cuda_backend().reason);
    EXPECT_FALSE(e.hint().empty());
  }
}

BackendStatus with_fake_driver(const char* code, const char* devices) {
  ::setenv("OMEN_FAKE_CUINIT", code, 1);
  ::setenv("OMEN_FAKE_DEVICES", devices, 1);
  return open_cuda_backend(OMEN_FAKE_CUDA_DRIVER);
}

TEST(Device, DriverFailuresAreTold) {
  EXPECT_EQ(with_fake_driver("100", "1").reason,
            "the NVIDIA driver does not start: cuInit returned 100");
  EXPECT_EQ(with_fake_driver("0", "0").reason, "the NVIDIA driver sees no device");
}

TEST(Device, ADriverWithoutTheBackendNamesTheMissingLibrary) {
  const BackendStatus status = with_fake_driver("0", "2");
  if (status.available) return;  // the whole CUDA set of LibTorch is here
  EXPECT_NE(status.reason.find("libtorch_cuda.so"), std::string::npos) << status.reason;
  EXPECT_FALSE(status.hint.empty());
}

}  // namespace
}  // namespace omen::torch_kit
