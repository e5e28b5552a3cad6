// Runs Whisper's encoder, one layer a step.
#include "audio/whisper_encoder.hpp"

#include <algorithm>
#include <cmath>

#include "audio/feed_forward.hpp"
#include "base/sentence.hpp"
#include "nn/activation.hpp"
#include "nn/gelu_erf.hpp"
#include "nn/halves.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

void gelu(bool exact, float* x, size_t n) {
  if (exact) return gelu_erf(x, n);
  activate(Activation::kGelu, x, n);
}

constexpr FrameKernel kFirstKernel{.n = 3, .before = 1}, kSecondKernel{.n = 3, .stride = 2, .before = 1};

}  // namespace

Result<void> WhisperPass::allocate(uint64_t n_thread) {
  thread_floats = static_cast<size_t>(Arena::round_up(n_thread));
  return thread_scratch.reserve(uint64_t{thread_floats} * pool.n_threads() * sizeof(float));
}

void WhisperPass::attend(const AttentionShape& shape, const CacheView& cache, float* q, size_t n,
                         std::span<const std::span<const CellRun>> visible, float* out) {
  AttentionOptions options;
  options.scale = 1 / std::sqrt(static_cast<float>(shape.d_k));
  // Attention adds no position bias here, but the kernel reads a position for each token.
  positions.resize(std::max(positions.size(), n));
  attention(pool, shape, options, cache, q, n, visible, positions.data(), positions.data(), thread_scratch.as<float>(),
            thread_floats, out);
}

void WhisperPass::feed_forward(const WhisperBlock& block, size_t n, bool exact_gelu, float eps, float* x) {
  const size_t n_embd = block.up.n_in, n_ff = block.up.n_out;
  const auto widen = [&](const float* part, size_t rows, float* normed, float* wide) {
    normalize_rows(pool, eps, NormKind::kLayer, block.ffn_norm, part, rows, n_embd, normed);
    apply(pool, block.up, normed, rows, wide);
    each_token(pool, Operation::kGate, rows, [&](size_t t) { gelu(exact_gelu, wide + t * n_ff, n_ff); });
  };
  const auto narrow = [&](const float* wide, size_t rows, float* added, float* part) {
    apply(pool, block.down, wide, rows, added);
    add_rows(pool, part, added, rows, n_embd);
  };
  feed_forward_rows(arena, x, n, n_embd, n_ff, widen, narrow);
}

uint64_t WhisperEncoder::count_thread_scratch(const WhisperEncoderShape& shape) {
  return shape.without_blocks ? 0 : attention_scratch(whisper_heads(shape.sizes), shape.sizes.n_ctx);
}

uint64_t WhisperEncoder::count_buffers(const WhisperEncoderShape& shape) {
  const uint64_t n_rows = shape.without_blocks ? 1 : 3;
  return uint64_t{shape.sizes.n_ctx} * (n_rows * shape.sizes.n_embd + 2 * uint64_t{shape.n_mel});
}

Result<void> WhisperEncoder::allocate() {
  const uint64_t n = uint64_t{shape_.sizes.n_ctx} * shape_.sizes.n_embd * sizeof(float);
  for (Buffer* buffer : {&encoded_, &keys_, &values_}) {
    if (const Result<void> done = buffer->reserve(n); !done) return done;
    if (shape_.without_blocks) break;
  }
  return {};
}

Result<void> WhisperEncoder::start(std::span<const float> mel, uint32_t n_ctx) {
  if (n_ctx == 0 || n_ctx > shape_.sizes.n_ctx)
    return fail(ErrorCode::kOutOfRange, "an audio context of " + std::to_string(n_ctx) + "; the model has " +
                                            std::to_string(shape_.sizes.n_ctx));
  if (!pass_.arena.counting() && mel.size() != size_t{2} * n_ctx * shape_.n_mel)
    return fail(ErrorCode::kInvalidArgument, "a spectrogram of " + counted(mel.size(), "value") + " for " +
                                                 std::to_string(n_ctx) + " frames of output");
  mel_.assign(mel.begin(), mel.end());
  if (shape_.half_inputs) round_to_halves(mel_.data(), mel_.size());
  n_frames_ = n_ctx;
  n_next_step_ = 0;
  see_all();
  return {};
}

void WhisperEncoder::see_all() {
  all_ = {0, static_cast<uint32_t>(n_frames_)};
  sees_all_.assign(n_frames_, {&all_, 1});
}

float* WhisperEncoder::begin_embedded(size_t n) {
  n_frames_ = n;
  n_next_step_ = 1;
  see_all();
  return encoded_.as<float>();
}

bool WhisperEncoder::step(size_t step) {
  if (step != n_next_step_ || step >= n_steps()) return false;
  ++n_next_step_;
  pass_.arena.release(0);
  if (step == kConvolution) {
    convolve();
    return true;
  }
  if (step == 1) add_positions();
  if (step <= weights_.blocks.size()) {
    run_block(weights_.blocks[step - 1]);
  } else {
    norm_output();
  }
  return true;
}

void WhisperEncoder::add_positions() {
  if (weights_.positions && !pass_.arena.counting())
    vec::add(encoded_.as<float>(), weights_.positions.data(), n_frames_ * shape_.sizes.n_embd);
}

LayerRun WhisperEncoder::begin_layers() {
  if (n_next_step_ == 0 || n_next_step_ > weights_.blocks.size()) return {};
  if (n_next_step_ == 1) add_positions();
  LayerRun run;
  run.first = static_cast<uint32_t>(n_next_step_ - 1);
  run.end = static_cast<uint32_t>(weights_.blocks.size());
  run.n_rows = n_frames_;
  run.rows = {encoded_.as<float>(), n_frames_ * shape_.sizes.n_embd};
  run.all = sees_all_;
  return run;
}

void WhisperEncoder::convolve() {
  const size_t n = n_frames_, n_embd = shape_.sizes.n_embd;
  float* first = pass_.arena.take(2 * n * n_embd);
  const auto layer = [&](const Linear& by, const FrameKernel& kernel, const float* x, size_t n_out, float* y) {
    ggufscope::convolve(pass_.pool, pass_.arena, by, kernel, x, 2 * n, n_out, y,
                        [&](float* row) { gelu(shape_.exact_gelu, row, n_embd); });
  };
  layer(weights_.conv1, kFirstKernel, mel_.data(), 2 * n, first);
  if (shape_.half_inputs)
    each_token(pass_.pool, Operation::kCache, 2 * n, [&](size_t t) { round_to_halves(first + t * n_embd, n_embd); });
  layer(weights_.conv2, kSecondKernel, first, n, encoded_.as<float>());
}

void WhisperEncoder::run_block(const WhisperBlock& block) {
  const AttentionShape shape = whisper_heads(shape_.sizes);
  const size_t n = n_frames_, n_embd = shape_.sizes.n_embd, mark = pass_.arena.mark();
  Pool& pool = pass_.pool;
  float* x = encoded_.as<float>();
  float* normed = pass_.arena.take(n * n_embd);
  float* q = pass_.arena.take(n * n_embd);
  float* k = pass_.arena.take(n * n_embd);
  float* v = pass_.arena.take(n * n_embd);
  float* mixed = pass_.arena.take(n * n_embd);
  normalize_rows(pool, shape_.eps, NormKind::kLayer, block.attn_norm, x, n, n_embd, normed);
  apply(pool, {{&block.attn.q, q}, {&block.attn.k, k}, {&block.attn.v, v}}, normed, n);
  const CacheView cache{CacheTypes{}, keys_.data(), values_.data(), shape.d_k, n};
  each_token(pool, Operation::kCache, n,
             [&](size_t t) { cache_store(cache, shape, t, k + t * n_embd, v + t * n_embd); });
  pass_.attend(shape, cache, q, n, sees_all_, mixed);
  apply(pool, block.attn.out, mixed, n, normed);
  add_rows(pool, x, normed, n, n_embd);
  pass_.arena.release(mark);
  pass_.feed_forward(block, n, shape_.exact_gelu, shape_.eps, x);
}

void WhisperEncoder::norm_output() {
  const size_t n_embd = shape_.sizes.n_embd;
  float* x = encoded_.as<float>();
  if (shape_.halves) {
    n_frames_ /= 2;
    for (size_t t = 0; t < n_frames_ && !pass_.arena.counting(); ++t)
      for (size_t i = 0; i < n_embd; ++i) x[t * n_embd + i] = (x[2 * t * n_embd + i] + x[(2 * t + 1) * n_embd + i]) / 2;
  }
  if (weights_.norm) normalize_rows(pass_.pool, shape_.eps, NormKind::kLayer, weights_.norm, x, n_frames_, n_embd, x);
}

}  // namespace ggufscope
