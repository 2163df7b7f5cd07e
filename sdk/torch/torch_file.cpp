// SPDX-License-Identifier: Apache-2.0
// The archive of torch.save: a pickle that names tensors, and their bytes beside it.
#include "omen/torch/torch_file.hpp"

#include <ATen/ops/empty.h>
#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "omen/error.hpp"
#include "pickle.hpp"

namespace omen::torch_kit {
namespace {

[[noreturn]] void bad_torch_file(const std::string& path, const std::string& what) {
  throw Error(OMEN_INVALID_DATA, path + ": " + what,
              "Give a file that torch.save made of a state dictionary.");
}

// torch._utils._rebuild_tensor_v2(storage, offset, sizes, strides, ...) with the bytes of the
// archive; undefined for any other call.
at::Tensor rebuild(const PickleValue& call, caffe2::serialize::PyTorchStreamReader& archive) {
  using Kind = PickleValue::Kind;
  if (call.kind != Kind::kCall || call.items[0]->text != "torch._utils _rebuild_tensor_v2")
    return {};
  const std::vector<PickleValue::Ref>& arguments = call.items[1]->items;
  if (arguments.size() < 4 || arguments[0]->kind != Kind::kStored) return {};
  const std::vector<PickleValue::Ref>& storage = arguments[0]->items[0]->items;
  if (storage.size() < 3) return {};
  const bool whole = storage[1]->text == "torch LongStorage";
  if (!whole && storage[1]->text != "torch FloatStorage") return {};
  std::vector<std::int64_t> sizes;
  std::int64_t numbers = 1;
  for (const PickleValue::Ref& size : arguments[2]->items) {
    if (size->integer < 0 || size->integer > kLargestTensor ||
        (numbers *= std::max<std::int64_t>(1, size->integer)) > kLargestTensor)
      return {};
    sizes.push_back(size->integer);
  }
  const auto [bytes, length] = archive.getRecord("data/" + storage[2]->text);
  at::Tensor tensor = at::empty(sizes, at::TensorOptions().dtype(whole ? at::kLong : at::kFloat));
  const std::int64_t offset = arguments[1]->integer * static_cast<std::int64_t>(tensor.itemsize());
  if (offset < 0 || static_cast<std::size_t>(offset) + tensor.nbytes() > length) return {};
  std::memcpy(tensor.mutable_data_ptr(), static_cast<const char*>(bytes.get()) + offset,
              tensor.nbytes());
  return tensor;
}

std::vector<NamedTensor> tensors_of(const std::string& path, const PickleValue& value,
                                    caffe2::serialize::PyTorchStreamReader& archive) {
  std::vector<NamedTensor> tensors;
  for (const auto& [key, item] : value.entries) {
    if (key->text == "model" || key->text == "state_dict") return tensors_of(path, *item, archive);
    if (item->kind != PickleValue::Kind::kCall) continue;
    at::Tensor tensor = rebuild(*item, archive);
    if (!tensor.defined()) bad_torch_file(path, "tensor " + key->text + " cannot be read");
    tensors.push_back({key->text, tensor, false});
  }
  if (tensors.empty()) bad_torch_file(path, "holds no dictionary of tensors");
  return tensors;
}

}  // namespace

std::vector<NamedTensor> read_torch_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw Error(OMEN_NOT_FOUND, "there is no file " + path, "Look at the spelling.");
  try {
    caffe2::serialize::PyTorchStreamReader archive(path);
    const auto [bytes, length] = archive.getRecord("data.pkl");
    return tensors_of(path, *read_pickle({static_cast<const char*>(bytes.get()), length}), archive);
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    bad_torch_file(path, "cannot be read: " + what.substr(0, what.find('\n')));
  }
}

}  // namespace omen::torch_kit
