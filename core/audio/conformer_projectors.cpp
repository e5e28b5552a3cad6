// The audio projectors whose encoder is a Conformer. After the blocks follow:
//
//   lfm2a           norm; first; GELU; last
//   parakeet        RMS norm; first; max(x, 0)^2; last
//   gemma4a         out; RMS norm; projection
//   granite_speech  a Q-Former. In the middle, the softmax of ctc(x) is mapped back by ctc_back and added
#include <cmath>
#include <numbers>

#include "audio/audio_projector.hpp"
#include "base/sentence.hpp"
#include "gguf/access.hpp"
#include "nn/activation.hpp"
#include "nn/gelu_erf.hpp"

namespace ggufscope {
namespace {

constexpr float kNemoEps = 1e-5f, kConformerRmsEps = 1e-6f;

// 32 ms with a window of 25 ms in the middle.
void read_wide_frames(SoundRule& sound) {
  sound.n_frame = 512;
  sound.window_first = 56;
  sound.before = 256;
  sound.silent_end = false;
  sound.part_frames = 0;
}

// NeMo's frames: what lfm2a and parakeet have in common.
void read_nemo(AudioParameters& p) {
  SoundRule& sound = p.sound;
  read_wide_frames(sound);
  sound.edge = SoundEdge::kSilence;
  sound.emphasized = true;
  sound.log.natural = sound.log.added = true;
  sound.closed = true;
  sound.scaling = SoundScale::kBands;
  sound.fewest = 2 * sound.step;
  p.n_stages = 3;
  p.conformer.score_scale = 1 / std::sqrt(static_cast<float>(p.conformer.d_head));
}

std::string block_name(size_t il) { return "a.blk." + std::to_string(il) + "."; }

/// Plans one matrix with its bias if the file has one, or without.
void plan_matrix(const AudioPlan& plan, ClippedLinear& to, const std::string& name, uint64_t n_in, uint64_t n_out,
                 bool bias) {
  if (bias) {
    plan.planner.linear(to.linear, name, n_in, n_out);
  } else {
    plan.planner.matrix(to.linear, name, n_in, n_out);
  }
}

struct BlockBiases {
  bool ffn = true, heads = true, out = true, convolution = true;
};

// The matrices of all blocks, with the norms that every kind of block has.
void plan_blocks(const AudioPlan& plan, const BlockBiases& bias) {
  const ConformerShape& shape = plan.p.conformer;
  const uint64_t n = shape.n_embd, row = uint64_t{shape.n_head} * shape.d_head;
  plan.w.layers.resize(shape.n_layer);
  for (size_t il = 0; il < shape.n_layer && !plan.planner.failed(); ++il) {
    ConformerLayer& w = plan.w.layers[il];
    const std::string block = block_name(il);
    plan.planner.affine(w.first.norm, block + "ffn_norm", n);
    plan_matrix(plan, w.first.up, block + "ffn_up", n, shape.n_ff, bias.ffn);
    plan_matrix(plan, w.first.down, block + "ffn_down", shape.n_ff, n, bias.ffn);
    plan.planner.affine(w.second.norm, block + "ffn_norm_1", n);
    plan_matrix(plan, w.second.up, block + "ffn_up_1", n, shape.n_ff, bias.ffn);
    plan_matrix(plan, w.second.down, block + "ffn_down_1", shape.n_ff, n, bias.ffn);
    plan_matrix(plan, w.q, block + "attn_q", n, row, bias.heads);
    plan_matrix(plan, w.k, block + "attn_k", n, row, bias.heads);
    plan_matrix(plan, w.v, block + "attn_v", n, row, bias.heads);
    plan_matrix(plan, w.out, block + "attn_out", row, n, bias.out);
    plan_matrix(plan, w.conv_in, block + "conv_pw1", n, 2 * n, bias.convolution);
    plan_matrix(plan, w.conv_out, block + "conv_pw2", n, n, bias.convolution);
    plan.planner.vector(w.kernel, block + "conv_dw.weight", n * shape.n_kernel);
  }
}

// The norms of NeMo's blocks, and the embeddings of distances.
void plan_nemo_norms(const AudioPlan& plan, size_t il) {
  const ConformerShape& shape = plan.p.conformer;
  ConformerLayer& w = plan.w.layers[il];
  const std::string block = block_name(il);
  plan.planner.affine(w.attn_norm, block + "ln1", shape.n_embd);
  plan.planner.affine(w.conv_norm, block + "norm_conv", shape.n_embd);
  plan.planner.affine(w.kernel_norm, block + "conv_norm", shape.n_embd);
  plan.planner.affine(w.norm, block + "ln2", shape.n_embd);
}
void plan_nemo_distances(const AudioPlan& plan, size_t il) {
  const ConformerShape& shape = plan.p.conformer;
  ConformerLayer& w = plan.w.layers[il];
  const std::string block = block_name(il);
  const uint64_t row = uint64_t{shape.n_head} * shape.d_head;
  plan.planner.vector(w.bias_u, block + "pos_bias_u", row);
  plan.planner.vector(w.bias_v, block + "pos_bias_v", row);
  plan.planner.matrix(w.positions, block + "linear_pos", shape.n_position, row);
}
void plan_nemo_subsampling(const AudioPlan& plan, bool half) {
  Subsampling& subsampling = plan.w.subsampling;
  subsampling.shape.bands_fastest = true;
  subsampling.plan(plan.planner, 0, "a.conv1d.0");
  subsampling.plan_depthwise(plan.planner, 1, "a.conv1d.2", "a.conv1d.3", half);
  subsampling.plan_depthwise(plan.planner, 2, "a.conv1d.5", "a.conv1d.6", half);
  plan.planner.linear(plan.w.in.linear, "a.pre_encode.out", subsampling.n_out(), plan.p.conformer.n_embd);
}

void project_two(AudioProjectorInput& j, void (*activate_row)(float* x, size_t n)) {
  const size_t n = j.w.first.n_out;
  float* hidden = j.arena.take(j.n_tokens * n);
  apply(j.pool, j.w.first, j.stacked, j.n_tokens, hidden);
  each_token(j.pool, Operation::kGate, j.n_tokens, [&](size_t t) { activate_row(hidden + t * n, n); });
  apply(j.pool, j.w.last, hidden, j.n_tokens, j.out);
}

}  // namespace

void read_lfm2a(AudioParameters& p, Keys& /*keys*/) {
  read_nemo(p);
  p.conformer.eps = kNemoEps;
  p.conformer.n_kernel = 9;
  p.conformer.n_position = 512;
}
void plan_lfm2a(AudioPlan& plan) {
  const uint64_t n = plan.p.conformer.n_embd;
  plan_nemo_subsampling(plan, false);
  plan_blocks(plan, {});
  for (size_t il = 0; il < plan.w.layers.size(); ++il) {
    plan_nemo_norms(plan, il);
    plan_nemo_distances(plan, il);
    plan.planner.vector(plan.w.layers[il].kernel_bias, block_name(il) + "conv_dw.bias", n);
  }
  plan.planner.affine(plan.w.norm_before, "mm.a.mlp.0", n);
  const uint64_t n_hidden = plan.linear(plan.w.first, "mm.a.mlp.1", n);
  plan.n_out = plan.linear(plan.w.last, "mm.a.mlp.3", n_hidden);
}
void project_lfm2a(AudioProjectorInput& j) {
  normalize_rows(j.pool, kNemoEps, NormKind::kLayer, j.w.norm_before, j.stacked, j.n_tokens, j.p.conformer.n_embd,
                 j.stacked);
  project_two(j, gelu_erf);
}

void read_parakeet(AudioParameters& p, Keys& keys) {
  read_nemo(p);
  p.sound.scaling = SoundScale::kBandsAll;
  p.conformer.n_position = p.conformer.n_embd;
  p.conformer.all_limit = 8192;
  p.conformer.all_reach = 128;
  uint32_t factor = 0;
  keys.required("subsampling_factor", factor);
  keys.required("conv_kernel_size", p.conformer.n_kernel, 1024);
  if (keys.failed()) return;
  if (factor != 8)
    keys.refuse(ErrorCode::kUnsupported, "clip.audio.subsampling_factor is " + std::to_string(factor) +
                                             ", and the convolutions shorten audio by 8");
  if (p.conformer.n_kernel % 2 == 0) keys.refuse(ErrorCode::kOutOfRange, "clip.audio.conv_kernel_size is even");
}
void plan_parakeet(AudioPlan& plan) {
  const uint64_t n = plan.p.conformer.n_embd;
  const SoundRule& sound = plan.p.sound;
  plan.planner.vector(plan.w.mel_filters, "a.mel_filters", uint64_t{sound.n_mel} * (sound.n_frame / 2 + 1));
  plan.planner.vector(plan.w.mel_window, "a.window", sound.n_window);
  plan_nemo_subsampling(plan, true);
  plan_blocks(plan, {.ffn = false, .heads = false, .out = false, .convolution = false});
  for (size_t il = 0; il < plan.w.layers.size(); ++il) {
    plan_nemo_norms(plan, il);
    plan_nemo_distances(plan, il);
    plan.planner.vector(plan.w.layers[il].kernel_mean, block_name(il) + "conv_norm_mean", n);
    plan.planner.vector(plan.w.layers[il].kernel_variance, block_name(il) + "conv_norm_var", n);
  }
  plan.planner.affine(plan.w.norm_before, "mm.a.norm_pre", n);
  const uint64_t n_hidden = plan.rows_of("mm.a.mlp.1");
  plan.n_out = plan.rows_of("mm.a.mlp.2");
  plan.planner.matrix(plan.w.first, "mm.a.mlp.1", n, n_hidden);
  plan.planner.matrix(plan.w.last, "mm.a.mlp.2", n_hidden, plan.n_out);
}
void project_parakeet(AudioProjectorInput& j) {
  normalize_rows(j.pool, kConformerRmsEps, NormKind::kRms, j.w.norm_before, j.stacked, j.n_tokens, j.p.conformer.n_embd,
                 j.stacked);
  project_two(j, [](float* x, size_t n) { activate(Activation::kReluSquared, x, n); });
}

void read_gemma4a(AudioParameters& p, Keys& /*keys*/) {
  SoundRule& sound = p.sound;
  read_wide_frames(sound);
  sound.n_window = 320;
  sound.window_first = 0;
  sound.before = 160;
  sound.edge = SoundEdge::kSilence;
  sound.scale = MelScale::kHtk;
  sound.log = {.floor = double(0.001f), .natural = true, .magnitude = true};
  sound.scaling = SoundScale::kNone;
  sound.part_samples = size_t{30} * sound.rate;
  p.n_stages = 2;
  ConformerShape& shape = p.conformer;
  shape.norm = NormKind::kRms;
  shape.eps = kConformerRmsEps;
  shape.view = ConformerView::kRecent;
  shape.reach = 12;
  shape.q_scale = 1 / (std::sqrt(static_cast<float>(shape.d_head)) * std::numbers::ln2_v<float>);
  shape.k_scale = std::log(1 + std::numbers::e_v<float>) / std::numbers::ln2_v<float>;
  shape.cap = 50;
  shape.n_position = shape.n_embd;
  shape.halves = true;
  shape.n_kernel = 5;
  shape.causal = shape.normalizes_kernel = true;
}
void plan_gemma4a(AudioPlan& plan) {
  Planner& planner = plan.planner;
  AudioWeights& w = plan.w;
  const ConformerShape& shape = plan.p.conformer;
  const uint64_t n = shape.n_embd, row = uint64_t{shape.n_head} * shape.d_head;
  for (size_t i = 0; i < 2; ++i) {
    const std::string name = "a.conv1d." + std::to_string(i);
    w.subsampling.plan(planner, i, name, Need::kOptional);
    planner.affine(w.subsampling.stages[i].norm, name + ".norm", w.subsampling.channels(i + 1), Need::kOptional);
  }
  const auto limited = [&](ClippedLinear& to, const std::string& name) { to.plan_limits(planner, name); };
  planner.linear(w.in.linear, "a.input_projection", w.subsampling.n_out(), n);
  limited(w.in, "a.input_projection");
  plan_blocks(plan, {.ffn = false, .heads = false, .out = true, .convolution = false});
  for (size_t il = 0; il < w.layers.size() && !planner.failed(); ++il) {
    ConformerLayer& layer = w.layers[il];
    const std::string block = block_name(il);
    const auto optional = [&](Affine& to, const std::string& name) { planner.affine(to, name, n, Need::kOptional); };
    for (const auto& [to, name] :
         std::initializer_list<std::pair<ClippedLinear*, const char*>>{{&layer.first.up, "ffn_up"},
                                                                       {&layer.first.down, "ffn_down"},
                                                                       {&layer.second.up, "ffn_up_1"},
                                                                       {&layer.second.down, "ffn_down_1"},
                                                                       {&layer.q, "attn_q"},
                                                                       {&layer.k, "attn_k"},
                                                                       {&layer.v, "attn_v"},
                                                                       {&layer.out, "attn_out"},
                                                                       {&layer.conv_in, "conv_pw1"},
                                                                       {&layer.conv_out, "conv_pw2"}})
      limited(*to, block + name);
    optional(layer.first.norm_after, block + "ffn_post_norm");
    optional(layer.second.norm_after, block + "ffn_post_norm_1");
    const char* const attn_norm = planner.has(block + "attn_pre_norm.weight") ? "attn_pre_norm" : "ln1";
    optional(layer.attn_norm, std::string(block).append(attn_norm));
    optional(layer.attn_norm_after, block + "attn_post_norm");
    // In these files, the names of the two norms are swapped.
    optional(layer.conv_norm, block + "conv_norm");
    optional(layer.kernel_norm, block + "norm_conv");
    optional(layer.norm, block + "ln2");
    planner.vector(layer.kernel_bias, block + "conv_dw.bias", n, Need::kOptional);
    planner.vector(layer.q_scale, block + "per_dim_scale.weight", shape.d_head, Need::kOptional);
    planner.vector(layer.k_scale, block + "per_dim_k_scale.weight", shape.d_head, Need::kOptional);
    planner.matrix(layer.positions, block + "attn_k_rel", n, row, Need::kOptional);
  }
  const uint64_t n_last = planner.has("a.pre_encode.out.weight") ? plan.rows_of("a.pre_encode.out") : n;
  if (planner.linear(w.out.linear, "a.pre_encode.out", n, n_last, Need::kOptional)) limited(w.out, "a.pre_encode.out");
  planner.affine(w.norm_before, "mm.a.soft_emb_norm", n_last, Need::kOptional);
  plan.n_out = plan.rows_of("mm.a.input_projection");
  planner.matrix(w.projection.linear, "mm.a.input_projection", n_last, plan.n_out);
  limited(w.projection, "mm.a.input_projection");
}
void project_gemma4a(AudioProjectorInput& j) {
  const size_t n = j.w.projection.linear.n_in;
  float* x = j.stacked;
  if (j.w.out.linear) {
    x = j.arena.take(j.n_tokens * n);
    Conformer::apply_clipped(j.pool, j.arena, j.w.out, j.stacked, j.n_tokens, x);
  }
  each_token(j.pool, Operation::kNorm, j.n_tokens, [&](size_t t) {
    normalize(NormKind::kRms, x + t * n, j.w.norm_before.weight.data(), nullptr, n, kConformerRmsEps, x + t * n);
  });
  Conformer::apply_clipped(j.pool, j.arena, j.w.projection, x, j.n_tokens, j.out);
}

void read_granite_speech(AudioParameters& p, Keys& keys) {
  SoundRule& sound = p.sound;
  read_wide_frames(sound);
  sound.edge = SoundEdge::kMirrorRepeat;
  sound.scale = MelScale::kHtk;
  sound.log.floor = double(1e-10f);
  sound.stack = 2;
  sound.fewest = sound.step;
  ConformerShape& shape = p.conformer;
  shape.view = ConformerView::kBlock;
  shape.score_scale = 1 / std::sqrt(static_cast<float>(shape.d_head));
  uint32_t farthest = 0, rate = 0;
  keys.required("chunk_size", shape.reach, 8192);
  keys.required("conv_kernel_size", shape.n_kernel, 1024);
  keys.required("max_pos_emb", farthest, 1 << 16);
  keys.required("projector.window_size", p.q_former.window, 4096);
  keys.required("projector.downsample_rate", rate, 4096);
  keys.required("projector.head_count", p.q_former.n_head, 4096);
  const auto features = get_integers(keys.gguf(), "clip.audio.feature_layer");
  if (keys.failed()) return;
  p.features.assign(shape.n_layer + 1, false);
  for (const int64_t layer : features.value_or(std::vector<int64_t>())) {
    if (layer < 0 || layer > int64_t{shape.n_layer} || p.features[static_cast<size_t>(layer)])
      return keys.refuse(ErrorCode::kOutOfRange, "clip.audio.feature_layer holds " + std::to_string(layer));
    p.features[static_cast<size_t>(layer)] = true;
  }
  p.q_former.n_embd = shape.n_embd;
  p.q_former.n_features = shape.n_embd * (1 + static_cast<uint32_t>(features ? features->size() : 0));
  p.q_former.n_queries = p.q_former.window / rate;
  shape.n_distances = farthest;
  if (sound.n_mel % 2 != 0 || shape.n_kernel % 2 == 0 || shape.reach > farthest + 1 || p.q_former.n_queries == 0 ||
      shape.n_embd % p.q_former.n_head != 0)
    return keys.refuse(ErrorCode::kOutOfRange,
                       "clip.audio.num_mel_bins, conv_kernel_size, max_pos_emb, projector.downsample_rate or "
                       "projector.head_count does not fit the other sizes");
  sound.n_mel /= 2;
}
void plan_granite_speech(AudioPlan& plan) {
  Planner& planner = plan.planner;
  const ConformerShape& shape = plan.p.conformer;
  const uint64_t n = shape.n_embd;
  planner.linear(plan.w.in.linear, "a.input_projection", plan.p.sound.stack * plan.p.sound.n_mel, n);
  plan_blocks(plan, {.heads = false});
  for (size_t il = 0; il < plan.w.layers.size(); ++il) {
    plan_nemo_norms(plan, il);
    planner.vector(plan.w.layers[il].distances, block_name(il) + "attn_rel_pos_emb",
                   uint64_t{shape.d_head} * (2 * shape.n_distances + 1));
  }
  const uint64_t n_ctc = plan.linear(plan.w.ctc, "a.enc_ctc_out", n);
  planner.linear(plan.w.ctc_back, "a.enc_ctc_out_mid", n_ctc, n);
  plan.w.q_former.shape = plan.p.q_former;
  plan.n_out = plan.w.q_former.plan(planner, "a.", 2);
}
void project_granite_speech(AudioProjectorInput& j) { j.w.q_former.run(j.pool, j.arena, j.stacked, j.n_frames, j.out); }

}  // namespace ggufscope
