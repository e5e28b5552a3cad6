// The registry of audio projectors: one row a name of llama.cpp's clip-impl.h. A row says what becomes of the encoder's
// frames, and which text stands around a sound.
#pragma once

#include <span>
#include <string_view>

#include "audio/whisper_encoder.hpp"
#include "model/hparams.hpp"

namespace ggufscope {

inline constexpr uint32_t kAudioFrames = 1500;  ///< of the encoder's output: 30 s, before any pooling

/// What the keys "clip.audio.*" of an mmproj file say.
struct AudioParameters {
  WhisperEncoderShape encoder;
  uint32_t stack = 1;  ///< frames of a token, side by side
};

struct AudioWeights {
  WhisperEncoderWeights encoder;
  Affine norm_before, norm_between;
  Linear first, gate, up, last;
  Vector begin, end;  // [n_out]: tokens around a sound's
};

struct AudioPlan {
  Planner& planner;
  const AudioParameters& p;
  AudioWeights& w;
  uint64_t n_out = 0;  ///< floats of a token: the projector's plan sets it

  /// n_out of a matrix in the file; 0 where it is missing.
  [[nodiscard]] uint64_t rows_of(const std::string& tensor) const {
    const TensorEntry* entry = planner.find(tensor + ".weight");
    return entry == nullptr ? 0 : entry->shape[1];
  }
  /// [n_in, whatever the file says], which it returns.
  uint64_t linear(Linear& to, const std::string& name, uint64_t n_in) const {
    const uint64_t n = rows_of(name);
    planner.linear(to, name, n_in, n);
    return n;
  }
  /// Floats of the frames of a token.
  [[nodiscard]] uint64_t n_stacked() const { return uint64_t{p.stack} * p.encoder.sizes.n_embd; }
};

/// What a projector's function sees.
struct AudioProjectorInput {
  const AudioParameters& p;
  const AudioWeights& w;
  Pool& pool;
  Arena& arena;
  float* stacked = nullptr;  ///< [n_tokens, stack * n_embd]: zeros behind the last frame; may be written to
  size_t n_frames = 0;
  size_t n_tokens = 0;  ///< without those around it
  size_t n_out = 0;
  float* out = nullptr;  ///< [n_tokens, n_out]
};

struct AudioProjectorRow {
  std::string_view name;
  /// nullptr: known, but it cannot be run.
  void (*plan)(AudioPlan& plan) = nullptr;
  void (*project)(AudioProjectorInput& input) = nullptr;
  bool halves = false;                    ///< the encoder gives the mean of each two frames
  bool stacks = false;                    ///< clip.audio.projector.stack_factor is required
  bool ends = false;                      ///< v.boi and v.eoi are tokens around a sound's
  std::string_view begin = "", end = "";  ///< texts around a sound, with special tokens
};

[[nodiscard]] std::span<const AudioProjectorRow> all_audio_projectors();
/// kUnsupported with the names that can run, for one that is unknown, or known and cannot.
[[nodiscard]] Result<const AudioProjectorRow*> find_audio_projector(std::string_view name);

}  // namespace ggufscope
