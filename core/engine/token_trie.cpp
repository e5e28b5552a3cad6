// Builds the trie of a vocabulary's tokens.
#include "engine/token_trie.hpp"

#include <algorithm>

namespace ggufscope {

TokenTrie::TokenTrie(std::span<const std::string_view> tokens) : same_(tokens.size(), -1) {
  std::vector<int32_t> order;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (!tokens[i].empty()) order.push_back(static_cast<int32_t>(i));
  const auto text = [&](int32_t id) { return tokens[static_cast<size_t>(id)]; };
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return text(a) < text(b); });

  std::vector<uint32_t> path;  // the nodes from the root to the last added token
  const auto leave = [&](size_t depth) {
    for (; path.size() > depth; path.pop_back()) nodes_[path.back()].end = static_cast<uint32_t>(nodes_.size());
  };
  std::string_view before;
  for (const int32_t id : order) {
    const std::string_view token = text(id);
    size_t common = 0;
    while (common < std::min(before.size(), token.size()) && before[common] == token[common]) ++common;
    leave(common);
    for (size_t i = common; i < token.size(); ++i) {
      path.push_back(static_cast<uint32_t>(nodes_.size()));
      nodes_.push_back({0, -1, static_cast<uint32_t>(i), static_cast<uint8_t>(token[i])});
    }
    Node& last = nodes_[path.back()];
    same_[static_cast<size_t>(id)] = last.token;
    last.token = id;
    depth_ = std::max(depth_, static_cast<uint32_t>(token.size()));
    before = token;
  }
  leave(0);
}

}  // namespace ggufscope
