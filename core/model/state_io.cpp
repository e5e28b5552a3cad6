// Serialization of a sequence.
#include <algorithm>
#include <cstring>

#include "base/sentence.hpp"
#include "model/state.hpp"

namespace ggufscope {
namespace {

constexpr uint32_t kMagic = 0x74736767;  // "ggst"
constexpr uint32_t kVersion = 2;

template <class T>
void append(std::vector<uint8_t>& out, T value) {
  const size_t at = out.size();
  out.resize(at + sizeof(T));
  store(out.data() + at, value);
}

// A fingerprint: models with equal fingerprints can exchange states.
uint64_t fingerprint(const Model& model, CacheTypes types) {
  uint64_t hash = 1469598103934665603ull;
  const auto mix = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211ull; };
  for (const char c : model.architecture().name) mix(static_cast<uint8_t>(c));
  const Hparams& h = model.hparams();
  mix(h.n_embd), mix(h.n_vocab), mix(h.n_layer), mix(static_cast<uint64_t>(types.keys));
  mix(static_cast<uint64_t>(types.values));
  for (const LayerParameters& layer : h.layers)
    mix(static_cast<uint64_t>(layer.mixer)), mix(layer.n_head_kv), mix(layer.d_k), mix(layer.d_v), mix(layer.kv_layer);
  return hash;
}

}  // namespace

// Format: magic, version, fingerprint, recurrent end, n_cells; positions; for each cell a byte, which is 1 if windowed
// layers have it; for each cached layer and head the cells' keys and values; for each recurrent layer its floats.
Result<std::vector<uint8_t>> State::save(const Model& model, uint32_t sequence) const {
  if (const Result<void> ok = check_rows(); !ok) return std::unexpected(ok.error());
  if (model.has_encoder())
    return fail(ErrorCode::kUnsupported, "the state of an encoder-decoder model cannot be saved");
  if (sequence >= options_.n_sequences) return fail(ErrorCode::kInvalidArgument, "no such sequence");
  std::vector<uint32_t> chosen;
  for (size_t c = 0; c < cells_.size(); ++c)
    if ((cells_[c].sequences & sequence_bit(sequence)) != 0) chosen.push_back(static_cast<uint32_t>(c));
  std::sort(chosen.begin(), chosen.end(),
            [&](uint32_t a, uint32_t b) { return cells_[a].position < cells_[b].position; });
  std::vector<uint8_t> out;
  append(out, kMagic);
  append(out, kVersion);
  append(out, fingerprint(model, options_.cache_types));
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
        const size_t row = values ? place.value_bytes : place.key_bytes;
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

// The parts of saved bytes whose lengths agree with each other and with this state.
struct State::Saved {
  int32_t end = -1;   // of the recurrent state
  int32_t last = -1;  // the highest position
  size_t n_cells = 0;
  const uint8_t* positions = nullptr;   // [n_cells], int32
  const uint8_t* has_window = nullptr;  // [n_cells]: 1 if windowed layers have the cell
  const uint8_t* rows = nullptr;
};

Result<State::Saved> State::read_saved(const Model& model, ByteView bytes) const {
  constexpr size_t kHead = 24;
  if (bytes.size() < kHead) return fail(ErrorCode::kTruncated, bytes.size(), "truncated", "saved state");
  if (load<uint32_t>(bytes.data()) != kMagic || load<uint32_t>(bytes.data() + 4) != kVersion)
    return fail(ErrorCode::kBadMagic, "this is not a saved state of this version");
  if (load<uint64_t>(bytes.data() + 8) != fingerprint(model, options_.cache_types))
    return fail(ErrorCode::kInvalidArgument, "the saved state is for another model or cache type");
  const uint64_t n_cells = load<uint32_t>(bytes.data() + 20);
  uint64_t cell_bytes = sizeof(int32_t) + 1, windowed_bytes = 0, fixed = kHead;
  for (const LayerPlace& place : places_) {
    if (place.cached)
      (place.windowed ? windowed_bytes : cell_bytes) += (place.key_bytes + place.value_bytes) * place.n_head_kv;
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
  Saved saved;
  saved.end = load<int32_t>(bytes.data() + 16);
  saved.n_cells = static_cast<size_t>(n_cells);
  saved.positions = bytes.data() + kHead;
  saved.has_window = saved.positions + saved.n_cells * sizeof(int32_t);
  saved.rows = saved.has_window + saved.n_cells;
  for (size_t i = 0; i < saved.n_cells; ++i) {
    const int32_t position = load<int32_t>(saved.positions + i * sizeof(int32_t));
    // Cells of an image may have the same position.
    if (position < saved.last) return fail(ErrorCode::kOutOfRange, "the saved state's positions descend");
    saved.last = position;
  }
  if (saved.end < -1) return fail(ErrorCode::kOutOfRange, "the saved state ends before it begins");
  return saved;
}

// Takes cells and slots. chosen: the cells in the order of the saved ones; windowed: those that windowed layers have.
Result<void> State::restore_cells(uint32_t sequence, const Saved& saved, std::vector<uint32_t>& chosen,
                                  std::vector<uint32_t>& windowed) {
  if (!take_cells(saved.n_cells, chosen))
    return fail(ErrorCode::kOutOfMemory, "the context has no room for the saved " + counted(saved.n_cells, "token"));
  for (size_t i = 0; i < saved.n_cells; ++i)
    cells_[chosen[i]] = {load<int32_t>(saved.positions + i * sizeof(int32_t)), sequence_bit(sequence)};
  std::vector<uint32_t> kept;  // cells of windowed layers that will still be attended to
  for (size_t i = 0; i < saved.n_cells; ++i) {
    const uint32_t c = chosen[i];
    release_slot(c);
    if (saved.has_window[i] == 0) continue;
    windowed.push_back(c);
    if (saved.last - int64_t{cells_[c].position} < window_) kept.push_back(c);
  }
  if (take_slots(kept)) return {};
  remove(sequence, 0, -1);
  return fail(ErrorCode::kOutOfMemory, "the windows have no room for the saved tokens");
}

// Copies the keys, values and recurrent states, which begin at p.
void State::restore_rows(uint32_t sequence, const uint8_t* p, std::span<const uint32_t> chosen,
                         std::span<const uint32_t> windowed) {
  for (size_t il = 0; il < places_.size(); ++il) {
    const LayerPlace& place = places_[il];
    if (place.cached) {
      const CacheView view = view_of(place);
      for (const bool values : {false, true}) {
        const size_t row = values ? place.value_bytes : place.key_bytes;
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
}

Result<void> State::restore(const Model& model, uint32_t sequence, ByteView bytes) {
  if (const Result<void> ok = check_rows(); !ok) return ok;
  if (model.has_encoder())
    return fail(ErrorCode::kUnsupported, "the state of an encoder-decoder model cannot be restored");
  if (sequence >= options_.n_sequences) return fail(ErrorCode::kInvalidArgument, "no such sequence");
  const Result<Saved> saved = read_saved(model, bytes);
  if (!saved) return std::unexpected(saved.error());
  remove(sequence, 0, -1);
  std::vector<uint32_t> chosen, windowed;
  if (const Result<void> done = restore_cells(sequence, *saved, chosen, windowed); !done) return done;
  restore_rows(sequence, saved->rows, chosen, windowed);
  recurrent_end_[sequence] = saved->end;
  return {};
}

}  // namespace ggufscope
