// One row for each projector. Projectors that libmtmd has but that cannot be run here come last. After the encoder
// follow:
//
//   ultravox        stack; RMS norm; first; silu(second half) * first half; RMS norm; last
//   qwen2a          last
//   voxtral         stack; first; GELU; last
//   musicflamingo   first; GELU; last
//   meralion        stack; norm; first; silu; silu(gate) * up; last
//   glma            norm of each frame; stack; first; GELU; last; one extra token at each end
//   qwen3a          first; GELU; last
//   gemma4ua        no encoder: unweighted RMS norm of 640 samples; last
#include "audio/audio_projector.hpp"
#include "base/find_row.hpp"
#include "nn/activation.hpp"
#include "nn/gelu_erf.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr float kRmsEps = 1e-6f;  // ultravox's epsilon: no key holds it

void normalize_in_place(const AudioProjectorInput& j, NormKind kind, float eps, const Affine& by, float* x,
                        size_t n_rows, size_t n) {
  normalize_rows(j.pool, eps, kind, by, x, n_rows, n, x);
}

void plan_ultravox(AudioPlan& plan) {
  Planner& planner = plan.planner;
  planner.affine(plan.w.norm_before, "mm.a.norm_pre", plan.n_stacked());
  const uint64_t n_both = plan.linear(plan.w.first, "mm.a.mlp.1", plan.n_stacked());
  if (n_both % 2 != 0)
    planner.refuse(ErrorCode::kBadShape,
                   "tensor mm.a.mlp.1.weight has " + counted(n_both, "row") + ", which is no gate and as many values");
  planner.affine(plan.w.norm_between, "mm.a.norm_mid", n_both / 2);
  plan.n_out = plan.linear(plan.w.last, "mm.a.mlp.2", n_both / 2);
}
void project_ultravox(AudioProjectorInput& j) {
  const size_t n_both = j.w.first.n_out, n = n_both / 2;
  normalize_in_place(j, NormKind::kRms, kRmsEps, j.w.norm_before, j.stacked, j.n_tokens, j.w.first.n_in);
  float* both = j.arena.take(j.n_tokens * n_both);
  float* hidden = j.arena.take(j.n_tokens * n);
  apply(j.pool, j.w.first, j.stacked, j.n_tokens, both);
  each_token(j.pool, Operation::kGate, j.n_tokens, [&](size_t t) {
    activate_gated(Activation::kSilu, both + t * n_both + n, both + t * n_both, n, hidden + t * n);
  });
  normalize_in_place(j, NormKind::kRms, kRmsEps, j.w.norm_between, hidden, j.n_tokens, n);
  apply(j.pool, j.w.last, hidden, j.n_tokens, j.out);
}

void plan_qwen2a(AudioPlan& plan) { plan.n_out = plan.linear(plan.w.last, "mm.a.fc", plan.n_stacked()); }
void project_qwen2a(AudioProjectorInput& j) { apply(j.pool, j.w.last, j.stacked, j.n_tokens, j.out); }

void plan_audio_mlp(AudioPlan& plan) {
  const uint64_t n_hidden = plan.linear(plan.w.first, "mm.a.mlp.1", plan.n_stacked());
  plan.n_out = plan.linear(plan.w.last, "mm.a.mlp.2", n_hidden);
}
void project_audio_mlp(AudioProjectorInput& j) {
  float* hidden = j.arena.take(j.n_tokens * j.w.first.n_out);
  apply(j.pool, j.w.first, j.stacked, j.n_tokens, hidden);
  const size_t n = j.w.first.n_out;
  each_token(j.pool, Operation::kGate, j.n_tokens, [&](size_t t) { gelu_erf(hidden + t * n, n); });
  apply(j.pool, j.w.last, hidden, j.n_tokens, j.out);
}

void plan_meralion(AudioPlan& plan) {
  plan.planner.affine(plan.w.norm_before, "mm.a.norm_pre", plan.n_stacked(), Need::kRequired, Need::kRequired);
  const uint64_t n = plan.linear(plan.w.first, "mm.a.mlp.0", plan.n_stacked());
  const uint64_t n_gate = plan.linear(plan.w.gate, "mm.a.mlp.1", n);
  plan.planner.linear(plan.w.up, "mm.a.mlp.2", n, n_gate);
  plan.n_out = plan.linear(plan.w.last, "mm.a.mlp.3", n_gate);
}
void project_meralion(AudioProjectorInput& j) {
  const size_t n = j.w.first.n_out, n_gate = j.w.gate.n_out;
  normalize_in_place(j, NormKind::kLayer, j.p.encoder.eps, j.w.norm_before, j.stacked, j.n_tokens, j.w.first.n_in);
  float* hidden = j.arena.take(j.n_tokens * n);
  float* gate = j.arena.take(j.n_tokens * n_gate);
  float* up = j.arena.take(j.n_tokens * n_gate);
  apply(j.pool, j.w.first, j.stacked, j.n_tokens, hidden);
  each_token(j.pool, Operation::kGate, j.n_tokens, [&](size_t t) { activate(Activation::kSilu, hidden + t * n, n); });
  apply(j.pool, {{&j.w.gate, gate}, {&j.w.up, up}}, hidden, j.n_tokens);
  each_token(j.pool, Operation::kGate, j.n_tokens, [&](size_t t) {
    activate_gated(Activation::kSilu, gate + t * n_gate, up + t * n_gate, n_gate, up + t * n_gate);
  });
  apply(j.pool, j.w.last, up, j.n_tokens, j.out);
}

void plan_glma(AudioPlan& plan) {
  plan.planner.affine(plan.w.norm_before, "mm.a.norm_pre", plan.p.encoder.sizes.n_embd);
  plan_audio_mlp(plan);
  plan.planner.vector(plan.w.begin, "v.boi", plan.n_out);
  plan.planner.vector(plan.w.end, "v.eoi", plan.n_out);
}
void project_glma(AudioProjectorInput& j) {
  normalize_in_place(j, NormKind::kLayer, j.p.encoder.eps, j.w.norm_before, j.stacked, j.n_frames,
                     j.p.encoder.sizes.n_embd);
  project_audio_mlp(j);
}

// The encoder reads windows of 8 s, whose seconds were convolved separately.
void read_qwen3a(AudioParameters& p, Keys& /*keys*/) {
  constexpr uint32_t kSecond = 100;
  p.n_stages = 3;
  p.encoder.sizes.n_ctx = 8 * static_cast<uint32_t>(Subsampling::frames(kSecond, p.n_stages));
  p.sound.edge = SoundEdge::kMirror;
  p.sound.silent_end = false;
  p.sound.part_frames = size_t{8} * kSecond;
  p.sound.rest_frames = kSecond;
}

constexpr uint32_t kWaveformFrame = 640;  // samples

void read_gemma4ua(AudioParameters& p, Keys& /*keys*/) {
  p.sound.n_mel = kWaveformFrame;
  p.sound.n_frame = 0;
  p.sound.edge = SoundEdge::kSilence;
  p.sound.scaling = SoundScale::kNone;
}
void plan_gemma4ua(AudioPlan& plan) {
  plan.n_out = plan.rows_of("mm.a.input_projection");
  plan.planner.matrix(plan.w.last, "mm.a.input_projection", kWaveformFrame, plan.n_out);
}
void project_gemma4ua(AudioProjectorInput& j) {
  normalize_in_place(j, NormKind::kRms, kRmsEps, {}, j.stacked, j.n_tokens, kWaveformFrame);
  apply(j.pool, j.w.last, j.stacked, j.n_tokens, j.out);
}

constexpr const AudioFamily* kWhisper = &kWhisperFamily;
constexpr const AudioFamily* kConformer = &kConformerFamily;

constexpr AudioProjectorRow kAudioRows[] = {
    {.name = "ultravox", .family = kWhisper, .plan = plan_ultravox, .project = project_ultravox, .stacks = true},
    {.name = "qwen2a",
     .family = kWhisper,
     .plan = plan_qwen2a,
     .project = project_qwen2a,
     .halves = true,
     .begin = "<|audio_bos|>",
     .end = "<|audio_eos|>"},
    {.name = "voxtral",
     .family = kWhisper,
     .plan = plan_audio_mlp,
     .project = project_audio_mlp,
     .halves = true,
     .stacks = true,
     .begin = "[BEGIN_AUDIO]"},
    {.name = "musicflamingo",
     .family = kWhisper,
     .plan = plan_audio_mlp,
     .project = project_audio_mlp,
     .halves = true,
     .begin = "<sound>"},
    {.name = "meralion", .family = kWhisper, .plan = plan_meralion, .project = project_meralion, .stacks = true},
    {.name = "glma", .family = kWhisper, .plan = plan_glma, .project = project_glma, .stacks = true, .ends = true},
    {.name = "qwen3a",
     .family = kWhisper,
     .read = read_qwen3a,
     .plan = plan_audio_mlp,
     .project = project_audio_mlp,
     .begin = "<|audio_start|>",
     .end = "<|audio_end|>"},
    {.name = "lfm2a", .family = kConformer, .read = read_lfm2a, .plan = plan_lfm2a, .project = project_lfm2a},
    {.name = "parakeet",
     .family = kConformer,
     .read = read_parakeet,
     .plan = plan_parakeet,
     .project = project_parakeet},
    {.name = "gemma4a",
     .family = kConformer,
     .read = read_gemma4a,
     .plan = plan_gemma4a,
     .project = project_gemma4a,
     .begin = "<|audio>",
     .end = "<audio|>"},
    {.name = "gemma4ua",
     .family = &kWaveformFamily,
     .read = read_gemma4ua,
     .plan = plan_gemma4ua,
     .project = project_gemma4ua,
     .begin = "<|audio>",
     .end = "<audio|>"},
    {.name = "granite_speech",
     .family = kConformer,
     .read = read_granite_speech,
     .plan = plan_granite_speech,
     .project = project_granite_speech},
    {.name = "mimo_audio", .family = &kMimoFamily, .begin = "<|mimo_audio_start|>", .end = "<|mimo_audio_end|>"},
    {.name = "d1omni_a"},
    {.name = "dots3note_a"},
    {.name = "gemma3na"},
    {.name = "pockettts_gen"},
    {.name = "pockettts_spkenc"},
    {.name = "qwen3tts_gen"},
    {.name = "qwen3tts_spkenc"},
};

}  // namespace

std::span<const AudioProjectorRow> all_audio_projectors() { return kAudioRows; }

Result<const AudioProjectorRow*> find_audio_projector(std::string_view name) {
  return find_row<&AudioProjectorRow::family>(all_audio_projectors(), "audio projector", name);
}

uint32_t read_feed_forward_length(Keys& keys) {
  constexpr uint32_t kMost = 1 << 20;
  uint32_t length = 0;
  keys.required("feed_forward_length", length, kMost);
  const TensorInfo* up = find_tensor(keys.gguf(), "a.blk.0.ffn_up.weight");
  return up != nullptr && up->shape[1] <= kMost ? static_cast<uint32_t>(up->shape[1]) : length;
}

}  // namespace ggufscope
