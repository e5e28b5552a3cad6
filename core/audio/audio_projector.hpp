// The registry of audio projectors: one row for each projector name in llama.cpp's clip-impl.h. A row describes how the
// encoder's frames become tokens, and which text precedes and follows the audio.
#pragma once

#include <span>
#include <string_view>

#include "audio/whisper_encoder.hpp"
#include "model/hparams.hpp"

namespace ggufscope {

inline constexpr uint32_t kAudioFrames = 1500;  ///< frames in the encoder's output for 30 s, before any pooling

/// The keys "clip.audio.*" of an mmproj file.
struct AudioParameters {
  WhisperEncoderShape encoder;
  uint32_t stack = 1;  ///< consecutive frames that are concatenated into one token
};

struct AudioWeights {
  WhisperEncoderWeights encoder;
  Affine norm_before, norm_between;
  Linear first, gate, up, last;
  Vector begin, end;  // [n_out]: tokens before and after the audio's tokens
};

struct AudioPlan {
  Planner& planner;
  const AudioParameters& p;
  AudioWeights& w;
  uint64_t n_out = 0;  ///< floats in each token; the projector's plan sets it

  /// The number of rows (n_out) of a matrix in the file; 0 if it is missing.
  [[nodiscard]] uint64_t rows_of(const std::string& tensor) const {
    const TensorEntry* entry = planner.find(tensor + ".weight");
    return entry == nullptr ? 0 : entry->shape[1];
  }
  /// Plans a matrix with n_in columns and as many rows as the file has. Returns the number of rows.
  uint64_t linear(Linear& to, const std::string& name, uint64_t n_in) const {
    const uint64_t n = rows_of(name);
    planner.linear(to, name, n_in, n);
    return n;
  }
  /// Floats in the concatenated frames of one token.
  [[nodiscard]] uint64_t n_stacked() const { return uint64_t{p.stack} * p.encoder.sizes.n_embd; }
};

/// The arguments of a projector's function.
struct AudioProjectorInput {
  const AudioParameters& p;
  const AudioWeights& w;
  Pool& pool;
  Arena& arena;
  float* stacked = nullptr;  ///< [n_tokens, stack * n_embd], padded with zeros after the last frame; may be overwritten
  size_t n_frames = 0;
  size_t n_tokens = 0;  ///< without the tokens before and after the audio
  size_t n_out = 0;
  float* out = nullptr;  ///< [n_tokens, n_out]
};

struct AudioProjectorRow {
  std::string_view name;
  /// nullptr: the projector is known but cannot be run.
  void (*plan)(AudioPlan& plan) = nullptr;
  void (*project)(AudioProjectorInput& input) = nullptr;
  bool halves = false;                    ///< the encoder averages each pair of frames
  bool stacks = false;                    ///< clip.audio.projector.stack_factor is required
  bool ends = false;                      ///< v.boi and v.eoi are tokens before and after the audio's tokens
  std::string_view begin = "", end = "";  ///< texts before and after the audio; may contain special tokens
};

[[nodiscard]] std::span<const AudioProjectorRow> all_audio_projectors();
/// Error: kUnsupported for an unknown projector or one that cannot be run; the message lists those that can.
[[nodiscard]] Result<const AudioProjectorRow*> find_audio_projector(std::string_view name);

}  // namespace ggufscope
