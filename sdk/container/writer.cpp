// SPDX-License-Identifier: Apache-2.0
// Lays tensors out aligned and gap-free, and replaces the file in one step.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "hash.hpp"
#include "layout.hpp"
#include "omen/container.hpp"
#include "omen/pending_file.hpp"
#include "omen/utf8.hpp"

namespace omen::container {
namespace {

constexpr std::size_t kAlignment = 8;

void check_text(std::string_view text, const std::string& what) {
  const std::size_t at = std::min(text.find('\0'), find_invalid_utf8(text));
  if (at != std::string_view::npos)
    throw Error(OMEN_INVALID_ARGUMENT,
                what + " is not UTF-8 text: byte " + std::to_string(at) + " is bad",
                "Store bytes as a U8 tensor instead.");
}

std::size_t byte_size(const std::string& name, std::string_view dtype,
                      const std::vector<std::int64_t>& shape) {
  std::size_t size = dtype_width(dtype);
  if (size == 0)
    throw Error(OMEN_INVALID_ARGUMENT,
                "tensor '" + name + "' has unknown dtype '" + std::string(dtype) + "'",
                "Use BOOL, U8, I8, U16, I16, F16, BF16, U32, I32, F32, U64, I64 or F64.");
  for (const std::int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(size, static_cast<std::size_t>(extent), &size))
      throw Error(OMEN_INVALID_ARGUMENT, "tensor '" + name + "' has an impossible shape");
  return size;
}

}  // namespace

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump();
}

std::string header_bytes(const std::map<std::string, std::string>& metadata,
                         const std::vector<Entry>& entries) {
  std::string pairs;
  for (const auto& [key, value] : metadata)
    pairs += (pairs.empty() ? "" : ",") + (json_text(key) + ":") + json_text(value);
  std::string text = "{\"__metadata__\":{" + pairs + "}";
  for (const Entry& entry : entries) {
    std::string shape;
    for (const std::int64_t extent : entry.shape)
      shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    text += "," + json_text(entry.name) + ":{\"dtype\":" + json_text(entry.dtype) + ",\"shape\":[" +
            shape + "],\"data_offsets\":[" + std::to_string(entry.begin) + "," +
            std::to_string(entry.end) + "]}";
  }
  text += '}';
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  if (text.size() > kMaxHeaderBytes)
    throw Error(OMEN_UNSUPPORTED,
                "the container's header of " + std::to_string(text.size()) +
                    " bytes exceeds the format's limit",
                "Use fewer tensors or less metadata.");
  std::string prefix(8, '\0');
  for (std::size_t i = 0; i < prefix.size(); ++i)
    prefix[i] = static_cast<char>(text.size() >> (8 * i) & 0xFF);
  return prefix + text;
}

void Writer::put_meta(std::string key, std::string value) {
  check_text(key, "a metadata key");
  check_text(value, "metadata '" + key + "'");
  metadata_[std::move(key)] = std::move(value);
}

void Writer::put_tensor(std::string name, std::string_view dtype, std::vector<std::int64_t> shape,
                        const void* bytes, std::size_t size) {
  check_text(name, "a tensor name");
  if (name == "__metadata__")
    throw Error(OMEN_INVALID_ARGUMENT, "a tensor cannot be named '__metadata__'");
  if (const std::size_t wanted = byte_size(name, dtype, shape); wanted != size)
    throw Error(OMEN_INVALID_ARGUMENT, "tensor '" + name + "' has " + std::to_string(size) +
                                           " bytes, its shape needs " + std::to_string(wanted));
  if (size > 0 && !bytes) throw Error(OMEN_INVALID_ARGUMENT, "tensor '" + name + "' has no bytes");
  if (!names_.insert(name).second)
    throw Error(OMEN_INVALID_ARGUMENT, "tensor '" + name + "' was put twice");
  std::string copy;
  if (size > 0) copy.assign(static_cast<const char*>(bytes), size);
  tensors_.push_back({std::move(name), std::string(dtype), std::move(shape), std::move(copy)});
}

std::vector<const Writer::Tensor*> Writer::file_order() const {
  std::vector<const Tensor*> order;
  for (const Tensor& tensor : tensors_) order.push_back(&tensor);
  std::stable_sort(order.begin(), order.end(), [](const Tensor* a, const Tensor* b) {
    return dtype_width(a->dtype) > dtype_width(b->dtype);
  });
  return order;
}

std::string Writer::header(const std::vector<const Tensor*>& order) {
  Sha256 hash;
  for (const Tensor* tensor : order) hash.update(tensor->bytes.data(), tensor->bytes.size());
  metadata_["omen.digest"] = hash.finish();

  std::vector<Entry> entries;
  std::uint64_t at = 0;
  for (const Tensor* tensor : order) {
    entries.push_back({tensor->name, tensor->dtype, tensor->shape, at, at + tensor->bytes.size()});
    at = entries.back().end;
  }
  return header_bytes(metadata_, entries);
}

std::string Writer::serialise() {
  const std::vector<const Tensor*> order = file_order();
  std::string bytes = header(order);
  for (const Tensor* tensor : order) bytes += tensor->bytes;
  return bytes;
}

void Writer::write(const std::filesystem::path& path) {
  const std::vector<const Tensor*> order = file_order();
  const std::string front = header(order);
  PendingFile file(path);
  file.append(front.data(), front.size());
  for (const Tensor* tensor : order) file.append(tensor->bytes.data(), tensor->bytes.size());
  file.commit();
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  PendingFile file(path);
  file.append(bytes.data(), bytes.size());
  file.commit();
}

const omen_sink* Writer::sink() {
  sink_.struct_size = sizeof sink_;
  sink_.data = this;
  sink_.put_meta = [](void* data, const char* key, const char* value, omen_error* error) {
    return detail::guard(error, [&] {
      if (!key || !value) throw Error(OMEN_INVALID_ARGUMENT, "put_meta needs a key and a value");
      if (std::string_view(key).substr(0, 5) == "omen.")
        throw Error(OMEN_INVALID_ARGUMENT, "metadata '" + std::string(key) + "' is the host's",
                    "Use a key that does not start with 'omen.'.");
      static_cast<Writer*>(data)->put_meta(key, value);
    });
  };
  sink_.put_tensor = [](void* data, const char* name, const char* dtype, const std::int64_t* shape,
                        std::size_t rank, const void* bytes, std::size_t size, omen_error* error) {
    return detail::guard(error, [&] {
      if (!name || !dtype || (rank > 0 && !shape))
        throw Error(OMEN_INVALID_ARGUMENT, "put_tensor needs a name, a dtype and a shape");
      static_cast<Writer*>(data)->put_tensor(name, dtype, {shape, shape + rank}, bytes, size);
    });
  };
  return &sink_;
}

}  // namespace omen::container
