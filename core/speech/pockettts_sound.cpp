// Between latents and sound: the decoder of Pocket TTS, and its encoder of voices.
#include <algorithm>
#include <cstring>

#include "base/sentence.hpp"
#include "nn/vec.hpp"
#include "speech/pockettts.hpp"

namespace ggufscope {
namespace {

// Rows of a part of the encoder's input: a second.
constexpr size_t kVoiceRows = 12;
constexpr size_t kMaxVoiceSeconds = 60;

void run_decoder(Stream& s, const PocketTtsWeights& w, const float* latents, size_t n, float* samples) {
  s.begin_run();
  const size_t n_up = w.upsample.stride, n_embd = w.n_decoder;
  float* scaled = s.arena.take(n, w.n_latent);
  float* x = s.arena.take(n, n_embd);
  float* longer = s.arena.take(n, n_up, n_embd);
  if (!s.counting()) {
    std::memcpy(scaled, latents, n * w.n_latent * sizeof(float));
    for (size_t t = 0; t < n; ++t) {
      vec::multiply(scaled + t * w.n_latent, w.deviation.data(), w.n_latent);
      vec::add(scaled + t * w.n_latent, w.mean.data(), w.n_latent);
    }
    apply(s.pool, w.quant_out, scaled, n, x);
  }
  convolve_transposed(s, w.upsample, x, n, longer);
  run_blocks(s, w.decoder_blocks, longer, n * n_up, s.position * n_up, kMaxSpeechFrames * n_up);
  decode_seanet(s, w.decoder, longer, n * n_up, samples);
  if (s.counting()) return;
  for (size_t i = 0; i < n * n_up * w.decoder.factor; ++i) samples[i] = std::clamp(samples[i], -1.0f, 1.0f);
  s.position += n;
}

class PocketDecoder final : public SpeechDecoder {
 public:
  /// The weights and the pool must outlive this object.
  PocketDecoder(const PocketTts& model, Pool& pool) : model_(model), stream_(pool) {}
  [[nodiscard]] Result<void> allocate() {
    return stream_.allocate([&] { run_decoder(stream_, model_.weights(), nullptr, kMaxSpeechFrames, nullptr); });
  }
  Result<bool> decode(const SpeechFrames& frames, std::vector<float>& samples) override {
    const size_t at = samples.size();
    samples.resize(at + frames.n * model_.frame_samples());
    run_decoder(stream_, model_.weights(), frames.latents.data(), frames.n, samples.data() + at);
    return false;
  }
  void reset() override { stream_.reset(); }

 private:
  const PocketTts& model_;
  Stream stream_;
};

// y [n, n_embd of the text model]; x: n rows' samples.
void run_encoder(Stream& s, const PocketTtsWeights& w, const float* samples, size_t n, float* rows) {
  s.begin_run();
  const size_t n_down = w.downsample.stride;
  float* x = s.arena.take(n, n_down, w.n_encoder);
  float* shorter = s.arena.take(n, w.downsample.by.n_out);
  encode_seanet(s, w.encoder, samples, n * n_down, x);
  run_blocks(s, w.encoder_blocks, x, n * n_down, s.position * n_down, kVoiceRows * n_down);
  convolve(s, w.downsample, x, n * n_down, shorter);
  if (s.counting()) return;
  apply(s.pool, w.speaker_proj, shorter, n, rows);
  s.position += n;
}

class PocketVoiceEncoder final : public VoiceEncoder {
 public:
  PocketVoiceEncoder(const PocketTtsWeights& weights, Pool& pool) : w_(weights), stream_(pool) {}
  Result<void> start(std::vector<float> samples) override {
    if (samples.empty()) return fail(ErrorCode::kInvalidArgument, "a recording of a voice has no samples");
    if (samples.size() > kMaxVoiceSeconds * kSpeechRate)
      return fail(ErrorCode::kInvalidArgument, "a recording of a voice may have " + std::to_string(kMaxVoiceSeconds) +
                                                   " seconds, but this one has " +
                                                   std::to_string(samples.size() / kSpeechRate));
    samples_ = std::move(samples);
    const size_t row = row_samples();
    samples_.resize((samples_.size() + row - 1) / row * row);
    at_ = 0;
    rows_.clear();
    return stream_.allocate([&] { run_encoder(stream_, w_, nullptr, kVoiceRows, nullptr); });
  }
  bool step() override {
    const size_t row = row_samples(), n = std::min(kVoiceRows, samples_.size() / row - at_);
    rows_.resize((at_ + n) * w_.n_embd);
    run_encoder(stream_, w_, samples_.data() + at_ * row, n, rows_.data() + at_ * w_.n_embd);
    at_ += n;
    return at_ < samples_.size() / row;
  }

 private:
  [[nodiscard]] size_t row_samples() const { return w_.encoder.factor * w_.downsample.stride; }
  const PocketTtsWeights& w_;
  Stream stream_;
  std::vector<float> samples_;
  size_t at_ = 0;  // rows
};

}  // namespace

Result<std::unique_ptr<SpeechDecoder>> PocketTts::create_decoder(Pool& pool) const {
  auto decoder = std::make_unique<PocketDecoder>(*this, pool);
  if (const Result<void> allocated = decoder->allocate(); !allocated) return std::unexpected(allocated.error());
  return decoder;
}

std::unique_ptr<VoiceEncoder> PocketTts::create_voice_encoder(Pool& pool) const {
  return std::make_unique<PocketVoiceEncoder>(w_, pool);
}

uint64_t PocketTts::scratch_bytes(Pool& pool) const {
  Stream stream(pool);
  return stream.count_bytes([&] { run_decoder(stream, w_, nullptr, kMaxSpeechFrames, nullptr); });
}

}  // namespace ggufscope
