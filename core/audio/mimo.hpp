// MiMo's audio tokenizer: two convolutions, blocks that see earlier frames, codes by residual vector quantization,
// whose embeddings pass through a small transformer in groups of frames.
#pragma once

#include "audio/relative_attention.hpp"
#include "model/arena.hpp"
#include "model/rows.hpp"

namespace ggufscope {

struct MimoBlock {
  Affine norm_1, norm_2;
  Linear q, k, v, out;
  Linear up, gate, down;  // no gate: GELU with erf; otherwise SiLU
};

struct MimoShape {
  uint32_t window = 0;            ///< frames that a frame sees beside itself in some blocks
  std::vector<bool> sees_all;     ///< [n_layer]: blocks in which it sees all earlier ones
  std::vector<uint32_t> n_codes;  ///< for each quantizer
  uint32_t n_local = 0;           ///< blocks of the small transformer
  uint32_t group = 0;             ///< frames that become one token
};

struct MimoWeights {
  std::vector<MimoBlock> blocks, local;
  Affine norm, shortened_norm, local_norm;
  Linear shorten;          // [2 * n_embd] -> [n_embd]
  LinearStack codebooks;   // [n_embd, most codes, quantizers]
  LinearStack embeddings;  // of the codes
};

}  // namespace ggufscope
