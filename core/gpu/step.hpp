// The step record: what changes from pass to pass, written to the GPU as one range of words.
//
//   header   16 words, see StepHeader
//   tokens   n_tokens x 12 words, see StepToken
//   outputs  n_outputs words: the tokens whose outputs are returned, ascending
//   runs     4 words each: first cell, end, position of the first cell, 0. For layers with biases by position (ALiBi)
//   the
//            positions of a run's cells are consecutive; for others the position is not used
//   angles   pairs (cosine, sine) as floats: [n_tokens, n_rot / 2] for full layers, then the same for windowed ones
//
// Cells of a run are indices of the cache, for windowed layers slots. A token's runs are ascending and do not overlap.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "gpu/plan.hpp"
#include "model/mixer.hpp"

namespace ggufscope::gpu {

/// Index 0: full layers, 1: windowed ones.
struct StepHeader {
  uint32_t n_tokens = 0, n_outputs = 0;
  uint32_t n_splits[2] = {};     ///< at most kMaxSplits; splits cover all cells that are in use
  uint32_t split_cells[2] = {};  ///< cells of a split, a multiple of kSplitCells
  uint32_t outputs_at = 0;       ///< word offsets in the record; tokens are at word 16
  uint32_t runs_at = 0;
  uint32_t angles_at[2] = {};
  uint32_t half[2] = {};                        ///< n_rot / 2: pairs of a token
  uint32_t state_from = kAbsent, state_to = 0;  ///< slots of recurrent states
  uint32_t unused[2] = {};
};
struct StepToken {
  uint32_t id = 0;  ///< kChosen | i: what the GPU chose for output i of the pass before
  int32_t position = 0;
  uint32_t cell[2] = {};  ///< in full layers; the slot in windowed ones
  uint32_t first_run[2] = {}, n_runs[2] = {};
  float temperature = 1;  ///< factor of the queries
  uint32_t unused[3] = {};
};
struct StepRun {
  uint32_t begin, end;
  int32_t position;
  uint32_t unused = 0;
};
inline constexpr uint32_t kChosen = uint32_t{1} << 31;
inline constexpr size_t kStepHeaderWords = 16, kStepTokenWords = 12, kStepRunWords = 4;
static_assert(sizeof(StepHeader) == kStepHeaderWords * 4 && sizeof(StepToken) == kStepTokenWords * 4 &&
              sizeof(StepRun) == kStepRunWords * 4);

/// The words of a record: of the header, whose places are set here, tokens, outputs and runs. The angles follow. The
/// tables of full and of windowed layers are one behind the other, or one for both.
[[nodiscard]] std::vector<uint32_t> record_of(StepHeader header, std::span<const StepToken> tokens,
                                              std::span<const uint32_t> outputs, std::span<const StepRun> runs,
                                              bool one_table = false);
void append_float(std::vector<uint32_t>& words, float value);
/// The record, unless it is larger than the plan's buffer: kOutOfMemory.
[[nodiscard]] Result<std::vector<uint32_t>> checked(const Plan& plan, std::vector<uint32_t> words, size_t n_tokens);

/// Divides the cells up to n_used.
void set_splits(StepHeader& header, size_t which, uint32_t n_used);

/// The slots of recurrent states that a pass reads (kAbsent: the state of a new sequence) and writes.
struct StateSlots {
  uint32_t from = kAbsent, to = 0;
};

/// The record of a placed batch (place_batch). ids [n_tokens]: the tokens, or kChosen | i. outputs: the tokens whose
/// outputs are returned, ascending. Error: kOutOfMemory if the cells that tokens see are too scattered for the plan's
/// buffer; fewer tokens at once may fit.
[[nodiscard]] Result<std::vector<uint32_t>> step_record(const Plan& plan, const Pass& pass,
                                                        std::span<const uint32_t> ids,
                                                        std::span<const uint32_t> outputs, StateSlots slots = {});

}  // namespace ggufscope::gpu
