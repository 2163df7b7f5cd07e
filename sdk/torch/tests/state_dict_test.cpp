// SPDX-License-Identifier: Apache-2.0
// Tensors of a model through the container.
#include "omen/torch/state_dict.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "omen/container.hpp"

namespace omen::torch_kit {
namespace {

StateDict model() {
  StateDict state;
  state.add_parameter("layer.weight", at::randn({3, 4}));
  state.add_parameter("layer.bias", at::randn({3}, at::TensorOptions().dtype(at::kDouble)));
  state.add_buffer("count", at::ones({}, at::TensorOptions().dtype(at::kLong)) * 41);
  state.add_buffer("empty", at::zeros({0, 5}));
  return state;
}

std::string saved(const StateDict& state, const std::string& prefix = {}) {
  container::Writer file;
  ArtifactWriter out(file.sink());
  save_state(state, out, prefix);
  return file.serialise();
}

void load(const StateDict& state, const std::string& bytes, const std::string& prefix = {}) {
  const container::Reader reader =
      container::Reader::from_memory(bytes.data(), bytes.size(), nullptr);
  load_state(state, ArtifactReader(reader.source()), prefix);
}

TEST(StateDict, SurvivesTheContainerBitForBit) {
  const StateDict from = model();
  const StateDict into = model();
  EXPECT_FALSE(at::equal(from.at("layer.weight"), into.at("layer.weight")));
  load(into, saved(from, "net/"), "net/");
  for (const NamedTensor& e : from.entries())
    EXPECT_TRUE(at::equal(e.tensor, into.at(e.name))) << e.name;
  EXPECT_TRUE(into.at("layer.weight").requires_grad());
  EXPECT_EQ(into.parameter_count(), 15);
  EXPECT_EQ(into.parameters().size(), 2u);
}

TEST(StateDict, StridedAndEveryTypeOfTensorIsKept) {
  container::Writer file;
  ArtifactWriter out(file.sink());
  const at::Tensor strided = at::randn({4, 6}).t();
  put_tensor(out, "strided", strided);
  const std::vector<at::ScalarType> types = {at::kFloat, at::kDouble,  at::kLong, at::kInt,
                                             at::kShort, at::kChar,    at::kByte, at::kBool,
                                             at::kHalf,  at::kBFloat16};
  for (const auto type : types) put_tensor(out, at::toString(type), (at::randn({5}) * 3).to(type));
  EXPECT_THROW(
      put_tensor(out, "complex", at::zeros({1}, at::TensorOptions().dtype(at::kComplexFloat))),
      Error);
  const std::string bytes = file.serialise();
  const container::Reader reader =
      container::Reader::from_memory(bytes.data(), bytes.size(), nullptr);
  const ArtifactReader in(reader.source());
  EXPECT_TRUE(at::equal(get_tensor(in, "strided"), strided));
  for (const auto type : types) EXPECT_EQ(get_tensor(in, at::toString(type)).scalar_type(), type);
}

TEST(StateDict, AnotherShapeOrTypeChangesNothing) {
  StateDict wide;
  wide.add_parameter("layer.weight", at::zeros({3, 4}));
  wide.add_parameter("layer.bias", at::zeros({4}, at::TensorOptions().dtype(at::kDouble)));
  try {
    load(wide, saved(model()));
    FAIL() << "a bias of another length was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), OMEN_INVALID_DATA);
    EXPECT_STREQ(e.what(), "tensor 'layer.bias' is F64 [3] in the artifact, the model has F64 [4]");
  }
  EXPECT_TRUE(at::equal(wide.at("layer.weight"), at::zeros({3, 4})));
  StateDict more;
  more.add_buffer("absent", at::zeros({1}));
  try {
    load(more, saved(model()));
    FAIL() << "a missing tensor was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), OMEN_NOT_FOUND);
  }
}

TEST(StateDict, RefusesWhatCannotBeTrained) {
  StateDict state = model();
  EXPECT_THROW(state.add_buffer("count", at::zeros({1})), Error);
  EXPECT_THROW(state.add_parameter("int", at::zeros({1}, at::TensorOptions().dtype(at::kLong))),
               Error);
  EXPECT_THROW(state.add_parameter("result", state.at("layer.weight").tanh()), Error);
  EXPECT_THROW(state.restore({}), Error);
}

struct FakeItem {
  std::string name;
  at::Tensor tensor;
  const std::string& key() const { return name; }
  const at::Tensor& value() const { return tensor; }
};
struct FakeModule {
  std::vector<FakeItem> named_parameters() const { return {{"w", weight}}; }
  std::vector<FakeItem> named_buffers() const { return {{"mean", mean}}; }
  at::Tensor weight = at::ones({2}), mean = at::zeros({1});
};

TEST(StateDict, ModulesAreReadByTheirNamedTensors) {
  const FakeModule module;
  const StateDict state = state_dict_of(module);
  ASSERT_EQ(state.entries().size(), 2u);
  EXPECT_TRUE(state.entries()[0].trainable);
  EXPECT_TRUE(module.weight.requires_grad());
  state.restore({at::zeros({2}), at::ones({1})});
  EXPECT_EQ(module.weight[0].item<float>(), 0);
}

}  // namespace
}  // namespace omen::torch_kit
