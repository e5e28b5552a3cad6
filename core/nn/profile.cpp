// Adds measured times to a profile's rows.
#include "nn/profile.hpp"

#include <algorithm>
#include <chrono>

namespace ggufscope {

void Profile::add(Row row) {
  row.key.one_token = one_token_;
  auto known = std::ranges::find(rows_, row.key, &Row::key);
  if (known == rows_.end()) known = rows_.insert(known, Row{.key = row.key});
  known->calls += 1;
  known->ms += row.ms;
  known->bytes += row.bytes;
  known->products += row.products;
}

double Timed::now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace ggufscope
