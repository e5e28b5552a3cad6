#include "model/state.hpp"

#include <algorithm>
#include <cstring>

#include "base/sentence.hpp"
#include "model/forward.hpp"
#include "model/mixer.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr uint64_t round_up64(uint64_t n) { return (n + 63) / 64 * 64; }

uint64_t bit(uint32_t sequence) { return uint64_t{1} << sequence; }

uint32_t context_of(const Model& model, const StateOptions& options) {
  return options.n_ctx != 0 ? options.n_ctx : model.hparams().n_ctx_train;
}

// Cells that layers with a window keep of each sequence.
uint32_t kept_window(const Hparams& h) { return std::max(h.window, h.window_kept); }

// Slots of windowed layers: for the cells that all sequences may see, and a batch. 0: as many as there are cells.
uint64_t window_slots(const Model& model, const StateOptions& options) {
  const Hparams& h = model.hparams();
  if (h.window == 0 || !h.causal || model.has_encoder() || h.window_kind == WindowKind::kSymmetric) return 0;
  for (const LayerParameters& layer : h.layers)
    if (layer.kv_layer < h.layers.size() && h.layers[layer.kv_layer].windowed != layer.windowed) return 0;
  const uint64_t n_ctx = context_of(model, options);
  const uint64_t n = uint64_t{kept_window(h)} * options.n_sequences + std::min<uint64_t>(options.n_batch, n_ctx);
  return n < n_ctx ? n : 0;
}

uint64_t cells_of(const LayerParameters& layer, uint64_t n_ctx, uint64_t n_slots) {
  return layer.windowed && n_slots != 0 ? n_slots : n_ctx;
}

// Whatever the cache's type, what positions are chosen by is not rounded further.
CacheType further_type(CacheType cache, const FurtherRow& row) {
  return cache == CacheType::kF32 || row.windowed ? CacheType::kF32 : CacheType::kF16;
}

// Bytes of saved states.
constexpr uint32_t kMagic = 0x74736767;  // "ggst"
constexpr uint32_t kVersion = 2;

}  // namespace

bool add_product(uint64_t& sum, uint64_t a, uint64_t b) {
  if (b != 0 && a > kMaxStateBytes / b) return false;
  if (a * b > kMaxStateBytes - sum) return false;
  sum += a * b;
  return true;
}

StateSizes state_sizes(const Model& model, const StateOptions& options) {
  const Hparams& h = model.hparams();
  const uint64_t n_ctx = context_of(model, options), n_slots = window_slots(model, options);
  StateSizes sizes;
  for (size_t il = 0; il < h.layers.size(); ++il) {
    const LayerParameters& layer = h.layers[il];
    const Mixer& mixer = find_mixer(layer.mixer);
    if (const CacheShape shape = cache_shape(h, layer); shape.n_head_kv != 0) {
      const uint64_t n_cells = cells_of(layer, n_ctx, n_slots);
      // An encoder-decoder's layers also keep the keys and values of the encoder's output.
      for (size_t i = 0; i < (model.has_encoder() ? 2 : 1) && layer.kv_layer == il; ++i) {
        const uint64_t element = cache_element_bytes(i == 0 ? options.cache_type : State::kCrossType) * shape.n_head_kv;
        uint64_t bytes = 0;
        sizes.fits = sizes.fits && add_product(bytes, n_cells * shape.d_k, element);
        sizes.fits = sizes.fits && add_product(sizes.cache_bytes, round_up64(bytes), 1);
        bytes = 0;
        sizes.fits = sizes.fits && add_product(bytes, n_cells * shape.d_v, element);
        sizes.fits = sizes.fits && add_product(sizes.cache_bytes, round_up64(bytes), 1);
      }
      // attention_scratch, without overflow; latent attention reads values that are part of the keys.
      const AttentionShape heads{layer.n_head, shape.n_head_kv, shape.d_k, std::max(shape.d_k, shape.d_v)};
      const uint64_t fixed = attention_scratch(heads, 0), per_cell = attention_scratch(heads, 1) - fixed;
      uint64_t scores = fixed;
      sizes.fits = sizes.fits && add_product(scores, per_cell, n_ctx);
      sizes.thread_floats = std::max(sizes.thread_floats, scores);
    }
    for (const FurtherRow& row : further_rows(h, layer)) {
      const uint64_t element = cache_element_bytes(further_type(options.cache_type, row));
      uint64_t bytes = 0;
      sizes.fits =
          sizes.fits && add_product(bytes, row.windowed ? cells_of(layer, n_ctx, n_slots) : n_ctx, row.n * element);
      sizes.fits = sizes.fits && add_product(sizes.cache_bytes, round_up64(bytes), 1);
    }
    if (mixer.state != nullptr)
      sizes.fits =
          sizes.fits && add_product(sizes.recurrent_floats, Arena::round_up(mixer.state(h)), options.n_sequences);
  }
  sizes.thread_floats = round_up64(sizes.thread_floats);
  sizes.arena_floats = forward_floats(model, std::min<uint64_t>(options.n_batch, n_ctx));
  sizes.fits = sizes.fits && sizes.arena_floats <= kMaxStateBytes;
  return sizes;
}

Result<std::unique_ptr<State>> State::create(const Model& model, Pool& pool, const StateOptions& options) {
  const Hparams& h = model.hparams();
  std::unique_ptr<State> state(new (std::nothrow) State);
  if (state == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate a state");
  state->options_ = options;
  StateOptions& o = state->options_;
  o.n_ctx = context_of(model, options);
  if (o.n_sequences == 0 || o.n_sequences > kMaxSequences)
    return fail(ErrorCode::kInvalidArgument, "a state has 1 to 64 sequences");
  if (o.n_batch == 0 || o.n_batch > (1u << 16) || o.n_ctx == 0 || o.n_ctx > (1u << 30))
    return fail(ErrorCode::kInvalidArgument, "a context of " + counted(o.n_ctx, "token"));
  o.n_batch = std::min(o.n_batch, o.n_ctx);
  const StateSizes sizes = state_sizes(model, o);
  if (!sizes.fits) return fail(ErrorCode::kOutOfMemory, "the context needs more memory than can be counted");

  const auto take = [](Buffer& to, uint64_t bytes) -> Result<void> {
    Result<Buffer> buffer = Buffer::allocate(bytes);
    if (!buffer) return std::unexpected(buffer.error());
    to = std::move(*buffer);
    return {};
  };
  state->thread_scratch_floats = static_cast<size_t>(sizes.thread_floats);
  if (const auto r = take(state->cache_, sizes.cache_bytes); !r) return std::unexpected(r.error());
  if (const auto r = take(state->recurrent_, sizes.recurrent_floats * sizeof(float)); !r)
    return std::unexpected(r.error());
  if (const auto r = take(state->scratch_, sizes.arena_floats * sizeof(float)); !r) return std::unexpected(r.error());
  if (const auto r =
          take(state->thread_scratch, uint64_t{state->thread_scratch_floats} * pool.n_threads() * sizeof(float));
      !r)
    return std::unexpected(r.error());
  std::memset(state->cache_.data(), 0, state->cache_.size());  // cells of a run that was cancelled hold no NaN
  state->arena.reset(state->scratch_.as<float>(), static_cast<size_t>(sizes.arena_floats));

  state->cells_.resize(o.n_ctx);
  state->cell_positions.assign(o.n_ctx, -1);
  state->window_ = kept_window(h);
  const uint64_t n_slots = window_slots(model, o);
  if (n_slots != 0) {
    state->slot_of_.assign(o.n_ctx, -1);
    state->cell_of_.assign(static_cast<size_t>(n_slots), -1);
  }
  state->slot_positions.assign(state->n_slots(), -1);
  state->token_states.resize(o.n_batch);
  state->batch_cells.reserve(o.n_batch);
  state->places_.resize(size_t{h.n_layer} * (1 + kFurtherRows));
  uint64_t at = 0, floats = 0;
  for (size_t il = 0; il < h.n_layer; ++il) {
    const LayerParameters& layer = h.layers[il];
    LayerPlace& place = state->places_[il];
    if (const CacheShape shape = cache_shape(h, layer); shape.n_head_kv != 0) {
      const uint64_t element = cache_element_bytes(o.cache_type) * shape.n_head_kv;
      place.d_k_row = shape.d_k;
      place.d_v_row = shape.d_v;
      place.n_head_kv = shape.n_head_kv;
      place.type = o.cache_type;
      place.cached = layer.kv_layer == il;
      place.windowed = layer.windowed;
      place.slotted = layer.windowed && n_slots != 0;
      const uint64_t n_cells = cells_of(layer, o.n_ctx, n_slots);
      if (place.cached) {
        place.keys = at;
        at += round_up64(n_cells * shape.d_k * element);
        place.values = at;
        at += round_up64(n_cells * shape.d_v * element);
        if (model.has_encoder()) {
          const uint64_t cross = cache_element_bytes(State::kCrossType) * shape.n_head_kv;
          place.cross_keys = at;
          at += round_up64(uint64_t{o.n_ctx} * shape.d_k * cross);
          place.cross_values = at;
          at += round_up64(uint64_t{o.n_ctx} * shape.d_v * cross);
        }
      }
    }
    const auto rows = further_rows(h, layer);
    for (size_t i = 0; i < kFurtherRows; ++i) {
      LayerPlace& further = state->places_[h.n_layer + il * kFurtherRows + i];
      further.d_k_row = rows[i].n;
      further.n_head_kv = 1;
      further.type = further_type(o.cache_type, rows[i]);
      further.cached = rows[i].n != 0;
      further.windowed = rows[i].windowed && layer.windowed;
      further.slotted = further.windowed && n_slots != 0;
      further.keys = at;
      const uint64_t n_cells = further.slotted ? n_slots : o.n_ctx;
      at += round_up64(n_cells * rows[i].n * cache_element_bytes(further.type));
    }
    const Mixer& mixer = find_mixer(layer.mixer);
    if (mixer.state != nullptr) {
      place.recurrent = floats;
      place.recurrent_floats = static_cast<size_t>(mixer.state(h));
      floats += uint64_t{Arena::round_up(place.recurrent_floats)} * o.n_sequences;
    }
    state->wkv4_.push_back(layer.mixer == MixerKind::kRwkv4 ? 1 : 0);
  }
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
  view.type = place.type;
  view.keys = cache_.data() + place.keys;
  view.n_cells = place.slotted ? cell_of_.size() : options_.n_ctx;
  const bool shared = place.d_v_row == 0;
  view.values = shared ? view.keys : cache_.data() + place.values;
  view.value_stride = shared ? place.d_k_row : place.d_v_row;
  return view;
}

CacheView State::cross(size_t layer) {
  const LayerPlace& place = places_[layer];
  return {kCrossType, cache_.data() + place.cross_keys, cache_.data() + place.cross_values, place.d_v_row,
          options_.n_ctx};
}

float* State::recurrent(size_t layer, uint32_t sequence) {
  const LayerPlace& place = places_[layer];
  return recurrent_.as<float>() +
         static_cast<size_t>(place.recurrent + Arena::round_up(place.recurrent_floats) * sequence);
}

void State::reset_recurrent(uint32_t sequence) {
  for (size_t il = 0; il < places_.size(); ++il) {
    const size_t n = places_[il].recurrent_floats;
    if (n == 0) continue;
    float* p = recurrent(il, sequence);
    std::memset(p, 0, n * sizeof(float));
    if (wkv4_[il] != 0) std::fill(p + n - n / 5, p + n, -1e38f);  // its last fifth: the running maximum
  }
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
  const bool recurrent = recurrent_.size() != 0;
  if (recurrent && recurrent_end_[sequence] >= 0) {
    if (first > recurrent_end_[sequence]) return true;
    if (first > 0 || last <= recurrent_end_[sequence]) return false;
    reset_recurrent(sequence);
    recurrent_end_[sequence] = -1;
  }
  if (!slot_of_.empty() && last > last_position(sequence))
    for (size_t c = 0; c < cells_.size(); ++c) {
      const int64_t behind = int64_t{first} - cells_[c].position;
      if ((cells_[c].sequences & bit(sequence)) != 0 && behind > 0 && behind < window_ && slot_of_[c] < 0) return false;
    }
  for (Cell& cell : cells_) {
    if ((cell.sequences & bit(sequence)) == 0 || cell.position < first || cell.position >= last) continue;
    cell.sequences &= ~bit(sequence);
    if (cell.sequences == 0) cell.position = -1;
  }
  return true;
}

bool State::copy(uint32_t from, uint32_t to, int32_t first, int32_t last) {
  if (from >= options_.n_sequences || to >= options_.n_sequences || from == to) return false;
  if (last < 0) last = INT32_MAX;
  if (recurrent_.size() != 0) {
    if (first > 0 || last <= recurrent_end_[from]) return false;
    for (size_t il = 0; il < places_.size(); ++il)
      std::memcpy(recurrent(il, to), recurrent(il, from), places_[il].recurrent_floats * sizeof(float));
    recurrent_end_[to] = recurrent_end_[from];
  }
  for (Cell& cell : cells_)
    if ((cell.sequences & bit(from)) != 0 && cell.position >= first && cell.position < last) cell.sequences |= bit(to);
  return true;
}

void State::keep(uint32_t sequence) {
  for (uint32_t s = 0; s < options_.n_sequences; ++s)
    if (s != sequence) remove(s, 0, -1);
}

int32_t State::last_position(uint32_t sequence) const {
  if (sequence >= options_.n_sequences) return -1;
  int32_t last = recurrent_end_[sequence];
  for (const Cell& cell : cells_)
    if ((cell.sequences & bit(sequence)) != 0) last = std::max(last, cell.position);
  return last;
}

size_t State::n_free_cells() const {
  return static_cast<size_t>(
      std::count_if(cells_.begin(), cells_.end(), [](const Cell& c) { return c.sequences == 0; }));
}

bool State::take_cells(size_t n, std::vector<uint32_t>& out) const {
  out.clear();
  for (size_t i = 0; i < cells_.size() && out.size() < n; ++i)
    if (cells_[i].sequences == 0) out.push_back(static_cast<uint32_t>(i));
  return out.size() == n;
}

void State::release_slot(uint32_t cell) {
  if (slot_of_.empty() || slot_of_[cell] < 0) return;
  cell_of_[static_cast<size_t>(slot_of_[cell])] = -1;
  slot_of_[cell] = -1;
}

bool State::take_slots(std::span<const uint32_t> cells) {
  if (slot_of_.empty()) return true;
  for (const uint32_t c : cells) release_slot(c);  // those of what the cells held before
  // What the tokens to come may see: the cells of this batch among them count as seen already.
  int32_t next[kMaxSequences];
  for (uint32_t s = 0; s < options_.n_sequences; ++s) next[s] = INT32_MAX;
  for (const uint32_t c : cells)
    for (uint32_t s = 0; s < options_.n_sequences; ++s)
      if ((cells_[c].sequences & bit(s)) != 0) next[s] = std::min(next[s], cells_[c].position);
  for (uint32_t s = 0; s < options_.n_sequences; ++s)
    if (next[s] == INT32_MAX) next[s] = last_position(s) + 1;
  std::vector<uint32_t> open, old;
  for (uint32_t slot = 0; slot < cell_of_.size(); ++slot) {
    const Cell* cell = cell_in(slot);
    if (cell == nullptr || cell->sequences == 0) {
      open.push_back(slot);
      continue;
    }
    bool seen = false;
    for (uint32_t s = 0; s < options_.n_sequences; ++s)
      seen = seen || ((cell->sequences & bit(s)) != 0 && int64_t{next[s]} - cell->position < window_);
    if (!seen) old.push_back(slot);
  }
  // Frees the oldest first: a sequence may be cut a little and continue from there.
  std::sort(old.begin(), old.end(),
            [this](uint32_t a, uint32_t b) { return cell_in(a)->position < cell_in(b)->position; });
  open.insert(open.end(), old.begin(), old.end());
  size_t taken = 0;
  for (const uint32_t c : cells) {
    if (taken == open.size()) return false;
    const uint32_t slot = open[taken++];
    if (cell_of_[slot] >= 0) slot_of_[static_cast<size_t>(cell_of_[slot])] = -1;
    cell_of_[slot] = static_cast<int32_t>(c);
    slot_of_[c] = static_cast<int32_t>(slot);
  }
  return true;
}

Result<void> State::shift(const Model& model, uint32_t sequence, int32_t first, int32_t last, int32_t delta) {
  const Hparams& h = model.hparams();
  if (model.is_recurrent()) return fail(ErrorCode::kUnsupported, "a recurrent state has no positions to shift");
  if (model.weights().position_embedding) return fail(ErrorCode::kUnsupported, "learned positions cannot be shifted");
  for (const LayerParameters& layer : h.layers)
    if ((layer.has_indexer && h.indexer.block != 0) || layer.compress_ratio != 0)
      return fail(ErrorCode::kUnsupported, "blocks of positions cannot be shifted");
  if (model.architecture().qk_norm_after_rope && model.architecture().qk_norm != QkNorm::kUnweighted)
    return fail(ErrorCode::kUnsupported, "keys that were weighted after their rotation cannot be rotated on");
  if (sequence >= options_.n_sequences) return fail(ErrorCode::kInvalidArgument, "no such sequence");
  if (last < 0) last = INT32_MAX;
  for (const Cell& cell : cells_) {
    if ((cell.sequences & bit(sequence)) == 0 || cell.position < first || cell.position >= last) continue;
    if (cell.sequences != bit(sequence)) return fail(ErrorCode::kInvalidArgument, "a shared cell cannot be shifted");
    if (cell.position + int64_t{delta} < 0) return fail(ErrorCode::kInvalidArgument, "a shift before position 0");
  }
  std::vector<float> key, cosines(h.rope.n_rot + h.rope_windowed.n_rot), sines(cosines.size());
  for (size_t il = 0; il < h.n_layer; ++il) {
    const LayerParameters& layer = h.layers[il];
    const LayerPlace& place = places_[il];
    if (!place.cached || !layer.use_rope || h.rope_kind == RopeKind::kNone) continue;
    RopeTable table = rope_tables[layer.windowed ? 1 : 0];
    table.magnitude = 1.0f;  // the keys have it already
    rope_angles(table, delta, cosines.data(), sines.data());
    const bool latent = place.d_v_row == 0 || layer.mixer == MixerKind::kLatentAttention;
    const size_t offset = latent ? place.d_k_row - layer.n_rot : 0;
    const auto turn = [&](const LayerPlace& keys, RopeKind kind, size_t from) {
      const CacheView view = view_of(keys);
      key.resize(keys.d_k_row);
      for (size_t c = 0; c < cells_.size(); ++c) {
        const Cell& cell = cells_[c];
        if ((cell.sequences & bit(sequence)) == 0 || cell.position < first || cell.position >= last) continue;
        const int32_t at = keys.slotted ? slot_of_[c] : static_cast<int32_t>(c);
        for (size_t head = 0; head < keys.n_head_kv && at >= 0; ++head) {
          const size_t row = (head * view.n_cells + static_cast<size_t>(at)) * keys.d_k_row;
          float* p = reinterpret_cast<float*>(view.keys) + row;
          if (view.type == CacheType::kF16)
            vec::load_f16(reinterpret_cast<uint16_t*>(view.keys) + row, p = key.data(), keys.d_k_row);
          rope(kind, p + from, 1, 0, layer.n_rot, cosines.data(), sines.data());
          if (view.type == CacheType::kF16)
            for (size_t i = 0; i < keys.d_k_row; ++i)
              reinterpret_cast<uint16_t*>(view.keys)[row + i] = f32_to_f16(key[i]);
        }
      }
    };
    turn(place, h.rope_kind, offset);
    if (layer.has_indexer) turn(places_[h.n_layer + il * kFurtherRows], h.indexer.rope, 0);
  }
  for (size_t c = 0; c < cells_.size(); ++c)
    if ((cells_[c].sequences & bit(sequence)) != 0 && cells_[c].position >= first && cells_[c].position < last)
      cells_[c].position += delta;
  return {};
}

namespace {

template <class T>
void append(std::vector<uint8_t>& out, T value) {
  const size_t at = out.size();
  out.resize(at + sizeof(T));
  store(out.data() + at, value);
}

// A fingerprint: models with the same number can exchange states.
uint64_t fingerprint(const Model& model, CacheType type) {
  uint64_t hash = 1469598103934665603ull;
  const auto mix = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211ull; };
  for (const char c : model.architecture().name) mix(static_cast<uint8_t>(c));
  const Hparams& h = model.hparams();
  mix(h.n_embd), mix(h.n_vocab), mix(h.n_layer), mix(static_cast<uint64_t>(type));
  for (const LayerParameters& layer : h.layers)
    mix(static_cast<uint64_t>(layer.mixer)), mix(layer.n_head_kv), mix(layer.d_k), mix(layer.d_v), mix(layer.kv_layer);
  return hash;
}

}  // namespace

// magic, version, fingerprint, recurrent end, n_cells; positions; for each cell a byte, 1 where windowed layers have
// it; for each cached layer and head the cells' keys and values; for each recurrent layer its floats.
Result<std::vector<uint8_t>> State::save(const Model& model, uint32_t sequence) const {
  if (model.has_encoder()) return fail(ErrorCode::kUnsupported, "what an encoder made is not saved");
  if (sequence >= options_.n_sequences) return fail(ErrorCode::kInvalidArgument, "no such sequence");
  std::vector<uint32_t> chosen;
  for (size_t c = 0; c < cells_.size(); ++c)
    if ((cells_[c].sequences & bit(sequence)) != 0) chosen.push_back(static_cast<uint32_t>(c));
  std::sort(chosen.begin(), chosen.end(),
            [&](uint32_t a, uint32_t b) { return cells_[a].position < cells_[b].position; });
  std::vector<uint8_t> out;
  append(out, kMagic);
  append(out, kVersion);
  append(out, fingerprint(model, options_.cache_type));
  append(out, recurrent_end_[sequence]);
  append(out, static_cast<uint32_t>(chosen.size()));
  for (const uint32_t c : chosen) append(out, cells_[c].position);
  for (const uint32_t c : chosen) append(out, static_cast<uint8_t>(slot_of(c) >= 0));
  State& self = const_cast<State&>(*this);
  for (size_t il = 0; il < places_.size(); ++il) {
    const LayerPlace& place = places_[il];
    if (place.cached) {
      const CacheView view = self.view_of(place);
      for (const bool values : {false, true}) {
        const size_t row = (values ? place.d_v_row : place.d_k_row) * cache_element_bytes(place.type);
        for (size_t head = 0; head < place.n_head_kv; ++head)
          for (const uint32_t c : chosen) {
            const int32_t at = place.slotted ? slot_of_[c] : static_cast<int32_t>(c);
            if (at < 0) continue;
            const uint8_t* p =
                (values ? view.values : view.keys) + (head * view.n_cells + static_cast<size_t>(at)) * row;
            out.insert(out.end(), p, p + row);
          }
      }
    }
    if (place.recurrent_floats != 0) {
      const uint8_t* p = reinterpret_cast<const uint8_t*>(self.recurrent(il, sequence));
      out.insert(out.end(), p, p + place.recurrent_floats * sizeof(float));
    }
  }
  return out;
}

Result<void> State::restore(const Model& model, uint32_t sequence, ByteView bytes) {
  if (model.has_encoder()) return fail(ErrorCode::kUnsupported, "what an encoder made is not saved");
  if (sequence >= options_.n_sequences) return fail(ErrorCode::kInvalidArgument, "no such sequence");
  constexpr size_t kHead = 24;
  if (bytes.size() < kHead) return fail(ErrorCode::kTruncated, bytes.size(), "truncated", "saved state");
  if (load<uint32_t>(bytes.data()) != kMagic || load<uint32_t>(bytes.data() + 4) != kVersion)
    return fail(ErrorCode::kBadMagic, "this is no saved state of this version");
  if (load<uint64_t>(bytes.data() + 8) != fingerprint(model, options_.cache_type))
    return fail(ErrorCode::kInvalidArgument, "the saved state is of another model or cache type");
  const int32_t end = load<int32_t>(bytes.data() + 16);
  const uint64_t n_cells = load<uint32_t>(bytes.data() + 20);
  uint64_t cell_bytes = sizeof(int32_t) + 1, windowed_bytes = 0, fixed = kHead;
  for (const LayerPlace& place : places_) {
    if (place.cached)
      (place.windowed ? windowed_bytes : cell_bytes) +=
          (place.d_k_row + place.d_v_row) * place.n_head_kv * cache_element_bytes(place.type);
    fixed += place.recurrent_floats * sizeof(float);
  }
  uint64_t n_windowed = 0;
  if (n_cells <= cells_.size() && bytes.size() >= kHead + n_cells * (sizeof(int32_t) + 1))
    for (const uint8_t has :
         bytes.subspan(kHead + static_cast<size_t>(n_cells) * sizeof(int32_t), static_cast<size_t>(n_cells)))
      n_windowed += has != 0 ? 1 : 0;
  if (n_cells > cells_.size() || bytes.size() != fixed + n_cells * cell_bytes + n_windowed * windowed_bytes)
    return fail(ErrorCode::kBadLength,
                "the saved state has " + counted(bytes.size(), "byte") + " for " + counted(n_cells, "token"));
  const uint8_t* p = bytes.data() + kHead;
  int32_t previous = -1;  // those of an image may be at one position
  for (size_t i = 0; i < n_cells; ++i) {
    const int32_t position = load<int32_t>(p + i * sizeof(int32_t));
    if (position < previous) return fail(ErrorCode::kOutOfRange, "the saved state's positions descend");
    previous = position;
  }
  if (end < -1) return fail(ErrorCode::kOutOfRange, "the saved state ends before it begins");
  remove(sequence, 0, -1);
  std::vector<uint32_t> chosen;
  if (!take_cells(static_cast<size_t>(n_cells), chosen))
    return fail(ErrorCode::kOutOfMemory, "the context has no room for the saved " + counted(n_cells, "token"));
  for (const uint32_t c : chosen) {
    cells_[c] = {load<int32_t>(p), bit(sequence)};
    p += sizeof(int32_t);
  }
  // Keeps those cells of windowed layers that will still be seen.
  std::vector<uint32_t> windowed, kept;
  for (const uint32_t c : chosen) {
    release_slot(c);
    if (*p++ == 0) continue;
    windowed.push_back(c);
    if (previous - int64_t{cells_[c].position} < window_) kept.push_back(c);
  }
  if (!take_slots(kept)) {
    remove(sequence, 0, -1);
    return fail(ErrorCode::kOutOfMemory, "the windows have no room for the saved tokens");
  }
  for (size_t il = 0; il < places_.size(); ++il) {
    const LayerPlace& place = places_[il];
    if (place.cached) {
      const CacheView view = view_of(place);
      for (const bool values : {false, true}) {
        const size_t row = (values ? place.d_v_row : place.d_k_row) * cache_element_bytes(place.type);
        for (size_t head = 0; head < place.n_head_kv && row != 0; ++head)
          for (const uint32_t c : place.windowed ? windowed : chosen) {
            const int32_t at = place.slotted ? slot_of_[c] : static_cast<int32_t>(c);
            if (at >= 0)
              std::memcpy((values ? view.values : view.keys) + (head * view.n_cells + static_cast<size_t>(at)) * row, p,
                          row);
            p += row;
          }
      }
    }
    if (place.recurrent_floats != 0) {
      std::memcpy(recurrent(il, sequence), p, place.recurrent_floats * sizeof(float));
      p += place.recurrent_floats * sizeof(float);
    }
  }
  recurrent_end_[sequence] = end;
  return {};
}

}  // namespace ggufscope
