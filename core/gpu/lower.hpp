// What the files that lower a model share: places of weights and activations, and the list of dispatches in the making.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/plan.hpp"

namespace ggufscope {
struct RwkvWeights;
}

namespace ggufscope::gpu {

struct MatrixLimits;

/// What a dispatch binds: a buffer as a whole, by its index, or a range that the builder knows.
enum class Place : uint32_t { kNone = kAbsent };

/// Matrices one below the other in one binding.
struct MatrixGroup {
  Place place = Place::kNone;
  std::array<MatrixParameters, kMaxMatrices> matrices{};  ///< as place_matrix sets them; the rest is set by a product
  std::array<uint8_t, kMaxMatrices> types{};
  std::array<uint64_t, kMaxMatrices> bytes{};
  size_t n = 0;  ///< matrices
  size_t n_in = 0;
  bool bias_first = false;
  [[nodiscard]] std::span<const MatrixParameters> all() const { return std::span(matrices).first(n); }
};

/// Rows of a matrix, or all matrices of a stack.
struct MatrixRows {
  const void* tensor = nullptr;  ///< Linear, LinearStack or Vector: what a request names
  const Vector *bias = nullptr, *scale = nullptr;
  size_t n_in = 0, n_out = 0;  ///< 0: those of the tensor
  uint64_t first = 0, n = 0;   ///< n 0: all
  bool stacked = false, adapted = false, bias_first = false;
};

/// Matrices that are placed together.
class MatrixList {
 public:
  MatrixList() = default;
  explicit MatrixList(const Linear& linear) { add(linear); }
  explicit MatrixList(const LinearStack& stack) { add(stack); }
  /// Those that the model does not have are left out.
  void add(const Linear& linear, uint64_t first = 0, uint64_t n = 0);
  void add(const LinearStack& stack);
  /// A matrix that the core keeps as one vector.
  void add_table(const Vector& table) { next().tensor = &table; }
  [[nodiscard]] std::span<const MatrixRows> rows() const { return std::span(rows_).first(n_); }
  [[nodiscard]] size_t size() const { return n_; }

 private:
  MatrixRows& next() { return rows_[n_++]; }
  std::array<MatrixRows, 2 * kMaxMatrices> rows_{};
  size_t n_ = 0;
};

/// The caches of the layers up to `end`, where not all layers have one alike.
struct CacheRoom {
  size_t end = 0;
  uint64_t cells = 0;
  CacheTypes types{};
};

/// Activations: buffers whose rows are as long as the longest use needs. kStream: the residual stream and what is added
/// to it next; they change their roles.
enum class Activations : uint8_t {
  kStream0,
  kStream1,
  kStream2,
  kNormed,
  kQkv,
  kQueries,
  kAttended,
  kPartial,
  kInner,
  kRouter,
  kChoices,
  kBeside,
  kMixed,
  kConvolved,
  kScanned,
  kFirstValues,
  kLayerInputs
};
inline constexpr size_t kActivationBuffers = 17;

/// The layers of an encoder-decoder are those of the decoder, then those of the encoder, then the decoder's again for
/// their caches of what the encoder returned. The encoder uses the first of these caches before it is filled.
[[nodiscard]] inline size_t layer_of_rows(const Hparams& h, size_t il) { return h.n_layer + h.n_encoder_layer + il; }

/// Places everything, and keeps the first reason against a plan.
class Builder {
 public:
  /// requests: of the tensors. text: the model whose layers are lowered; nullptr: those of an encoder.
  Builder(const Hparams& hparams, const Architecture& architecture, std::span<const TensorRequest> requests,
          const StateOptions& options, const DeviceLimits& limits, const Model* text = nullptr);

  const Hparams& h;
  const Architecture& arch;
  const StateOptions options;
  Plan plan;
  const std::vector<MatrixLimits>* matrix_limits = nullptr;
  std::array<CacheRoom, 3> rooms{};  ///< in the order of layers; without one: as the options say

  [[nodiscard]] const Model& model() const { return *text_; }
  /// Cells of the cache that a layer uses, and what it holds.
  [[nodiscard]] uint64_t cells(size_t layer) const;
  [[nodiscard]] CacheTypes cache_types(size_t layer) const;
  [[nodiscard]] const LayerWeights& layer_weights(size_t layer) const;
  [[nodiscard]] const LayerParameters& layer(size_t layer) const;
  void refuse(std::string reason);
  void refuse(const char* reason);
  void refuse_heads(uint64_t size);
  void refuse_bytes(const char* what, uint64_t bytes);
  [[nodiscard]] bool refused() const { return refused_; }
  [[nodiscard]] const Error& error() const { return error_; }

  /// The index of a vector's first float; kAbsent if the file has none.
  uint32_t vector(const Vector& v);
  /// The same for numbers that no tensor holds.
  uint32_t constant(std::span<const float> values);
  /// The limits of a matrix, those that are absent as the largest numbers; kAbsent: it has none.
  uint32_t limits_of(const void* linear);
  /// The codebook of an IQ type; kAbsent: it has none.
  uint32_t codes(uint32_t type);
  /// The slopes of ALiBi, [n_head].
  uint32_t slopes();
  /// The bucket of each distance from -max_distance to max_distance (T5). both_ways: cells may be behind a token.
  uint32_t buckets(bool both_ways);
  /// Places matrices in one binding, once: later calls with the same first rows return the same group.
  const MatrixGroup& group(const MatrixList& list);
  const MatrixGroup& group(const Linear& linear) { return group(MatrixList(linear)); }
  /// The number of rows of a matrix that fit into a binding.
  [[nodiscard]] uint64_t n_part_rows(const Linear& linear) const;
  /// Whether the device can bind these matrices together.
  [[nodiscard]] bool can_bind(const MatrixList& list) const;
  /// The whole buffer, with room for a row of n floats for each token.
  Place activation(Activations which, uint64_t n);
  [[nodiscard]] Place vectors() const { return Place(vectors_buffer_); }
  [[nodiscard]] Place step() const { return Place(plan.step); }
  Place keys(size_t layer) { return cache(layer).keys; }
  Place values(size_t layer) { return cache(layer).values; }
  /// Places the states of a recurrent layer. Returns the floats of each.
  uint32_t slot(size_t layer);
  [[nodiscard]] Place states(size_t layer) const { return Place(states_[layer]); }
  uint16_t variant(const Variant& v);
  uint32_t parameters(const uint32_t* words, size_t n);
  uint32_t buffer(Store store, uint64_t bytes);
  [[nodiscard]] PlanBinding binding(Place place) const;
  /// Sets the sizes that are known at the end.
  Result<Plan> finish();

 private:
  using Key = std::pair<const void*, uint64_t>;
  Place place(uint64_t bytes);
  Place range(const PlanBinding& binding);
  uint32_t place_vector(const Vector& v, uint32_t at);
  [[nodiscard]] size_t cache_of(size_t layer) const;
  struct CachePlace {
    Place keys = Place::kNone, values = Place::kNone;
  };
  const CachePlace& cache(size_t layer);
  bool place_matrix(const MatrixRows& rows, uint64_t& bytes, MatrixGroup& to, Upload& upload);
  [[nodiscard]] bool fits(uint64_t bytes) const {
    return bytes <= limits_.max_binding_bytes && bytes <= limits_.max_buffer_bytes;
  }
  [[nodiscard]] uint64_t max_bytes_together() const;
  [[nodiscard]] const CacheRoom* room(size_t layer) const;

  const std::span<const TensorRequest> requests_;
  const DeviceLimits limits_;
  const Model* const text_;
  bool refused_ = false;
  Error error_{};
  std::map<Key, uint32_t> request_of_;  // of a Linear, LinearStack or Vector
  std::map<Key, uint32_t> placed_;      // vectors, codebooks and groups: where, by what they are and their first row
  std::vector<std::unique_ptr<MatrixGroup>> groups_;
  std::vector<PlanBinding> ranges_;
  uint32_t vectors_buffer_ = kAbsent;
  uint64_t n_vector_floats_ = 0;
  uint32_t slopes_at_ = kAbsent, buckets_at_[2] = {kAbsent, kAbsent};
  uint32_t weight_buffer_ = kAbsent;
  std::array<uint32_t, kActivationBuffers> activations_{};
  std::vector<CachePlace> caches_;  // of each layer, or none
  std::vector<uint32_t> states_;    // the same
};

/// What a product reads: an activation, or the residual stream, normalized or not.
struct Source {
  Place buffer = Place::kNone;   ///< kNone: the residual stream
  const Affine* norm = nullptr;  ///< nullptr: none
  size_t n = 0;                  ///< elements of a row
  size_t stride = 0;             ///< floats from a row to the next; 0: n
  size_t at = 0;                 ///< of the first element in a row
  Place factors = Place::kNone;  ///< by which the row's elements are multiplied: at factor_at of factor_stride; or none
  uint32_t factor_at = 0, factor_stride = 0;
  bool once = false;  ///< of the residual stream: nothing else reads it normalized like that
  [[nodiscard]] bool residual() const { return buffer == Place::kNone; }
};
/// A norm that a model may not have.
[[nodiscard]] inline const Affine* if_any(const Affine& norm) { return norm ? &norm : nullptr; }

/// Parameters of a product: those of its rows, and behind them those of its matrices.
struct ProductParameters {
  RowsParameters rows;
  std::array<MatrixParameters, kMaxMatrices> matrices{};
};
static_assert(offsetof(ProductParameters, matrices) == kMatrixWord * 4 && sizeof(MatrixParameters) == kMatrixWords * 4);

/// The matrices of experts in a group: of each chosen one, and of one for all tokens that is computed with them, if
/// any.
struct ExpertMatrices {
  const MatrixGroup& group;
  std::span<const MatrixParameters> chosen, shared;
  Place choices;
  uint32_t n_used = 0;
  uint64_t row_floats = 0;  ///< of what the experts of a token have between their two products
};

/// How a product ends.
struct Target {
  Epilogue epilogue = Epilogue::kStore;
  Activation activation = Activation::kSilu;
  Place buffer = Place::kNone;
  uint32_t flags = 0;
  float factor = 1, soft_cap = 0, limit = 0;
  std::array<float, 4> gate{};
  uint32_t divide_at = kAbsent;
  Place factors = Place::kNone;  ///< one for each row, at factor_at of factor_stride; or none
  uint32_t factor_at = 0, factor_stride = 0;
  uint32_t factor_step = 0;  ///< 1: one for each element
  uint32_t row_floats = 0;   ///< of a row of the buffer, if it is longer than the outputs of this dispatch
};

/// What the variants of a layer's attention kernels have in common.
struct Heads {
  Heads();
  /// Those of a row of queries, and with kStores keys and values behind them.
  Heads(const Builder& b, size_t layer, uint32_t flags);
  Variant variant;
  HeadsParameters p;
  size_t n_qkv = 0, n_out = 0;
  Place low = Place::kNone;  ///< with kLatent
};

/// A product with a matrix for each head.
struct HeadProduct {
  uint32_t n = 0;                      ///< heads
  uint32_t head_in = 0, head_out = 0;  ///< floats from a head to the next
  uint32_t n_copied = 0;               ///< elements behind a head's input that are copied behind its output
  uint32_t n_out = 0;                  ///< floats of a row of the target
  const Heads* combines = nullptr;     ///< the input is combined of these splits
};

/// One list of dispatches, and the residual stream while it passes through the layers.
class Flow {
 public:
  Flow(Builder& builder, std::vector<PlanDispatch>& list, bool prefill) : b(builder), list_(&list), prefill_(prefill) {}

  Builder& b;

  [[nodiscard]] bool prefill() const { return prefill_; }
  void use_list(std::vector<PlanDispatch>& list) { list_ = &list, normed_ = {}; }
  void set_layer(uint32_t layer) { layer_ = layer; }
  /// The model halves the residual stream here. The plan keeps it, and doubles what is added to it from then on; norms
  /// make the same of both.
  void halve_stream() { stream_factor_ *= 2; }
  /// From here on only the tokens whose outputs are returned are computed.
  void drop_rows() { rows_ = kOutputRows, normed_ = {}; }
  [[nodiscard]] uint32_t rows() const { return rows_; }

  Place stream() { return b.activation(stream_, b.h.n_embd); }
  Place part() { return b.activation(part_, b.h.n_embd); }

  /// target = matrices of the group [of `which`] times the source. Prefill: with a dispatch before it that normalizes.
  void product(const Source& from, const MatrixGroup& group, std::span<const MatrixParameters> matrices,
               const Target& to);
  void product(const Source& from, const MatrixGroup& group, const Target& to);
  /// The same for one matrix, as a part of a row of the target. bias: that the file has apart from the matrix.
  void product(const Source& from, const Linear& linear, const Target& to, size_t at = 0, const Vector* bias = nullptr);
  /// The residual stream, normalized unless norm is nullptr.
  [[nodiscard]] Source stream_by(const Affine* norm) const;
  /// The last product of a part of a layer: adds its output to the residual stream, through the norm `post` if there is
  /// one.
  void finish_part(const Source& from, const Linear& linear, const Affine& post, float factor, float value_scale = 1);
  /// The same for a product that `to` describes except for where it goes; the stream takes it as it is.
  void finish_part(const Source& from, const Linear& linear, const Affine& post, Target to);
  /// The same for experts: the target has rows of row_floats, [n_used, n_out] and then what the shared one returns.
  void experts_in(const Source& from, const ExpertMatrices& experts, const Target& to);
  /// Adds what experts return, as finish_part does.
  void experts_out(Place inner, const ExpertMatrices& experts, const Affine& post, float factor, uint32_t flags);
  /// Rows of the group's matrices for the tokens of a pass, added.
  void embed(const MatrixGroup& group, uint32_t flags, RowsParameters p, Place to);
  /// y = the heads' matrices times the source, whose n is that of a head.
  void each_head(const Source& from, const LinearStack& stack, const HeadProduct& heads, Place to);
  /// A product whose output is added to that of experts_out.
  void add_to_part(const Source& from, const MatrixGroup& group, std::span<const MatrixParameters> matrices,
                   const Affine& post, float factor, Target to);
  void add_to_part(const Source& from, const Linear& linear, const Affine& post, float factor, const Target& to);
  [[nodiscard]] bool halves_stream() const { return stream_factor_ != 1; }
  /// What the part's buffer holds is to be added to the stream, through the norm; without a norm it was added.
  void add_later(const Affine& post, float factor);
  /// The first rows of a buffer are to be added to the stream.
  void add_rows(Place rows);
  /// The residual stream is multiplied by a number. Refuses that where nothing is to be added to it.
  void scale_stream(const Vector& scale);
  /// The residual stream normalized, as rows.
  void normalize_to(const Affine& norm, Place to);
  /// Each of the parts of n floats of a row normalized.
  void normalize_parts(Place from, const Affine& norm, uint32_t n, uint32_t n_parts, Place to);
  /// BERT's second norm of a layer: norm(x + input), where x is norm(input + part).
  void add_input_again(const Affine& norm);
  /// n: workgroups, channels or parts of a row, as the kernel's form says. places: the bindings in their order, without
  /// those that all dispatches have in common.
  template <class Parameters, class... Places>
  PlanDispatch& dispatch(const Variant& variant, const Parameters& parameters, uint32_t n, Places... places) {
    const Place list[] = {places...};
    return add(variant, reinterpret_cast<const uint32_t*>(&parameters), sizeof(parameters) / 4, n, list);
  }
  /// The state of the residual stream is the same as that of another flow.
  [[nodiscard]] bool agrees(const Flow& other) const {
    return stream_ == other.stream_ && pending_.exists == other.pending_.exists;
  }

 private:
  struct Pending {  // what is still to be added to the residual stream
    bool exists = false, sum_norm = false;
    const Affine* norm = nullptr;
    float factor = 1;
    uint32_t scale_at = kAbsent;  ///< of the sum
    Place rows = Place::kNone;    ///< or else the part's buffer
  };
  struct Normed {  // what kNormed holds
    const Affine* norm = nullptr;
    bool residual = false;
  };
  PlanDispatch& add(const Variant& variant, const uint32_t* words, size_t n_words, uint32_t n, const Place* places);
  Place due() { return pending_.rows != Place::kNone ? pending_.rows : part(); }
  uint32_t add_pending(RowsParameters& p);
  [[nodiscard]] float eps_of(const Source& from) const {
    return b.h.norm_eps * (from.residual() ? stream_factor_ * stream_factor_ : 1);
  }
  uint32_t set_norm(const Affine* norm, float eps, RowsParameters& p);
  Place normalize(const Source& from);
  struct Read {
    Place x = Place::kNone, part = Place::kNone, sum = Place::kNone;
  };
  Read read(const Source& from, RowsParameters& p, uint32_t& flags);
  uint64_t place_matrices(const MatrixGroup& group, std::span<const MatrixParameters> matrices, uint32_t per_group,
                          Variant& v, RowsParameters& p, MatrixParameters* to);
  uint64_t place_experts(const ExpertMatrices& experts, uint32_t per_group, Variant& v, ProductParameters& p);

  std::vector<PlanDispatch>* list_;
  bool prefill_;
  uint32_t rows_ = 0;
  float stream_factor_ = 1;
  uint32_t layer_ = kAbsent;
  Activations stream_ = Activations::kStream0, spare_ = Activations::kStream1, part_ = Activations::kStream2;
  Pending pending_;
  Normed normed_;
};

/// Farther cells have the bucket of this distance.
[[nodiscard]] constexpr uint32_t max_distance(uint32_t n_buckets) { return std::max(128u, n_buckets); }

inline constexpr uint32_t kMaxOutputRows = 64;  ///< of logits

struct EncoderView;
/// What the lowering reads of an encoder's parameters. All layers share one cache: it lasts for the layer.
[[nodiscard]] Hparams hparams_of(const EncoderView& view);
/// The layers of an encoder, to Plan::embeddings.
void lower_encoder_layers(Builder& b, const EncoderView& view);

[[nodiscard]] constexpr uint32_t layer_norm(NormKind kind) {
  return kind == NormKind::kLayer ? uint32_t{kLayerNorm} : 0;
}

/// Attention up to its output's product: what it attended to, [n_tokens, n_out].
struct AttentionParts {
  Place attended = Place::kNone;
  size_t n_out = 0;
};
AttentionParts begin_attention(Flow& flow, size_t layer, const Affine* norm, bool drops);
void finish_attention(Flow& flow, size_t layer, const AttentionParts& parts);
/// x += attention of the stream normalized by `norm`. drops: rows without output are dropped after it.
void lower_attention(Flow& flow, size_t layer, const Affine* norm, bool drops);
/// Refuses a selection of positions, unless the context is so short that all are selected.
void refuse_selection(Builder& b, size_t layer);
void refuse_quantized_cache(Builder& b);
void refuse_head_sizes(Builder& b, uint64_t d_k, uint64_t d_v);
/// The kernels of attention: over splits of the cells, for few tokens; what was attended in each of these, together;
/// all at once, for many tokens.
Place attend_in_splits(Flow& flow, size_t layer, const Heads& heads, Place qkv);
void combine_splits(Flow& flow, const Heads& heads, Place qkv, Place partial, Place to);
void attend_in_rows(Flow& flow, size_t layer, const Heads& heads, Place qkv, Place to, bool drops);
/// What the layer attended to.
Place attend(Flow& flow, size_t layer, const Heads& heads, Place qkv, bool drops);
/// x += attention of the stream normalized by `norm`, times these matrices: queries, and with kStores keys and values.
void lower_heads(Flow& flow, size_t layer, uint32_t flags, const Affine* norm, const MatrixList& rows,
                 const Linear& out);
/// Fills a layer's cache with the keys and values of the rows that an encoder left.
void store_rows(Flow& flow, size_t layer, const Linear& keys, const Linear& values);
/// x += latent attention, as lower_attention.
void lower_latent(Flow& flow, size_t layer, const Affine* norm, bool drops);
/// x += a recurrent mixer of the stream normalized by `norm`. Refuses those without kernels.
void lower_recurrent(Flow& flow, size_t layer, const Affine* norm);
/// RWKV's attention up to its output's product: [n_tokens, n_embd].
Place lower_rwkv(Flow& flow, size_t layer, const RwkvWeights& w, const Affine* norm);
/// x += RWKV's feed-forward network.
void lower_channel_mix(Flow& flow, size_t layer, const Affine* norm);
/// Up to the activation of a feed-forward network: [n_tokens, n_ff].
Place lower_inner(Flow& flow, size_t layer, const FfnWeights& w, const Affine* norm,
                  Activations to = Activations::kInner);
/// Gate and up as ranges of one matrix, or of one matrix for each expert.
std::array<MatrixParameters, 2> halves_of(const MatrixParameters& m, uint64_t n_ff);
Target activation_target(Builder& b, size_t layer, bool gated, float limit);
void lower_ffn(Flow& flow, size_t layer, const Affine* norm);
/// The logits of a layer's router (and of the shared expert's gate), read from the stream through `norm`.
void lower_router(Flow& flow, size_t layer, const Affine* norm);
/// The experts after their router.
void lower_experts(Flow& flow, size_t layer, const Affine* norm);
/// Attention and feed-forward network that read the same stream.
void lower_parallel(Flow& flow, size_t layer, const Affine* norm, const Affine* ffn_norm);

}  // namespace ggufscope::gpu
