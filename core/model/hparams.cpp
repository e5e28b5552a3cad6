// Reads the hyper-parameters that all architectures share.
#include "model/hparams.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/sentence.hpp"
#include "base/word_list.hpp"
#include "gguf/access.hpp"
#include "model/architectures/adjustments.hpp"
#include "model/architectures/architecture.hpp"
#include "model/mixer.hpp"
#include "model/required_keys.hpp"

namespace ggufscope {

std::string Keys::full(std::string_view name) const {
  return name.starts_with('.') ? std::string(name.substr(1)) : prefix_ + std::string(name);
}

bool Keys::has(std::string_view name) const { return find_key(gguf_, full(name)) != nullptr; }

bool Keys::has_array(std::string_view name) const {
  const KeyValue* found = find_key(gguf_, full(name));
  return found != nullptr && found->type == ValueType::kArray;
}

void Keys::refuse(ErrorCode code, std::string message) {
  if (failed_) return;
  failed_ = true;
  error_ = Error{code, 0, std::move(message)};
}

bool Keys::u32(std::string_view name, uint32_t& out, uint32_t max) {
  const std::string key = full(name);
  if (find_key(gguf_, key) == nullptr) return false;
  const std::optional<uint64_t> value = get_u64(gguf_, key);
  if (!value) {
    refuse(ErrorCode::kInvalidArgument, key + " is not a count");
  } else if (*value > max) {
    refuse(ErrorCode::kOutOfRange, key + " is " + std::to_string(*value) + ", more than " + std::to_string(max));
  } else {
    out = static_cast<uint32_t>(*value);
  }
  return true;
}

void Keys::required(std::string_view name, uint32_t& out, uint32_t max) {
  if (!u32(name, out, max)) {
    refuse(ErrorCode::kNotFound, full(name) + " is missing");
  } else if (out == 0) {
    refuse(ErrorCode::kOutOfRange, full(name) + " is 0");
  }
}

bool Keys::f32(std::string_view name, float& out) {
  const std::string key = full(name);
  if (find_key(gguf_, key) == nullptr) return false;
  const std::optional<double> value = get_f64(gguf_, key);
  if (!value || !std::isfinite(*value) || std::fabs(*value) > 3.4e38) {
    refuse(ErrorCode::kInvalidArgument, key + " is not a finite number");
  } else {
    out = static_cast<float>(*value);
  }
  return true;
}

bool Keys::boolean(std::string_view name, bool& out) {
  const std::string key = full(name);
  if (find_key(gguf_, key) == nullptr) return false;
  if (const std::optional<bool> value = get_bool(gguf_, key)) {
    out = *value;
  } else {
    refuse(ErrorCode::kInvalidArgument, key + " is not a boolean");
  }
  return true;
}

bool Keys::text(std::string_view name, std::string_view& out) {
  const std::string key = full(name);
  if (find_key(gguf_, key) == nullptr) return false;
  if (const std::optional<std::string_view> value = get_string(gguf_, key)) {
    out = *value;
  } else {
    refuse(ErrorCode::kInvalidArgument, key + " is not a string");
  }
  return true;
}

bool Keys::u32s(std::string_view name, std::vector<uint32_t>& out, uint32_t max) {
  const std::string key = full(name);
  const KeyValue* found = find_key(gguf_, key);
  if (found == nullptr) return false;
  if (found->type != ValueType::kArray) {
    uint32_t value = 0;
    u32(name, value, max);
    std::fill(out.begin(), out.end(), value);
    return true;
  }
  if (found->count < out.size() || found->count > kMaxCount) {
    refuse(ErrorCode::kBadCount,
           key + " has " + counted(found->count, "value") + " for " + counted(out.size(), "layer"));
    return true;
  }
  const auto values = get_integers(gguf_, key);
  if (!values || values->size() < out.size()) {
    refuse(ErrorCode::kInvalidArgument, key + " is not an array of counts");
    return true;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if ((*values)[i] < 0 || (*values)[i] > static_cast<int64_t>(max)) {
      refuse(ErrorCode::kOutOfRange, key + " holds " + std::to_string((*values)[i]));
      return true;
    }
    out[i] = static_cast<uint32_t>((*values)[i]);
  }
  return true;
}

void Keys::tokens(std::string_view name, std::vector<int32_t>& out) {
  std::vector<uint32_t> ids(out.size());
  if (!has_array(name)) return refuse(ErrorCode::kNotFound, full(name) + " is missing or no array");
  u32s(name, ids);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<int32_t>(ids[i]);
}

bool Keys::f32s(std::string_view name, std::vector<float>& out) {
  const std::string key = full(name);
  const KeyValue* found = find_key(gguf_, key);
  if (found == nullptr) return false;
  if (found->type != ValueType::kArray) {
    float value = 0;
    f32(name, value);
    std::fill(out.begin(), out.end(), value);
    return true;
  }
  const auto values = found->count <= kMaxCount ? get_floats(gguf_, key) : std::nullopt;
  if (!values || values->size() < out.size()) {
    refuse(ErrorCode::kInvalidArgument, key + " is not an array of " + std::to_string(out.size()) + " numbers");
    return true;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = (*values)[i];
    if (!std::isfinite(out[i])) refuse(ErrorCode::kInvalidArgument, key + " holds a value that is not finite");
  }
  return true;
}

namespace {

// Reads both spellings of scaling: rope.scaling.* and the older rope.scale_linear.
void read_rope(Keys& keys, const Architecture& architecture, Hparams& h) {
  h.rope_kind = architecture.rope;
  RopeParameters& rope = h.rope;
  rope.n_ctx_original = h.n_ctx_train;
  keys.u32("rope.scaling.original_context_length", rope.n_ctx_original, 1u << 30);
  if (rope.n_ctx_original == 0) rope.n_ctx_original = h.n_ctx_train;
  keys.f32("rope.freq_base", rope.freq_base);
  std::string_view scaling = "linear";
  keys.text("rope.scaling.type", scaling);
  if (scaling != "none" && scaling != "linear" && scaling != "yarn" && scaling != "longrope")
    keys.refuse(ErrorCode::kUnsupported, "rope.scaling.type \"" + std::string(scaling.substr(0, 40)) + "\" is unknown");
  float factor = 0;
  if (!keys.f32("rope.scaling.factor", factor)) keys.f32("rope.scale_linear", factor);
  if (factor < 0 || (factor > 0 && factor < 1e-6f))
    keys.refuse(ErrorCode::kOutOfRange, "rope.scaling.factor is out of range");
  const float freq_scale = factor != 0 ? 1.0f / factor : 1.0f;
  if (scaling != "none") rope.freq_scale = freq_scale;
  if (rope.freq_base <= 0) keys.refuse(ErrorCode::kOutOfRange, "rope.freq_base is not positive");

  if (architecture.yarn_betas_by_key) {
    keys.f32("rope.scaling.yarn_beta_fast", rope.beta_fast);
    keys.f32("rope.scaling.yarn_beta_slow", rope.beta_slow);
  }
  float log_multiplier = 0;
  if (architecture.yarn_multiplier_by_key) keys.f32("rope.scaling.yarn_log_multiplier", log_multiplier);
  if (scaling == "yarn") {
    if (rope.freq_base == 1.0f || rope.n_ctx_original == 0 || rope.beta_fast <= 0 || rope.beta_slow <= 0)
      keys.refuse(ErrorCode::kOutOfRange, "rope.scaling of kind yarn needs a context, a base and positive betas");
    rope.ext_factor = 1.0f;
    const float ratio = 1.0f / rope.freq_scale;
    const auto magnitude = [&](float m) { return ratio <= 1 ? 1.0f : 0.1f * m * std::log(ratio) + 1.0f; };
    // The RoPE table multiplies by 1 + 0.1 ln(ratio) itself, so that factor is removed from the ratio of magnitudes
    // here.
    rope.attn_factor = log_multiplier != 0 ? 1.0f / magnitude(log_multiplier) : 1.0f;
    rope.attn_factor *= magnitude(1.0f) / (1.0f + 0.1f * std::log(ratio));
  }
  float attn_factor = 1;
  keys.f32("rope.scaling.attn_factor", attn_factor);
  rope.attn_factor *= attn_factor;

  h.rope_windowed = rope;
  h.rope_windowed.freq_scale = freq_scale;  // "none" concerns the full layers only
  if (architecture.windowed_rope_own) h.rope_windowed.freq_base = 10000.0f, h.rope_windowed.freq_scale = 1.0f;
  keys.f32("rope.freq_base_swa", h.rope_windowed.freq_base);
  if (h.rope_windowed.freq_base <= 0) keys.refuse(ErrorCode::kOutOfRange, "rope.freq_base_swa is not positive");
  std::vector<uint32_t> sections(4);
  if (keys.has("rope.dimension_sections") && keys.u32s("rope.dimension_sections", sections))
    std::copy(sections.begin(), sections.end(), h.rope_sections.begin());
  std::string_view order = "tyxz";
  if (keys.text("rope.section_order", order) && order != "tyxz" && order != "zyxt")
    keys.refuse(ErrorCode::kUnsupported, "rope.section_order is neither tyxz nor zyxt");
  h.canvas_time = order == "zyxt";
}

void read_heads(Keys& keys, Hparams& h) {
  constexpr uint32_t kMaxHeads = 1u << 16;
  const size_t n = h.n_layer;
  std::vector<uint32_t> heads(n, 0), ffs(n, 0);
  keys.u32s("attention.head_count", heads, kMaxHeads);
  std::vector<uint32_t> heads_kv = heads;
  keys.u32s("attention.head_count_kv", heads_kv, kMaxHeads);
  h.n_ff_known = keys.u32s("feed_forward_length", ffs);
  const auto first = std::find_if(heads.begin(), heads.end(), [](uint32_t count) { return count != 0; });
  uint32_t d_k = first != heads.end() ? h.n_embd / *first : 0;
  uint32_t d_v = d_k;
  keys.u32("attention.key_length", d_k, kMaxHeads);
  keys.u32("attention.value_length", d_v, kMaxHeads);
  uint32_t d_k_windowed = d_k, d_v_windowed = d_v, n_rot = d_k;
  keys.u32("attention.key_length_swa", d_k_windowed, kMaxHeads);
  keys.u32("attention.value_length_swa", d_v_windowed, kMaxHeads);
  keys.u32("rope.dimension_count", n_rot, kMaxHeads);
  uint32_t n_rot_windowed = n_rot;
  keys.u32("rope.dimension_count_swa", n_rot_windowed, kMaxHeads);
  for (size_t i = 0; i < n; ++i) {
    LayerParameters& layer = h.layers[i];
    layer.n_head = heads[i];
    layer.n_head_kv = heads_kv[i];
    layer.n_ff = ffs[i];
    layer.d_k = layer.windowed ? d_k_windowed : d_k;
    layer.d_v = layer.windowed ? d_v_windowed : d_v;
    layer.n_rot = layer.windowed ? n_rot_windowed : n_rot;
    layer.kv_layer = static_cast<uint32_t>(i);
  }
  h.rope.n_rot = n_rot;
  h.rope_windowed.n_rot = n_rot_windowed;
}

void read_window(Keys& keys, const Architecture& architecture, Hparams& h) {
  const WindowRule& rule = architecture.window;
  if ((rule.period == 0 && !rule.all) || (rule.n_layer != 0 && h.n_layer != rule.n_layer)) return;
  h.window = rule.length;
  h.window_kind = rule.kind;
  keys.u32("attention.sliding_window", h.window, 1u << 30);
  if (h.window == 0) return;
  if (rule.fixed != 0) h.window = rule.fixed;
  std::vector<uint32_t> pattern(h.n_layer, rule.all ? 1 : 0);
  uint32_t period = rule.period;
  if (keys.has_array("attention.sliding_window_pattern") && !rule.all) {
    keys.u32s("attention.sliding_window_pattern", pattern);
  } else if (!rule.all) {
    keys.u32("attention.sliding_window_pattern", period);
    for (uint32_t i = 0; i < h.n_layer; ++i)
      pattern[i] = period == 0 || (rule.full_first ? i % period != 0 : i % period < period - 1) ? 1 : 0;
  }
  for (uint32_t i = 0; i < h.n_layer; ++i) h.layers[i].windowed = pattern[i] != 0;
}

/// Reads a number that a file may repeat for each layer.
void read_alike(Keys& keys, std::string_view name, const Hparams& h, uint32_t& out, uint32_t max) {
  if (!keys.has_array(name)) {
    keys.u32(name, out, max);
    return;
  }
  std::vector<uint32_t> each(h.n_layer, out);
  keys.u32s(name, each, max);
  for (const uint32_t one : each) {
    if (one != each.front())
      return keys.refuse(ErrorCode::kUnsupported, std::string(name) + " is not the same in every layer");
    out = one;
  }
}

void read_experts(Keys& keys, const Architecture& architecture, Hparams& h) {
  constexpr uint32_t kMaxExpertCount = 4096;
  keys.u32("expert_count", h.n_expert, kMaxExpertCount);
  read_alike(keys, "expert_used_count", h, h.n_expert_used, kMaxExpertCount);
  keys.u32("expert_group_count", h.n_expert_groups, kMaxExpertCount);
  keys.u32("expert_group_used_count", h.n_group_used, kMaxExpertCount);
  read_alike(keys, "expert_feed_forward_length", h, h.n_ff_exp, Keys::kMaxCount);
  if (architecture.expert_scale_by_key) keys.f32("expert_weights_scale", h.expert_weights_scale);
  h.normalize_expert_weights = architecture.normalize_expert_weights;
  if (!h.normalize_expert_weights && !architecture.expert_norm_fixed)
    keys.boolean("expert_weights_norm", h.normalize_expert_weights);
  h.gating = architecture.gating;
  uint32_t gating = 0;
  if (architecture.gating_by_key && keys.u32("expert_gating_func", gating) && gating != 0) {
    if (gating > 4)
      keys.refuse(ErrorCode::kUnsupported, "expert_gating_func " + std::to_string(gating) + " is unknown");
    h.gating = static_cast<Gating>(gating);
  }
  if (h.n_expert_used > h.n_expert || (h.n_expert > 0 && h.n_expert_used == 0))
    keys.refuse(ErrorCode::kOutOfRange,
                "expert_used_count is " + std::to_string(h.n_expert_used) + " of " + counted(h.n_expert, "expert"));
  if (h.n_expert_groups > 1 &&
      (h.n_expert % h.n_expert_groups != 0 || h.n_group_used == 0 || h.n_group_used > h.n_expert_groups ||
       h.n_expert_groups > 64 || h.n_expert / h.n_expert_groups < 2 ||
       h.n_expert_used > h.n_group_used * (h.n_expert / h.n_expert_groups)))
    keys.refuse(ErrorCode::kOutOfRange, "expert_group_count does not divide the experts");
}

// Factors that some architectures use and the others ignore.
void read_scales(Keys& keys, const Architecture& architecture, Hparams& h) {
  const auto read = [&](std::string_view name, float& to) {
    if (reads_key(architecture, name)) keys.f32(name, to);
  };
  read("attention.max_alibi_bias", h.max_alibi_bias);
  read("attention.clamp_kqv", h.clamp_kqv);
  if (float scale = 0; read("attention.scale", scale), scale != 0) h.attention_scale = scale;
  // llama.cpp writes 0 if there is no factor.
  for (const auto& [name, to] :
       {std::pair("embedding_scale", &h.embedding_scale), std::pair("residual_scale", &h.residual_scale),
        std::pair("logit_scale", &h.logit_scale)}) {
    float factor = 0;
    read(name, factor);
    if (factor != 0) *to = factor;
  }
}

void check(Keys& keys, const Hparams& h) {
  for (size_t i = 0; i < h.layers.size(); ++i) {
    const LayerParameters& layer = h.layers[i];
    if (find_mixer(layer.mixer).cache == nullptr) continue;
    const std::string where = " in layer " + std::to_string(i);
    if (layer.n_head == 0 || layer.n_head_kv == 0)
      return keys.refuse(ErrorCode::kOutOfRange, "no attention heads" + where);
    if (layer.n_head % layer.n_head_kv != 0)
      return keys.refuse(ErrorCode::kOutOfRange, std::to_string(layer.n_head_kv) + " key heads do not divide " +
                                                     counted(layer.n_head, "head") + where);
    if (layer.d_k == 0 || layer.d_v == 0)
      return keys.refuse(ErrorCode::kOutOfRange, "attention heads have no elements" + where);
    if (layer.use_rope && layer.n_rot > (layer.windowed ? h.rope_windowed : h.rope).n_rot)
      return keys.refuse(ErrorCode::kOutOfRange,
                         "rope.dimension_count " + std::to_string(layer.n_rot) + " is beyond the rotation" + where);
    if (layer.use_rope && (layer.n_rot > layer.d_k || layer.n_rot % 2 != 0))
      return keys.refuse(ErrorCode::kOutOfRange, "rope.dimension_count " + std::to_string(layer.n_rot) +
                                                     " is odd or beyond the head size " + std::to_string(layer.d_k));
  }
}

void refuse_keys(Keys& keys, const Architecture& architecture) {
  for (const std::string_view name : WordList(architecture.refuses)) {
    uint32_t value = 0;
    if (keys.u32(name, value, UINT32_MAX) && value != 0)
      keys.refuse(ErrorCode::kUnsupported, std::string(architecture.name) + " with " + std::string(name) + " " +
                                               std::to_string(value) + " cannot run yet");
  }
}

void read_norms(Keys& keys, const Architecture& architecture, Hparams& h) {
  const std::string_view eps_keys[] = {"attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon"};
  const bool layer_norm = architecture.norm == NormKind::kLayer;
  if (!keys.f32(eps_keys[layer_norm ? 1 : 0], h.norm_eps) && !keys.f32(eps_keys[layer_norm ? 0 : 1], h.norm_eps)) {
    h.norm_eps = 0;
    if (!architecture.eps_optional)
      keys.refuse(ErrorCode::kNotFound,
                  std::string(architecture.name) + "." + std::string(eps_keys[layer_norm ? 1 : 0]) + " is missing");
  }
  if (h.norm_eps < 0) keys.refuse(ErrorCode::kOutOfRange, "the epsilon of the norms is negative");
  h.norm = architecture.norm;
}

// What encoders need: the direction of attention, and how token vectors become one.
void read_pooling(Keys& keys, const Architecture& architecture, Hparams& h) {
  h.causal = !architecture.encoder && architecture.causal;
  if (h.causal) keys.boolean("attention.causal", h.causal);  // some are never causal, regardless of the file
  keys.u32("pooling_type", h.pooling, UINT32_MAX);
  if (h.pooling > 4) h.pooling = 5;  // llama.cpp writes -1 for "unspecified"
  std::string_view activation = architecture.rank_head == RankHead::kMean ? "gelu" : "tanh";
  keys.text("classifier.activation", activation);
  if (activation == "gelu" || activation == "silu")
    h.rank_activation = activation == "gelu" ? Activation::kGelu : Activation::kSilu;
  else if (activation != "tanh")
    keys.refuse(ErrorCode::kInvalidArgument,
                sentence({"classifier.activation is ", Quoted{activation}, ": gelu, silu and tanh are known"}));
  if (architecture.rank_head == RankHead::kMean) {
    uint32_t read_by_head = 1;
    keys.u32("classifier.pooling_type", read_by_head, UINT32_MAX);
    h.rank_by_mean = read_by_head != 2;
  }
}

}  // namespace

Result<Hparams> read_hparams(const Gguf& gguf, const Architecture& architecture, bool mtp_head) {
  Keys keys(gguf, architecture.name);
  Hparams h;
  // 0: the file does not say, as in llama.cpp.
  if (!keys.u32("context_length", h.n_ctx_train, 1u << 30)) keys.required("context_length", h.n_ctx_train);
  keys.required("embedding_length", h.n_embd);
  // Every layer has a tensor, so the header limits how many there can be. A file may have only the heads, and HRM-Text
  // counts a layer each time that it runs.
  constexpr uint32_t kMaxLayers = 4096;
  const size_t n_tensors = mtp_head || keys.has("hrm.layers_per_stack") ? kMaxLayers : gguf.header.tensors.size();
  keys.required("block_count", h.n_layer, static_cast<uint32_t>(std::min<size_t>(n_tensors, kMaxLayers)));
  keys.u32("nextn_predict_layers", h.n_next_layer);
  if (architecture.mtp_head == MtpHead::kWhole) h.n_next_layer = 0;
  if (h.n_next_layer >= h.n_layer) keys.refuse(ErrorCode::kOutOfRange, "nextn_predict_layers leaves no layers");
  if (keys.failed()) return std::unexpected(keys.error());
  if (mtp_head) {
    h.first_layer = h.n_layer - h.n_next_layer;
  } else {
    h.n_layer -= h.n_next_layer;
  }
  h.layers.resize(h.n_layer);

  if (const TensorInfo* embedding = find_tensor(gguf, "token_embd.weight"); embedding != nullptr)
    h.n_vocab = static_cast<uint32_t>(std::min<uint64_t>(embedding->shape[1], Keys::kMaxCount));
  h.activation = architecture.activation;
  h.parallel = architecture.parallel;
  h.max_alibi_bias = architecture.max_alibi_bias;
  if (architecture.embedding_scale_sqrt) h.embedding_scale = std::sqrt(static_cast<float>(h.n_embd));
  read_norms(keys, architecture, h);
  read_pooling(keys, architecture, h);
  read_rope(keys, architecture, h);
  read_window(keys, architecture, h);
  read_heads(keys, h);
  read_experts(keys, architecture, h);
  read_scales(keys, architecture, h);
  read_mixers(keys, architecture, h);
  keys.u32("attention.relative_buckets_count", h.n_relative_buckets, 1u << 12);

  for (LayerParameters& layer : h.layers) {
    layer.mixer = architecture.mixer;
    layer.use_rope = architecture.rope != RopeKind::kNone;
  }
  refuse_keys(keys, architecture);
  if (architecture.adjust != nullptr && !keys.failed()) architecture.adjust(h, keys);
  if (architecture.divide_logits) h.logit_scale = 1.0f / h.logit_scale;
  if (mtp_head && !keys.failed()) keep_mtp_head(h, keys);
  refuse_missing_keys(keys, architecture.name);
  if (!keys.failed()) check(keys, h);
  if (keys.failed()) return std::unexpected(keys.error());
  return h;
}

}  // namespace ggufscope
