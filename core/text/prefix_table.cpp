// Builds the table of sorted words.
#include "text/prefix_table.hpp"

#include "base/sort.hpp"

namespace ggufscope {

void PrefixTable::build(const std::vector<uint32_t>& ids, const TextList& texts) {
  // Radix sort by the first eight bytes, from the last byte to the first. Eight bytes nearly always suffice; words
  // equal in them keep their order.
  constexpr size_t kHead = 8;
  struct Key {
    uint64_t head;
    uint32_t id;
  };
  std::vector<Key> keys, sorted;
  keys.reserve(ids.size());
  for (const uint32_t id : ids) {
    const std::string_view text = texts[id];
    if (text.empty()) continue;
    uint64_t head = 0;
    for (size_t k = 0; k < kHead; ++k) head = head << 8 | (k < text.size() ? static_cast<uint8_t>(text[k]) : 0u);
    keys.push_back({head, id});
  }
  sorted.resize(keys.size());
  for (size_t shift = 0; shift < 8 * kHead; shift += 8) {
    const auto byte = [&](const Key& key) { return static_cast<uint8_t>(key.head >> shift); };
    std::array<size_t, 257> begin{};
    for (const Key& key : keys) ++begin[byte(key) + 1u];
    for (size_t b = 1; b < begin.size(); ++b) begin[b] += begin[b - 1];
    for (const Key& key : keys) sorted[begin[byte(key)]++] = key;
    keys.swap(sorted);
  }
  ids_.clear();
  for (size_t from = 0, to = 0; from < keys.size(); from = to) {
    while (to < keys.size() && keys[to].head == keys[from].head) ++to;
    const auto before = [&](uint32_t a, uint32_t b) { return texts[keys[from + a].id] < texts[keys[from + b].id]; };
    const auto add = [&](uint32_t id) {
      if (ids_.empty() || texts[ids_.back()] != texts[id]) ids_.push_back(id);
    };
    if (to - from == 1) {
      add(keys[from].id);
    } else {
      for (const uint32_t i : sorted_order(to - from, before)) add(keys[from + i].id);
    }
  }
  first_.fill(0);
  for (const uint32_t id : ids_) ++first_[static_cast<uint8_t>(texts[id][0]) + 1u];
  for (size_t b = 1; b < first_.size(); ++b) first_[b] += first_[b - 1];
}

}  // namespace ggufscope
