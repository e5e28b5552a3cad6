// Takes what was timed of everything that a pool computed.
#pragma once

#include <vector>

#include "nn/pool.hpp"

namespace ggufscope {

/// The profile since the last call. The first call starts the timing and returns nothing.
[[nodiscard]] inline std::vector<Profile::Row> take_profile(Pool& pool) {
  if (pool.profile() == nullptr) {
    pool.start_profile();
    return {};
  }
  const std::span<const Profile::Row> rows = pool.profile()->rows();
  std::vector<Profile::Row> taken(rows.begin(), rows.end());
  pool.profile()->clear();
  return taken;
}

}  // namespace ggufscope
