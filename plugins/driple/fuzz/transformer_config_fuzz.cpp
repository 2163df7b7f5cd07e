// SPDX-License-Identifier: Apache-2.0
// config.json of any kind: an error that names a field, or a graph of finite costs.
// needs: Omen::opgraph
// covers: sdk/opgraph/config_fields.cpp
// covers: sdk/opgraph/transformer_config.cpp
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <omen/error.hpp>
#include <omen/opgraph/transformer.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const omen::opgraph::TransformerConfig config = omen::opgraph::read_config(text);
    if (!std::isfinite(omen::opgraph::parameters_of(config).all)) std::abort();
    if (config.layers + config.decoder_layers > 16) return 0;
    omen::opgraph::TransformerRun run;
    run.mode = static_cast<omen::opgraph::Mode>(data[0] & 3);
    run.attention = (data[0] & 4) != 0 ? omen::opgraph::AttentionForm::eager
                                       : omen::opgraph::AttentionForm::flash;
    run.tensor_ranks = (data[0] & 8) != 0 ? 2 : 1;
    run.prompt = 16;
    for (const omen::opgraph::Op& op : transformer_job(config, run).graph.ops)
      if (!std::isfinite(op.flops) || !(op.bytes_read >= 0)) std::abort();
  } catch (const omen::Error& error) {
    if (error.code() == OMEN_INTERNAL) std::abort();
  }
  return 0;
}
