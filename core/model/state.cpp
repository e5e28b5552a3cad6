// Lays out and allocates a state: cache, recurrent states, scratch memory.
#include "model/state.hpp"

#include <algorithm>
#include <cstring>

#include "base/sentence.hpp"
#include "model/forward.hpp"
#include "model/mixer.hpp"
#include "model/residual/ngram_embedding.hpp"
#include "model/wavtokenizer.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr uint64_t round_up64(uint64_t n) { return (n + 63) / 64 * 64; }

uint32_t context_of(const Model& model, const StateOptions& options) {
  if (options.n_ctx != 0) return options.n_ctx;
  return model.hparams().n_ctx_train != 0 ? model.hparams().n_ctx_train : kDefaultContext;
}

// The number of cells that windowed layers keep for each sequence.
uint32_t kept_window(const Hparams& h) { return std::max(h.window, h.window_kept); }

// The number of slots of windowed layers: enough for the cells that all sequences may attend to, and a batch. 0: as
// many as cells.
uint64_t window_slots(const Model& model, const StateOptions& options) {
  const Hparams& h = model.hparams();
  if (h.window == 0 || !h.causal || model.has_encoder() || h.window_kind == WindowKind::kSymmetric) return 0;
  for (const LayerParameters& layer : h.layers)
    if (layer.kv_layer < h.layers.size() && h.layers[layer.kv_layer].windowed != layer.windowed) return 0;
  const uint64_t n_ctx = context_of(model, options);
  const uint64_t n = uint64_t{kept_window(h)} * options.n_sequences + std::min<uint64_t>(options.n_batch, n_ctx);
  return n < n_ctx ? n : 0;
}

// The rows that positions are selected by are not rounded further than half precision, whatever the cache's type.
CacheType further_type(CacheTypes cache, const FurtherRow& row) {
  return cache.keys == CacheType::kF32 || row.windowed ? CacheType::kF32 : CacheType::kF16;
}

}  // namespace

uint64_t cache_cells(const Model& model, const StateOptions& options, size_t layer) {
  const uint64_t n_slots = model.hparams().layers[layer].windowed ? window_slots(model, options) : 0;
  return n_slots != 0 ? n_slots : context_of(model, options);
}

bool add_product(uint64_t& sum, uint64_t a, uint64_t b) {
  if (b != 0 && a > kMaxStateBytes / b) return false;
  if (a * b > kMaxStateBytes - sum) return false;
  sum += a * b;
  return true;
}

namespace {

// The places of all rows. state_sizes uses only the sums, and State::create also the places.
struct Layout {
  std::vector<LayerPlace> places;  // of the layers, then of their additional rows
  uint64_t cache_bytes = 0;
  uint64_t recurrent_floats = 0;
  bool fits = true;  // false: a sum overflows

  // The offset of n rows in the cache.
  uint64_t take(uint64_t n, uint64_t row_bytes) {
    const uint64_t at = cache_bytes;
    uint64_t bytes = 0;
    fits = fits && add_product(bytes, n, row_bytes) && add_product(cache_bytes, round_up64(bytes), 1);
    return at;
  }
};

void place_keys_and_values(Layout& layout, const Model& model, const StateOptions& o, size_t il, uint64_t n_slots) {
  const LayerParameters& layer = model.hparams().layers[il];
  const Mixer& mixer = find_mixer(layer.mixer);
  if (mixer.cache == nullptr) return;
  const CacheShape shape = mixer.cache(model.hparams(), layer);
  LayerPlace& place = layout.places[il];
  place.d_k_row = shape.d_k;
  place.d_v_row = shape.d_v;
  place.key_bytes = cache_row_bytes(o.cache_types.keys, shape.d_k);
  place.value_bytes = cache_row_bytes(o.cache_types.values, shape.d_v);
  // In latent attention, the values are the keys without their rotated part.
  place.key_width = hadamard_width(shape.d_v != 0 ? shape.d_k : shape.d_k | layer.n_rot);
  place.value_width = shape.d_v != 0 ? hadamard_width(shape.d_v) : place.key_width;
  place.n_head_kv = shape.n_head_kv;
  place.types = o.cache_types;
  place.cached = layer.kv_layer == il;
  place.windowed = layer.windowed;
  place.slotted = layer.windowed && n_slots != 0;
  if (!place.cached) return;
  const uint64_t n_rows = (place.slotted ? n_slots : context_of(model, o)) * shape.n_head_kv;
  place.keys = layout.take(n_rows, place.key_bytes);
  place.values = layout.take(n_rows, place.value_bytes);
  if (!model.has_encoder()) return;
  // The layers of an encoder-decoder also store the keys and values of the encoder's output.
  place.cross_keys = layout.take(n_rows, cache_row_bytes(State::kCrossTypes.keys, shape.d_k));
  place.cross_values = layout.take(n_rows, cache_row_bytes(State::kCrossTypes.values, shape.d_v));
}

Layout lay_out(const Model& model, const StateOptions& o) {
  const Hparams& h = model.hparams();
  const uint64_t n_ctx = context_of(model, o), n_slots = window_slots(model, o);
  Layout layout;
  layout.places.resize(size_t{h.n_layer} * (1 + kFurtherRows));
  for (size_t il = 0; il < h.n_layer; ++il) {
    const LayerParameters& layer = h.layers[il];
    place_keys_and_values(layout, model, o, il, n_slots);
    const Mixer& mixer = find_mixer(layer.mixer);
    const FurtherRows rows = mixer.further_rows != nullptr ? mixer.further_rows(h, layer) : FurtherRows{};
    for (size_t i = 0; i < kFurtherRows; ++i) {
      LayerPlace& further = layout.places[h.n_layer + il * kFurtherRows + i];
      further.d_k_row = rows[i].n;
      further.n_head_kv = 1;
      further.types.keys = further_type(o.cache_types, rows[i]);
      further.key_bytes = cache_row_bytes(further.types.keys, rows[i].n);
      further.cached = rows[i].n != 0;
      further.windowed = rows[i].windowed && layer.windowed;
      further.slotted = further.windowed && n_slots != 0;
      further.keys = layout.take(further.slotted ? n_slots : n_ctx, further.key_bytes);
    }
    if (mixer.state == nullptr) continue;
    const uint64_t floats = mixer.state(h) + ngram_state(h, il);
    LayerPlace& place = layout.places[il];
    place.recurrent = layout.recurrent_floats;
    place.recurrent_floats = static_cast<size_t>(floats);
    layout.fits =
        layout.fits && add_product(layout.recurrent_floats, Arena::round_up(floats), uint64_t{o.n_sequences} + 1);
  }
  return layout;
}

StateSizes sizes_of(const Layout& layout, const Model& model, const StateOptions& options) {
  const Hparams& h = model.hparams();
  const uint64_t n_ctx = context_of(model, options);
  StateSizes sizes;
  if (options.cells_only) return sizes;
  sizes.cache_bytes = layout.cache_bytes;
  sizes.recurrent_floats = layout.recurrent_floats;
  sizes.fits = layout.fits;
  const auto attends = [&](const AttentionShape& heads) {  // attention_scratch, without overflow
    const uint64_t fixed = attention_scratch(heads, 0), per_cell = attention_scratch(heads, 1) - fixed;
    uint64_t scores = fixed;
    sizes.fits = sizes.fits && add_product(scores, per_cell, n_ctx);
    sizes.thread_floats = std::max(sizes.thread_floats, scores);
  };
  for (const LayerParameters& layer : h.layers) {
    const Mixer& mixer = find_mixer(layer.mixer);
    if (mixer.cache == nullptr) continue;
    const CacheShape shape = mixer.cache(h, layer);
    // Latent attention reads values that are part of the keys.
    attends({layer.n_head, shape.n_head_kv, shape.d_k, std::max(shape.d_k, shape.d_v)});
  }
  if (h.part<CodecSizes>().n != 0) attends(codec_heads(h));
  sizes.thread_floats = round_up64(sizes.thread_floats);
  sizes.arena_floats = State::count_scratch(model, options);
  sizes.fits = sizes.fits && sizes.arena_floats <= kMaxStateBytes;
  return sizes;
}

Result<void> check_options(const StateOptions& o) {
  if (o.n_sequences == 0 || o.n_sequences > kMaxSequences)
    return fail(ErrorCode::kInvalidArgument, "the number of sequences must be 1 to 64");
  if (o.n_batch == 0 || o.n_batch > (1u << 16) || o.n_ctx == 0 || o.n_ctx > (1u << 30))
    return fail(ErrorCode::kInvalidArgument, "a context of " + counted(o.n_ctx, "token") + " is not possible");
  return {};
}

}  // namespace

uint64_t State::count_scratch(const Model& model, const StateOptions& options) {
  Pool pool(Pool::Counting{});
  State state;
  state.options_ = options;
  state.arena.count();
  Pass pass{model, state, pool};
  pass.n_tokens = std::min(options.n_batch, context_of(model, options));
  count_forward(pass);
  if (model.has_encoder()) run_encoder(pass, {}, nullptr);
  return state.arena.peak();
}

StateSizes state_sizes(const Model& model, const StateOptions& options) {
  return sizes_of(lay_out(model, options), model, options);
}

Result<void> State::allocate(const StateSizes& sizes, size_t n_threads) {
  if (const auto r = cache_.reserve(sizes.cache_bytes); !r) return r;
  if (const auto r = recurrent_.reserve(sizes.recurrent_floats * sizeof(float)); !r) return r;
  std::memset(cache_.data(), 0, cache_.size());  // cells of a cancelled run then contain no NaN
  scratch_floats_ = sizes.arena_floats;
  thread_scratch_floats = static_cast<size_t>(sizes.thread_floats);
  n_threads_ = n_threads;
  return {};
}

Result<void> State::check_rows() const {
  if (!options_.cells_only) return {};
  return fail(ErrorCode::kUnsupported, "this state has no keys and values, only the table of cells");
}

Result<void> State::reserve_scratch() {
  if (const Result<void> ok = check_rows(); !ok) return ok;
  if (thread_scratch.data() != nullptr) return {};  // it is allocated last
  if (const auto r = arena.allocate(scratch_floats_); !r) return r;
  return thread_scratch.reserve(uint64_t{thread_scratch_floats} * n_threads_ * sizeof(float));
}

Result<std::unique_ptr<State>> State::create(const Model& model, Pool& pool, const StateOptions& options) {
  const Hparams& h = model.hparams();
  std::unique_ptr<State> state(new (std::nothrow) State);
  if (state == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate a state");
  state->options_ = options;
  StateOptions& o = state->options_;
  o.n_ctx = context_of(model, options);
  if (const auto r = check_options(o); !r) return std::unexpected(r.error());
  o.n_batch = std::min(o.n_batch, o.n_ctx);
  Layout layout = lay_out(model, o);
  const StateSizes sizes = sizes_of(layout, model, o);
  if (!sizes.fits) return fail(ErrorCode::kOutOfMemory, "the context needs more memory than can be counted");
  if (const auto r = state->allocate(sizes, pool.n_threads()); !r) return std::unexpected(r.error());

  state->cells_.resize(o.n_ctx);
  state->cell_positions.assign(o.n_ctx, -1);
  state->window_ = kept_window(h);
  if (const uint64_t n_slots = window_slots(model, o); n_slots != 0) {
    state->slot_of_.assign(o.n_ctx, -1);
    state->cell_of_.assign(static_cast<size_t>(n_slots), -1);
  }
  state->slot_positions.assign(state->n_slots(), -1);
  state->token_states.resize(o.n_batch);
  state->batch_cells.reserve(o.n_batch);
  state->places_ = std::move(layout.places);
  state->is_recurrent_ = layout.recurrent_floats != 0;
  for (const LayerParameters& layer : h.layers) state->wkv4_.push_back(layer.mixer == MixerKind::kRwkv4 ? 1 : 0);
  state->rope_tables[0] = model.rope_table(0, o.n_ctx);
  state->rope_tables[1] = model.rope_table(1, o.n_ctx);
  state->clear();
  return state;
}

CacheView State::cache(size_t layer) { return view_of(places_[layer]); }

CacheView State::further(size_t layer, size_t i) {
  const size_t n_layer = places_.size() / (1 + kFurtherRows);
  return view_of(places_[n_layer + layer * kFurtherRows + i]);
}

CacheView State::view_of(const LayerPlace& place) {
  CacheView view;
  view.types = place.types;
  view.keys = cache_.data() + place.keys;
  view.n_cells = place.slotted ? cell_of_.size() : options_.n_ctx;
  view.key_width = place.key_width;
  view.value_width = place.value_width;
  const bool shared = place.d_v_row == 0;
  if (shared) view.types.values = view.types.keys;
  view.values = shared ? view.keys : cache_.data() + place.values;
  view.value_stride = shared ? place.d_k_row : place.d_v_row;
  return view;
}

CacheView State::cross(size_t layer) {
  const LayerPlace& place = places_[layer];
  CacheView view;
  view.types = kCrossTypes;
  view.keys = cache_.data() + place.cross_keys;
  view.values = cache_.data() + place.cross_values;
  view.value_stride = place.d_v_row;
  view.n_cells = options_.n_ctx;
  return view;
}

void State::clear() {
  std::fill(cells_.begin(), cells_.end(), Cell{});
  std::fill(slot_of_.begin(), slot_of_.end(), -1);
  std::fill(cell_of_.begin(), cell_of_.end(), -1);
  std::fill(recurrent_end_, recurrent_end_ + kMaxSequences, -1);
  for (uint32_t s = 0; s < options_.n_sequences; ++s) reset_recurrent(s);
  n_encoded = 0;
}

bool State::remove(uint32_t sequence, int32_t first, int32_t last) {
  if (sequence >= options_.n_sequences) return false;
  if (last < 0) last = INT32_MAX;
  first = std::max(first, 0);
  if (is_recurrent_ && recurrent_end_[sequence] >= 0) {
    const bool to_end = last > recurrent_end_[sequence];
    const bool touched = first <= recurrent_end_[sequence];
    if (touched && first > 0 && to_end) return false;
    if (touched && to_end) {
      reset_recurrent(sequence);
      recurrent_end_[sequence] = -1;
    }
  }
  if (!slot_of_.empty() && last > last_position(sequence))
    for (size_t c = 0; c < cells_.size(); ++c) {
      const int64_t behind = int64_t{first} - cells_[c].position;
      if ((cells_[c].sequences & sequence_bit(sequence)) != 0 && behind > 0 && behind < window_ && slot_of_[c] < 0)
        return false;
    }
  for (Cell& cell : cells_) {
    if ((cell.sequences & sequence_bit(sequence)) == 0 || cell.position < first || cell.position >= last) continue;
    cell.sequences &= ~sequence_bit(sequence);
    if (cell.sequences == 0) cell.position = -1;
  }
  return true;
}

bool State::copy(uint32_t from, uint32_t to, int32_t first, int32_t last) {
  if (from >= options_.n_sequences || to >= options_.n_sequences || from == to) return false;
  if (last < 0) last = INT32_MAX;
  if (is_recurrent_) {
    if (first > 0 || last <= recurrent_end_[from]) return false;
    copy_recurrent(from, to);
    recurrent_end_[to] = recurrent_end_[from];
  }
  for (Cell& cell : cells_)
    if ((cell.sequences & sequence_bit(from)) != 0 && cell.position >= first && cell.position < last)
      cell.sequences |= sequence_bit(to);
  return true;
}

void State::mark(uint32_t sequence, size_t n_tokens) {
  mark_.n_tokens = n_tokens;
  mark_.end = recurrent_end_[sequence];
  copy_recurrent(sequence, options_.n_sequences);
}

size_t State::return_to_mark(uint32_t sequence) {
  copy_recurrent(options_.n_sequences, sequence);
  recurrent_end_[sequence] = mark_.end;
  return mark_.n_tokens;
}

void State::keep(uint32_t sequence) {
  for (uint32_t s = 0; s < options_.n_sequences; ++s)
    if (s != sequence) remove(s, 0, -1);
}

}  // namespace ggufscope
