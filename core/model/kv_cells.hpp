// Places a batch in its sequences and in the table of cells.
#pragma once

#include "model/forward.hpp"
#include "model/mixer.hpp"

namespace ggufscope {

/// Finds the cells that each token of the pass attends to: those of its sequence, not after it, inside the window.
void find_visible(const Pass& pass, bool windowed, std::vector<CellRun>& runs,
                  std::vector<std::span<const CellRun>>& visible);

/// Checks the lengths of a batch's arrays, its token ids and its sequences. Errors: those of forward.
[[nodiscard]] Result<void> check_batch(const Model& model, const State& state, const Batch& batch);
/// Gives tokens [first, first + n) of a checked batch their positions, takes cells for them, and finds the cells that
/// each of them attends to. n: at most options().n_batch. The pass reads arrays of the state, which the next call
/// overwrites. commit_batch must follow before it. Errors: kOutOfRange for positions, kOutOfMemory; then the state is
/// unchanged.
[[nodiscard]] Result<Pass> place_batch(const Model& model, State& state, Pool& pool, const Batch& batch, size_t first,
                                       size_t n);
/// Keeps the tokens of the pass in the state. If they were not computed, or if attention is bidirectional, frees their
/// cells instead.
void commit_batch(const Pass& pass, bool computed);

}  // namespace ggufscope
