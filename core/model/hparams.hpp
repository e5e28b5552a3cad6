// Hyper-parameters of a model, read from "<architecture>.*" keys with all defaults and checks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "gguf/header.hpp"
#include "model/part.hpp"
#include "nn/activation.hpp"
#include "nn/attention.hpp"
#include "nn/norm.hpp"
#include "nn/rope.hpp"

namespace ggufscope {

/// The token mixer of a layer. kAttentionMamba2: both in parallel on the same input. kOutputOnly: only the output
/// matrix, without mixing.
enum class MixerKind : uint8_t {
#define GGUFSCOPE_MIXER(kind, row) kind,
#include "model/mixers/mixers.inc"
#undef GGUFSCOPE_MIXER
};

/// Which cells a windowed layer attends to, besides the causal rule.
enum class WindowKind : uint8_t {
  kSliding,    ///< distance < window
  kChunked,    ///< inside the same chunk of `window` positions
  kSymmetric,  ///< |distance| <= window / 2
};

/// The function applied to the router's logits.
enum class Gating : uint8_t {
  kNone = 0,
  kSoftmax = 1,
  kSigmoid = 2,
  kSoftmaxOfChosen = 3,
  kSqrtSoftplus = 4,
};

/// Which layers divide their RoPE frequencies by the file's factors.
enum class RopeFactors : uint8_t { kAll, kFullLayers, kNone };

/// Two stacks that run alternately; see recurrent_stacks.cpp.
struct StackSizes {
  uint32_t n_layer = 0;  ///< of one stack; 0: the model has a single stack
  uint32_t h_cycles = 0;
  uint32_t l_cycles = 0;
  /// True if layer il belongs to a pass of the high stack.
  [[nodiscard]] bool is_high(size_t il) const { return il / n_layer % (l_cycles + 1) == l_cycles; }
};

struct LayerParameters {
  MixerKind mixer = MixerKind::kAttention;
  uint32_t n_head = 0;
  uint32_t n_head_kv = 0;
  uint32_t n_ff = 0;
  uint32_t d_k = 0;       ///< size of a key head
  uint32_t d_v = 0;       ///< size of a value head
  uint32_t n_rot = 0;     ///< rotated elements of a head
  uint32_t kv_layer = 0;  ///< the layer whose cache is read: its own, or an earlier one (Gemma 4)
  bool windowed = false;
  bool use_rope = true;
  bool chooses = false;         ///< attends only to selected positions
  bool has_indexer = false;     ///< has its own indexer; otherwise it uses the previous layer's selection
  uint32_t compress_ratio = 0;  ///< DeepSeek-V4: how many positions are compressed to one, in addition to the window
  float clamp_experts = 0;      ///< limit for the gate and input of experts' SwiGLU; 0: none
  float clamp_dense = 0;        ///< the same for dense networks and shared experts
  XieluParameters xielu;
};

struct Hparams {
  uint32_t n_vocab = 0;
  uint32_t n_ctx_train = 0;
  uint32_t n_embd = 0;
  uint32_t n_layer = 0;
  uint32_t n_next_layer = 0;  // further layers, the MTP heads, which predict additional tokens; see mtp_head.cpp
  uint32_t first_layer = 0;   // the number in the file of the first layer
  Activation activation = Activation::kSilu;
  NormKind norm = NormKind::kRms;
  float norm_eps = 1e-5f;
  uint32_t norm_groups = 1;   // a row is normalized in so many equal parts, before the weights
  float post_norm_eps = 0;    // for norms after a part, if not norm_eps
  float head_norm_eps = 0;    // for norms of queries and keys, if not norm_eps
  bool norms_follow = false;  // the norms named as before a part come after it (Chameleon's "swin")
  bool causal = true;
  bool full_layers_causal = false;  ///< if causal is false, or in images: only windowed layers look ahead
  uint32_t pooling = 5;             ///< 0 none, 1 mean, 2 first, 3 last, 4 rank, 5 the file has none
  bool rank_by_mean = false;        ///< the classification head reads the mean embedding
  Activation rank_activation = Activation::kTanh;  ///< of the head's dense layer; kGelu is the exact one there

  RopeKind rope_kind = RopeKind::kHalves;
  RopeParameters rope;           // full layers
  RopeParameters rope_windowed;  // windowed layers
  std::array<uint32_t, 4> rope_sections{};
  bool rope_interleaved_sections = false;
  bool canvas_time = false;  ///< on an image's canvas, the first axis is the canvas's time, not the token's own
  RopeFactors rope_factors = RopeFactors::kAll;
  float max_alibi_bias = 0;
  WindowKind window_kind = WindowKind::kSliding;
  uint32_t window = 0;
  uint32_t window_kept = 0;  // cells that windowed layers keep, if more than the window

  std::optional<float> attention_scale;  // default: 1 / sqrt(d_k)
  float attention_soft_cap = 0;
  float clamp_kqv = 0;
  float attention_value_scale = 1;
  float temperature_scale = 0;  // q *= log(floor((position + offset) / length) + 1) * scale + 1
  float temperature_offset = 0;
  uint32_t temperature_length = 0;

  float embedding_scale = 1;
  float residual_scale = 1;
  SituParameters situ;
  float logit_scale = 1;                    // logits are multiplied by it
  std::optional<float> logit_soft_cap;      // 0 makes all logits 0, as in llama.cpp
  uint32_t first_silent = 0, n_silent = 0;  // tokens that are never generated: their logits become the lowest float

  uint32_t n_expert = 0;
  uint32_t n_expert_used = 0;
  uint32_t n_expert_groups = 0;
  uint32_t n_group_used = 0;
  Gating gating = Gating::kSoftmax;
  bool clamp_before_activation = false;  // see LayerParameters::clamp_experts
  bool normalize_expert_weights = false;
  float expert_weights_scale = 1;
  uint32_t n_ff_exp = 0;              // width of an expert, if not n_ff
  bool n_ff_known = false;            // the file has feed_forward_length
  bool parallel = false;              // see Architecture::parallel
  float shared_expert_scale = 1;      // cohere2moe: factor for the sum of experts and the shared one
  uint32_t experts_per_chunk = 0;     // grovemoe: number of experts that share a smaller one
  float chunk_scale = 1;              // and the factor of that one's output
  float dense_and_experts_scale = 0;  // grok: factor for the sum of the dense network and the experts

  StackSizes stacks;
  uint32_t n_hash_layer = 0;  // in the first layers, the token id selects the experts
  uint32_t n_relative_buckets = 0;
  uint32_t n_encoder_layer = 0;  // t5: layers of the encoder; n_layer are the decoder's
  int32_t decoder_start = 0;
  uint32_t n_embd_per_layer = 0;  // gemma3n, gemma4
  uint32_t n_embd_out = 0;        // width of embeddings, if a matrix or a head makes them; 0: n_embd
  uint32_t n_deep_layer = 0;      // first layers after which part of a media input is added (Qwen3-VL)
  uint32_t n_loops = 1;           // how often the layers are run; n_layer counts every run
  bool norm_between_loops = true;
  ModelParts parts;                     // of single mixers and kinds of residual streams, which their headers define
  std::vector<LayerParameters> layers;  // [n_layer]; t5: as many as the longer of decoder and encoder has

  /// Number of blocks in the file. Layers that run again share their weights.
  [[nodiscard]] size_t n_blocks() const { return stacks.n_layer != 0 ? size_t{2} * stacks.n_layer : n_layer / n_loops; }
  /// The block whose weights layer il uses.
  [[nodiscard]] size_t block_of(size_t il) const {
    if (stacks.n_layer == 0) return il % n_blocks();
    return il % stacks.n_layer + (stacks.is_high(il) ? stacks.n_layer : 0);
  }

  /// The hyper-parameters of a mixer or a kind of residual streams; all defaults if the model has none.
  template <class T>
  [[nodiscard]] const T& part() const {
    return parts.get<T>();
  }
};

/// Typed look-ups of "<architecture>.<name>", or of "<name>" if the name is ".<name>". Keeps the first error.
class Keys {
 public:
  Keys(const Gguf& gguf, std::string_view architecture) : gguf_(gguf), prefix_(std::string(architecture) + ".") {}

  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] bool has_array(std::string_view name) const;
  /// Sets out if the key exists, and returns whether it does. A value of another type or above `max` is an error.
  bool u32(std::string_view name, uint32_t& out, uint32_t max = kMaxCount);
  bool f32(std::string_view name, float& out);
  bool boolean(std::string_view name, bool& out);
  bool text(std::string_view name, std::string_view& out);
  /// An array of at least out.size() token ids. Error: kNotFound if the key is absent.
  void tokens(std::string_view name, std::vector<int32_t>& out);
  /// Sets all of out to the key's one value, or to the values of an array of at least out.size(). Returns whether the
  /// key exists.
  bool u32s(std::string_view name, std::vector<uint32_t>& out, uint32_t max = kMaxCount);
  bool f32s(std::string_view name, std::vector<float>& out);
  void required(std::string_view name, uint32_t& out, uint32_t max = kMaxCount);

  void refuse(ErrorCode code, std::string message);
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] const Gguf& gguf() const { return gguf_; }
  /// "{architecture}.{name}"; a name that begins with a dot is a whole key.
  [[nodiscard]] std::string full(std::string_view name) const;

  static constexpr uint32_t kMaxCount = 1u << 24;  ///< limit for counts in keys

 private:
  const Gguf& gguf_;
  std::string prefix_;
  bool failed_ = false;
  Error error_{};
};

struct Architecture;

/// Errors: kNotFound for a missing key, kInvalidArgument or kOutOfRange for a bad value. The message names the key.
/// mtp_head: of the first MTP head alone; then kNotFound if there is none.
[[nodiscard]] Result<Hparams> read_hparams(const Gguf& gguf, const Architecture& architecture, bool mtp_head = false);

}  // namespace ggufscope
