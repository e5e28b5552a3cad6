// Runs steps that were written down.
#include "speech/step_list.hpp"

namespace ggufscope {

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
  arena.free();
}

}  // namespace ggufscope
