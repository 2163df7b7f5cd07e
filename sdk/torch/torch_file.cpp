// SPDX-License-Identifier: Apache-2.0
// The archive of torch.save: a pickle that names tensors, and their bytes beside it.
#include "omen/torch/torch_file.hpp"

#include <ATen/ops/empty.h>
#include <caffe2/serialize/inline_container.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "omen/error.hpp"
#include "pickle.hpp"

namespace omen::torch_kit {
namespace {

[[noreturn]] void bad_torch_file(const std::string& path, const std::string& what) {
  throw Error(OMEN_INVALID_DATA, path + ": " + what,
              "Give a file of torch.save that holds a state dictionary.");
}

using Values = std::vector<PickleValue::Ref>;

// Numbers that are at least 0 and fit into memory; empty where one does not.
std::optional<std::vector<std::int64_t>> counts_of(const Values& values) {
  std::vector<std::int64_t> counts;
  for (const PickleValue::Ref& value : values) {
    if (value->kind != PickleValue::Kind::kInteger || value->integer < 0 ||
        value->integer > kLargestTensor)
      return std::nullopt;
    counts.push_back(value->integer);
  }
  return counts;
}

// What torch._utils._rebuild_tensor_v2(storage, offset, sizes, strides, ...) takes.
struct TensorPlace {
  std::string record;
  bool whole = false;  // int64 rather than float32
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes, strides;

  // Numbers from the first to the last; 0 for an empty tensor, nothing for one that is too large.
  std::optional<std::int64_t> extent() const {
    std::int64_t numbers = 1, last = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      numbers *= sizes[i];
      last += (sizes[i] - 1) * strides[i];
      if (numbers > kLargestTensor || last > kLargestTensor) return std::nullopt;
      if (numbers == 0) return 0;
    }
    return last + 1;
  }
};

std::optional<TensorPlace> place_of(const PickleValue& call) {
  using Kind = PickleValue::Kind;
  if (call.kind != Kind::kCall || call.items[0]->text != "torch._utils _rebuild_tensor_v2")
    return std::nullopt;
  const Values& arguments = call.items[1]->items;
  if (arguments.size() < 4 || arguments[0]->kind != Kind::kStored) return std::nullopt;
  const Values& storage = arguments[0]->items[0]->items;
  const auto offset = counts_of({arguments[1]}), sizes = counts_of(arguments[2]->items),
             strides = counts_of(arguments[3]->items);
  if (storage.size() < 3 || !offset || !sizes || !strides || sizes->size() != strides->size())
    return std::nullopt;
  const std::string& type = storage[1]->text;
  if (type != "torch LongStorage" && type != "torch FloatStorage") return std::nullopt;
  return TensorPlace{"data/" + storage[2]->text, type == "torch LongStorage", offset->front(),
                     *sizes, *strides};
}

// The tensor with the bytes of the archive; undefined where they cannot be what the place says.
at::Tensor rebuild(const PickleValue& call, caffe2::serialize::PyTorchStreamReader& archive) {
  const std::optional<TensorPlace> place = place_of(call);
  const std::optional<std::int64_t> extent = place ? place->extent() : std::nullopt;
  if (!extent) return {};
  const at::TensorOptions options =
      at::TensorOptions().dtype(place->whole ? at::kLong : at::kFloat);
  if (*extent == 0) return at::empty(place->sizes, options);
  const auto [bytes, length] = archive.getRecord(place->record);
  at::Tensor numbers = at::empty({*extent}, options);
  const std::size_t offset = static_cast<std::size_t>(place->offset) * numbers.itemsize();
  if (offset + numbers.nbytes() > length) return {};
  std::memcpy(numbers.mutable_data_ptr(), static_cast<const char*>(bytes.get()) + offset,
              numbers.nbytes());
  return numbers.as_strided(place->sizes, place->strides).contiguous();
}

// The dictionary of tensors itself, or the one under a name that training programs give it.
const PickleValue& state_of(const PickleValue& value) {
  for (const auto& [key, item] : value.entries)
    if (key->text == "model" || key->text == "state_dict") return *item;
  return value;
}

std::vector<NamedTensor> tensors_of(const std::string& path, const PickleValue& value,
                                    caffe2::serialize::PyTorchStreamReader& archive) {
  std::vector<NamedTensor> tensors;
  for (const auto& [key, item] : state_of(value).entries) {
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
