// The table of architectures: one row each.
#include <algorithm>

#include "base/word_list.hpp"
#include "gguf/access.hpp"
#include "model/architectures/adjustments.hpp"
#include "model/architectures/architecture.hpp"
#include "model/decision/decision.hpp"

namespace ggufscope {
namespace {

constexpr NormKind kLayerNorm = NormKind::kLayer;
constexpr RopeKind kAdjacent = RopeKind::kAdjacent;
constexpr RopeKind kNoRope = RopeKind::kNone;
constexpr Activation kGelu = Activation::kGelu;

// Norms around both parts of a layer.
constexpr NormNames kSandwich{.after_attention = "post_attention_norm", .after_ffn = "post_ffw_norm"};
// Norms after both parts only.
constexpr NormNames kPost{
    .attention = "", .after_attention = "post_attention_norm", .ffn = "", .after_ffn = "post_ffw_norm"};
// The norm before the feed-forward network has another name.
constexpr NormNames kFfnByPost{.ffn = "post_attention_norm"};
// One norm for both parts of a parallel block.
constexpr NormNames kOneNorm{.ffn = ""};
// Encoders that normalize after the residual sum.
constexpr NormNames kBertNorms{
    .attention = "", .after_attention = "attn_output_norm", .ffn = "", .after_ffn = "layer_output_norm", .output = ""};

// Optional keys that the architecture uses; see Architecture::reads.
constexpr std::string_view kScales = "embedding_scale residual_scale";
constexpr std::string_view kGraniteScales = "logit_scale embedding_scale residual_scale attention.scale";

constexpr std::string_view kPlainBiases = "attn_output.bias ffn_gate.bias ffn_up.bias ffn_down.bias";  // see unread

// clang-format off
constexpr Architecture kArchitectures[] = {
    {.name = "llama", .rope = kAdjacent, .normalize_expert_weights = true, .ffn_scales = true},
    {.name = "afmoe", .norms = kSandwich, .qk_norm = QkNorm::kRequired, .window = {.period = 4}, .embedding_scale_sqrt = true,
     .gating = Gating::kSigmoid, .gating_by_key = true, .expert_scale_by_key = true, .unread = "attn_gate.scale", .required = "attn_gate.weight",
     .adjust = [](Hparams& h, Keys&) { no_rope_every_fourth(h); }},
    {.name = "apertus", .activation = Activation::kXielu, .qk_norm = QkNorm::kRequired, .needs_output = true, .unread = "attn_q_norm.bias attn_k_norm.bias", .adjust = apertus},
    {.name = "arcee", .rope = kAdjacent, .activation = Activation::kReluSquared},
    {.name = "arctic", .rope = kAdjacent, .normalize_expert_weights = true, .experts_read_layer_input = true,
     .adjust = [](Hparams& h, Keys&) { h.dense_and_experts_scale = 1.0f; }},
    {.name = "arwkv7", .rope = kNoRope, .mixer = MixerKind::kRwkv7, .needs_output = true, .eps_optional = true},
    {.name = "baichuan", .rope = kAdjacent, .needs_output = true,
     .adjust = [](Hparams& h, Keys&) {
       if (h.n_layer == 32) return;  // 7B; llama.cpp has no other way to distinguish them
       if (h.n_layer == 40) h.max_alibi_bias = 8.0f;  // 13B
       for (LayerParameters& layer : h.layers) layer.use_rope = false;
     }},
    {.name = "bailingmoe", .rope = kAdjacent, .needs_output = true, .expert_scale_by_key = true},
    {.name = "bailingmoe2", .qk_norm = QkNorm::kRequired, .needs_output = true, .gating_by_key = true, .expert_scale_by_key = true},
    {.name = "bailingmoe3", .rope = kAdjacent, .mixer = MixerKind::kLatentAttention, .mtp_head = MtpHead::kNormed, .gating_by_key = true,
     .expert_scale_by_key = true, .unread = "attn_gate.scale", .adjust = bailingmoe3},
    {.name = "bert", .norm = kLayerNorm, .rope = kNoRope, .activation = kGelu, .norms = kBertNorms, .norm_biases = true,
     .norm_after_residual = true, .qk_norm_kind = kLayerNorm, .position_embedding = true, .rank_head = RankHead::kFirst, .encoder = true},
    {.name = "bitnet", .ffn_scales = true, .required = "attn_sub_norm.weight ffn_sub_norm.weight"},
    {.name = "bloom", .norm = kLayerNorm, .rope = kNoRope, .activation = kGelu, .norm_biases = true, .max_alibi_bias = 8.0f},
    {.name = "chameleon", .rope = kAdjacent, .qk_norm = QkNorm::kRequired, .qk_norm_kind = kLayerNorm, .adjust = chameleon},
    {.name = "chatglm", .rope = kAdjacent},
    {.name = "cogvlm", .unread = "attn_qkv.scale", .adjust = cogvlm},
    {.name = "clef", .norms = kFfnByPost, .qk_norm = QkNorm::kRequired, .gated_query = true, .encoder = true, .ffn_scales = true, .adjust = clef},
    {.name = "codeshell", .norm = kLayerNorm, .activation = kGelu, .norm_biases = true},
    {.name = "cohere2", .norm = kLayerNorm, .rope = kAdjacent, .norms = kOneNorm, .parallel = true,
     .window = {.period = 4}, .reads = "logit_scale", .ffn_scales = true, .adjust = one_base_where_windowed},
    {.name = "cohere2moe", .norm = kLayerNorm, .rope = kAdjacent, .norms = kOneNorm, .parallel = true,
     .window = {.period = 4, .full_first = true}, .mtp_head = MtpHead::kNormed, .gating = Gating::kSigmoid, .gating_by_key = true, .expert_scale_by_key = true,
     .reads = "logit_scale", .ffn_scales = true, .adjust = cohere2moe},
    {.name = "command-r", .norm = kLayerNorm, .rope = kAdjacent, .norms = kOneNorm, .parallel = true, .qk_norm_kind = kLayerNorm, .reads = "logit_scale"},
    {.name = "dbrx", .norm = kLayerNorm, .norms = {.ffn = "attn_output_norm"}, .needs_output = true, .normalize_expert_weights = true, .reads = "attention.clamp_kqv"},
    {.name = "deci", .rope = kAdjacent, .attention_norm_optional = true, .adjust = deci},
    {.name = "deepseek", .rope = kAdjacent, .expert_scale_by_key = true, .expert_norm_fixed = true},
    {.name = "deepseek2", .rope = kAdjacent, .mixer = MixerKind::kLatentAttention, .yarn_betas_by_key = true, .mtp_head = MtpHead::kNormed, .gating_by_key = true, .expert_scale_by_key = true, .adjust = deepseek2},
    {.name = "deepseek2-ocr", .gating_by_key = true, .expert_scale_by_key = true, .refuses = "attention.sliding_window"},
    {.name = "deepseek32", .rope = kAdjacent, .mixer = MixerKind::kLatentAttention, .mtp_head = MtpHead::kNormed, .gating_by_key = true, .expert_scale_by_key = true, .adjust = deepseek32},
    {.name = "deepseek4", .rope = kAdjacent, .mixer = MixerKind::kCompressedAttention, .window = {.all = true}, .needs_output = true, .mtp_head = MtpHead::kRaw, .gating_by_key = true,
     .expert_scale_by_key = true, .unread = "exp_probs_b_vl.bias", .adjust = deepseek4},
    {.name = "dots1", .qk_norm = QkNorm::kRequired, .needs_output = true, .gating = Gating::kSigmoid, .gating_by_key = true, .expert_scale_by_key = true},
    {.name = "dots3note", .rope = kAdjacent, .mixer = MixerKind::kLatentAttention, .window = {.period = 1}, .gating_by_key = true, .expert_scale_by_key = true,
     .unread = "attn_gate.scale", .required = "attn_k_norm.weight attn_gate.weight", .adjust = dots3note},
    {.name = "dream", .causal = false, .unread = "output.bias"},
    {.name = "dflash", .mixer = MixerKind::kBlockAttention, .qk_norm = QkNorm::kRequired, .window = {.period = 1},
     .reads = "logit_scale embedding_scale attention.scale", .adjust = dflash},
    {.name = "eagle3", .rope = kAdjacent, .mixer = MixerKind::kDraftAttention, .norms = {.attention = "attn_norm_2"}, .adjust = eagle3},
    {.name = "ernie4_5", .rope = kAdjacent, .unread = "attn_output.bias"},
    {.name = "ernie4_5-moe", .rope = kAdjacent, .normalize_expert_weights = true, .unread = "attn_output.bias"},
    {.name = "eurobert", .encoder = true},
    {.name = "exaone"},
    {.name = "exaone4", .norms = kPost, .qk_norm = QkNorm::kRequired, .window = {.period = 4, .length = 4096, .n_layer = 64}, .adjust = exaone4},
    {.name = "exaone-moe", .qk_norm = QkNorm::kRequired, .window = {.period = 4, .length = 128}, .needs_output = true,
     .gating = Gating::kSigmoid, .gating_by_key = true, .expert_scale_by_key = true, .adjust = one_base_where_windowed},
    {.name = "falcon", .norm = kLayerNorm, .activation = kGelu, .norms = kOneNorm, .norm_biases = true, .parallel = true},
    {.name = "falcon-h1", .mixer = MixerKind::kAttentionMamba2,
     .unread = "attn_output.bias", .adjust = no_rope_factors},
    {.name = "gemma", .activation = kGelu, .embedding_scale_sqrt = true},
    {.name = "gemma-embedding", .activation = kGelu, .norms = kSandwich, .qk_norm = QkNorm::kRequired,
     .window = {.period = 6, .kind = WindowKind::kSymmetric}, .windowed_rope_own = true, .dense_after_pooling = true,
     .encoder = true, .embedding_scale_sqrt = true},
    {.name = "gemma-embedding2", .activation = kGelu, .norms = kSandwich, .qk_norm = QkNorm::kRequired, .normalize_values = true,
     .window = {.period = 6, .kind = WindowKind::kSymmetric}, .windowed_rope_own = true, .encoder = true,
     .embedding_scale_sqrt = true, .required = "layer_output_scale.weight", .adjust = gemma_embedding2},
    {.name = "gemma2", .activation = kGelu, .norms = kSandwich, .window = {.period = 2, .length = 4096},
     .embedding_scale_sqrt = true, .adjust = gemma2},
    {.name = "gemma3", .activation = kGelu, .norms = kSandwich, .qk_norm = QkNorm::kRequired, .window = {.period = 6},
     .windowed_rope_own = true, .embedding_scale_sqrt = true, .adjust = [](Hparams& h, Keys& keys) { gemma_scale(h, 62); read_logit_cap(h, keys, 0); }},
    {.name = "gemma3n", .activation = kGelu, .norms = kSandwich, .qk_norm = QkNorm::kRequired, .normalize_values = true,
     .window = {.period = 5}, .windowed_rope_own = true, .embedding_scale_sqrt = true, .altup = true, .adjust = gemma3n},
    {.name = "gemma4", .activation = kGelu, .norms = kSandwich, .qk_norm = QkNorm::kRequired, .normalize_values = true,
     .window = {.period = 6}, .windowed_rope_own = true, .embedding_scale_sqrt = true, .ffn_scales = true, .adjust = gemma4},
    {.name = "gemma4-assistant", .activation = kGelu, .norms = kSandwich, .qk_norm = QkNorm::kRequired, .window = {.period = 6},
     .windowed_rope_own = true, .mtp_head = MtpHead::kWhole, .required = "layer_output_scale.weight", .adjust = gemma4_assistant},
    {.name = "glm-dsa", .rope = kAdjacent, .mixer = MixerKind::kLatentAttention, .mtp_head = MtpHead::kNormed, .gating = Gating::kSigmoid, .gating_by_key = true, .expert_scale_by_key = true, .ffn_scales = true, .adjust = glm_dsa},
    {.name = "glm4", .rope = kAdjacent, .norms = kSandwich,
     .adjust = [](Hparams& h, Keys&) { if (h.rope_sections[1] != 0) h.rope_kind = RopeKind::kHalves; }},
    {.name = "glm4moe", .norms = kFfnByPost, .mtp_head = MtpHead::kNormed, .gating = Gating::kSigmoid, .gating_by_key = true, .expert_scale_by_key = true},
    {.name = "gpt-oss", .activation = Activation::kSwigluOai, .norms = kFfnByPost, .window = {.period = 2}, .needs_output = true,
     .gating = Gating::kSoftmaxOfChosen, .required = "attn_sinks.weight"},
    {.name = "gpt2", .norm = kLayerNorm, .rope = kNoRope, .activation = kGelu, .norm_biases = true, .position_embedding = true,
     .required = "attn_output.bias ffn_up.bias ffn_down.bias"},
    {.name = "gptj", .norm = kLayerNorm, .rope = kAdjacent, .activation = kGelu, .norms = kOneNorm, .norm_biases = true,
     .parallel = true, .needs_output = true, .required = "ffn_up.bias ffn_down.bias"},
    {.name = "gptneox", .norm = kLayerNorm, .activation = kGelu, .norm_biases = true, .parallel = true, .needs_output = true,
     .required = "attn_qkv.bias attn_output.bias ffn_norm.weight ffn_up.bias ffn_down.bias",
     .adjust = [](Hparams& h, Keys& keys) { keys.boolean("use_parallel_residual", h.parallel); }},
    {.name = "granite", .rope = kAdjacent, .divide_logits = true, .reads = kGraniteScales, .adjust = granite},
    {.name = "granite_swa", .rope = kAdjacent, .window = {.period = 4}, .divide_logits = true,
     .normalize_expert_weights = true, .reads = kGraniteScales, .adjust = granite_swa},
    {.name = "granitehybrid", .rope = kAdjacent, .divide_logits = true, .normalize_expert_weights = true,
     .reads = kGraniteScales, .adjust = [](Hparams& h, Keys& keys) { granite(h, keys); set_mixers(h, MixerKind::kMamba2); }},
    {.name = "granitemoe", .rope = kAdjacent, .divide_logits = true, .normalize_expert_weights = true, .reads = kGraniteScales},
    {.name = "graniteswitch", .rope = kAdjacent, .mixer = MixerKind::kSwitchedAttention, .divide_logits = true, .reads = kGraniteScales, .adjust = granite_switch},
    {.name = "grok", .activation = kGelu, .norms = {.after_attention = "attn_output_norm", .after_ffn = "layer_output_norm"},
     .normalize_expert_weights = true, .adjust = grok},
    {.name = "grovemoe", .qk_norm = QkNorm::kRequired, .normalize_expert_weights = true, .adjust = grovemoe},
    {.name = "hrm_text", .norms = {.output = ""}, .unweighted_norms = true, .reads = "embedding_scale", .required = "attn_gate.weight", .adjust = hrm_text},
    {.name = "hunyuan-dense", .qk_norm = QkNorm::kRequired, .qk_norm_after_rope = true, .adjust = hunyuan},
    {.name = "hunyuan-moe", .qk_norm = QkNorm::kRequired, .qk_norm_after_rope = true, .normalize_expert_weights = true},
    {.name = "hunyuan_vl", .qk_norm = QkNorm::kRequired, .qk_norm_after_rope = true, .adjust = hunyuan},
    {.name = "hy_v3", .qk_norm = QkNorm::kRequired, .mtp_head = MtpHead::kNormed, .gating = Gating::kSigmoid, .gating_by_key = true, .expert_scale_by_key = true},
    {.name = "glm5-next", .mixer = MixerKind::kLatentAttention, .needs_output = true, .mtp_head = MtpHead::kNormed, .gating = Gating::kSigmoid, .gating_by_key = true,
     .expert_scale_by_key = true, .adjust = glm5_next},
    {.name = "hy_v4", .rope = kAdjacent, .mixer = MixerKind::kLatentAttention, .needs_output = true, .gating_by_key = true, .expert_scale_by_key = true,
     .required = "attn_sinks.weight attn_gate.weight", .adjust = hy_v4},
    {.name = "internlm2", .rope = kAdjacent, .needs_output = true},
    {.name = "jais", .norm = kLayerNorm, .rope = kNoRope, .norm_biases = true, .needs_output = true,
     .reads = "attention.max_alibi_bias", .adjust = [](Hparams& h, Keys&) { h.attention_scale = 1.0f / static_cast<float>(std::max(h.layers[0].d_k, 1u)); }},
    {.name = "jais2", .norm = kLayerNorm, .activation = Activation::kReluSquared, .norm_biases = true},
    {.name = "jamba", .rope = kNoRope, .adjust = [](Hparams& h, Keys&) { set_mixers(h, MixerKind::kMamba); }},
    {.name = "jina-bert-v2", .norm = kLayerNorm, .rope = kNoRope, .activation = kGelu, .norms = kBertNorms, .norm_biases = true,
     .norm_after_residual = true, .qk_norm_kind = kLayerNorm, .rank_head = RankHead::kFirst, .encoder = true, .max_alibi_bias = 8.0f},
    {.name = "jina-bert-v3", .norm = kLayerNorm, .activation = kGelu, .norms = kBertNorms, .norm_biases = true,
     .norm_after_residual = true, .qk_norm_kind = kLayerNorm, .encoder = true},
    {.name = "k2-horizon", .qk_norm_by_head = true, .gate = GateKind::kSoftplusBase2, .yarn_betas_by_key = true, .gating = Gating::kSigmoid, .gating_by_key = true,
     .expert_scale_by_key = true, .adjust = k2_horizon},
    {.name = "kimi-k3", .activation = Activation::kSitu, .mixer = MixerKind::kLatentAttention, .needs_output = true, .gating_by_key = true,
     .expert_scale_by_key = true, .unread = "attn_gate.scale", .adjust = kimi_k3},
    {.name = "kimi-linear", .mixer = MixerKind::kLatentAttention, .needs_output = true, .gating_by_key = true,
     .expert_scale_by_key = true, .normalize_expert_weights = true, .adjust = kimi_linear},
    {.name = "laguna", .qk_norm = QkNorm::kRequired, .gate = GateKind::kSoftplus, .window = {.period = 4, .full_first = true},
     .yarn_betas_by_key = true, .gating = Gating::kSigmoid, .gating_by_key = true, .expert_scale_by_key = true, .unread = "attn_gate.scale", .required = "attn_gate.weight",
     .adjust = plain_windowed_rope},
    {.name = "lfm2", .norms = {.output = "token_embd_norm"}, .qk_norm = QkNorm::kRequired, .window = {.all = true},
     .dense_after_pooling = true, .adjust = lfm2},
    {.name = "lfm2moe", .norms = {.output = "token_embd_norm"}, .qk_norm = QkNorm::kRequired, .dense_after_pooling = true,
     .gating = Gating::kSigmoid, .gating_by_key = true, .normalize_expert_weights = true,
     .adjust = [](Hparams& h, Keys&) { set_mixers(h, MixerKind::kShortConvolution); }},
    {.name = "llada", .rope = kAdjacent, .causal = false, .unread = kPlainBiases, .adjust = no_rope_factors},
    {.name = "llada-moe", .qk_norm = QkNorm::kRequired, .causal = false, .needs_output = true, .expert_norm_fixed = true},
    {.name = "llama-embed", .rope = kAdjacent, .encoder = true, .normalize_expert_weights = true,
     .ffn_scales = true, .adjust = [](Hparams& h, Keys& keys) { h.causal = true; keys.boolean("attention.causal", h.causal); }},
    {.name = "llama4", .rope = kAdjacent, .qk_norm = QkNorm::kUnweighted, .qk_norm_after_rope = true,
     .window = {.period = 4, .length = 8192, .kind = WindowKind::kChunked, .fixed = 8192}, .gating = Gating::kSigmoid,
     .weigh_before_experts = true, .choose_by_logits = true, .adjust = llama4},
    {.name = "maincoder", .rope = kAdjacent, .qk_norm = QkNorm::kRequired, .qk_norm_after_rope = true},
    {.name = "maion-coder", .norms = kSandwich, .qk_norm = QkNorm::kRequired, .window = {.period = 1}, .needs_output = true,
     .normalize_expert_weights = true, .adjust = maion_coder},
    {.name = "mamba", .rope = kNoRope, .mixer = MixerKind::kMamba, .norms = kOneNorm},
    {.name = "mamba2", .rope = kNoRope, .mixer = MixerKind::kMamba2, .norms = kOneNorm},
    {.name = "maple", .qk_norm = QkNorm::kRequired, .window = {.period = 1}, .needs_output = true, .normalize_expert_weights = true, .adjust = maple},
    {.name = "mellum", .qk_norm = QkNorm::kRequired, .window = {.period = 4}, .needs_output = true, .gating_by_key = true,
     .normalize_expert_weights = true, .ffn_scales = true, .adjust = mellum},
    {.name = "mimo2", .window = {.period = 1}, .windowed_rope_own = true, .needs_output = true, .mtp_head = MtpHead::kRaw, .gating = Gating::kSigmoid, .normalize_expert_weights = true,
     .unread = "attn_q.bias attn_k.bias attn_v.bias attn_q.scale attn_k.scale attn_v.scale", .adjust = [](Hparams& h, Keys& keys) { keys.f32("attention.value_scale", h.attention_value_scale); }},
    {.name = "minicpm", .rope = kAdjacent, .divide_logits = true, .normalize_expert_weights = true, .reads = "logit_scale embedding_scale residual_scale", .adjust = minicpm},
    {.name = "minicpm3", .mixer = MixerKind::kLatentAttention,
     .adjust = [](Hparams& h, Keys&) { minicpm_scales(h); }},
    {.name = "minimax-01", .residual_is_normed = true, .normalize_expert_weights = true, .reads = kScales, .adjust = minimax01},
    {.name = "minimax-m2", .qk_norm = QkNorm::kRequired, .needs_output = true, .gating = Gating::kSigmoid, .gating_by_key = true,
     .normalize_expert_weights = true},
    {.name = "minimax-m3", .activation = Activation::kSwigluOai, .qk_norm = QkNorm::kRequired, .needs_output = true, .gating = Gating::kSigmoid,
     .gating_by_key = true, .expert_scale_by_key = true, .adjust = minimax_m3},
    {.name = "mistral3", .rope = kAdjacent, .yarn_betas_by_key = true, .yarn_multiplier_by_key = true, .normalize_expert_weights = true, .ffn_scales = true, .adjust = mistral3},
    {.name = "mistral4", .rope = kAdjacent, .mixer = MixerKind::kLatentAttention, .yarn_betas_by_key = true, .gating_by_key = true,
     .expert_scale_by_key = true, .adjust = mistral4},
    {.name = "modern-bert", .norm = kLayerNorm, .activation = kGelu, .window = {.period = 3, .full_first = true, .kind = WindowKind::kSymmetric},
     .windowed_rope_own = true, .attention_norm_optional = true, .rank_head = RankHead::kMean, .encoder = true, .adjust = modern_bert},
    {.name = "mpt", .norm = kLayerNorm, .rope = kNoRope, .activation = kGelu, .qk_norm_kind = kLayerNorm, .reads = "attention.clamp_kqv attention.max_alibi_bias"},
    {.name = "muse-glimmer", .rope = kAdjacent, .norms = kSandwich, .qk_norm = QkNorm::kRequired, .window = {.period = 4}, .normalize_embedding = true,
     .needs_output = true, .reads = "logit_scale", .unread = "attn_gate.scale", .required = "attn_gate.weight", .adjust = muse_glimmer},
    {.name = "nanbeige", .rope = kAdjacent, .ffn_scales = true, .adjust = nanbeige},
    {.name = "nemotron", .norm = kLayerNorm, .activation = Activation::kReluSquared, .norm_biases = true, .needs_output = true},
    {.name = "nemotron_h", .rope = kNoRope, .activation = Activation::kReluSquared, .norms = kOneNorm, .ffn_scales = true, .adjust = nemotron_h},
    {.name = "nemotron_h_moe", .rope = kNoRope, .activation = Activation::kReluSquared, .norms = kOneNorm, .mtp_head = MtpHead::kNormed,
     .gating = Gating::kSigmoid, .expert_scale_by_key = true, .ffn_scales = true, .adjust = nemotron_h},
    {.name = "neo-bert", .rope = kAdjacent, .norms = {.output = "enc.output_norm"}, .rank_head = RankHead::kFirst, .encoder = true},
    {.name = "nomic-bert", .norm = kLayerNorm, .norms = kBertNorms, .norm_biases = true, .norm_after_residual = true, .encoder = true, .unread = "ffn_up.bias ffn_down.bias"},
    {.name = "nomic-bert-moe", .norm = kLayerNorm, .activation = kGelu, .norms = kBertNorms, .norm_biases = true,
     .norm_after_residual = true, .encoder = true, .expert_norm_fixed = true},
    {.name = "olmo", .norm = kLayerNorm, .rope = kAdjacent, .unweighted_norms = true, .reads = "attention.clamp_kqv"},
    {.name = "olmo2", .norms = kPost, .qk_norm = QkNorm::kRequired, .window = {.period = 4}, .needs_output = true,
     .adjust = olmo2},
    {.name = "olmoe", .qk_norm = QkNorm::kRequired, .needs_output = true, .expert_norm_fixed = true},
    {.name = "openelm", .qk_norm = QkNorm::kRequired, .unread = "attn_qkv.scale"},
    {.name = "orion", .norm = kLayerNorm, .norm_biases = true, .needs_output = true},
    {.name = "paddleocr"},
    {.name = "pangu-embedded", .adjust = no_rope_factors},
    {.name = "phi2", .norm = kLayerNorm, .activation = kGelu, .norms = kOneNorm, .norm_biases = true, .parallel = true,
     .needs_output = true, .required = "attn_output.bias ffn_up.bias ffn_down.bias"},
    {.name = "phi3", .normalize_expert_weights = true},
    {.name = "phimoe", .norm_biases = true, .needs_output = true, .normalize_expert_weights = true},
    {.name = "plamo", .norms = kOneNorm, .parallel = true, .needs_output = true},
    {.name = "plamo2", .norms = kSandwich, .qk_norm = QkNorm::kRequired, .needs_output = true,
     .unread = "ssm_in.scale ssm_out.scale", .adjust = [](Hparams& h, Keys&) { set_mixers(h, MixerKind::kPlamo2); }},
    {.name = "plamo3", .norms = kSandwich, .qk_norm = QkNorm::kRequired, .window = {.period = 8}, .windowed_rope_own = true},
    {.name = "plm", .rope = kAdjacent, .activation = Activation::kReluSquared, .mixer = MixerKind::kLatentAttention},
    {.name = "pockettts", .norm = kLayerNorm, .rope = kAdjacent, .activation = Activation::kGeluHalf, .norm_biases = true, .encoder = true, .cached = true, .adjust = pockettts},
    {.name = "qwen", .needs_output = true, .required = "attn_qkv.bias",
     .adjust = [](Hparams& h, Keys&) { for (LayerParameters& layer : h.layers) layer.n_ff /= 2; }},
    {.name = "qwen2"},
    {.name = "qwen2moe", .needs_output = true, .expert_norm_fixed = true, .required = "ffn_gate_inp_shexp.weight"},
    // llama.cpp ignores the file's epsilon here.
    {.name = "qwen2vl", .eps_optional = true, .unread = "output.bias", .adjust = [](Hparams& h, Keys&) { h.norm_eps = 0; }},
    {.name = "qwen3", .qk_norm = QkNorm::kRequired, .rank_head = RankHead::kLast, .ffn_scales = true},
    {.name = "qwen3moe", .qk_norm = QkNorm::kRequired, .normalize_expert_weights = true, .ffn_scales = true},
    {.name = "qwen3next", .norms = kFfnByPost, .qk_norm = QkNorm::kRequired, .gated_query = true, .mtp_head = MtpHead::kNormed, .normalize_expert_weights = true, .ffn_scales = true, .unread = "attn_qkv.scale attn_gate.scale ssm_out.scale", .adjust = delta_net},
    {.name = "qwen35", .norms = kFfnByPost, .qk_norm = QkNorm::kRequired, .gated_query = true, .mtp_head = MtpHead::kNormed, .ffn_scales = true, .adjust = qwen35},
    {.name = "qwen4exp", .norms = {.attention = "", .ffn = "", .output = ""}, .qk_norm = QkNorm::kRequired, .gated_query = true, .mtp_head = MtpHead::kRaw, .normalize_expert_weights = true, .ffn_scales = true, .required = "ffn_gate_inp.weight", .adjust = qwen4exp},
    {.name = "qwen35moe", .norms = kFfnByPost, .qk_norm = QkNorm::kRequired, .gated_query = true, .mtp_head = MtpHead::kNormed, .normalize_expert_weights = true, .ffn_scales = true, .adjust = delta_net},
    {.name = "qwen3vl", .qk_norm = QkNorm::kRequired, .rank_head = RankHead::kLast, .adjust = qwen3vl},
    {.name = "qwen3tts", .qk_norm = QkNorm::kRequired, .rank_head = RankHead::kLast, .adjust = qwen3tts},
    {.name = "qwen3vlmoe", .qk_norm = QkNorm::kRequired, .normalize_expert_weights = true, .adjust = qwen3vl},
    {.name = "refact", .rope = kNoRope, .max_alibi_bias = 8.0f, .unread = kPlainBiases},
    {.name = "rnd1", .qk_norm = QkNorm::kRequired, .causal = false, .normalize_expert_weights = true},
    {.name = "rwkv", .norm = kLayerNorm, .rope = kNoRope, .mixer = MixerKind::kRwkv4, .norms = {.ffn = "attn_norm_2"},
     .norm_biases = true, .needs_output = true},
    {.name = "rwkv6", .norm = kLayerNorm, .rope = kNoRope, .mixer = MixerKind::kRwkv6, .norms = {.ffn = "attn_norm_2"},
     .norm_biases = true, .needs_output = true, .eps_optional = true, .reads = "rescale_every_n_layers"},
    {.name = "rwkv6qwen2", .rope = kNoRope, .mixer = MixerKind::kRwkv6Qwen, .needs_output = true, .eps_optional = true},
    {.name = "rwkv7", .norm = kLayerNorm, .rope = kNoRope, .mixer = MixerKind::kRwkv7, .norms = {.ffn = "attn_norm_2"},
     .norm_biases = true, .needs_output = true, .eps_optional = true},
    {.name = "seed_oss", .norms = kFfnByPost},
    {.name = "smallthinker", .activation = Activation::kRelu, .window = {.period = 4, .full_first = true, .fixed = 4096},
     .gating_by_key = true, .normalize_expert_weights = true, .router_reads_layer_input = true, .adjust = smallthinker},
    {.name = "smollm3", .rope = kAdjacent, .adjust = [](Hparams& h, Keys&) { no_rope_every_fourth(h); }},
    {.name = "spark2_5", .activation = kGelu, .window = {.period = 1}, .required = "attn_gate.weight", .adjust = spark2_5},
    {.name = "stablelm", .norm = kLayerNorm, .norm_biases = true, .qk_norm_kind = kLayerNorm, .needs_output = true,
     .adjust = [](Hparams& h, Keys& keys) { h.parallel = find_tensor(keys.gguf(), "blk.0.ffn_norm.weight") == nullptr; }},
    {.name = "starcoder", .norm = kLayerNorm, .rope = kNoRope, .activation = kGelu, .norm_biases = true, .position_embedding = true},
    {.name = "starcoder2", .norm = kLayerNorm, .activation = kGelu, .norm_biases = true,
     .required = "attn_output.bias ffn_up.bias ffn_down.bias"},
    {.name = "step35", .window = {.period = 1}, .windowed_rope_own = true, .needs_output = true, .mtp_head = MtpHead::kRaw, .gating = Gating::kSigmoid, .gating_by_key = true,
     .expert_scale_by_key = true, .unread = "attn_gate.scale", .adjust = step35},
    {.name = "t5", .rope = kNoRope, .activation = kGelu, .blocks = "dec.blk.", .norms = {.output = "dec.output_norm"},
     .encoder_decoder = true, .adjust = t5_decoder},
    {.name = "t5encoder", .rope = kNoRope, .activation = kGelu, .blocks = "enc.blk.", .norms = {.output = "enc.output_norm"},
     .encoder = true, .cached = true, .adjust = t5},
    {.name = "talkie", .unweighted_norms = true, .qk_norm = QkNorm::kUnweighted, .qk_norm_after_rope = true,
     .normalize_embedding = true, .adds_embedding = true, .needs_output = true,
     .reads = "logit_scale", .ffn_scales = true, .unread = "ffn_gate.scale ffn_up.scale", .required = "attn_q_norm.weight layer_output_scale.weight"},
    {.name = "vllm-decision2", .qk_norm = QkNorm::kRequired, .encoder = true, .adjust = vllm_decision2},
    {.name = "wavtokenizer-dec", .norm = kLayerNorm, .rope = kNoRope, .activation = kGelu, .norm_biases = true, .encoder = true, .adjust = wavtokenizer},
    {.name = "xverse", .rope = kAdjacent, .needs_output = true},
};
// clang-format on

struct Refusal {
  std::string_view name, reason;
};

// Names that llama.cpp supports but that cannot run here.
constexpr Refusal kRefusals[] = {
    {"clip", "it is a projector for images or audio; run the text model that it belongs to"},
};

}  // namespace

bool reads_key(const Architecture& architecture, std::string_view name) { return has_word(architecture.reads, name); }

bool reads_tensor(const Architecture& architecture, std::string_view name) {
  const size_t at = name.find("blk.");
  const size_t dot = at == std::string_view::npos ? at : name.find('.', at + 4);
  const std::string_view part = dot == std::string_view::npos ? name : name.substr(dot + 1);
  const bool ffn_scale = part.starts_with("ffn_") && part.ends_with(".scale") && part != "ffn_gate_inp.scale";
  if (ffn_scale && !architecture.ffn_scales) return false;
  return !has_word(architecture.unread, part);
}

std::span<const Architecture> all_architectures() { return kArchitectures; }

Result<const Architecture*> find_architecture(std::string_view name) {
  std::string names;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return &architecture;
    names += (names.empty() ? "" : ", ") + std::string(architecture.name);
  }
  for (const Refusal& refusal : kRefusals)
    if (refusal.name == name)
      return fail(ErrorCode::kUnsupported,
                  "cannot run architecture " + std::string(name) + ": " + std::string(refusal.reason));
  return fail(ErrorCode::kUnsupported,
              "cannot run architecture " + std::string(name.substr(0, 64)) + " yet; can run: " + names);
}

}  // namespace ggufscope
