// Pocket TTS (Kyutai 2026): a text model's hidden state becomes a latent by one step of a flow, and Mimi's decoder
// (Defossez et al. 2024) makes sound of the latents.
//
//   frame     end of speech if out_eos . hidden + bias > -4; latent = noise + v(hidden, noise)
//             feedback = input_linear latent: the text model's next input
//   v         c = input_proj noise; y = cond_embd hidden + mean of the embeddings of the times 0 and 1
//             blocks: shift, scale, gate = ada(silu(y)); c += gate * down(silu(up(norm(c) (1 + scale) + shift)))
//             final_proj(norm(c) (1 + scale) + shift) with shift, scale = final_ada(silu(y))
//   decoder   quant_out(latent * std + mean), upsampled by a transposed convolution, blocks with a window, SEANet
//   voice     SEANet's encoder, blocks, a strided convolution, speaker_proj
#pragma once

#include "speech/blocks.hpp"
#include "speech/seanet.hpp"
#include "speech/speech_model.hpp"

namespace ggufscope {

struct PocketFlowBlock {
  Affine norm;
  Linear up, down, ada;
};

struct PocketTime {
  Vector freqs, norm;
  Linear up, down;
};

struct PocketTtsWeights {
  Linear out_eos, input_linear;
  Vector mean, deviation;  ///< [n_latent]
  Linear input_proj, cond_embd;
  PocketTime times[2];
  std::vector<PocketFlowBlock> flow;
  Linear final_ada, final_proj;
  std::vector<float> time;  ///< [n_flow]: the mean of the two embeddings
  Linear quant_out;
  DepthwiseTransposed upsample;
  SpeechBlocks decoder_blocks, encoder_blocks;
  Seanet decoder, encoder;
  CausalConvolution downsample;
  Linear speaker_proj;
  size_t n_embd = 0, n_latent = 0, n_flow = 0, n_decoder = 0, n_encoder = 0;
};

/// What the variants of the model differ in: clip.gen.audio.model_variant.
struct PocketVariant {
  std::string_view name;
  float temperature = 0.7f;
  uint32_t n_tail = 0;      ///< frames after the end of speech; 0: by the length of the text
  bool pads_short = false;  ///< short texts begin with spaces
};

class PocketTts final : public SpeechGenerator {
 public:
  void plan(const Gguf& gguf, SpeechPlan& plan, Keys& keys, uint64_t n_embd, bool with_voices) override;
  [[nodiscard]] Result<void> finish_load(Pool& pool) override;
  [[nodiscard]] size_t frame_samples() const override { return w_.upsample.stride * w_.decoder.factor; }
  [[nodiscard]] Result<std::unique_ptr<SpeechDecoder>> create_decoder(Pool& pool) const override;
  [[nodiscard]] std::unique_ptr<VoiceEncoder> create_voice_encoder(Pool& pool) const override;
  [[nodiscard]] uint64_t scratch_bytes(Pool& pool) const override;

  [[nodiscard]] const PocketVariant& variant() const { return variant_; }
  /// The file's variant if its settings are not known; else empty. Then those of most variants are used.
  [[nodiscard]] const std::string& unknown_variant() const { return unknown_variant_; }
  [[nodiscard]] const PocketTtsWeights& weights() const { return w_; }

  struct Frame {
    std::vector<float> latent, feedback;  ///< [n_latent], [n_embd]
    bool ends = false;                    ///< the speech ends here
  };
  /// The frame of a hidden state [n_embd]. noise [n_latent]: where the flow starts.
  [[nodiscard]] Frame make_frame(Pool& pool, std::span<const float> hidden, std::span<const float> noise) const;

 private:
  PocketTtsWeights w_;
  PocketVariant variant_;
  std::string unknown_variant_;
};

}  // namespace ggufscope
