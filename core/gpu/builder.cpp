// Places weights, caches and activations of a plan in buffers.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/sentence.hpp"
#include "gpu/encoder.hpp"
#include "gpu/lower.hpp"
#include "gpu/step.hpp"
#include "model/mixer.hpp"
#include "nn/attention.hpp"
#include "quant/iq_grids.hpp"
#include "types/types.hpp"

namespace ggufscope::gpu {
namespace {

constexpr uint64_t kMatrixAlignment = 256;  // of bindings
constexpr uint64_t kStreamAlignment = 16;
constexpr uint64_t kMaxWeightBuffer = uint64_t{1} << 30;
// Runs of cells that the step record has room for, for each token of a batch.
constexpr uint64_t kRunsPerToken = 8;
// Marks a place that is a range, and the key of a group.
constexpr uint32_t kRange = uint32_t{1} << 31;
constexpr uint64_t kGroup = uint64_t{1} << 63;

uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

// The codebook of an IQ type.
const IqGrid* grid_of(uint32_t type) {
  constexpr std::pair<TypeId, const IqGrid& (*)()> kGrids[] = {
      {TypeId::kIQ1_S, iq1_grid},     {TypeId::kIQ1_M, iq1_grid},   {TypeId::kIQ2_XXS, iq2_xxs_grid},
      {TypeId::kIQ2_XS, iq2_xs_grid}, {TypeId::kIQ2_S, iq2_s_grid}, {TypeId::kIQ3_XXS, iq3_xxs_grid},
      {TypeId::kIQ3_S, iq3_s_grid},
  };
  for (const auto& [id, grid] : kGrids)
    if (static_cast<uint32_t>(id) == type) return &grid();
  return nullptr;
}

}  // namespace

Builder::Builder(const Hparams& hparams, const Architecture& architecture, std::span<const TensorRequest> requests,
                 const StateOptions& options_, const DeviceLimits& limits, const Model* text)
    : h(hparams),
      arch(architecture),
      options(options_),
      requests_(requests),
      limits_(limits),
      text_(text),
      caches_(layer_of_rows(h, h.n_layer)),
      states_(h.n_layer, kAbsent) {
  activations_.fill(kAbsent);
  for (uint32_t i = 0; i < requests.size(); ++i)
    for (const void* tensor :
         {static_cast<const void*>(requests[i].linear), static_cast<const void*>(requests[i].stack),
          static_cast<const void*>(requests[i].vector)})
      if (tensor != nullptr) request_of_[{tensor, 0}] = i;
  plan.n_batch = std::min(options.n_batch, options.n_ctx != 0 ? options.n_ctx : h.n_ctx_train);
  plan.parameter_buffer = buffer(Store::kParameters, 0);
  vectors_buffer_ = buffer(Store::kWeights, 0);
  const uint64_t pairs = uint64_t{h.rope.n_rot / 2} + h.rope_windowed.n_rot / 2;
  const uint64_t words = kStepTokenWords + 1 + kStepRunWords * kRunsPerToken + 2 * pairs;
  plan.step = buffer(Store::kStep, 4 * (kStepHeaderWords + plan.n_batch * words));
  plan.chosen = buffer(Store::kOutput, uint64_t{plan.n_batch} * 4);
}

void Builder::refuse(std::string reason) {
  if (refused_) return;
  refused_ = true;
  error_ = Error{ErrorCode::kUnsupported, 0, std::move(reason)};
}

void Builder::refuse(const char* reason) { refuse(std::string(reason)); }

void Builder::refuse_bytes(const char* what, uint64_t bytes) {
  refuse(what + counted(bytes, "byte") + ", more than the device binds");
}

void Builder::refuse_heads(uint64_t size) { refuse("heads of " + std::to_string(size) + " elements"); }

const LayerWeights& Builder::layer_weights(size_t layer) const {
  const Weights& w = text_->weights();
  return layer < h.n_layer ? w.layers[h.block_of(layer)] : w.encoder[layer - h.n_layer];
}

// All layers of an encoder-decoder have the same parameters.
const LayerParameters& Builder::layer(size_t layer) const { return h.layers[layer < h.n_layer ? layer : 0]; }

size_t Builder::cache_of(size_t layer) const {
  return layer < h.n_layer ? h.layers[layer].kv_layer : std::max(layer, layer_of_rows(h, 0));
}

PlanBinding Builder::binding(Place place) const {
  const auto index = static_cast<uint32_t>(place);
  return place != Place::kNone && (index & kRange) != 0 ? ranges_[index - kRange] : PlanBinding{index, 0, 0};
}

Place Builder::range(const PlanBinding& binding) {
  ranges_.push_back(binding);
  return Place(kRange + static_cast<uint32_t>(ranges_.size() - 1));
}

uint32_t Builder::buffer(Store store, uint64_t bytes) {
  plan.buffers.push_back({store, round_up(bytes, kStreamAlignment)});
  return static_cast<uint32_t>(plan.buffers.size() - 1);
}

uint32_t Builder::vector(const Vector& v) {
  if (!v) return kAbsent;
  const auto [known, is_new] = placed_.try_emplace({&v, 0}, static_cast<uint32_t>(n_vector_floats_));
  if (!is_new) return known->second;
  n_vector_floats_ += round_up(v.n, 4);
  return known->second = place_vector(v, known->second);
}

uint32_t Builder::place_vector(const Vector& v, uint32_t at) {
  const auto request = request_of_.find({&v, 0});
  if (request == request_of_.end()) return refuse("a vector of the model is in no tensor"), kAbsent;
  Upload upload;
  upload.request = request->second;
  upload.buffer = vectors_buffer_;
  upload.is_vector = true;
  upload.n_rows = requests_[request->second].n_rows_kept;
  upload.quants = uint64_t{at} * 4;
  plan.uploads.push_back(upload);
  return at;
}

uint32_t Builder::limits_of(const void* linear) {
  if (matrix_limits == nullptr) return kAbsent;
  const auto found = std::ranges::find(*matrix_limits, linear, &MatrixLimits::linear);
  if (found == matrix_limits->end()) return kAbsent;
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr std::array<float, 4> kNone{-kMost, kMost, -kMost, kMost};
  const uint32_t at = constant(kNone);
  for (uint32_t i = 0; i < kNone.size(); ++i)
    if (*found->of[i]) place_vector(*found->of[i], at + i);  // in the place of the constant
  return at;
}

uint32_t Builder::constant(std::span<const float> values) {
  const uint32_t at = static_cast<uint32_t>(n_vector_floats_);
  n_vector_floats_ += round_up(values.size(), 4);
  plan.constants.push_back({vectors_buffer_, uint64_t{at} * 4, {values.begin(), values.end()}});
  return at;
}

uint32_t Builder::codes(uint32_t type) {
  const IqGrid* grid = grid_of(type);
  if (grid == nullptr) return kAbsent;
  const auto [known, is_new] = placed_.try_emplace({grid, 0});
  if (!is_new) return known->second;
  std::vector<float> words(grid->codes.size() / 2);
  std::memcpy(words.data(), grid->codes.data(), words.size() * sizeof(float));
  return known->second = constant(words);
}

uint32_t Builder::slopes() {
  if (slopes_at_ == kAbsent) slopes_at_ = constant(text_->slopes());
  return slopes_at_;
}

uint32_t Builder::buckets(bool both_ways) {
  uint32_t& at = buckets_at_[both_ways];
  if (at != kAbsent) return at;
  const auto most = static_cast<int32_t>(max_distance(h.n_relative_buckets));
  std::vector<float> buckets;
  for (int32_t d = -most; d <= most; ++d)
    buckets.push_back(static_cast<float>(relative_bucket(d, h.n_relative_buckets, both_ways)));
  return at = constant(buckets);
}

// Room for weights.
Place Builder::place(uint64_t bytes) {
  if (bytes > max_bytes_together()) refuse_bytes("matrices that are read together have ", bytes);
  if (weight_buffer_ == kAbsent ||
      plan.buffers[weight_buffer_].bytes + bytes > std::min(limits_.max_buffer_bytes, kMaxWeightBuffer))
    weight_buffer_ = buffer(Store::kWeights, 0);
  PlanBuffer& to = plan.buffers[weight_buffer_];
  const uint64_t offset = to.bytes;
  to.bytes = round_up(to.bytes + bytes, kMatrixAlignment);
  return range({weight_buffer_, offset, round_up(bytes, kStreamAlignment)});
}

void MatrixList::add(const Linear& linear, uint64_t first, uint64_t n) {
  if (!linear) return;
  MatrixRows& rows = next();
  rows.tensor = &linear;
  rows.bias = &linear.bias;
  rows.scale = &linear.scale;
  rows.n_in = linear.n_in;
  rows.n_out = linear.n_out;
  rows.first = first;
  rows.n = n;
  rows.adapted = !linear.adapters.empty();
  rows.bias_first = linear.bias_first && linear.bias && linear.scale;
}

void MatrixList::add(const LinearStack& stack) {
  if (!stack) return;
  MatrixRows& rows = next();
  rows.tensor = &stack;
  rows.bias = &stack.biases;
  rows.scale = &stack.scales;
  rows.n_in = stack.n_in;
  rows.n_out = stack.n_out;
  rows.stacked = true;
  rows.adapted = !stack.adapters.empty();
}

// Appends a matrix at byte `bytes` of the group.
bool Builder::place_matrix(const MatrixRows& rows, uint64_t& bytes, MatrixGroup& to, Upload& upload) {
  const auto found = request_of_.find({rows.tensor, 0});
  if (found == request_of_.end()) return refuse("a matrix of the model is in no tensor"), false;
  const TensorRequest& request = requests_[found->second];
  const uint64_t n_in = rows.n_in != 0 ? rows.n_in : request.entry.shape[0];
  const uint64_t n_out = rows.n_out != 0 ? rows.n_out : request.n_rows;
  upload.adapted = rows.adapted;
  const uint32_t type_id = upload.adapted ? static_cast<uint32_t>(TypeId::kF32) : request.entry.type;
  const TypeGeometry* type = find_type(type_id);
  const StreamsRow* streams = find_streams(type_id);
  if (streams == nullptr || type == nullptr)
    return refuse("tensor " + request.entry.name + " has type " +
                  (type != nullptr ? std::string(type->name) : std::to_string(request.entry.type)) +
                  ", for which there are no kernels"),
           false;
  // So that each row begins at 16 bytes.
  const uint64_t multiple = type_id == static_cast<uint32_t>(TypeId::kF32) ? 4 : 8;
  const uint64_t row_bytes = n_in / type->block_size * type->block_bytes;
  if (n_in % multiple != 0 || (!upload.adapted && (request.row_bytes != row_bytes || request.entry.big_endian)))
    return refuse("tensor " + request.entry.name +
                  (request.entry.big_endian
                       ? " is big-endian"
                       : " has rows of " + counted(n_in, "element") + ", no multiple of " + std::to_string(multiple))),
           false;
  const uint64_t n_rows = rows.stacked ? request.n_rows : rows.n != 0 ? rows.n : n_out;
  const uint64_t n_blocks = n_rows * (row_bytes / type->block_bytes);
  upload.request = found->second;
  upload.first_row = rows.first;
  upload.n_rows = n_rows;
  MatrixParameters& m = to.matrices[to.n];
  m.n_rows = static_cast<uint32_t>(rows.stacked ? n_out : n_rows);
  m.expert_rows = rows.stacked ? static_cast<uint32_t>(n_out) : 0;
  const uint64_t start = bytes;
  const auto stream = [&](const Stream& s, uint32_t& at, uint64_t& offset) {
    at = static_cast<uint32_t>(bytes / 4);
    offset = bytes;
    bytes += round_up(n_blocks * s.bytes(), kStreamAlignment);
  };
  stream(streams->quants, m.quants_at, upload.quants);
  stream(streams->middles, m.middles_at, upload.middles);
  stream(streams->scales, m.scales_at, upload.scales);
  m.codes_at = codes(type_id);
  m.bias_at = rows.bias != nullptr ? vector(*rows.bias) : kAbsent;
  if (m.bias_at != kAbsent) m.bias_at += static_cast<uint32_t>(rows.first);
  m.scale_at = rows.scale != nullptr ? vector(*rows.scale) : kAbsent;
  m.limits_at = limits_of(rows.tensor);
  to.types[to.n] = static_cast<uint8_t>(type_id);
  to.bytes[to.n++] = bytes - start;
  to.bias_first = to.bias_first || rows.bias_first;
  return true;
}

const MatrixGroup& Builder::group(const MatrixList& list) {
  const auto rows = list.rows();
  if (rows.empty())
    return refuse("a matrix of the model is in no tensor"), *groups_.emplace_back(std::make_unique<MatrixGroup>());
  const auto [known, is_new] =
      placed_.try_emplace({rows[0].tensor, rows[0].first + kGroup}, static_cast<uint32_t>(groups_.size()));
  if (!is_new) return *groups_[known->second];
  MatrixGroup& to = *groups_.emplace_back(std::make_unique<MatrixGroup>());
  to.n_in = rows[0].n_in;
  std::array<Upload, kMaxMatrices> uploads{};
  if (rows.size() > uploads.size()) return refuse("a row is the product of too many matrices"), to;
  uint64_t bytes = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    if (!place_matrix(rows[i], bytes, to, uploads[i])) return to;
  to.place = place(bytes);
  const PlanBinding& at = binding(to.place);
  for (Upload& upload : std::span(uploads).first(to.n)) {
    upload.buffer = at.buffer;
    for (uint64_t* offset : {&upload.quants, &upload.middles, &upload.scales}) *offset += at.offset;
    plan.uploads.push_back(upload);
  }
  plan.weight_bytes += bytes;
  return to;
}

uint64_t Builder::max_bytes_together() const {
  return std::min({limits_.max_binding_bytes, limits_.max_buffer_bytes, kMaxWeightBuffer});
}

bool Builder::can_bind(const MatrixList& list) const {
  uint64_t bytes = 0;
  for (const MatrixRows& r : list.rows()) {
    const auto found = request_of_.find({r.tensor, 0});
    if (found == request_of_.end()) return false;
    const TensorRequest& request = requests_[found->second];
    bytes += request.n_rows * (r.adapted ? 4 * request.entry.shape[0] : request.row_bytes) + 3 * kStreamAlignment;
  }
  return bytes <= max_bytes_together();
}

uint64_t Builder::n_part_rows(const Linear& linear) const {
  const auto found = request_of_.find({&linear, 0});
  if (found == request_of_.end()) return linear.n_out;
  // Streams have as many bytes as the file's rows, or less; with adapters they are floats.
  const uint64_t row_bytes = linear.adapters.empty() ? requests_[found->second].row_bytes : 4 * linear.n_in;
  return std::max<uint64_t>(1, (max_bytes_together() - 64) / row_bytes / 64 * 64);
}

Place Builder::activation(Activations which, uint64_t n) {
  uint32_t& index = activations_[static_cast<size_t>(which)];
  if (index == kAbsent) index = buffer(Store::kActivation, 0);
  const uint64_t n_rows = which == Activations::kPartial ? std::min(plan.n_batch, kMaxColumns) : plan.n_batch;
  const bool overflows = n != 0 && n_rows > UINT64_MAX / 8 / n;
  const uint64_t bytes = overflows ? UINT64_MAX / 2 : round_up(n_rows * n * 4, kStreamAlignment);
  if (!fits(bytes)) refuse_bytes("the activations of a batch have ", bytes);
  plan.buffers[index].bytes = std::max(plan.buffers[index].bytes, bytes);
  return Place(index);
}

const CacheRoom* Builder::room(size_t layer) const {
  for (const CacheRoom& one : rooms)
    if (cache_of(layer) < one.end) return &one;
  return nullptr;
}

uint64_t Builder::cells(size_t layer) const {
  if (const CacheRoom* own = room(layer)) return own->cells;
  return text_ != nullptr ? cache_cells(*text_, options, cache_of(layer)) : options.n_ctx;
}

CacheTypes Builder::cache_types(size_t layer) const {
  const CacheRoom* own = room(layer);
  return own != nullptr ? own->types : options.cache_types;
}

const Builder::CachePlace& Builder::cache(size_t layer) {
  layer = cache_of(layer);
  CachePlace& to = caches_[layer];
  if (to.keys != Place::kNone) return to;
  const LayerParameters& of = this->layer(layer);
  const CacheShape shape = find_mixer(of.mixer).cache(h, of);
  const uint64_t n = cells(layer) * shape.n_head_kv;
  const CacheTypes types = cache_types(layer);
  const uint64_t key_bytes = n * cache_row_bytes(types.keys, shape.d_k);
  const uint64_t value_bytes = n * cache_row_bytes(types.values, shape.d_v);
  const uint64_t values_at = round_up(key_bytes, kMatrixAlignment);
  if (std::max(key_bytes, value_bytes) > limits_.max_binding_bytes ||
      values_at + value_bytes > limits_.max_buffer_bytes)
    refuse_bytes("the cache of a layer has ", values_at + value_bytes);
  const uint32_t at = buffer(Store::kCache, values_at + value_bytes);
  to.keys = range({at, 0, round_up(key_bytes, 4)});
  if (shape.d_v != 0) to.values = range({at, values_at, round_up(value_bytes, 4)});
  return to;
}

uint32_t Builder::slot(size_t layer) {
  const uint64_t n = find_mixer(h.layers[layer].mixer).state(h);
  if (states_[layer] != kAbsent) return static_cast<uint32_t>(n);
  plan.n_slots = options.n_sequences + kMaxInFlight;
  const uint64_t bytes = plan.n_slots * n * 4;
  if (!fits(bytes)) refuse_bytes("the states of a layer have ", bytes);
  states_[layer] = buffer(Store::kRecurrent, bytes);
  return static_cast<uint32_t>(n);
}

uint16_t Builder::variant(const Variant& v) {
  const auto at = std::ranges::find(plan.variants, v);
  if (at != plan.variants.end()) return static_cast<uint16_t>(at - plan.variants.begin());
  plan.variants.push_back(v);
  return static_cast<uint16_t>(plan.variants.size() - 1);
}

uint32_t Builder::parameters(const uint32_t* words, size_t n) {
  const size_t at = plan.parameters.size();
  plan.parameters.resize(at + kParameterWords);
  std::memcpy(plan.parameters.data() + at, words, n * sizeof(uint32_t));
  return static_cast<uint32_t>(at * 4);
}

Result<Plan> Builder::finish() {
  if (refused_) return std::unexpected(error_);
  plan.buffers[vectors_buffer_].bytes = std::max<uint64_t>(16, n_vector_floats_ * 4);
  plan.weight_bytes += n_vector_floats_ * 4;
  plan.buffers[plan.parameter_buffer].bytes = plan.parameters.size() * 4;
  for (auto* list :
       {&plan.decode, &plan.decode_logits, &plan.prefill, &plan.prefill_logits, &plan.embeddings, &plan.choose})
    for (PlanDispatch& dispatch : *list)
      for (PlanBinding& binding : dispatch.bindings)
        if (binding.buffer != kAbsent && binding.bytes == 0) binding.bytes = plan.buffers[binding.buffer].bytes;
  // Weights, caches, states and activations were checked when they were placed. What is left grows with the batch, or
  // with the number of vectors, and is bound whole.
  for (const uint32_t index : {vectors_buffer_, plan.parameter_buffer, plan.step, plan.chosen}) {
    const uint64_t bytes = plan.buffers[index].bytes;
    if (fits(bytes)) continue;
    refuse_bytes("vectors or the record of a pass have ", bytes);
    return std::unexpected(error_);
  }
  return std::move(plan);
}

}  // namespace ggufscope::gpu
