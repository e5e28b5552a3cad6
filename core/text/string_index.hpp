// An open-addressing hash table from texts to numbers. Texts are stored elsewhere; a slot has 8 bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

// For the bodies of loops over all tokens, which must not be inlined. Engines optimize a wasm function only after many
// calls. If the body were inlined into a function that is called once, the whole loop would run in baseline code.
#define GGUFSCOPE_WARM [[gnu::noinline]]

namespace ggufscope {

/// A 64-bit hash of a text, eight bytes at a time (multiply and fold, like wyhash).
[[nodiscard]] inline uint64_t hash_text(std::string_view text) {
  const auto fold = [](uint64_t a, uint64_t b) {
    // A 128-bit product is slow in wasm. Mixing two 64-bit products is good enough.
    const uint64_t product = (a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xD6E8FEB86659FD93u);
    return product ^ (product >> 32);
  };
  const auto word = [](const char* p, size_t n) {
    uint64_t value = 0;
    std::memcpy(&value, p, n);
    return value;
  };
  const char* p = text.data();
  size_t left = text.size();
  uint64_t hash = fold(left, 0x1234567);
  for (; left >= 8; p += 8, left -= 8) hash = fold(hash, word(p, 8)) + std::rotl(hash, 23);
  if (left >= 4) {
    hash = fold(hash, word(p, 4) | word(p + left - 4, 4) << 32) + std::rotl(hash, 23);
  } else if (left != 0) {
    hash = fold(hash, static_cast<uint64_t>(static_cast<uint8_t>(p[0])) << 16 |
                          static_cast<uint64_t>(static_cast<uint8_t>(p[left / 2])) << 8 |
                          static_cast<uint8_t>(p[left - 1])) +
           std::rotl(hash, 23);
  }
  hash *= 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

/// Maps texts to ids 0 .. 2^32 - 2. text_of(id) must return the text of an id that was added.
class StringIndex {
 public:
  static constexpr uint32_t kAbsent = 0xFFFFFFFFu;

  /// Reserves space for n texts.
  void reserve(size_t n) {
    const size_t slots = std::bit_ceil(n + n / 2 + 8);
    if (slots > slots_.size()) rehash(slots);
  }

  template <class TextOf>
  [[nodiscard]] uint32_t find(std::string_view text, const TextOf& text_of) const {
    return find(text, hash_text(text), text_of);
  }
  template <class TextOf>
  [[nodiscard]] uint32_t find(std::string_view text, uint64_t hash, const TextOf& text_of) const {
    if (slots_.empty()) return kAbsent;
    const size_t mask = slots_.size() - 1;
    for (size_t i = static_cast<size_t>(hash) & mask;; i = (i + 1) & mask) {
      const Slot& slot = slots_[i];
      if (slot.id == kAbsent) return kAbsent;
      if (slot.tag == static_cast<uint32_t>(hash >> 32) && text_of(slot.id) == text) return slot.id;
    }
  }

  /// Returns the id of the text. If it is not there, adds it with `id`.
  template <class TextOf>
  uint32_t add(std::string_view text, uint32_t id, const TextOf& text_of) {
    if ((count_ + 1) * 4 > slots_.size() * 3) grow(text_of);
    const uint64_t hash = hash_text(text);
    const size_t mask = slots_.size() - 1;
    for (size_t i = static_cast<size_t>(hash) & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.id == kAbsent) {
        slot = {static_cast<uint32_t>(hash >> 32), id};
        ++count_;
        return id;
      }
      if (slot.tag == static_cast<uint32_t>(hash >> 32) && text_of(slot.id) == text) return slot.id;
    }
  }

 private:
  struct Slot {
    uint32_t tag;
    uint32_t id;
  };

  void rehash(size_t slots) { slots_.assign(slots, Slot{0, kAbsent}); }

  template <class TextOf>
  void grow(const TextOf& text_of) {
    std::vector<Slot> old = std::move(slots_);
    rehash(old.empty() ? 16 : old.size() * 2);
    const size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.id == kAbsent) continue;
      size_t i = static_cast<size_t>(hash_text(text_of(slot.id))) & mask;
      while (slots_[i].id != kAbsent) i = (i + 1) & mask;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

/// A list of texts in one buffer, indexed by number.
class TextList {
 public:
  void reserve(size_t n, size_t bytes) {
    begins_.reserve(n + 1);
    bytes_.reserve(bytes);
  }
  void add(std::string_view text) {
    const size_t end = bytes_.size();
    bytes_.resize(end + text.size());
    std::memcpy(bytes_.data() + end, text.data(), text.size());
    begins_.push_back(static_cast<uint32_t>(bytes_.size()));
  }
  [[nodiscard]] size_t size() const { return begins_.size() - 1; }
  [[nodiscard]] size_t bytes() const { return bytes_.size(); }
  [[nodiscard]] std::string_view operator[](size_t i) const {
    return {bytes_.data() + begins_[i], begins_[i + 1] - begins_[i]};
  }

 private:
  std::vector<char> bytes_;  // below 2^32 bytes, because vocabularies are
  std::vector<uint32_t> begins_ = {0};
};

}  // namespace ggufscope
