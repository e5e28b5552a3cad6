// Types without blocks: the element itself, converted to float.
#include <cstring>

#include "quant/block.hpp"
#include "quant/kernels.hpp"

namespace ggufscope {
namespace {

template <class T>
void convert(const uint8_t* src, float* dst, size_t n) {
  for (size_t i = 0; i < n; ++i) dst[i] = static_cast<float>(load<T>(src + i * sizeof(T)));
}

}  // namespace

void reference_f32(const uint8_t* src, float* dst, size_t n) {
  if (n != 0) std::memcpy(dst, src, n * sizeof(float));
}
void reference_f16(const uint8_t* src, float* dst, size_t n) {
  for (size_t i = 0; i < n; ++i) dst[i] = load_f16(src + 2 * i);
}
void reference_bf16(const uint8_t* src, float* dst, size_t n) {
  for (size_t i = 0; i < n; ++i) dst[i] = bf16_to_f32(load<uint16_t>(src + 2 * i));
}
void reference_f64(const uint8_t* src, float* dst, size_t n) { convert<double>(src, dst, n); }
void reference_i8(const uint8_t* src, float* dst, size_t n) { convert<int8_t>(src, dst, n); }
void reference_i16(const uint8_t* src, float* dst, size_t n) { convert<int16_t>(src, dst, n); }
void reference_i32(const uint8_t* src, float* dst, size_t n) { convert<int32_t>(src, dst, n); }
void reference_i64(const uint8_t* src, float* dst, size_t n) { convert<int64_t>(src, dst, n); }

}  // namespace ggufscope
