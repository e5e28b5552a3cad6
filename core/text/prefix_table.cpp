#include "text/prefix_table.hpp"

namespace ggufscope {

void PrefixTable::build(const std::vector<uint32_t>& ids, const TextList& texts) {
  // Sorted by their first eight bytes as a number, which decides nearly always.
  struct Key {
    uint64_t head;
    uint32_t order, id;
  };
  std::vector<Key> keys;
  keys.reserve(ids.size());
  for (uint32_t i = 0; i < ids.size(); ++i) {
    const std::string_view text = texts[ids[i]];
    if (text.empty()) continue;
    uint64_t head = 0;
    for (size_t k = 0; k < 8; ++k) head = head << 8 | (k < text.size() ? static_cast<uint8_t>(text[k]) : 0u);
    keys.push_back({head, i, ids[i]});
  }
  std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
    if (a.head != b.head) return a.head < b.head;
    const int order = texts[a.id].compare(texts[b.id]);
    return order != 0 ? order < 0 : a.order < b.order;
  });
  ids_.clear();
  first_.fill(0);
  for (const Key& key : keys)
    if (ids_.empty() || texts[ids_.back()] != texts[key.id]) ids_.push_back(key.id);
  for (const uint32_t id : ids_) ++first_[static_cast<uint8_t>(texts[id][0]) + 1u];
  for (size_t b = 1; b < first_.size(); ++b) first_[b] += first_[b - 1];
}

}  // namespace ggufscope
