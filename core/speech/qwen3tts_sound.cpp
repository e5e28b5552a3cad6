// Codes of Qwen3-TTS to sound.
#include <algorithm>
#include <cstring>
#include <numbers>

#include "nn/vec.hpp"
#include "speech/qwen3tts.hpp"

namespace ggufscope {
namespace {

constexpr float kConvNextEps = 1e-6f;  // of ConvNeXt

// sin(x)^2, which has the period pi: x is reduced to [-pi / 2, pi / 2], where an odd polynomial gives the sine. Its
// error is below 1e-6 for |x| up to 1e4.
v128_t sin_squared4(v128_t x) {
  constexpr float kPiHigh = 3.140625f, kPiLow = 9.67653589793e-4f;
  constexpr float kSine[] = {2.7557314297e-6f, -1.9841270114e-4f, 8.3333333333e-3f, -1.6666666667e-1f};
  const v128_t n = wasm_f32x4_nearest(wasm_f32x4_mul(x, wasm_f32x4_splat(1 / std::numbers::pi_v<float>)));
  v128_t r = wasm_f32x4_sub(x, wasm_f32x4_mul(n, wasm_f32x4_splat(kPiHigh)));
  r = wasm_f32x4_sub(r, wasm_f32x4_mul(n, wasm_f32x4_splat(kPiLow)));
  const v128_t rr = wasm_f32x4_mul(r, r);
  v128_t sum = wasm_f32x4_splat(-2.5052108385e-8f);
  for (const float c : kSine) sum = wasm_f32x4_add(wasm_f32x4_mul(sum, rr), wasm_f32x4_splat(c));
  const v128_t sine = wasm_f32x4_add(r, wasm_f32x4_mul(wasm_f32x4_mul(sum, rr), r));
  return wasm_f32x4_mul(sine, sine);
}

void snake_rows(Stream& s, const Snake& by, const float* x, size_t n, float* y) {
  if (s.counting()) return;
  const size_t width = by.alpha.n;
  each_token(s.pool, Operation::kGate, n, [&](size_t t) {
    const float *from = x + t * width, *alpha = by.alpha.data(), *beta = by.beta.data();
    float* to = y + t * width;
    size_t i = 0;
    for (; i + 4 <= width; i += 4) {
      const v128_t v = wasm_v128_load(from + i);
      const v128_t sine = sin_squared4(wasm_f32x4_mul(v, wasm_v128_load(alpha + i)));
      wasm_v128_store(to + i, wasm_f32x4_add(v, wasm_f32x4_mul(wasm_v128_load(beta + i), sine)));
    }
    for (; i < width; ++i)
      to[i] = from[i] + beta[i] * wasm_f32x4_extract_lane(sin_squared4(wasm_f32x4_splat(alpha[i] * from[i])), 0);
  });
}

// The sum of the codebooks' rows of a frame.
void embed_codes(Stream& s, const Qwen3TtsWeights& w, const int32_t* codes, float* x) {
  const size_t width = w.first_proj.n_out, n_first = w.first_codes.n_in, n_rest = w.rest_codes.n_in;
  const ArenaScope scope(s.arena);
  float* first = s.arena.take(n_first);
  float* rest = s.arena.take(n_rest);
  float* row = s.arena.take(std::max(n_rest, width));
  if (s.counting()) return;
  look_up(s.pool, w.first_codes, {codes, 1}, first);
  std::memset(rest, 0, n_rest * sizeof(float));
  for (size_t g = 0; g + 1 < w.n_codes; ++g) {
    const auto id = static_cast<int32_t>(g * w.n_rest) + codes[g + 1];
    look_up(s.pool, w.rest_codes, {&id, 1}, row);
    vec::add(rest, row, n_rest);
  }
  apply(s.pool, w.first_proj, first, 1, x);
  apply(s.pool, w.rest_proj, rest, 1, row);
  vec::add(x, row, width);
}

// x += gamma * narrow(gelu(wide(norm(depthwise(x)))))
void run_convnext(Stream& s, const ConvNext& w, float* x, size_t n) {
  const ArenaScope scope(s.arena);
  const size_t width = w.depthwise.n, n_wide = w.wide.n_out;
  float* hidden = s.arena.take(n, width);
  float* wide = s.arena.take(n, n_wide);
  convolve(s, w.depthwise, x, n, hidden);
  if (s.counting()) return;
  normalize_rows(s.pool, kConvNextEps, NormKind::kLayer, w.norm, hidden, n, width, hidden);
  apply(s.pool, w.wide, hidden, n, wide);
  each_token(s.pool, Operation::kGate, n, [&](size_t t) { activate(Activation::kGelu, wide + t * n_wide, n_wide); });
  apply(s.pool, w.narrow, wide, n, hidden);
  each_token(s.pool, Operation::kAdd, n, [&](size_t t) {
    vec::multiply(hidden + t * width, w.gamma.data(), width);
    vec::add(x + t * width, hidden + t * width, width);
  });
}

void run_unit(Stream& s, const DacUnit& w, float* x, size_t n) {
  const ArenaScope scope(s.arena);
  const size_t width = w.first.n_in;
  float* activated = s.arena.take(n, width);
  float* hidden = s.arena.take(n, w.second.n_in);
  snake_rows(s, w.snake_1, x, n, activated);
  convolve(s, w.first, activated, n, hidden);
  snake_rows(s, w.snake_2, hidden, n, hidden);
  convolve(s, w.second, hidden, n, activated);
  if (!s.counting()) add_rows(s.pool, x, activated, n, width);
}

// Runs what makes n rows longer: takes memory for the result, which is returned.
float* lengthen(Stream& s, const TransposedConvolution& by, const float* x, size_t& n) {
  float* longer = s.arena.take(n, by.stride, by.n_out);
  convolve_transposed(s, by, x, n, longer);
  n *= by.stride;
  return longer;
}

// One frame at a time: products of few rows round in another order than those of many, so the samples would depend on
// where the frames are cut. The first layers, which read their weights for one row, are small beside the last ones.
void run_code_decoder(Stream& s, const Qwen3TtsWeights& w, const int32_t* codes, float* samples) {
  s.begin_run();
  size_t n = 1;
  float* x = s.arena.take(w.first_proj.n_out);
  embed_codes(s, w, codes, x);
  float* conditioned = s.arena.take(w.pre.by.n_out);
  float* hidden = s.arena.take(w.blocks.n_embd);
  float* out = s.arena.take(w.blocks_out.n_out);
  convolve(s, w.pre, x, n, conditioned);
  if (!s.counting()) apply(s.pool, w.blocks_in, conditioned, n, hidden);
  run_blocks(s, w.blocks, hidden, n, s.position, 1);
  if (!s.counting()) {
    normalize_rows(s.pool, w.blocks.eps, NormKind::kRms, w.blocks_norm, hidden, n, w.blocks.n_embd, hidden);
    apply(s.pool, w.blocks_out, hidden, n, out);
  }
  x = out;
  for (const ConvNext& up : w.ups) {
    x = lengthen(s, up.up, x, n);
    run_convnext(s, up, x, n);
  }
  float* entered = s.arena.take(n, w.entry.by.n_out);
  convolve(s, w.entry, x, n, entered);
  x = entered;
  for (const DacBlock& block : w.dac) {
    snake_rows(s, block.snake, x, n, x);
    x = lengthen(s, block.up, x, n);
    for (const DacUnit& unit : block.units) run_unit(s, unit, x, n);
  }
  snake_rows(s, w.post_snake, x, n, x);
  convolve(s, w.post, x, n, samples);
  if (s.counting()) return;
  for (size_t i = 0; i < n; ++i) samples[i] = std::clamp(samples[i], -1.0f, 1.0f);
  ++s.position;
}

class CodeDecoder final : public SpeechDecoder {
 public:
  /// The weights and the pool must outlive this object.
  CodeDecoder(const Qwen3TtsWeights& weights, Pool& pool) : w_(weights), stream_(pool) {}
  [[nodiscard]] Result<void> allocate() {
    return stream_.allocate([&] { run_code_decoder(stream_, w_, nullptr, nullptr); });
  }
  Result<bool> decode(const SpeechFrames& frames, std::vector<float>& samples) override {
    const size_t at = samples.size();
    samples.resize(at + frames.n * w_.frame_samples);
    for (size_t i = 0; i < frames.n; ++i)
      run_code_decoder(stream_, w_, &frames.codes[i * w_.n_codes], &samples[at + i * w_.frame_samples]);
    return false;
  }
  void reset() override { stream_.reset(); }

 private:
  const Qwen3TtsWeights& w_;
  Stream stream_;
};

}  // namespace

Result<std::unique_ptr<SpeechDecoder>> Qwen3Tts::create_decoder(Pool& pool) const {
  auto decoder = std::make_unique<CodeDecoder>(w_, pool);
  if (const Result<void> allocated = decoder->allocate(); !allocated) return std::unexpected(allocated.error());
  return decoder;
}

std::unique_ptr<VoiceEncoder> Qwen3Tts::create_voice_encoder(Pool& pool) const { return create_ecapa(w_.voice, pool); }

uint64_t Qwen3Tts::scratch_bytes(Pool& pool) const {
  Stream stream(pool);
  return stream.count_bytes([&] { run_code_decoder(stream, w_, nullptr, nullptr); }) +
         CodePredictor(w_, pool).count_bytes();
}

}  // namespace ggufscope
