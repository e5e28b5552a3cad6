// Places weights, caches and activations of a plan in buffers.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/sentence.hpp"
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

uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

// The codebook of an IQ type.
const IqGrid* grid_of(uint32_t type) {
  switch (static_cast<TypeId>(type)) {
    case TypeId::kIQ1_S:
    case TypeId::kIQ1_M:
      return &iq1_grid();
    case TypeId::kIQ2_XXS:
      return &iq2_xxs_grid();
    case TypeId::kIQ2_XS:
      return &iq2_xs_grid();
    case TypeId::kIQ2_S:
      return &iq2_s_grid();
    case TypeId::kIQ3_XXS:
      return &iq3_xxs_grid();
    case TypeId::kIQ3_S:
      return &iq3_s_grid();
    default:
      return nullptr;
  }
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
      caches_(h.n_layer),
      states_(h.n_layer, kAbsent) {
  activations_.fill(kAbsent);
  for (uint32_t i = 0; i < requests.size(); ++i) {
    if (requests[i].linear != nullptr) request_of_[requests[i].linear] = i;
    if (requests[i].stack != nullptr) request_of_[requests[i].stack] = i;
    if (requests[i].vector != nullptr) request_of_[requests[i].vector] = i;
  }
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

uint32_t Builder::buffer(Store store, uint64_t bytes) {
  plan.buffers.push_back({store, round_up(bytes, kStreamAlignment)});
  return static_cast<uint32_t>(plan.buffers.size() - 1);
}

uint32_t Builder::vector(const Vector& v) {
  if (!v) return kAbsent;
  const auto known = vector_at_.find(&v);
  if (known != vector_at_.end()) return known->second;
  const uint32_t at = static_cast<uint32_t>(n_vector_floats_);
  n_vector_floats_ += round_up(v.n, 4);
  return vector_at_[&v] = place_vector(v, at);
}

uint32_t Builder::place_vector(const Vector& v, uint32_t at) {
  const auto request = request_of_.find(&v);
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

uint32_t Builder::limits_of(const Linear* linear) {
  const auto found = matrix_limits.find(linear);
  if (found == matrix_limits.end()) return kAbsent;
  constexpr float kMost = std::numeric_limits<float>::max();
  const uint32_t at = static_cast<uint32_t>(n_vector_floats_);
  n_vector_floats_ += found->second.size();
  for (uint32_t i = 0; i < found->second.size(); ++i) {
    if (const Vector& v = *found->second[i]; v) {
      place_vector(v, at + i);
    } else {
      plan.constants.push_back({vectors_buffer_, uint64_t{at + i} * 4, {i % 2 == 0 ? -kMost : kMost}});
    }
  }
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
  const auto known = codes_at_.find(grid);
  if (known != codes_at_.end()) return known->second;
  std::vector<float> words(grid->codes.size() / 2);
  std::memcpy(words.data(), grid->codes.data(), words.size() * sizeof(float));
  return codes_at_[grid] = constant(words);
}

uint32_t Builder::slopes() {
  if (slopes_at_ == kAbsent) slopes_at_ = constant(text_->slopes());
  return slopes_at_;
}

uint32_t Builder::buckets() {
  if (buckets_at_ != kAbsent) return buckets_at_;
  const auto most = static_cast<int32_t>(max_distance(h.n_relative_buckets));
  std::vector<float> buckets;
  for (int32_t d = -most; d <= most; ++d)
    buckets.push_back(static_cast<float>(relative_bucket(d, h.n_relative_buckets, !h.causal)));
  return buckets_at_ = constant(buckets);
}

Builder::WeightPlace Builder::place(uint64_t bytes) {
  const uint64_t max_bytes = std::min(limits_.max_buffer_bytes, kMaxWeightBuffer);
  if (bytes > limits_.max_binding_bytes || bytes > max_bytes)
    refuse("matrices that are read together have " + counted(bytes, "byte") + ", more than the device binds");
  if (weight_buffer_ == kAbsent || plan.buffers[weight_buffer_].bytes + bytes > max_bytes)
    weight_buffer_ = buffer(Store::kWeights, 0);
  PlanBuffer& to = plan.buffers[weight_buffer_];
  const uint64_t offset = to.bytes;
  to.bytes = round_up(to.bytes + bytes, kMatrixAlignment);
  return {weight_buffer_, offset};
}

// Appends a matrix at byte `bytes` of the group.
bool Builder::place_matrix(const MatrixRows& rows, uint64_t& bytes, MatrixGroup& to, Upload& upload) {
  const bool stacked = rows.stack != nullptr;
  const void* const name = stacked                 ? static_cast<const void*>(rows.stack)
                           : rows.table != nullptr ? static_cast<const void*>(rows.table)
                                                   : rows.linear;
  const auto found = request_of_.find(name);
  if (found == request_of_.end()) return refuse("a matrix of the model is in no tensor"), false;
  const TensorRequest& request = requests_[found->second];
  static const Linear plain;
  const Linear& linear = rows.linear != nullptr ? *rows.linear : plain;
  const uint64_t n_in = stacked ? rows.stack->n_in : rows.linear != nullptr ? linear.n_in : request.entry.shape[0];
  const uint64_t n_out = stacked ? rows.stack->n_out : rows.linear != nullptr ? linear.n_out : request.n_rows;
  upload.adapted = stacked ? !rows.stack->adapters.empty() : !linear.adapters.empty();
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
  const uint64_t n_rows = stacked ? request.n_rows : rows.n != 0 ? rows.n : n_out;
  const uint64_t n_blocks = n_rows * (row_bytes / type->block_bytes);
  upload.request = found->second;
  upload.first_row = rows.first;
  upload.n_rows = n_rows;
  MatrixParameters m;
  m.n_rows = static_cast<uint32_t>(stacked ? n_out : n_rows);
  m.expert_rows = stacked ? static_cast<uint32_t>(n_out) : 0;
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
  m.bias_at = vector(stacked ? rows.stack->biases : linear.bias);
  if (m.bias_at != kAbsent) m.bias_at += static_cast<uint32_t>(rows.first);
  m.scale_at = vector(stacked ? rows.stack->scales : linear.scale);
  m.limits_at = limits_of(rows.linear);
  to.matrices.push_back(m);
  to.types.push_back(static_cast<uint8_t>(type_id));
  to.bytes.push_back(bytes - start);
  to.bias_first = to.bias_first || (m.bias_at != kAbsent && m.scale_at != kAbsent && !stacked && linear.bias_first);
  return true;
}

const MatrixGroup& Builder::group(std::span<const MatrixRows> rows) {
  const bool stacked = rows[0].stack != nullptr;
  const std::pair name{stacked ? static_cast<const void*>(rows[0].stack) : rows[0].linear, rows[0].first};
  const auto known = groups_.find(name);
  if (known != groups_.end()) return known->second;
  MatrixGroup& to = groups_[name];
  to.n_in = stacked ? rows[0].stack->n_in : rows[0].linear->n_in;
  std::vector<Upload> uploads(rows.size());
  uint64_t bytes = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    if (!place_matrix(rows[i], bytes, to, uploads[i])) return to;
  const WeightPlace at = place(bytes);
  to.binding = {at.buffer, at.offset, round_up(bytes, kStreamAlignment)};
  for (Upload& upload : uploads) {
    upload.buffer = at.buffer;
    for (uint64_t* offset : {&upload.quants, &upload.middles, &upload.scales}) *offset += at.offset;
    plan.uploads.push_back(upload);
  }
  plan.weight_bytes += bytes;
  return to;
}

bool Builder::can_bind(std::span<const MatrixRows> rows) const {
  uint64_t bytes = 0;
  for (const MatrixRows& r : rows) {
    const auto found = r.stack != nullptr ? request_of_.find(r.stack) : request_of_.find(r.linear);
    if (found == request_of_.end()) return false;
    const TensorRequest& request = requests_[found->second];
    const bool adapted = r.stack != nullptr ? !r.stack->adapters.empty() : !r.linear->adapters.empty();
    bytes += request.n_rows * (adapted ? 4 * request.entry.shape[0] : request.row_bytes) + 3 * kStreamAlignment;
  }
  return bytes <= std::min({limits_.max_binding_bytes, limits_.max_buffer_bytes, kMaxWeightBuffer});
}

std::vector<MatrixRows> Builder::parts(const Linear& linear) {
  const auto found = request_of_.find(&linear);
  if (found == request_of_.end()) return {{&linear}};
  const uint64_t max_bytes = std::min({limits_.max_binding_bytes, limits_.max_buffer_bytes, kMaxWeightBuffer}) - 64;
  // Streams have as many bytes as the file's rows, or less; with adapters they are floats.
  const uint64_t row_bytes = linear.adapters.empty() ? requests_[found->second].row_bytes : 4 * linear.n_in;
  const uint64_t n = std::max<uint64_t>(1, max_bytes / row_bytes / 64 * 64);
  std::vector<MatrixRows> parts;
  for (uint64_t first = 0; first < linear.n_out; first += n)
    parts.push_back({&linear, first, std::min<uint64_t>(n, linear.n_out - first)});
  return parts;
}

PlanBinding Builder::activation(Activations which, uint64_t n) {
  uint32_t& index = activations_[static_cast<size_t>(which)];
  if (index == kAbsent) index = buffer(Store::kActivation, 0);
  const uint64_t n_rows = which == Activations::kPartial ? std::min(plan.n_batch, kMaxColumns) : plan.n_batch;
  const bool overflows = n != 0 && n_rows > UINT64_MAX / 8 / n;
  const uint64_t bytes = overflows ? UINT64_MAX / 2 : round_up(n_rows * n * 4, kStreamAlignment);
  if (bytes > limits_.max_binding_bytes || bytes > limits_.max_buffer_bytes)
    refuse("the activations of a batch have " + counted(bytes, "byte") + ", more than the device binds");
  plan.buffers[index].bytes = std::max(plan.buffers[index].bytes, bytes);
  return {index, 0, 0};
}

uint64_t Builder::cells(size_t layer) const {
  if (!rooms.empty()) return rooms[layer].cells;
  return text_ != nullptr ? cache_cells(*text_, options, layer) : options.n_ctx;
}

void Builder::place_cache(size_t layer) {
  if (caches_[layer].keys.buffer != kAbsent) return;
  const CacheShape shape = find_mixer(h.layers[layer].mixer).cache(h, h.layers[layer]);
  const uint64_t n = cells(layer) * shape.n_head_kv;
  const CacheTypes types = rooms.empty() ? options.cache_types : CacheTypes{rooms[layer].type, rooms[layer].type};
  const uint64_t key_bytes = n * cache_row_bytes(types.keys, shape.d_k);
  const uint64_t value_bytes = n * cache_row_bytes(types.values, shape.d_v);
  const uint64_t values_at = round_up(key_bytes, kMatrixAlignment);
  if (std::max(key_bytes, value_bytes) > limits_.max_binding_bytes ||
      values_at + value_bytes > limits_.max_buffer_bytes)
    refuse("the cache of a layer has " + counted(values_at + value_bytes, "byte") + ", more than the device binds");
  const uint32_t at = buffer(Store::kCache, values_at + value_bytes);
  caches_[layer] = {{at, 0, round_up(key_bytes, 4)}, {at, values_at, round_up(value_bytes, 4)}};
  if (shape.d_v == 0) caches_[layer].values = {};
}

uint32_t Builder::slot(size_t layer, uint64_t n) {
  if (states_[layer] != kAbsent) return static_cast<uint32_t>(n);
  plan.n_slots = options.n_sequences + kMaxInFlight;
  const uint64_t bytes = plan.n_slots * n * 4;
  if (bytes > limits_.max_binding_bytes || bytes > limits_.max_buffer_bytes)
    refuse("the states of a layer have " + counted(bytes, "byte") + ", more than the device binds");
  states_[layer] = buffer(Store::kRecurrent, bytes);
  return static_cast<uint32_t>(n);
}

PlanBinding Builder::keys(size_t layer) {
  place_cache(layer);
  return caches_[layer].keys;
}

PlanBinding Builder::values(size_t layer) {
  place_cache(layer);
  return caches_[layer].values;
}

uint16_t Builder::variant(const Variant& v) {
  const auto at = std::ranges::find(plan.variants, v);
  if (at != plan.variants.end()) return static_cast<uint16_t>(at - plan.variants.begin());
  plan.variants.push_back(v);
  return static_cast<uint16_t>(plan.variants.size() - 1);
}

uint32_t Builder::parameters(std::span<const uint32_t> words) {
  const size_t at = plan.parameters.size();
  plan.parameters.resize(at + kParameterWords);
  std::ranges::copy(words, plan.parameters.begin() + static_cast<std::ptrdiff_t>(at));
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
    if (bytes <= limits_.max_binding_bytes && bytes <= limits_.max_buffer_bytes) continue;
    refuse("vectors or the record of a pass have " + counted(bytes, "byte") + ", more than the device binds");
    return std::unexpected(error_);
  }
  return std::move(plan);
}

}  // namespace ggufscope::gpu
