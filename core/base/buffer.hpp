// Memory aligned for SIMD. A failed allocation is an error value and does not end the program.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "base/error.hpp"

namespace ggufscope {

/// Owns bytes with an alignment of 64. They are not initialized. Movable, not copyable.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { std::free(data_); }

  /// Error: kOutOfMemory if the allocation fails or the size exceeds the address space.
  [[nodiscard]] static Result<Buffer> allocate(uint64_t n_bytes) {
    constexpr uint64_t kAlignment = 64;
    constexpr uint64_t kMax = SIZE_MAX / 2 - kAlignment;
    if (n_bytes > kMax) return fail(ErrorCode::kOutOfMemory, "cannot address " + std::to_string(n_bytes) + " bytes");
    Buffer buffer;
    const size_t padded = (static_cast<size_t>(n_bytes) + kAlignment) / kAlignment * kAlignment;
    buffer.data_ = static_cast<uint8_t*>(std::aligned_alloc(kAlignment, padded));
    if (buffer.data_ == nullptr)
      return fail(ErrorCode::kOutOfMemory, "cannot allocate " + std::to_string(n_bytes) + " bytes");
    buffer.size_ = static_cast<size_t>(n_bytes);
    return buffer;
  }
  /// Grows to at least so many bytes, and then loses its content. Error: as allocate.
  [[nodiscard]] Result<void> reserve(uint64_t n_bytes) {
    if (data_ != nullptr && n_bytes <= size_) return {};
    *this = Buffer();
    Result<Buffer> grown = allocate(n_bytes);
    if (!grown) return std::unexpected(grown.error());
    *this = std::move(*grown);
    return {};
  }

  [[nodiscard]] uint8_t* data() { return data_; }
  [[nodiscard]] const uint8_t* data() const { return data_; }
  [[nodiscard]] size_t size() const { return size_; }
  template <class T>
  [[nodiscard]] T* as() {
    return reinterpret_cast<T*>(data_);
  }
  template <class T>
  [[nodiscard]] const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace ggufscope
