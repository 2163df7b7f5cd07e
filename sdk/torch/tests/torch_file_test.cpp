// SPDX-License-Identifier: Apache-2.0
// Files as torch.save writes them, made by hand: what is read, and what is refused.
#include "omen/torch/torch_file.hpp"

#include <ATen/core/Tensor.h>
#include <caffe2/serialize/inline_container.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "omen/error.hpp"

namespace omen::torch_kit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string pickled_text(const std::string& value) {
  return std::string("X") + static_cast<char>(value.size()) + std::string(3, '\0') + value;
}

std::string pickled_numbers(const std::vector<int>& values) {
  std::string code = "(";
  for (const int value : values) code += std::string("K") + static_cast<char>(value);
  return code + "t";
}

// torch._utils._rebuild_tensor_v2 of a float storage.
std::string pickled_tensor(const std::string& record, int offset, const std::vector<int>& sizes,
                           const std::vector<int>& strides,
                           const std::string& type = "FloatStorage") {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + pickled_text("storage") + "ctorch\n" + type +
         "\n" + pickled_text(record) + pickled_text("cpu") + "K\x06tQK" +
         static_cast<char>(offset) + pickled_numbers(sizes) + pickled_numbers(strides) + "\x89" +
         "ccollections\nOrderedDict\n)RtR";
}

class TorchFile : public ::testing::Test {
 protected:
  ~TorchFile() override { std::filesystem::remove(path_); }

  // A dictionary with one entry; record 0 holds 0, 1, .. 5.
  std::vector<NamedTensor> read(const std::string& name, const std::string& value) {
    return read_pickle("\x80\x02}" + pickled_text(name) + value + "s.");
  }
  std::vector<NamedTensor> read_pickle(const std::string& pickle) {
    {
      caffe2::serialize::PyTorchStreamWriter file(path_);
      const float values[] = {0, 1, 2, 3, 4, 5};
      file.writeRecord("data.pkl", pickle.data(), pickle.size());
      file.writeRecord("data/0", values, sizeof values);
      file.writeEndOfFile();
    }
    return read_torch_file(path_);
  }
  std::string message(const std::string& name, const std::string& value) {
    try {
      read(name, value);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), OMEN_INVALID_DATA);
      return error.what();
    }
    return "accepted";
  }

  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("torch_file." + std::to_string(::getpid())))
          .string();
};

std::vector<float> floats_of(const at::Tensor& t) {
  return {t.const_data_ptr<float>(), t.const_data_ptr<float>() + t.numel()};
}

TEST_F(TorchFile, GivesTensorsByName) {
  const std::vector<NamedTensor> tensors = read("w", pickled_tensor("0", 2, {2, 2}, {2, 1}));
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_EQ(tensors[0].name, "w");
  EXPECT_THAT(tensors[0].tensor.sizes().vec(), ElementsAre(2, 2));
  EXPECT_THAT(floats_of(tensors[0].tensor), ElementsAre(2, 3, 4, 5));
}

TEST_F(TorchFile, TransposedTensorsKeepTheirMeaning) {
  const std::vector<NamedTensor> tensors = read("w", pickled_tensor("0", 0, {3, 2}, {1, 3}));
  EXPECT_THAT(floats_of(tensors[0].tensor), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST_F(TorchFile, FindsTheStateOfATrainingProgram) {
  const std::string inner = "}" + pickled_text("w") + pickled_tensor("0", 0, {1}, {1}) + "s";
  for (const char* name : {"model", "state_dict"})
    EXPECT_THAT(floats_of(read(name, inner)[0].tensor), ElementsAre(0));
}

TEST_F(TorchFile, RefusesWhatIsNoStateDictionary) {
  EXPECT_THAT(message("w", "K\x01"), HasSubstr("holds no dictionary of tensors"));
  EXPECT_THAT(message("w", pickled_tensor("0", 3, {2, 2}, {2, 1})),
              HasSubstr("tensor w cannot be read"));
  EXPECT_THAT(message("w", pickled_tensor("0", 0, {2, 2}, {1})),
              HasSubstr("tensor w cannot be read"));
  EXPECT_THAT(message("w", pickled_tensor("0", 0, {1}, {1}, "HalfStorage")),
              HasSubstr("tensor w cannot be read"));
  EXPECT_THAT(message("w", pickled_tensor("9", 0, {1}, {1})), HasSubstr("cannot be read"));
  EXPECT_THAT(message("w", "cos\nsystem\n(" + pickled_text("true") + "tR"),
              HasSubstr("tensor w cannot be read"));
  EXPECT_THAT(message("w", "\xff"), HasSubstr("operation 255"));
}

TEST_F(TorchFile, RefusesFilesThatAreNotThere) {
  EXPECT_THROW(read_torch_file("/nowhere/at/all.pt"), Error);
}

}  // namespace
}  // namespace omen::torch_kit
