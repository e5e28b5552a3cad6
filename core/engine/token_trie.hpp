// The vocabulary as a trie of bytes: tokens with a common prefix are tested together.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ggufscope {

/// Nodes in depth-first (preorder) order. To skip a subtree, continue at its end.
class TokenTrie {
 public:
  struct Node {
    uint32_t end;    ///< of the subtree: the first node that is not below this one
    int32_t token;   ///< the first token that ends here, -1: none
    uint32_t depth;  ///< bytes before this node's
    uint8_t byte;
  };

  TokenTrie() = default;
  /// Tokens by id; empty ones stay out.
  explicit TokenTrie(std::span<const std::string_view> tokens);

  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  [[nodiscard]] uint32_t depth() const { return depth_; }  ///< bytes of the longest token
  [[nodiscard]] size_t n_tokens() const { return same_.size(); }
  /// The next token of the same bytes, -1: none.
  [[nodiscard]] int32_t next_same(int32_t token) const { return same_[static_cast<size_t>(token)]; }

 private:
  std::vector<Node> nodes_;
  std::vector<int32_t> same_;  // [n_tokens]
  uint32_t depth_ = 0;
};

}  // namespace ggufscope
