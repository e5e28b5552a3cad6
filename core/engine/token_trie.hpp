// The vocabulary as a trie of bytes, so that tokens with a common prefix are tested together.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ggufscope {

/// Nodes in depth-first (preorder) order. To skip a subtree, continue at its `end`.
class TokenTrie {
 public:
  struct Node {
    uint32_t end;    ///< the first node after the subtree
    int32_t token;   ///< the first token that ends here, or -1
    uint32_t depth;  ///< number of bytes before this node's byte
    uint8_t byte;
  };

  TokenTrie() = default;
  /// tokens: indexed by id. Empty ones are left out.
  explicit TokenTrie(std::span<const std::string_view> tokens);

  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] uint32_t depth() const { return depth_; }  ///< length of the longest token in bytes
  [[nodiscard]] size_t n_tokens() const { return same_.size(); }
  /// The next token with the same bytes, or -1.
  [[nodiscard]] int32_t next_same(int32_t token) const { return same_[static_cast<size_t>(token)]; }

 private:
  std::vector<Node> nodes_;
  std::vector<int32_t> same_;  // [n_tokens]
  uint32_t depth_ = 0;
};

}  // namespace ggufscope
