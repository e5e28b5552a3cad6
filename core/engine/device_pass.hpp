// What a session and a device exchange: passes of a plan, those in flight, and texts that are computed as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "engine/media.hpp"
#include "gpu/plan.hpp"
#include "model/forward.hpp"

namespace ggufscope {

/// A pass of a model on a device: see gpu/plan.hpp.
struct DevicePass {
  std::vector<uint32_t> record;  ///< to write to the plan's step buffer
  uint32_t n_tokens = 0;         ///< 0: nothing needs to be computed before next()
  uint32_t n_outputs = 0;        ///< rows of logits to accept; 0: none
  bool decode = false;           ///< the plan's lists for few tokens
  bool embeds = false;           ///< the plan's list of embeddings instead of that of logits, or alone (Plan::encodes)
  uint32_t slot = 0;             ///< of the recurrent states that it writes
  std::vector<float>
      rows{};  ///< a pass of rows: [1 + deep buffers, n_tokens, n_embd], to write to the plan's stream and those
};

/// The encoders of a projector.
enum Encoder : uint8_t { kImageEncoder, kAudioEncoder, kNoEncoder };

/// Layers of an encoder that a device computes: its rows are written to the stream of the encoder's plan.
struct EncoderPass {
  Encoder encoder = kNoEncoder;  ///< kNoEncoder: the next step is none of the device's
  std::vector<uint32_t> record{};
  std::span<const float> rows{};
  uint32_t first = 0, end = 0;  ///< layers
  bool grown = false;           ///< the plan has larger buffers than before, and the same ones for weights
};

/// An encoder whose layers run on a device.
struct DeviceEncoder {
  std::unique_ptr<gpu::Plan> plan;  ///< nullptr: there is none
  std::string reason;               ///< why there is none, if there is an encoder
  LayerRun layers{};                ///< that are computed now
};

/// What a device computes of a whole text: one row for each token, or one for the last.
enum class TextOutputs : uint8_t { kLogits, kLastLogits, kEmbeddings };

struct InFlight {
  size_t n;  ///< tokens of the text, without proposed ones; 0: it encodes
  std::vector<TokenId> drafts;
  uint32_t n_outputs;
  uint32_t slot;  ///< of the recurrent states that it writes
  double begin_ms = 0;
};

struct DeviceText {
  std::vector<TokenId> tokens;
  TextOutputs outputs = TextOutputs::kLogits;
  bool embeds = false;
  size_t n_done = 0;  ///< tokens, or outputs where a pass has all tokens
  Buffer rows;
  size_t n_floats = 0;  ///< of rows that were accepted
};

/// A batch of tokens of a run, and what it refers to.
struct RunBatch {
  Batch batch;
  std::vector<int32_t> positions, axes;
  std::vector<TokenId> stand_ins;
};

}  // namespace ggufscope
