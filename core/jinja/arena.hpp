// A bump allocator with an upper bound, for one template or one rendering. All memory is freed at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace ggufscope::jinja {

class Arena {
 public:
  explicit Arena(size_t max_bytes) : max_bytes_(max_bytes) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Memory aligned to 8 bytes, or nullptr if the bound is exceeded.
  [[nodiscard]] void* allocate(size_t bytes) {
    bytes = (bytes + 7) & ~size_t{7};
    if (bytes > max_bytes_ - used_) return nullptr;
    used_ += bytes;
    if (bytes > room_) grow(bytes);
    char* const place = next_;
    next_ += bytes;
    room_ -= bytes;
    return place;
  }

  /// n default-constructed objects, or nullptr if the bound is exceeded. Destructors do not run.
  template <class T>
  [[nodiscard]] T* create(size_t n = 1) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (n > max_bytes_ / sizeof(T)) return nullptr;
    void* const place = allocate(n * sizeof(T));
    if (place == nullptr) return nullptr;
    T* const objects = static_cast<T*>(place);
    for (size_t i = 0; i < n; ++i) new (objects + i) T();
    return objects;
  }

  [[nodiscard]] size_t used() const { return used_; }

 private:
  void grow(size_t bytes) {
    constexpr size_t kChunk = 64 << 10;
    const size_t size = bytes > kChunk ? bytes : kChunk;
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    next_ = chunks_.back().get();
    room_ = size;
  }

  size_t max_bytes_;
  size_t used_ = 0;
  char* next_ = nullptr;
  size_t room_ = 0;
  std::vector<std::unique_ptr<char[]>> chunks_;
};

}  // namespace ggufscope::jinja
