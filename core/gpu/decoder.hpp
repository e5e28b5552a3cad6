// The plan of an encoder together with a decoder that reads its rows, as Whisper's: each layer of the decoder attends
// to the tokens before, then to all rows.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "gpu/encoder.hpp"
#include "gpu/plan.hpp"

namespace ggufscope::gpu {

/// x += attention(norm_1(x)); x += attention to the rows(norm_2(x)); x += ffn(norm_3(x)).
struct DecoderLayer {
  const Affine *norm_1 = nullptr, *norm_2 = nullptr, *norm_3 = nullptr;
  const Linear *q = nullptr, *k = nullptr, *v = nullptr, *out = nullptr;
  const Linear *cross_q = nullptr, *cross_k = nullptr, *cross_v = nullptr, *cross_out = nullptr;
  const Linear *up = nullptr, *down = nullptr;
};

struct DecoderView {
  uint32_t n_embd = 0, n_head = 0, n_vocab = 0;
  uint32_t n_ctx = 0;    ///< tokens of a sequence
  uint32_t n_cells = 0;  ///< of the cache, which all sequences share
  CacheType cache = CacheType::kF32;
  const Linear* table = nullptr;      ///< of embeddings, and the matrix of the logits
  const Vector* positions = nullptr;  ///< [n_ctx, n_embd]
  const Affine* output_norm = nullptr;
  std::vector<DecoderLayer> layers;
  std::vector<std::pair<uint32_t, uint32_t>> heads;  ///< layer and head: whose weights of the rows are returned
};

/// A token of a pass.
struct PlacedToken {
  uint32_t id = 0, position = 0, cell = 0;
  std::span<const CellRun> visible{};  ///< cells that it attends to, with its own
};

/// Lowers both. Plan::embeddings has the encoder's layers, as lower_encoder leaves them, and behind them one layer for
/// each of the decoder, which fills its cache of the rows. The other lists compute tokens, whose logits are returned.
/// With those of `prefill` the weights of the rows are in Plan::weights, [heads, n_output_rows, n_rows], of each
/// output.
[[nodiscard]] Result<Plan> lower_encoder_decoder(const EncoderView& encoder, const DecoderView& decoder,
                                                 uint32_t n_rows, const DeviceLimits& limits);

/// The step record of tokens that attend to the first n_rows rows. outputs: see step_record. Error: kOutOfMemory, as of
/// step_record.
[[nodiscard]] Result<std::vector<uint32_t>> decoder_record(const Plan& plan, std::span<const PlacedToken> tokens,
                                                           std::span<const uint32_t> outputs, uint32_t n_rows);

}  // namespace ggufscope::gpu
