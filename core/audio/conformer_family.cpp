// Audio encoders of Conformer blocks, and projectors without an encoder.
#include <algorithm>
#include <cstring>

#include "audio/audio_model.hpp"
#include "base/sentence.hpp"
#include "nn/norm.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

void read_conformer(AudioParameters& p, Keys& keys) {
  ConformerShape& shape = p.conformer;
  shape.n_embd = p.encoder.sizes.n_embd;
  keys.required("attention.head_count", shape.n_head, 1 << 16);
  keys.required("block_count", shape.n_layer, 1024);
  shape.n_ff = read_feed_forward_length(keys);
  if (!keys.f32("attention.layer_norm_epsilon", shape.eps))
    keys.refuse(ErrorCode::kNotFound, "clip.audio.attention.layer_norm_epsilon is missing");
  if (keys.failed()) return;
  shape.d_head = shape.n_embd / shape.n_head;
  if (uint32_t d = 0; keys.u32("attention.head_dim", d, 4096) && d != 0) shape.d_head = d;
  if (shape.d_head == 0 || (shape.d_head == shape.n_embd / shape.n_head && shape.n_embd % shape.n_head != 0))
    keys.refuse(ErrorCode::kOutOfRange, "clip.audio.attention.head_count is " + std::to_string(shape.n_head) +
                                            ", which does not share out " + std::to_string(shape.n_embd));
}

void plan_nothing(AudioPlan& /*plan*/) {}

size_t conformer_frames(const AudioParameters& p, size_t n) { return Subsampling::frames(n, p.n_stages); }

// The size of one frame of the encoder's input and of the projector's.
size_t n_frame_values(const AudioParameters& p) { return p.sound.n_mel * p.sound.stack; }
size_t n_features(const AudioParameters& p) { return std::max(p.conformer.n_embd, p.q_former.n_features); }

class ConformerAudioEncoder final : public AudioEncoder {
 public:
  ConformerAudioEncoder(const AudioModel& model, Pool& pool)
      : AudioEncoder(model, pool), conformer_(model.parameters().conformer, model.weights().layers, pool, arena_) {}

  size_t n_steps() const override { return size_t{model_.parameters().conformer.n_layer} + 2; }
  std::span<const float> activations() const override { return {x_, n_ * model_.parameters().conformer.n_embd}; }

 private:
  Result<void> begin(std::span<const float> frames) override {
    const AudioParameters& p = model_.parameters();
    frames_.assign(frames.begin(), frames.end());
    n_ = conformer_frames(p, n_frames_);
    x_ = arena_.take(n_ * p.conformer.n_embd);
    features_ = keeps_features() ? arena_.take(n_ * n_features(p)) : x_;
    n_kept_ = 0;
    conformer_.start(n_);
    return {};
  }
  uint64_t count_buffers() const override {
    const AudioParameters& p = model_.parameters();
    return Conformer::count_buffers(p.conformer, n_) + uint64_t{n_frames_} * n_frame_values(p);
  }
  void run(size_t step) override {
    const size_t n_layer = model_.parameters().conformer.n_layer;
    if (step == 0) {
      embed();
    } else if (step <= n_layer) {
      conformer_.run_layer(step - 1, x_);
    } else {
      return project();
    }
    if (keeps_features() && model_.parameters().features[step]) keep_features();
    if (model_.weights().ctc && step != 0 && step == n_layer / 2) add_ctc_probabilities();
  }
  void embed();
  [[nodiscard]] bool keeps_features() const {
    return n_features(model_.parameters()) > model_.parameters().conformer.n_embd;
  }
  void keep_features();
  void add_ctc_probabilities();
  void project();

  Conformer conformer_;
  std::vector<float> frames_;
  size_t n_ = 0, n_kept_ = 0;
  float *x_ = nullptr, *features_ = nullptr;
};

void ConformerAudioEncoder::embed() {
  const AudioWeights& w = model_.weights();
  const size_t n_embd = model_.parameters().conformer.n_embd, mark = arena_.mark();
  if (w.subsampling.stages.empty()) return apply(pool_, w.in.linear, frames_.data(), n_, x_);
  float* flat = arena_.take(Subsampling::kFrames * w.in.linear.n_in);
  for (size_t first = 0; first < n_; first += Subsampling::kFrames) {
    const size_t n = std::min(Subsampling::kFrames, n_ - first);
    w.subsampling.run(pool_, arena_, frames_.data(), n_frames_, first, first + n, flat);
    Conformer::apply_clipped(pool_, arena_, w.in, flat, n, x_ + first * n_embd);
  }
  arena_.release(mark);
}

void ConformerAudioEncoder::keep_features() {
  const size_t n = model_.parameters().conformer.n_embd, n_all = n_features(model_.parameters());
  for (size_t t = 0; t < n_ && !arena_.counting(); ++t)
    std::memcpy(features_ + t * n_all + n_kept_ * n, x_ + t * n, n * sizeof(float));
  ++n_kept_;
}

// Adds what the encoder's CTC head, as probabilities of tokens, says about each frame (self-conditioned CTC).
void ConformerAudioEncoder::add_ctc_probabilities() {
  const AudioWeights& w = model_.weights();
  const size_t n_embd = model_.parameters().conformer.n_embd, n_ctc = w.ctc.n_out, mark = arena_.mark();
  float* probabilities = arena_.take(n_ * n_ctc);
  float* added = arena_.take(n_ * n_embd);
  apply(pool_, w.ctc, x_, n_, probabilities);
  each_token(pool_, Operation::kGate, n_, [&](size_t t) { softmax(probabilities + t * n_ctc, n_ctc); });
  apply(pool_, w.ctc_back, probabilities, n_, added);
  add_rows(pool_, x_, added, n_, n_embd);
  arena_.release(mark);
}

void ConformerAudioEncoder::project() {
  const size_t n = model_.inner_tokens(n_frames_);
  if (keeps_features()) keep_features();
  AudioProjectorInput input{model_.parameters(), model_.weights(), pool_, arena_, features_, n_, n,
                            model_.n_out(),      begin_output(n)};
  model_.row().project(input);
}

std::unique_ptr<AudioEncoder> make_conformer(const AudioModel& model, Pool& pool) {
  return std::make_unique<ConformerAudioEncoder>(model, pool);
}

void read_waveform(AudioParameters& /*p*/, Keys& /*keys*/) {}
size_t waveform_frames(const AudioParameters& /*p*/, size_t n) { return n; }

class WaveformEncoder final : public AudioEncoder {
 public:
  using AudioEncoder::AudioEncoder;
  size_t n_steps() const override { return 1; }

 private:
  Result<void> begin(std::span<const float> frames) override {
    frames_.assign(frames.begin(), frames.end());
    return {};
  }
  uint64_t count_buffers() const override { return uint64_t{n_frames_} * n_frame_values(model_.parameters()); }
  void run(size_t /*step*/) override {
    AudioProjectorInput input{model_.parameters(),    model_.weights(), pool_,     arena_,
                              frames_.data(),         n_frames_,        n_frames_, model_.n_out(),
                              begin_output(n_frames_)};
    model_.row().project(input);
  }

  std::vector<float> frames_;
};

std::unique_ptr<AudioEncoder> make_waveform(const AudioModel& model, Pool& pool) {
  return std::make_unique<WaveformEncoder>(model, pool);
}

}  // namespace

const AudioFamily kConformerFamily{read_conformer, plan_nothing, conformer_frames, make_conformer};
const AudioFamily kWaveformFamily{read_waveform, plan_nothing, waveform_frames, make_waveform};

}  // namespace ggufscope
