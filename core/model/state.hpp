// The state of a model between calls (KV cache and recurrent states), and the scratch memory for a batch.
//
// The cache is a table of cells. A cell belongs to a set of sequences at one position, so that sequences with a common
// beginning share its keys and values. Recurrent layers store one state for each sequence instead.
//
// Windowed layers need only the cells of the window. If that is less than the context, they store keys and values in
// slots. A cell has a slot while some sequence may still attend to it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/arena.hpp"
#include "model/model.hpp"
#include "nn/finite.hpp"

namespace ggufscope {

inline constexpr uint32_t kMaxSequences = 64;

/// The context of a model that does not say for which one it was trained.
inline constexpr uint32_t kDefaultContext = 4096;

/// The largest allowed sum of sizes.
inline constexpr uint64_t kMaxStateBytes = uint64_t{1} << 60;

/// sum += a * b; false, with sum unchanged, if the result is above kMaxStateBytes.
[[nodiscard]] bool add_product(uint64_t& sum, uint64_t a, uint64_t b);

/// A sequence's bit in Cell::sequences.
[[nodiscard]] constexpr uint64_t sequence_bit(uint32_t sequence) { return uint64_t{1} << sequence; }

struct Cell {
  int32_t position = -1;
  uint64_t sequences = 0;  ///< bit s: sequence s; 0: free
  uint32_t order = 0;      ///< order among the tokens of an image that share a position
};

/// Where a layer's rows are in the buffers of a state.
struct LayerPlace {
  uint64_t keys = 0, values = 0;  // byte offsets in cache_
  uint64_t cross_keys = 0, cross_values = 0;
  size_t d_k_row = 0, d_v_row = 0;        // elements in a row of one head
  size_t key_bytes = 0, value_bytes = 0;  // bytes in a row of one head
  size_t key_width = 1, value_width = 1;  // block widths of the Hadamard transform
  size_t n_head_kv = 0;
  CacheTypes types;
  uint64_t recurrent = 0;  // float offset of sequence 0 in recurrent_
  size_t recurrent_floats = 0;
  bool cached = false;
  bool windowed = false;
  bool slotted = false;  // stored in slots instead of cells
};

/// The sizes that State::create allocates.
struct StateSizes {
  uint64_t cache_bytes = 0;
  uint64_t recurrent_floats = 0;  ///< also of the copy that State::mark makes
  uint64_t arena_floats = 0;
  uint64_t thread_floats = 0;  ///< for each thread
  bool fits = true;            ///< false: the sum overflows
};
[[nodiscard]] StateSizes state_sizes(const Model& model, const StateOptions& options);

/// The rows of a layer's cache: a cell each, or for windowed layers a slot.
[[nodiscard]] uint64_t cache_cells(const Model& model, const StateOptions& options, size_t layer);

class State {
 public:
  /// Errors: kOutOfMemory; kInvalidArgument for options out of range.
  [[nodiscard]] static Result<std::unique_ptr<State>> create(const Model& model, Pool& pool,
                                                             const StateOptions& options);
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] const StateOptions& options() const { return options_; }

  /// Clears everything.
  void clear();
  /// Removes positions [first, last) of a sequence; last < 0: to its end. As in llama.cpp, a recurrent state does not
  /// change if only positions before the end are removed. Returns false and does nothing if only the end of a recurrent
  /// model's sequence would be removed, or if the window before first is no longer in the cache.
  bool remove(uint32_t sequence, int32_t first, int32_t last);
  /// Adds positions [first, last) of one sequence to another, which must be empty there.
  bool copy(uint32_t from, uint32_t to, int32_t first, int32_t last);
  /// Removes all other sequences.
  void keep(uint32_t sequence);
  /// Adds delta to positions [first, last) and rotates the cached keys accordingly. A recurrent state moves with the
  /// last position. Errors: kUnsupported with cells_only, and for learned positions, block attention, and keys that are
  /// scaled after RoPE;
  /// kInvalidArgument for an unknown sequence, a cell that sequences share, or a negative new position.
  [[nodiscard]] Result<void> shift(const Model& model, uint32_t sequence, int32_t first, int32_t last, int32_t delta);
  /// -1 if the sequence is empty.
  [[nodiscard]] int32_t last_position(uint32_t sequence) const;
  [[nodiscard]] size_t n_free_cells() const;
  /// Allocates the scratch memory at the first call. forward() and encode() call it. Loading a model does not: a
  /// browser frees the buffers of the weights' transfer shortly after, and the peak is smaller. Errors: kOutOfMemory;
  /// kUnsupported with cells_only.
  [[nodiscard]] Result<void> reserve_scratch();
  /// Floats of scratch memory that one batch needs.
  [[nodiscard]] static uint64_t count_scratch(const Model& model, const StateOptions& options);
  /// Bytes of all buffers; with scratch memory they equal what Model::memory computed.
  [[nodiscard]] uint64_t allocated_bytes() const {
    return cache_.size() + recurrent_.size() + arena.bytes() + thread_scratch.size();
  }

  /// Serializes one sequence. restore() accepts the bytes in this or another state of the same model and cache types.
  /// Errors: kUnsupported for encoder-decoder models and with cells_only; kInvalidArgument for an unknown sequence;
  /// restore also kBadMagic, kTruncated, kBadLength, kOutOfRange and kInvalidArgument for bytes that do not fit, and
  /// kOutOfMemory if the cache has too few free cells.
  [[nodiscard]] Result<std::vector<uint8_t>> save(const Model& model, uint32_t sequence) const;
  [[nodiscard]] Result<void> restore(const Model& model, uint32_t sequence, ByteView bytes);

  /// Remembers a sequence's recurrent states after n_tokens. return_to_mark gives them back, and n_tokens; what the
  /// cache has of later tokens stays. There is one mark.
  void mark(uint32_t sequence, size_t n_tokens);
  size_t return_to_mark(uint32_t sequence);

  // For the layers and forward.
  /// Position of the last token in a sequence's recurrent state; -1: the state is empty, or the model has none.
  [[nodiscard]] int32_t recurrent_end(uint32_t sequence) const { return recurrent_end_[sequence]; }
  void set_recurrent_end(uint32_t sequence, int32_t position) { recurrent_end_[sequence] = position; }
  [[nodiscard]] CacheView cache(size_t layer);
  /// A layer's additional row i: one head of keys, in half precision or better.
  [[nodiscard]] CacheView further(size_t layer, size_t i);
  /// A recurrent layer's state of one sequence: [recurrent_floats of the layer].
  [[nodiscard]] float* recurrent(size_t layer, uint32_t sequence);
  [[nodiscard]] std::vector<Cell>& cells() { return cells_; }
  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
  /// Takes n free cells, in order of index. Returns false if there are too few.
  bool take_cells(size_t n, std::vector<uint32_t>& out) const;
  /// Assigns slots to the cells. If necessary, takes them from cells that no sequence will attend to again. Does
  /// nothing if cells need no slots.
  bool take_slots(std::span<const uint32_t> cells);
  /// The slot in which a windowed layer stores a cell's keys and values; -1 if it no longer has one.
  [[nodiscard]] int32_t slot_of(uint32_t cell) const {
    return slot_of_.empty() ? static_cast<int32_t>(cell) : slot_of_[cell];
  }
  [[nodiscard]] size_t n_slots() const { return slot_of_.empty() ? cells_.size() : cell_of_.size(); }
  /// nullptr for a slot without a cell.
  [[nodiscard]] const Cell* cell_in(size_t slot) const {
    if (slot_of_.empty()) return &cells_[slot];
    return cell_of_[slot] < 0 ? nullptr : &cells_[static_cast<size_t>(cell_of_[slot])];
  }

  Arena arena;
  Buffer thread_scratch;  // [n_threads, thread_scratch_floats]
  size_t thread_scratch_floats = 0;
  std::vector<int32_t> batch_positions, batch_sequences;  // of the placed tokens
  std::vector<uint32_t> batch_cells, batch_slots;
  std::vector<CellRun> runs_full, runs_windowed;
  std::vector<std::span<const CellRun>> visible_full, visible_windowed;  // one for each token
  std::vector<int32_t> cell_positions, slot_positions;
  std::vector<float*> token_states;
  RopeTable rope_tables[2];
  /// Keys and values of the encoder's output, for cross-attention. They stay float32, whatever the cache's type.
  static constexpr CacheTypes kCrossTypes{};
  [[nodiscard]] CacheView cross(size_t layer);
  size_t n_encoded = 0;
  /// With watches_numbers, forward and encode record here the first layer that gave a value that is not finite. -1: the
  /// embeddings did.
  bool watches_numbers = false;
  std::optional<int32_t> broken_layer;
  /// For what layer il gave.
  void watch_numbers(int32_t il, const float* x, size_t n) {
    if (watches_numbers && !broken_layer && !all_finite({x, n})) broken_layer = il;
  }

 private:
  State() = default;
  [[nodiscard]] Result<void> allocate(const StateSizes& sizes, size_t n_threads);
  /// Error: kUnsupported with cells_only.
  [[nodiscard]] Result<void> check_rows() const;
  [[nodiscard]] CacheView view_of(const LayerPlace& place);
  void reset_recurrent(uint32_t sequence);
  void copy_recurrent(uint32_t from, uint32_t to);
  void release_slot(uint32_t cell);
  struct Saved;
  [[nodiscard]] Result<Saved> read_saved(const Model& model, ByteView bytes) const;
  [[nodiscard]] Result<void> restore_cells(uint32_t sequence, const Saved& saved, std::vector<uint32_t>& chosen,
                                           std::vector<uint32_t>& windowed);
  void restore_rows(uint32_t sequence, const uint8_t* p, std::span<const uint32_t> chosen,
                    std::span<const uint32_t> windowed);

  StateOptions options_;
  int32_t recurrent_end_[kMaxSequences] = {};  // last position in the recurrent states; -1: none
  std::vector<Cell> cells_;
  std::vector<int32_t> slot_of_;  // indexed by cell; empty: windowed layers keep all cells
  std::vector<int32_t> cell_of_;  // indexed by slot
  uint32_t window_ = 0;
  std::vector<LayerPlace> places_;  // of the layers, then of their additional rows
  bool is_recurrent_ = false;
  Buffer cache_, recurrent_;
  struct Mark {
    size_t n_tokens = 0;
    int32_t end = -1;
  } mark_;  // its states are behind those of the last sequence
  uint64_t scratch_floats_ = 0;
  size_t n_threads_ = 0;
  std::vector<uint8_t> wkv4_;  // layers whose running maximum starts at -1e38
};

}  // namespace ggufscope
