// Places a batch in the table of cells.
#pragma once

#include "model/mixer.hpp"

namespace ggufscope {

/// Finds the cells that each token of the pass attends to: those of its sequence, not after it, inside the window.
void find_visible(const Pass& pass, bool windowed, std::vector<CellRun>& runs,
                  std::vector<std::span<const CellRun>>& visible);
/// Takes cells for the tokens, and finds the cells that each of them attends to. Errors: kOutOfMemory.
[[nodiscard]] Result<void> place_in_cache(const Pass& pass);

}  // namespace ggufscope
