// The registry: one row for each architecture. A row describes how the shared decoder (forward.cpp) differs for it. It
// does not repeat what the file's tensors show (fused projections, biases, experts, tied output).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/hparams.hpp"

namespace ggufscope {

/// A function of adjustments.hpp.
using Adjustment = void(Hparams& h, Keys& keys);

/// Layer i is windowed if i % period < period - 1, or with full_first if i % period != 0. period 0: no windows,
/// regardless of the file. Otherwise a file may give another period, or a flag for each layer.
struct WindowRule {
  uint32_t period = 0;
  uint32_t length = 0;  ///< default if the file has none; 0: no window then
  bool full_first = false;
  WindowKind kind = WindowKind::kSliding;
  bool all = false;      ///< every attention layer is windowed, regardless of a pattern
  uint32_t fixed = 0;    ///< replaces the file's length, unless that is 0
  uint32_t n_layer = 0;  ///< only models with this number of layers have windows; 0: all
};

/// Normalization of queries and keys. The tensors' shapes show whether each head or the whole row is normalized.
enum class QkNorm : uint8_t { kIfPresent, kRequired, kUnweighted };

/// Names of a layer's norms without ".weight". Empty: the layer has no such norm.
///   x += post(mix(pre(x)));  x += post(ffn(pre(x)))
struct NormNames {
  std::string_view attention = "attn_norm";
  std::string_view after_attention = "";
  std::string_view ffn = "ffn_norm";
  std::string_view after_ffn = "";
  std::string_view output = "output_norm";
};

/// The function of attn_gate, which scales what attention returns.
enum class GateKind : uint8_t {
  kSigmoid,
  kSoftplus,       ///< ln(1 + e^x)
  kSoftplusBase2,  ///< log2(1 + 2^x)
};

/// The classification head: the embedding that it reads, the activation between its matrices, and the final function.
enum class RankHead : uint8_t {
  kNone,
  kFirst,  ///< the first token's embedding, tanh
  kMean,   ///< the mean, or the first token if classifier.pooling_type is 2 (CLS); GELU
  kLast,   ///< the last token's embedding, tanh, softmax of the outputs
};

/// Which hidden states of its target an MTP head reads; see mtp_head.cpp.
enum class MtpHead : uint8_t {
  kNone,    ///< the architecture's heads are not used
  kNormed,  ///< those after the output norm
  kRaw,     ///< those before it
  kWhole,   ///< the file is a draft model: nextn_predict_layers counts all its layers
};

struct Architecture {
  std::string_view name;
  NormKind norm = NormKind::kRms;
  RopeKind rope = RopeKind::kHalves;
  Activation activation = Activation::kSilu;
  MixerKind mixer = MixerKind::kAttention;
  std::string_view blocks = "blk.";  ///< the names of a layer's tensors are blocks + number + "." + part
  NormNames norms{};
  bool unweighted_norms = false;     ///< the norms have no tensors
  bool norm_biases = false;          ///< the norms' biases are required
  bool norm_after_residual = false;  ///< x = post(x + mix(x)): encoders of 2018 such as BERT
  bool parallel = false;             ///< attention and feed-forward read the same x; see forward.cpp
  QkNorm qk_norm = QkNorm::kIfPresent;
  NormKind qk_norm_kind = NormKind::kRms;
  bool qk_norm_after_rope = false;
  bool qk_norm_by_head = false;  ///< each head has its own weights, also if they are stored as one row
  GateKind gate = GateKind::kSigmoid;
  bool normalize_values = false;  ///< values are divided by their root mean square
  bool gated_query = false;       ///< attn_q produces a query and a gate for each head
  WindowRule window{};
  bool windowed_rope_own = false;  ///< windowed layers have base 10000 and no scaling unless the file has keys for them
  bool yarn_betas_by_key = false;  ///< rope.scaling.yarn_beta_* of the file are used
  bool yarn_multiplier_by_key = false;  ///< rope.scaling.yarn_log_multiplier of the file is used
  bool attention_norm_optional = false;
  bool residual_is_normed = false;   ///< x = mix(pre(x)) + pre(x) * residual_scale
  bool normalize_embedding = false;  ///< without weights
  bool adds_embedding = false;       ///< layer_output_scale times the embedding is added after each layer
  bool position_embedding = false;   ///< position_embd.weight is required
  bool divide_logits = false;        ///< logits are divided by logit_scale
  RankHead rank_head = RankHead::kNone;
  bool dense_after_pooling = false;   ///< use dense_2 and dense_3 if the file has them
  bool encoder = false;               ///< bidirectional; its output is an embedding for each token
  bool cached = false;                ///< an encoder for which llama.cpp allocates a cache all the same
  bool causal = true;                 ///< false: predicts every token of a text from the whole text (diffusion)
  bool needs_output = false;          ///< output.weight is required; otherwise token_embd may replace it
  bool eps_optional = false;          ///< if the key is absent, the norms' epsilon is 0
  bool embedding_scale_sqrt = false;  ///< embeddings are multiplied by sqrt(n_embd)
  float max_alibi_bias = 0;
  MtpHead mtp_head = MtpHead::kNone;
  Gating gating = Gating::kSoftmax;
  bool gating_by_key = false;             ///< expert_gating_func of the file is used
  bool expert_scale_by_key = false;       ///< expert_weights_scale of the file is used
  bool expert_norm_fixed = false;         ///< expert_weights_norm of the file is ignored
  bool normalize_expert_weights = false;  ///< false: only if the file sets expert_weights_norm
  bool router_reads_layer_input = false;
  bool experts_read_layer_input = false;  ///< through a separate norm, parallel to a dense network (Arctic)
  bool weigh_before_experts = false;      ///< the selected experts' inputs are scaled, not their outputs
  bool choose_by_logits = false;
  bool altup = false;            ///< several residual streams; see altup.cpp
  bool encoder_decoder = false;  ///< a second stack, "enc.blk.", whose output the layers attend to
  /// Optional keys that this architecture uses, separated by spaces: of logit_scale, embedding_scale, residual_scale,
  /// attention.scale, attention.clamp_kqv, attention.max_alibi_bias, rescale_every_n_layers. Others are ignored, as in
  /// llama.cpp.
  std::string_view reads = "";
  bool ffn_scales = false;  ///< the scales of feed-forward matrices (ffn_up.scale, ffn_up_exps.scale...) are used
  /// Optional tensors that are not used, separated by spaces: names as in a block ("attn_q.bias"), or of the whole
  /// model. llama.cpp loads these, too, but does not use them.
  std::string_view unread = "";
  std::string_view ignored = "";  ///< prefixes of tensors that have no effect on logits
  /// Keys that change what llama.cpp computes in a way that is not implemented, separated by spaces. A file in which
  /// one is not 0 is refused.
  std::string_view refuses = "";
  std::string_view required = "";  ///< additional tensors that every layer must have, separated by spaces
  /// Adjustments that a row cannot express. Runs after the common keys are read.
  Adjustment* adjust = nullptr;
};

/// True if `name` is in the architecture's list of optional keys.
[[nodiscard]] bool reads_key(const Architecture& architecture, std::string_view name);
/// True if the computation uses a tensor of that name, if it exists.
[[nodiscard]] bool reads_tensor(const Architecture& architecture, std::string_view name);

[[nodiscard]] std::span<const Architecture> all_architectures();

/// Finds the row of a name. Error: kUnsupported, with the reason; for an unknown name the message lists the supported
/// ones.
[[nodiscard]] Result<const Architecture*> find_architecture(std::string_view name);

}  // namespace ggufscope
