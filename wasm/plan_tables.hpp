// What plans for a GPU exchange with JavaScript, whoever computes with them. The value objects are registered in
// bindings_gpu.cpp.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "gpu/plan.hpp"

namespace ggufscope {

/// Bytes of the largest buffer and binding that the device allows.
struct DeviceBytes {
  double buffer, binding;
};

/// Fields of gpu::Plan.
struct PlanFacts {
  uint32_t step;         ///< the buffer of a pass's record; kAbsent: there is none, as for the next four
  uint32_t parameters;   ///< the buffer of parameters
  uint32_t logits;       ///< the buffer of floats [batch, vocabulary]
  uint32_t embedded;     ///< the buffer of floats [batch, embedding length]
  uint32_t chosen;       ///< the buffer of words [batch]: the tokens that the device chose
  uint32_t batch;        ///< tokens of a pass, at most
  uint32_t output_rows;  ///< rows of logits, at most
  uint32_t logits_length, embedded_length;  ///< floats in a row of these buffers
  double weight_bytes;
  uint32_t stream;      ///< the buffer of a pass's rows, if it has rows instead of tokens; kAbsent: it cannot have them
  uint32_t deep;        ///< the first of the buffers of such a pass's further parts
  uint32_t deep_parts;  ///< how many there are, one behind the other
  uint32_t embeds;      ///< the first dispatches of `prefill`, which such a pass leaves out
  bool encodes;         ///< a pass of embeddings has their list alone
  uint32_t weights;     ///< the buffer of a transcription's weights of attention; kAbsent: there is none
  double host_weights;  ///< bytes of weights that are not on the device: of a projector, or before an encoder
  double host_scratch;
};

/// One write to a buffer of the device; the bytes are at `at` in the heap.
struct DeviceWrite {
  uint32_t buffer;
  uint32_t encoder;  ///< of the plan of which encoder; 2: of the model's
  double offset;
  uintptr_t at;
  uint32_t bytes;
};

/// Layers of an encoder to compute.
struct LayerFacts {
  uint32_t encoder;  ///< 0: of images, 1: of audio, 2: the next step of the encoder is none of the device's
  uint32_t first, end;
  bool grown;  ///< the encoder's plan has larger buffers than before, and the same ones for weights
};

struct PassFacts {
  uint32_t tokens;   ///< 0: nothing needs to be computed before the next token is sampled
  uint32_t outputs;  ///< rows of logits to accept; 0: none
  bool decode;       ///< the plan's lists for few tokens
  bool embeds;       ///< the plan's list of embeddings instead of that of logits
};

/// embedded_length: floats in a row of the buffer `embedded`.
[[nodiscard]] PlanFacts facts_of(const gpu::Plan& plan, uint64_t logits_length, uint64_t embedded_length);
/// The rows of a table of the plan, one after the other; none for an unknown name.
void table_of(const gpu::Plan& plan, std::string_view name, std::vector<double>& out);

}  // namespace ggufscope
