// Heads of cross-attention that follow the sound, for the times of words.
#pragma once

#include <cstdint>
#include <vector>

#include "audio/whisper_encoder.hpp"
#include "gguf/header.hpp"

namespace ggufscope {

struct AlignmentHead {
  uint32_t layer, head;
  bool operator==(const AlignmentHead&) const = default;
};

/// The heads that whisper.decoder.alignment_heads names (layer, head, layer, head, ...). Without this key those that
/// OpenAI published for its models, known by their sizes; for other models, all heads of the upper half of the layers.
/// Error: kOutOfRange.
[[nodiscard]] Result<std::vector<AlignmentHead>> alignment_heads(const Gguf& gguf, const WhisperSizes& decoder,
                                                                 uint32_t n_vocab);

}  // namespace ggufscope
