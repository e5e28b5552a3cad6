// The states of recurrent layers: one for each layer and sequence, in one buffer.
#include <algorithm>
#include <cstring>

#include "model/mixer.hpp"

namespace ggufscope {

float* State::recurrent(size_t layer, uint32_t sequence) {
  const LayerPlace& place = places_[layer];
  return recurrent_.as<float>() +
         static_cast<size_t>(place.recurrent + Arena::round_up(place.recurrent_floats) * sequence);
}

void State::reset_recurrent(uint32_t sequence) {
  for (size_t il = 0; il < places_.size() && recurrent_.size() != 0; ++il) {
    const size_t n = places_[il].recurrent_floats;
    if (n == 0) continue;
    float* p = recurrent(il, sequence);
    std::memset(p, 0, n * sizeof(float));
    if (wkv4_[il] != 0) std::fill(p + n - n / 5, p + n, -1e38f);  // the last fifth is the running maximum
  }
}

void State::copy_recurrent(uint32_t from, uint32_t to) {
  for (size_t il = 0; il < places_.size() && recurrent_.size() != 0; ++il)
    std::memcpy(recurrent(il, to), recurrent(il, from), places_[il].recurrent_floats * sizeof(float));
}

States Pass::states(size_t il, size_t offset) {
  for (size_t t = 0; t < n_tokens; ++t)
    state.token_states[t] = state.recurrent(il, static_cast<uint32_t>(sequences[t])) + offset;
  return {state.token_states.data(), n_tokens};
}

}  // namespace ggufscope
