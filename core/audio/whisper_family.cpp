// Audio encoders with Whisper's blocks. Whisper's two convolutions, or two-dimensional ones over each second, precede
// them.
#include <algorithm>
#include <cstring>

#include "audio/audio_model.hpp"
#include "base/sentence.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

void read_whisper(AudioParameters& p, Keys& keys) {
  WhisperEncoderShape& encoder = p.encoder;
  encoder.exact_gelu = encoder.half_inputs = true;
  encoder.sizes.n_ctx = kAudioFrames;
  keys.required("attention.head_count", encoder.sizes.n_head, 1 << 16);
  keys.required("block_count", encoder.sizes.n_layer, 1024);
  encoder.sizes.n_ff = read_feed_forward_length(keys);
  if (!keys.f32("attention.layer_norm_epsilon", encoder.eps))
    keys.refuse(ErrorCode::kNotFound, "clip.audio.attention.layer_norm_epsilon is missing");
  if (!keys.failed() && encoder.sizes.n_embd % encoder.sizes.n_head != 0)
    keys.refuse(ErrorCode::kOutOfRange, "clip.audio.attention.head_count is " + std::to_string(encoder.sizes.n_head) +
                                            ", which does not share out " + std::to_string(encoder.sizes.n_embd));
  p.sound.part_frames = size_t{2} * kAudioFrames;
  p.sound.silent_end = true;
}

/// Plans the position embeddings, of which at least so many rows are needed.
void plan_positions(AudioPlan& plan, Vector& to, uint64_t n_needed) {
  const std::string positions = "a.position_embd.weight";
  const TensorEntry* table = plan.planner.find(positions);
  // A longer position table belongs to an encoder with a longer window. The first rows are the positions of 30 s.
  const uint64_t n_rows = table == nullptr ? n_needed : table->shape[1];
  if (n_rows < n_needed)
    plan.planner.refuse(ErrorCode::kBadShape, "tensor " + positions + " has " + counted(n_rows, "row") + " for " +
                                                  counted(n_needed, "frame"));
  plan.planner.vector(to, positions, plan.p.encoder.sizes.n_embd * n_rows);
}

void plan_convolutions(AudioPlan& plan) {
  Planner& planner = plan.planner;
  const uint64_t n = plan.p.encoder.sizes.n_embd;
  if (plan.p.n_stages == 0) {
    planner.convolution(plan.w.encoder.conv1, "a.conv1d.1", 3, plan.p.encoder.n_mel, n);
    planner.convolution(plan.w.encoder.conv2, "a.conv1d.2", 3, n, n);
    return plan_positions(plan, plan.w.encoder.positions, kAudioFrames);
  }
  Subsampling& subsampling = plan.w.subsampling;
  subsampling.shape.frames_fastest = subsampling.shape.bands_fastest = subsampling.shape.gelu = true;
  for (size_t i = 0; i < plan.p.n_stages; ++i) subsampling.plan(planner, i, "a.conv2d." + std::to_string(i + 1));
  planner.matrix(plan.w.in.linear, "a.conv_out", subsampling.n_out(), n);
  plan_positions(plan, plan.w.positions, Subsampling::frames(plan.p.sound.rest_frames, plan.p.n_stages));
}

void plan_whisper(AudioPlan& plan) {
  Planner& planner = plan.planner;
  const WhisperEncoderShape& shape = plan.p.encoder;
  WhisperEncoderWeights& w = plan.w.encoder;
  const uint64_t n = shape.sizes.n_embd;
  plan_convolutions(plan);
  planner.affine(w.norm, "a.post_ln", n, Need::kOptional);
  w.blocks.resize(shape.sizes.n_layer);
  for (size_t i = 0; i < w.blocks.size() && !planner.failed(); ++i) {
    const std::string name = "a.blk." + std::to_string(i) + ".";
    WhisperBlock& block = w.blocks[i];
    planner.affine(block.attn_norm, name + "ln1", n);
    planner.affine(block.ffn_norm, name + "ln2", n);
    planner.linear(block.attn.q, name + "attn_q", n, n);
    planner.linear(block.attn.k, name + "attn_k", n, n);
    planner.linear(block.attn.v, name + "attn_v", n, n);
    planner.linear(block.attn.out, name + "attn_out", n, n);
    planner.linear(block.up, name + "ffn_up", n, shape.sizes.n_ff);
    planner.linear(block.down, name + "ffn_down", shape.sizes.n_ff, n);
  }
}

size_t whisper_frames(const AudioParameters& p, size_t n) {
  if (p.n_stages != 0) return n / p.sound.rest_frames * Subsampling::frames(p.sound.rest_frames, p.n_stages);
  return p.encoder.halves ? kAudioFrames / 2 : kAudioFrames;
}

class WhisperAudioEncoder final : public AudioEncoder {
 public:
  WhisperAudioEncoder(const AudioModel& model, Pool& pool)
      : AudioEncoder(model, pool),
        pass_{pool, arena_},
        encoder_(model.parameters().encoder, model.weights().encoder, pass_) {}

  size_t n_steps() const override { return encoder_.n_steps() + 1; }
  std::span<const float> activations() const override { return encoder_.encoded(); }
  LayerRun begin_layers() override { return encoder_.begin_layers(); }
  void end_layers(uint32_t end) override {
    encoder_.end_layers(end);
    AudioEncoder::end_layers(end);
  }

 private:
  Result<void> begin(std::span<const float> frames) override {
    if (!arena_.counting()) {
      if (const auto r = pass_.allocate(WhisperEncoder::count_thread_scratch(shape())); !r) return r;
      if (const auto r = encoder_.allocate(); !r) return r;
    }
    if (model_.parameters().n_stages == 0) return encoder_.start(frames, kAudioFrames);
    frames_.assign(frames.begin(), frames.end());
    return {};
  }
  uint64_t count_buffers() const override {
    return WhisperEncoder::count_thread_scratch(shape()) * pool_.n_threads() + WhisperEncoder::count_buffers(shape());
  }
  [[nodiscard]] const WhisperEncoderShape& shape() const { return model_.parameters().encoder; }
  void run(size_t step) override {
    if (step == encoder_.n_steps()) return project();
    if (step == WhisperEncoder::kConvolution && model_.parameters().n_stages != 0) return convolve_seconds();
    encoder_.step(step);
  }
  void convolve_seconds();
  void project();

  WhisperPass pass_;
  WhisperEncoder encoder_;
  std::vector<float> frames_;
};

void WhisperAudioEncoder::convolve_seconds() {
  const AudioParameters& p = model_.parameters();
  const AudioWeights& w = model_.weights();
  const size_t second = p.sound.rest_frames, n_embd = p.encoder.sizes.n_embd;
  const size_t n_each = Subsampling::frames(second, p.n_stages);
  arena_.release(0);
  float* x = encoder_.begin_embedded(n_frames_ / second * n_each);
  float* flat = arena_.take(Subsampling::kFrames * w.subsampling.n_out());
  for (size_t at = 0; at + second <= n_frames_; at += second)
    for (size_t first = 0; first < n_each; first += Subsampling::kFrames) {
      const size_t n = std::min(Subsampling::kFrames, n_each - first);
      w.subsampling.run(pool_, arena_, frames_.data() + at * p.sound.n_mel, second, first, first + n, flat);
      apply(pool_, w.in.linear, flat, n, x);
      if (!arena_.counting()) vec::add(x, w.positions.data() + first * n_embd, n * n_embd);
      x += n * n_embd;
    }
}

void WhisperAudioEncoder::project() {
  const AudioParameters& p = model_.parameters();
  const AudioWeights& w = model_.weights();
  const size_t n_out = model_.n_out(), n = model_.inner_tokens(n_frames_);
  const size_t n_stacked = n * p.stack * p.encoder.sizes.n_embd;
  arena_.release(0);
  float* stacked = arena_.take(n_stacked);
  float* out = begin_output(model_.n_tokens(n_frames_));
  if (!arena_.counting()) {
    const std::span<const float> encoded = encoder_.encoded();
    std::memcpy(stacked, encoded.data(), encoded.size_bytes());
    std::fill(stacked + encoded.size(), stacked + n_stacked, 0.0f);
    if (model_.row().ends) {
      std::memcpy(out, w.begin.data(), n_out * sizeof(float));
      out += n_out;
      std::memcpy(out + n * n_out, w.end.data(), n_out * sizeof(float));
    }
  }
  AudioProjectorInput input{p, w, pool_, arena_, stacked, encoder_.n_frames(), n, n_out, out};
  model_.row().project(input);
}

std::unique_ptr<AudioEncoder> make_whisper(const AudioModel& model, Pool& pool) {
  return std::make_unique<WhisperAudioEncoder>(model, pool);
}

}  // namespace

const AudioFamily kWhisperFamily{read_whisper, plan_whisper, whisper_frames, make_whisper};

}  // namespace ggufscope
