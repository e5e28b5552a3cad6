// The table of cells: free cells, slots of windowed layers, moving a sequence's positions, and placing a batch.
#include "model/kv_cells.hpp"

#include <algorithm>
#include <tuple>

#include "base/sentence.hpp"
#include "model/mixers/draft_attention.hpp"
#include "model/mixers/indexer.hpp"
#include "nn/kv_cache.hpp"

namespace ggufscope {

int32_t State::last_position(uint32_t sequence) const {
  if (sequence >= options_.n_sequences) return -1;
  int32_t last = recurrent_end_[sequence];
  for (const Cell& cell : cells_)
    if ((cell.sequences & sequence_bit(sequence)) != 0) last = std::max(last, cell.position);
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
  for (const uint32_t c : cells) release_slot(c);  // the cells' old slots
  // The next position of each sequence: cells of this batch count as already attended to.
  int32_t next[kMaxSequences];
  for (uint32_t s = 0; s < options_.n_sequences; ++s) next[s] = INT32_MAX;
  for (const uint32_t c : cells)
    for (uint32_t s = 0; s < options_.n_sequences; ++s)
      if ((cells_[c].sequences & sequence_bit(s)) != 0) next[s] = std::min(next[s], cells_[c].position);
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
      seen = seen || ((cell->sequences & sequence_bit(s)) != 0 && int64_t{next[s]} - cell->position < window_);
    if (!seen) old.push_back(slot);
  }
  // Frees the oldest cells first, because a sequence may be shortened a little and continue from there.
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
  if (const Result<void> ok = check_rows(); !ok) return ok;
  const Hparams& h = model.hparams();
  if (model.weights().position_embedding) return fail(ErrorCode::kUnsupported, "learned positions cannot be shifted");
  for (const LayerParameters& layer : h.layers)
    if ((layer.has_indexer && h.part<IndexerSizes>().block != 0) || layer.compress_ratio != 0)
      return fail(ErrorCode::kUnsupported, "the positions of a model with block attention cannot be shifted");
  if (model.architecture().qk_norm_after_rope && model.architecture().qk_norm != QkNorm::kUnweighted)
    return fail(ErrorCode::kUnsupported, "keys that were scaled after their rotation cannot be rotated further");
  if (sequence >= options_.n_sequences) return fail(ErrorCode::kInvalidArgument, "no such sequence");
  if (last < 0) last = INT32_MAX;
  for (const Cell& cell : cells_) {
    if ((cell.sequences & sequence_bit(sequence)) == 0 || cell.position < first || cell.position >= last) continue;
    if (cell.sequences != sequence_bit(sequence))
      return fail(ErrorCode::kInvalidArgument, "a shared cell cannot be shifted");
    if (cell.position + int64_t{delta} < 0) return fail(ErrorCode::kInvalidArgument, "a shift before position 0");
  }
  std::vector<float> key, cosines(h.rope.n_rot + h.rope_windowed.n_rot), sines(cosines.size());
  for (size_t il = 0; il < h.n_layer; ++il) {
    const LayerParameters& layer = h.layers[il];
    const LayerPlace& place = places_[il];
    if (!place.cached || !layer.use_rope || h.rope_kind == RopeKind::kNone) continue;
    RopeTable table = rope_tables[layer.windowed ? 1 : 0];
    table.magnitude = 1.0f;  // the stored keys already contain the magnitude
    rope_angles(table, delta, cosines.data(), sines.data());
    const bool latent = place.d_v_row == 0 || layer.mixer == MixerKind::kLatentAttention;
    const size_t offset = latent ? place.d_k_row - layer.n_rot : 0;
    const auto turn = [&](const LayerPlace& keys, RopeKind kind, size_t from) {
      const CacheView view = view_of(keys);
      key.resize(keys.d_k_row);
      for (size_t c = 0; c < cells_.size(); ++c) {
        const Cell& cell = cells_[c];
        if ((cell.sequences & sequence_bit(sequence)) == 0 || cell.position < first || cell.position >= last) continue;
        const int32_t at = keys.slotted ? slot_of_[c] : static_cast<int32_t>(c);
        for (size_t head = 0; head < keys.n_head_kv && at >= 0; ++head) {
          uint8_t* const row = view.keys + (head * view.n_cells + static_cast<size_t>(at)) * keys.key_bytes;
          load_cache_rows(view.types.keys, row, keys.key_bytes, 1, keys.d_k_row, key.data());
          if (is_quantized(view.types.keys)) hadamard(key.data(), keys.d_k_row, keys.key_width);
          rope(kind, key.data() + from, 1, 0, layer.n_rot, cosines.data(), sines.data());
          store_cache_row(view.types.keys, key.data(), keys.d_k_row, keys.key_width, row);
        }
      }
    };
    turn(place, h.rope_kind, offset);
    const IndexerSizes& indexer = h.part<IndexerSizes>();
    if (!layer.has_indexer || indexer.means) continue;  // means are rotated after they are read
    turn(places_[h.n_layer + il * kFurtherRows], indexer.rope, indexer.rotates_last ? indexer.d_k - layer.n_rot : 0);
  }
  for (size_t c = 0; c < cells_.size(); ++c)
    if ((cells_[c].sequences & sequence_bit(sequence)) != 0 && cells_[c].position >= first && cells_[c].position < last)
      cells_[c].position += delta;
  if (int32_t& end = recurrent_end_[sequence]; end >= first && end < last) end += delta;
  return {};
}

namespace {

// The order of image tokens with the same time: row by row. On a canvas, rows and columns may be before the time.
uint32_t image_order(const Pass& pass, size_t t) {
  const int32_t* p = pass.axes.data() + 3 * t;
  const int32_t time = p[0] - (pass.on_canvas ? INT16_MAX : 0);
  return static_cast<uint32_t>(p[1] - time) << 16 | static_cast<uint32_t>(p[2] - time);
}

// Puts one token's runs, from `begin` on, in the order of their positions. So its sums do not depend on which cells
// were free.
template <class CellAt>
void order_runs(std::vector<CellRun>& runs, size_t begin, const CellAt& cell_at) {
  if (runs.size() < begin + 2) return;
  std::ranges::sort(std::span(runs).subspan(begin), {}, [&](const CellRun& run) {
    const Cell& first = *cell_at(run.begin);
    return std::tuple(first.position, first.order, run.begin);
  });
  size_t last = begin;
  for (size_t i = begin + 1; i < runs.size(); ++i) {
    if (runs[i].begin == runs[last].end)
      runs[last].end = runs[i].end;
    else
      runs[++last] = runs[i];
  }
  runs.resize(last + 1);
}

}  // namespace

void find_visible(const Pass& pass, bool windowed, std::vector<CellRun>& runs,
                  std::vector<std::span<const CellRun>>& visible) {
  const Hparams& h = pass.h();
  const State& state = pass.target != nullptr ? *pass.target : pass.state;
  // Windowed layers store cells in slots.
  const auto cell_at = [&](size_t i) { return windowed ? state.cell_in(i) : &state.cells()[i]; };
  const size_t n_cells = windowed ? state.n_slots() : state.cells().size();
  runs.clear();
  visible.clear();
  std::vector<size_t> ends;
  ends.reserve(pass.n_tokens);
  const int64_t window = h.window;
  const bool causal = !pass.encoding && ((h.causal && !pass.both_ways) || (h.full_layers_causal && !windowed));
  for (size_t t = 0; t < pass.n_tokens; ++t) {
    const uint64_t bit = uint64_t{1} << pass.sequences[t];
    const int64_t position = pass.positions[t];
    const uint32_t order = pass.axes.empty() || !causal ? UINT32_MAX : image_order(pass, t);
    int64_t first = INT32_MIN, last = causal ? position : INT32_MAX;
    if (windowed) {
      switch (h.window_kind) {
        case WindowKind::kSliding:
          first = position - window + 1;
          break;
        case WindowKind::kChunked:
          first = position / window * window;
          break;
        case WindowKind::kSymmetric:
          first = position - window / 2;
          last = std::min(last, position + window / 2);
          break;
      }
    }
    const Cell* before = nullptr;  // the last cell of an open run
    const size_t begin = runs.size();
    for (size_t c = 0; c < n_cells; ++c) {
      const Cell* cell = cell_at(c);
      const bool sees = cell != nullptr && (cell->sequences & bit) != 0 && cell->position >= first &&
                        cell->position <= last && (cell->position != position || cell->order <= order);
      const bool follows =
          sees && before != nullptr &&
          (cell->position == before->position ? cell->order >= before->order : cell->position == before->position + 1);
      if (sees && !follows) runs.push_back({static_cast<uint32_t>(c), static_cast<uint32_t>(c)});
      if (sees) runs.back().end = static_cast<uint32_t>(c + 1);
      before = sees ? cell : nullptr;
    }
    order_runs(runs, begin, cell_at);
    ends.push_back(runs.size());
  }
  size_t begin = 0;
  for (const size_t end : ends) {
    visible.emplace_back(runs.data() + begin, end - begin);
    begin = end;
  }
}

namespace {

// Finds the cells of `of` that each token attends to.
void see_cells(const Pass& pass, const State& of) {
  State& state = pass.state;
  state.cell_positions.resize(of.cells().size());
  state.slot_positions.resize(of.n_slots());
  for (size_t c = 0; c < of.cells().size(); ++c) state.cell_positions[c] = of.cells()[c].position;
  for (size_t slot = 0; slot < of.n_slots(); ++slot) {
    const Cell* cell = of.cell_in(slot);
    state.slot_positions[slot] = cell != nullptr ? cell->position : -1;
  }
  find_visible(pass, false, state.runs_full, state.visible_full);
  if (pass.h().window != 0) find_visible(pass, true, state.runs_windowed, state.visible_windowed);
}

// Takes cells for the tokens, and finds the cells that each of them attends to.
Result<void> place_in_cache(const Pass& pass) {
  State& state = pass.state;
  if (!state.take_cells(pass.n_tokens, state.batch_cells))
    return fail(ErrorCode::kOutOfMemory, "the context of " + counted(state.options().n_ctx, "token") + " is full");
  for (size_t t = 0; t < pass.n_tokens; ++t)
    state.cells()[state.batch_cells[t]] = {pass.positions[t], uint64_t{1} << pass.sequences[t],
                                           pass.axes.empty() ? 0 : image_order(pass, t)};
  if (!state.take_slots(state.batch_cells)) {
    for (const uint32_t c : state.batch_cells) state.cells()[c] = Cell{};
    return fail(ErrorCode::kOutOfMemory, "the windows of all sequences are full");
  }
  state.batch_slots.clear();
  for (const uint32_t c : state.batch_cells) state.batch_slots.push_back(static_cast<uint32_t>(state.slot_of(c)));
  see_cells(pass, state);
  return {};
}

// Finds sequence and position of tokens [first, first + n).
Result<void> place_tokens(const Model& model, State& state, const Batch& batch, size_t first, size_t n) {
  // With multi-axis positions, an image has fewer positions than tokens.
  const bool gapless = model.is_recurrent() && state.rope_tables[0].axis.empty();
  const Linear& learned = model.weights().position_embedding;
  constexpr int32_t kUnknown = -1;
  int32_t next_of[kMaxSequences];  // the position after each sequence's last one
  std::fill(next_of, next_of + kMaxSequences, kUnknown);
  state.batch_positions.resize(n);
  state.batch_sequences.resize(n);
  for (size_t t = 0; t < n; ++t) {
    const int32_t s = batch.sequences.empty() ? 0 : batch.sequences[first + t];
    int32_t& next = next_of[s];
    if (next == kUnknown) next = state.last_position(static_cast<uint32_t>(s)) + 1;
    const int32_t position = !batch.positions.empty() ? batch.positions[first + t]
                             : batch.axes.empty()     ? next
                                                      : batch.axes[3 * (first + t)];
    if (position < next - (batch.axes.empty() ? 0 : 1) || position < 0 || position == INT32_MAX ||
        (gapless && position != next) || (learned && static_cast<size_t>(position) >= learned.n_out))
      return fail(ErrorCode::kOutOfRange, "position " + std::to_string(position) + " of sequence " + std::to_string(s) +
                                              " cannot follow " + std::to_string(next - 1));
    state.batch_positions[t] = position;
    state.batch_sequences[t] = s;
    next = position + 1;
  }
  return {};
}

bool uses_cache(const Hparams& h) {
  return std::ranges::any_of(h.layers,
                             [](const LayerParameters& layer) { return find_mixer(layer.mixer).cache != nullptr; });
}

}  // namespace

namespace {

Result<void> check_draft(const Model& model, const State& state, const Batch& batch) {
  const DraftKind kind = model.hparams().part<DraftSizes>().kind;
  if (kind == DraftKind::kNone) return {};
  if ((batch.inputs.empty() && kind != DraftKind::kBlock) || !model.token_embedding() || !model.output() ||
      (kind == DraftKind::kAssistant && batch.target == nullptr))
    return fail(ErrorCode::kUnsupported, "a draft model that reads hidden states cannot run without its target model");
  if (batch.target != nullptr && (batch.target->options().n_ctx > state.options().n_ctx ||
                                  batch.target->options().n_sequences > state.options().n_sequences))
    return fail(ErrorCode::kInvalidArgument, "the context of the draft model is smaller than that of its target");
  return {};
}

}  // namespace

Result<void> check_batch(const Model& model, const State& state, const Batch& batch) {
  const Hparams& h = model.hparams();
  const size_t n = batch.tokens.size();
  if ((!batch.positions.empty() && batch.positions.size() != n) ||
      (!batch.output_mask.empty() && batch.output_mask.size() != n) ||
      (!batch.sequences.empty() && batch.sequences.size() != n))
    return fail(ErrorCode::kInvalidArgument, "the arrays of a batch differ in length");
  for (const int32_t token : batch.tokens)
    if (token < 0 || static_cast<uint32_t>(token) >= h.n_vocab)
      return fail(ErrorCode::kOutOfRange,
                  "token " + std::to_string(token) + " is not one of " + std::to_string(h.n_vocab));
  for (const int32_t sequence : batch.sequences)
    if (sequence < 0 || static_cast<uint32_t>(sequence) >= state.options().n_sequences)
      return fail(ErrorCode::kOutOfRange, "no sequence " + std::to_string(sequence));
  if (const Result<void> ok = check_draft(model, state, batch); !ok) return ok;
  if ((!batch.inputs.empty() && batch.inputs.size() != n * model.n_input()) ||
      (!batch.axes.empty() && batch.axes.size() != 3 * n))
    return fail(ErrorCode::kInvalidArgument, "the arrays of a batch differ in length");
  if (!batch.axes.empty()) {
    if (state.rope_tables[0].axis.empty())
      return fail(ErrorCode::kInvalidArgument, "this model has one position for each token, not three");
    const bool on_canvas = !batch.positions.empty();
    for (size_t i = 0; i < batch.axes.size(); ++i) {
      const int64_t after = int64_t{batch.axes[i]} - batch.axes[i / 3 * 3];
      if (batch.axes[i] < 0 || after < (on_canvas ? -INT16_MAX : 0) || after > (on_canvas ? INT16_MAX : UINT16_MAX))
        return fail(ErrorCode::kOutOfRange,
                    "an image token's row or column is before its position, or too far after it");
    }
  }
  if ((!h.causal || batch.both_ways) && n > state.options().n_batch)
    return fail(ErrorCode::kOutOfRange, counted(n, "token") + " with bidirectional attention do not fit a batch of " +
                                            std::to_string(state.options().n_batch));
  return {};
}

Result<Pass> place_batch(const Model& model, State& state, Pool& pool, const Batch& batch, size_t first, size_t n) {
  if (const Result<void> ok = place_tokens(model, state, batch, first, n); !ok) return std::unexpected(ok.error());
  Pass pass{model, state, pool};
  pass.n_tokens = n;
  pass.positions = state.batch_positions;
  pass.sequences = state.batch_sequences;
  pass.tokens = batch.tokens.data() + first;
  if (!batch.axes.empty()) pass.axes = batch.axes.subspan(3 * first, 3 * n);
  if (!batch.inputs.empty()) pass.inputs = batch.inputs.subspan(first * model.n_input(), n * model.n_input());
  pass.on_canvas = !batch.axes.empty() && !batch.positions.empty();
  pass.both_ways = batch.both_ways;
  pass.probe = batch.probe;
  pass.target = batch.target;
  if (pass.target != nullptr) {
    state.batch_cells.clear();
    see_cells(pass, *pass.target);
  } else if (uses_cache(model.hparams()))
    if (const Result<void> ok = place_in_cache(pass); !ok) return std::unexpected(ok.error());
  return pass;
}

void commit_batch(const Pass& pass, bool computed) {
  State& state = pass.state;
  if ((!computed || !pass.h().causal) && uses_cache(pass.h()))
    for (const uint32_t c : state.batch_cells) state.cells()[c] = Cell{};
  if (!computed || !pass.model.is_recurrent()) return;
  for (size_t t = 0; t < pass.n_tokens; ++t)
    state.set_recurrent_end(static_cast<uint32_t>(pass.sequences[t]), pass.positions[t]);
}

}  // namespace ggufscope
