// SPDX-License-Identifier: Apache-2.0
// Checkpoints in the container format; the container's writer makes the replacement atomic.
#include "checkpoint.hpp"

#include <system_error>

#include "omen/container.hpp"
#include "omen/torch/state_dict.hpp"

namespace omen::torch_kit {
namespace {

constexpr const char* kFormat = "training/1";

void put_list(ArtifactWriter& out, const std::string& name, const std::vector<at::Tensor>& list) {
  for (std::size_t i = 0; i < list.size(); ++i)
    put_tensor(out, name + "/" + std::to_string(i), list[i]);
}

std::vector<at::Tensor> get_list(const ArtifactReader& in, const std::string& name,
                                 std::int64_t count) {
  std::vector<at::Tensor> list;
  for (std::int64_t i = 0; i < count; ++i)
    list.push_back(get_tensor(in, name + "/" + std::to_string(i)));
  return list;
}

std::int64_t size_of(const std::vector<at::Tensor>& list) {
  return static_cast<std::int64_t>(list.size());
}

Checkpoint parse(const ArtifactReader& in) {
  const auto counts = in.get<std::int64_t>("counts");
  const auto losses = in.get<double>("losses");
  if (counts.size() != 8 || losses.size() != 2)
    throw Error(OMEN_INVALID_DATA, "checkpoint counters are incomplete");
  Checkpoint c;
  c.epoch = counts[0];
  c.step = counts[1];
  c.items = counts[2];
  c.best_epoch = counts[3];
  c.stopped_early = counts[4] != 0;
  c.loss_sum = losses[0];
  c.best_loss = losses[1];
  c.train_loss = in.get<double>("train_loss");
  c.valid_loss = in.get<double>("valid_loss");
  c.model = get_list(in, "model", counts[5]);
  c.best = get_list(in, "best", counts[6]);
  c.optimiser = get_list(in, "optimiser", counts[7]);
  return c;
}

}  // namespace

std::filesystem::path checkpoint_path(const std::string& state_dir) {
  return std::filesystem::path(state_dir) / "training.omen";
}

void write_checkpoint(const std::filesystem::path& path, const std::string& fingerprint,
                      const Checkpoint& c) {
  container::Writer file;
  file.put_meta("format", kFormat);
  file.put_meta("fingerprint", fingerprint);
  ArtifactWriter out(file.sink());
  out.put<std::int64_t>("counts", {c.epoch, c.step, c.items, c.best_epoch, c.stopped_early ? 1 : 0,
                                   size_of(c.model), size_of(c.best), size_of(c.optimiser)});
  out.put<double>("losses", {c.loss_sum, c.best_loss});
  out.put("train_loss", c.train_loss);
  out.put("valid_loss", c.valid_loss);
  put_list(out, "model", c.model);
  put_list(out, "best", c.best);
  put_list(out, "optimiser", c.optimiser);
  file.write(path);
}

bool read_checkpoint(const std::filesystem::path& path, const std::string& fingerprint,
                     Checkpoint* out, std::string* why) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return false;
  try {
    const container::Reader file = container::Reader::open(path);
    const ArtifactReader in(file.source());
    if (in.meta("format") != kFormat || in.meta("fingerprint") != fingerprint) {
      *why = "it belongs to another training";
      return false;
    }
    file.verify_digest();
    *out = parse(in);
    return true;
  } catch (const Error& e) {
    *why = e.what();
    return false;
  }
}

}  // namespace omen::torch_kit
