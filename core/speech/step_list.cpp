// Runs steps that were written down.
#include "speech/step_list.hpp"

namespace ggufscope {

Result<void> StepList::allocate_counted() {
  const uint64_t n = arena.peak();
  Result<Buffer> memory = Buffer::allocate(n * sizeof(float));
  if (!memory) return std::unexpected(memory.error());
  memory_ = std::move(*memory);
  arena.reset(memory_.as<float>(), static_cast<size_t>(n));
  return {};
}

bool StepList::run_next() {
  if (next_ == steps_.size()) {
    clear();
    return false;
  }
  steps_[next_++]->run();
  return true;
}

void StepList::clear() {
  steps_.clear();
  next_ = 0;
  memory_ = Buffer();
}

}  // namespace ggufscope
