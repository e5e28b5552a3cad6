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

uint64_t conformer_scratch(const AudioModel& model, size_t n_frames, size_t n_threads) {
  const AudioParameters& p = model.parameters();
  const AudioWeights& w = model.weights();
  const uint64_t n = conformer_frames(p, n_frames), n_features = ggufscope::n_features(p);
  const uint64_t subsampling =
      p.n_stages == 0 ? 0 : w.subsampling.count_scratch() + arena_floats(2 * Subsampling::kFrames * w.in.linear.n_in);
  const uint64_t wide = n * std::max({w.first.n_out, w.ctc.n_out, w.projection.linear.n_in, w.out.linear.n_in,
                                      size_t{p.conformer.n_embd}});
  uint64_t projection = arena_floats(wide, wide);
  if (p.q_former.window != 0) projection = std::max(projection, w.q_former.count_scratch(size_t(n), n_threads));
  return arena_floats(n * p.conformer.n_embd, n_features > p.conformer.n_embd ? n * n_features : 0) +
         std::max({subsampling, projection, Conformer::count_scratch(p.conformer, n, n_threads)});
}

uint64_t conformer_scratch_bytes(const AudioModel& model, size_t n, size_t n_threads) {
  const AudioParameters& p = model.parameters();
  return (conformer_scratch(model, n, n_threads) + Conformer::count_buffers(p.conformer, conformer_frames(p, n)) +
          uint64_t{n} * n_frame_values(p)) *
         sizeof(float);
}

class ConformerAudioEncoder final : public AudioEncoder {
 public:
  /// The model and the pool must outlive this object.
  ConformerAudioEncoder(const AudioModel& model, Pool& pool)
      : model_(model), pool_(pool), conformer_(model.parameters().conformer, model.weights().layers, pool, arena_) {}

  Result<void> start(std::span<const float> frames, size_t n_frames) override {
    const AudioParameters& p = model_.parameters();
    const uint64_t n_floats = conformer_scratch(model_, n_frames, pool_.n_threads());
    if (scratch_.size() < n_floats * sizeof(float))
      if (const auto r = allocate_into(scratch_, n_floats * sizeof(float)); !r) return r;
    arena_.reset(scratch_.as<float>(), scratch_.size() / sizeof(float));
    frames_.assign(frames.begin(), frames.end());
    n_frames_ = n_frames;
    n_ = conformer_frames(p, n_frames);
    x_ = arena_.take(n_ * p.conformer.n_embd);
    features_ = n_features(p) > p.conformer.n_embd ? arena_.take(n_ * n_features(p)) : nullptr;
    n_kept_ = at_ = 0;
    conformer_.start(n_);
    return {};
  }
  size_t n_steps() const override { return size_t{model_.parameters().conformer.n_layer} + 2; }
  std::span<const float> activations() const override { return {x_, n_ * model_.parameters().conformer.n_embd}; }

 private:
  void run(size_t step) override {
    const size_t n_layer = model_.parameters().conformer.n_layer;
    if (step == 0) {
      embed();
    } else if (step <= n_layer) {
      conformer_.run_layer(step - 1, x_);
    } else {
      return project();
    }
    if (features_ != nullptr && model_.parameters().features[step]) keep_features();
    if (model_.weights().ctc && step != 0 && step == n_layer / 2) add_ctc_probabilities();
  }
  void embed();
  void keep_features();
  void add_ctc_probabilities();
  void project();

  const AudioModel& model_;
  Pool& pool_;
  Buffer scratch_;
  Arena arena_;
  Conformer conformer_;
  std::vector<float> frames_;
  size_t n_frames_ = 0, n_ = 0, n_kept_ = 0;
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
  for (size_t t = 0; t < n_; ++t) std::memcpy(features_ + t * n_all + n_kept_ * n, x_ + t * n, n * sizeof(float));
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
  const size_t n_out = model_.n_out(), n = model_.inner_tokens(n_frames_);
  output_.assign(n * n_out, 0.0f);
  if (features_ != nullptr) keep_features();
  AudioProjectorInput input{
      model_.parameters(), model_.weights(), pool_, arena_, features_ != nullptr ? features_ : x_, n_, n, n_out,
      output_.data()};
  model_.row().project(input);
}

std::unique_ptr<AudioEncoder> make_conformer(const AudioModel& model, Pool& pool) {
  return std::make_unique<ConformerAudioEncoder>(model, pool);
}

void read_waveform(AudioParameters& /*p*/, Keys& /*keys*/) {}
size_t waveform_frames(const AudioParameters& /*p*/, size_t n) { return n; }
uint64_t waveform_scratch_bytes(const AudioModel& model, size_t n, size_t /*n_threads*/) {
  return uint64_t{n} * n_frame_values(model.parameters()) * sizeof(float);
}

class WaveformEncoder final : public AudioEncoder {
 public:
  WaveformEncoder(const AudioModel& model, Pool& pool) : model_(model), pool_(pool) {}
  Result<void> start(std::span<const float> frames, size_t n_frames) override {
    frames_.assign(frames.begin(), frames.end());
    n_ = n_frames;
    at_ = 0;
    return {};
  }
  size_t n_steps() const override { return 1; }

 private:
  void run(size_t /*step*/) override {
    output_.assign(n_ * model_.n_out(), 0.0f);
    Arena none;
    AudioProjectorInput input{model_.parameters(), model_.weights(), pool_, none, frames_.data(), n_, n_,
                              model_.n_out(),      output_.data()};
    model_.row().project(input);
  }

  const AudioModel& model_;
  Pool& pool_;
  std::vector<float> frames_;
  size_t n_ = 0;
};

std::unique_ptr<AudioEncoder> make_waveform(const AudioModel& model, Pool& pool) {
  return std::make_unique<WaveformEncoder>(model, pool);
}

}  // namespace

const AudioFamily kConformerFamily{read_conformer, plan_nothing, conformer_frames, conformer_scratch_bytes,
                                   make_conformer};
const AudioFamily kWaveformFamily{read_waveform, plan_nothing, waveform_frames, waveform_scratch_bytes, make_waveform};

}  // namespace ggufscope
