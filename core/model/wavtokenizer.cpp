// The decoder of WavTokenizer (Ji et al. 2024): a sound's tokens to the spectrum of one frame for each token.
//
//   x = conv7(embedding), then up to six layers of a PosNet: four residual blocks, attention over all frames, a group
//   norm x = norm(x), then blocks of ConvNeXt (Liu et al. 2022): x += gamma * pw2(gelu(pw1(norm(depthwise7(x))))) y =
//   output(norm(x))
//
// A convolution is a matrix that reads neighbouring frames. Its inputs are rounded to half precision, as in ggml.
#include "model/wavtokenizer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/architectures/adjustments.hpp"
#include "model/convolution.hpp"
#include "model/mixers/attention.hpp"
#include "nn/halves.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr size_t kWideKernel = 7, kKernel = 3;
constexpr size_t kAttentionLayer = 2, kNormLayer = 5, kMaxPosNetLayers = 6;

// Computes y [n_tokens, n_out] = the convolution of x [n_tokens, n_in].
void convolve(Pass& pass, const Linear& by, size_t n_kernel, const float* x, float* y) {
  const FrameKernel kernel{.n = n_kernel, .before = n_kernel / 2, .half = true};
  convolve(pass.pool, pass.state.arena, by, kernel, x, pass.n_tokens, pass.n_tokens, y, nullptr);
}

// Normalizes each group of channels over all frames: y = (x - mean) / deviation * weight + bias.
void normalize_groups(Pass& pass, const Affine& by, const float* x, float* y) {
  if (pass.counting()) return;
  const CodecSizes& s = pass.h().part<CodecSizes>();
  const size_t n = pass.n_tokens, width = s.n / s.n_groups;
  const Timed timed(pass.pool.profile(), Operation::kNorm);
  pass.pool.parallel_for(s.n_groups, 1, [&](size_t first, size_t last, size_t) {
    for (size_t begin = first * width; begin < last * width; begin += width) {
      double sum = 0, squares = 0;
      for (size_t t = 0; t < n; ++t)
        for (size_t c = begin; c < begin + width; ++c) sum += static_cast<double>(x[t * s.n + c]);
      const double mean = sum / static_cast<double>(n * width);
      for (size_t t = 0; t < n; ++t)
        for (size_t c = begin; c < begin + width; ++c) {
          const double d = static_cast<double>(x[t * s.n + c]) - mean;
          squares += d * d;
        }
      const auto variance = static_cast<float>(squares / static_cast<double>(n * width));
      const float factor = 1.0f / std::sqrt(variance + s.group_eps);
      for (size_t t = 0; t < n; ++t)
        for (size_t c = begin; c < begin + width; ++c)
          y[t * s.n + c] =
              (x[t * s.n + c] - static_cast<float>(mean)) * factor * by.weight.data()[c] + by.bias.data()[c];
    }
  });
}

// A group norm and an activation, before a convolution.
void normalize_and_activate(Pass& pass, const Affine& by, const float* x, float* y) {
  if (pass.counting()) return;
  const size_t n = pass.h().part<CodecSizes>().n;
  normalize_groups(pass, by, x, y);
  each_token(pass.pool, Operation::kGate, pass.n_tokens, [&](size_t t) { activate(Activation::kSilu, y + t * n, n); });
}

void run_residual(Pass& pass, const PosNetLayer& w, bool second_half, float* x, float* normed, float* mixed) {
  normalize_and_activate(pass, second_half ? w.norm_2 : w.norm, second_half ? mixed : x, normed);
  convolve(pass, second_half ? w.conv_2 : w.conv_1, kKernel, normed, mixed);
  if (!second_half || pass.counting()) return;
  add_rows(pass.pool, x, mixed, pass.n_tokens, pass.h().part<CodecSizes>().n);
}

void run_codec_attention(Pass& pass, const PosNetLayer& w, float* x, float* normed, float* mixed) {
  const CodecSizes& s = pass.h().part<CodecSizes>();
  const size_t n = pass.n_tokens;
  const ArenaScope scope(pass.state.arena);
  float* q = pass.take(n, s.n);
  float* k = pass.take(n, s.n);
  float* v = pass.take(n, s.n);
  normalize_groups(pass, w.norm, x, normed);
  for (const auto& [by, to] : {std::pair(&w.q, q), std::pair(&w.k, k), std::pair(&w.v, v)})
    convolve(pass, *by, 1, normed, to);
  if (pass.counting()) return convolve(pass, w.out, 1, nullptr, nullptr);
  const CacheView cache{CacheTypes{}, reinterpret_cast<uint8_t*>(k), reinterpret_cast<uint8_t*>(v), s.n, n};
  const CellRun all{0, static_cast<uint32_t>(n)};
  const std::vector<std::span<const CellRun>> visible(n, std::span(&all, 1));
  attention(pass.pool, codec_heads(pass.h()), attention_options(pass.h(), s.n), cache, q, n, visible,
            pass.positions.data(), pass.positions.data(), reinterpret_cast<float*>(pass.state.thread_scratch.data()),
            pass.state.thread_scratch_floats, mixed);
  convolve(pass, w.out, 1, mixed, normed);
  add_rows(pass.pool, x, normed, n, s.n);
}

// normed = norm(depthwise7(x)). Uses mixed.
void convolve_channels(Pass& pass, const ConvNextBlock& w, const float* x, float* normed, float* mixed) {
  const CodecSizes& s = pass.h().part<CodecSizes>();
  const size_t n = pass.n_tokens;
  std::memcpy(mixed, x, n * s.n * sizeof(float));
  each_token(pass.pool, Operation::kCache, n, [&](size_t t) { round_to_halves(mixed + t * s.n, s.n); });
  each_token(pass.pool, Operation::kProducts, n, [&](size_t t) {
    float* y = normed + t * s.n;
    std::memcpy(y, w.depthwise_bias.data(), s.n * sizeof(float));
    for (size_t k = 0; k < kWideKernel; ++k) {
      const size_t at = t + k - kWideKernel / 2;
      for (size_t c = 0; c < s.n && at < n; ++c) y[c] += w.depthwise.data()[c * kWideKernel + k] * mixed[at * s.n + c];
    }
  });
  normalize_rows(pass.pool, pass.h().norm_eps, NormKind::kLayer, w.norm, normed, n, s.n, normed);
}

// The second half of the frames in the second half.
void run_block(Pass& pass, const ConvNextBlock& w, bool second_half, float* x, float* normed, float* mixed) {
  const CodecSizes& s = pass.h().part<CodecSizes>();
  const size_t n = pass.n_tokens, middle = n / 2;
  const ArenaScope scope(pass.state.arena);
  float* wide = pass.take(std::min(n, kPartRows), s.n_ff);
  if (pass.counting()) return;
  if (!second_half) convolve_channels(pass, w, x, normed, mixed);
  const size_t first = second_half ? middle : 0, n_rows = second_half ? n - middle : middle;
  each_part(n_rows, [&](size_t begin, size_t rows) {
    const size_t at = (first + begin) * s.n;
    apply(pass.pool, w.up, normed + at, rows, wide);
    each_token(pass.pool, Operation::kGate, rows,
               [&](size_t t) { activate(Activation::kGelu, wide + t * s.n_ff, s.n_ff); });
    apply(pass.pool, w.down, wide, rows, mixed + at);
  });
  each_token(pass.pool, Operation::kAdd, n_rows, [&](size_t t) {
    const size_t at = (first + t) * s.n;
    vec::multiply(mixed + at, w.gamma.data(), s.n);
    vec::add(x + at, mixed + at, s.n);
  });
}

void plan_posnet_layer(Planner& p, const std::string& name, size_t index, size_t n, PosNetLayer& w) {
  if (index == kNormLayer || index == kAttentionLayer) {
    p.affine(w.norm, name + "attn_norm", n, Need::kRequired, Need::kRequired);
    if (index == kNormLayer) return;
    p.convolution(w.q, name + "attn_q", 1, n, n);
    p.convolution(w.k, name + "attn_k", 1, n, n);
    p.convolution(w.v, name + "attn_v", 1, n, n);
    p.convolution(w.out, name + "attn_output", 1, n, n);
    return;
  }
  p.affine(w.norm, name + "norm1", n, Need::kRequired, Need::kRequired);
  p.convolution(w.conv_1, name + "conv1", kKernel, n, n);
  p.affine(w.norm_2, name + "norm2", n, Need::kRequired, Need::kRequired);
  p.convolution(w.conv_2, name + "conv2", kKernel, n, n);
}

}  // namespace

void wavtokenizer(Hparams& h, Keys& keys) {
  CodecSizes& s = h.parts.edit<CodecSizes>();
  uint32_t block_width = 0;
  keys.required("features_length", s.n_features);
  keys.required("posnet.embedding_length", s.n);
  keys.required("convnext.embedding_length", block_width);
  if (block_width != s.n) keys.refuse(ErrorCode::kUnsupported, "posnet and convnext have different widths");
  keys.required("posnet.block_count", s.n_posnet, kMaxPosNetLayers);
  keys.required("convnext.block_count", s.n_convnext, h.n_layer);
  keys.required("attention.group_norm_groups", s.n_groups);
  if (!keys.f32("attention.group_norm_epsilon", s.group_eps) || s.group_eps < 0)
    keys.refuse(ErrorCode::kNotFound, "wavtokenizer-dec.attention.group_norm_epsilon is missing or negative");
  if (keys.failed()) return;
  if (s.n % s.n_groups != 0)
    keys.refuse(ErrorCode::kOutOfRange, "attention.group_norm_groups does not divide the channels");
  s.n_ff = h.layers[0].n_ff;
  // The shared decoder has no layers here.
  h.n_layer = 0;
  h.layers.clear();
}

void plan_codec(Planner& p, const Hparams& h, Weights& w) {
  const CodecSizes& s = h.part<CodecSizes>();
  CodecWeights& codec = w.codec.create<CodecWeights>();
  p.linear(w.token_embedding, "token_embd", s.n_features, h.n_vocab);
  p.convolution(codec.first, "conv1d", kWideKernel, s.n_features, s.n);
  codec.posnet.resize(s.n_posnet);
  for (size_t i = 0; i < s.n_posnet; ++i)
    plan_posnet_layer(p, "posnet." + std::to_string(i) + ".", i, s.n, codec.posnet[i]);
  p.affine(w.embedding_norm, "token_embd_norm", s.n, Need::kRequired, Need::kRequired);
  codec.blocks.resize(s.n_convnext);
  for (size_t i = 0; i < s.n_convnext; ++i) {
    ConvNextBlock& block = codec.blocks[i];
    const std::string name = "convnext." + std::to_string(i) + ".";
    p.vector(block.depthwise, name + "dw.weight", kWideKernel * s.n);
    p.vector(block.depthwise_bias, name + "dw.bias", s.n);
    p.affine(block.norm, name + "norm", s.n, Need::kRequired, Need::kRequired);
    p.linear(block.up, name + "pw1", s.n, s.n_ff);
    p.linear(block.down, name + "pw2", s.n_ff, s.n);
    p.vector(block.gamma, name + "gamma.weight", s.n);
  }
  p.affine(w.output_norm, "output_norm", s.n, Need::kRequired, Need::kRequired);
  p.linear(w.output, "output", s.n, h.n_embd);
}

AttentionShape codec_heads(const Hparams& h) { return {1, 1, h.part<CodecSizes>().n, h.part<CodecSizes>().n}; }

CodecRun::CodecRun(Pass& pass, std::span<const int32_t> tokens) : pass_(pass) {
  const CodecSizes& s = pass.h().part<CodecSizes>();
  embedded_ = pass.take(pass.n_tokens, s.n_features);
  x_ = pass.take(pass.n_tokens, s.n);
  normed_ = pass.take(pass.n_tokens, s.n);
  mixed_ = pass.take(pass.n_tokens, s.n);
  if (!pass.counting()) look_up(pass.pool, pass.model.weights().token_embedding, tokens, embedded_);
}

// The first convolution, the layers of the PosNet, a norm, the blocks. A layer of several products takes two steps.
bool CodecRun::step() {
  const Weights& w = pass_.model.weights();
  const CodecWeights& codec = w.codec.get<CodecWeights>();
  const size_t i = i_step_++, n_posnet = codec.posnet.size();
  if (i == 0) {
    convolve(pass_, codec.first, kWideKernel, embedded_, x_);
    return true;
  }
  const size_t il = (i - 1) / 2;
  const bool second_half = i % 2 == 0;
  if (il < n_posnet) {
    const PosNetLayer& layer = codec.posnet[il];
    if (layer.conv_1) {
      run_residual(pass_, layer, second_half, x_, normed_, mixed_);
    } else if (!second_half && layer.q) {
      run_codec_attention(pass_, layer, x_, normed_, mixed_);
    } else if (!second_half) {
      normalize_groups(pass_, layer.norm, x_, x_);
    }
  } else {
    if (il == n_posnet && !second_half && !pass_.counting())
      normalize_rows(pass_.pool, pass_.h().norm_eps, NormKind::kLayer, w.embedding_norm, x_, pass_.n_tokens,
                     pass_.h().part<CodecSizes>().n, x_);
    if (il - n_posnet < codec.blocks.size())
      run_block(pass_, codec.blocks[il - n_posnet], second_half, x_, normed_, mixed_);
  }
  return i < 2 * (n_posnet + std::max<size_t>(codec.blocks.size(), 1));
}

void CodecRun::write(std::span<const uint32_t> outputs, float* out) {
  if (pass_.counting() || outputs.empty()) return;
  const Weights& w = pass_.model.weights();
  const size_t n = pass_.h().part<CodecSizes>().n;
  for (size_t i = 0; i < outputs.size(); ++i)
    normalize_rows(pass_.pool, pass_.h().norm_eps, NormKind::kLayer, w.output_norm, x_ + outputs[i] * n, 1, n,
                   mixed_ + i * n);
  apply(pass_.pool, w.output, mixed_, outputs.size(), out);
}

Result<void> run_codec(Pass& pass, std::span<const int32_t> tokens, std::span<const uint32_t> outputs, float* out) {
  if (std::ranges::any_of(pass.sequences, [&](int32_t sequence) { return sequence != pass.sequences[0]; }))
    return fail(ErrorCode::kUnsupported, "frames of several sequences cannot be computed together");
  CodecRun run(pass, tokens);
  while (run.step()) {
  }
  run.write(outputs, out);
  return {};
}

}  // namespace ggufscope
