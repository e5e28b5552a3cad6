// Checks the numbers of blocks.
#include "quant/validate.hpp"

#include "base/bytes.hpp"
#include "quant/scales.hpp"

namespace ggufscope {
namespace {

constexpr BlockFlaw flaw_if(bool special, bool is_nan) {
  return !special ? BlockFlaw::kNone : is_nan ? BlockFlaw::kNan : BlockFlaw::kInfinity;
}

BlockFlaw flaw_of_f16(uint32_t bits) { return flaw_if((bits & 0x7c00) == 0x7c00, (bits & 0x3ff) != 0); }

struct F16Flaw {
  static BlockFlaw of(const uint8_t* p, bool big) { return flaw_of_f16(load<uint16_t>(p, big)); }
};
struct Bf16Flaw {
  static BlockFlaw of(const uint8_t* p, bool big) {
    const uint32_t bits = load<uint16_t>(p, big) & 0x7fffu;
    return flaw_if(bits >= 0x7f80, bits > 0x7f80);
  }
};
struct F32Flaw {
  static BlockFlaw of(const uint8_t* p, bool big) {
    const uint32_t bits = load<uint32_t>(p, big) & 0x7fffffffu;
    return flaw_if(bits >= 0x7f800000, bits > 0x7f800000);
  }
};
/// Compared as a float: values from half a step above the largest float on become infinite.
struct F64Flaw {
  static BlockFlaw of(const uint8_t* p, bool big) {
    const double value = load<double>(p, big);
    return flaw_if(!(value < 0x1.ffffffp127 && value > -0x1.ffffffp127), value != value);
  }
};
struct E8m0Flaw {
  static BlockFlaw of(const uint8_t* p, bool) { return flaw_if(*p == 0xff, true); }
};
struct Iq1mFlaw {
  static BlockFlaw of(const uint8_t* p, bool big) {
    uint32_t bits = 0;
    for (uint32_t k = 0; k < 4; ++k)
      bits |= static_cast<uint32_t>(load<uint16_t>(p + 2 * size_t{k}, big)) >> 12 << (4 * k);
    return flaw_of_f16(bits);
  }
};

/// Checks one array of numbers in each block.
struct Numbers {
  const uint8_t* first;
  size_t n_blocks, block_bytes, width, count;
  bool big_endian;
};

template <class Kind>
BlockFlaw flaw_of_block(const Numbers& numbers, size_t block) {
  const uint8_t* p = numbers.first + block * numbers.block_bytes;
  BlockFlaw flaw = BlockFlaw::kNone;
  for (size_t k = 0; k < numbers.count && flaw == BlockFlaw::kNone; ++k, p += numbers.width)
    flaw = Kind::of(p, numbers.big_endian);
  return flaw;
}

template <class Kind>
InvalidBlocks count_invalid(const Numbers& numbers) {
  InvalidBlocks out;
  for (size_t i = 0; i < numbers.n_blocks; ++i) {
    const BlockFlaw flaw = flaw_of_block<Kind>(numbers, i);
    if (flaw == BlockFlaw::kNone) continue;
    if (out.count++ == 0) out.first = i, out.flaw = flaw;
  }
  return out;
}

}  // namespace

InvalidBlocks find_invalid_blocks(uint32_t type, const uint8_t* blocks, size_t n_blocks, bool big_endian, bool small) {
  const TypeGeometry* geometry = find_type(type);
  if (geometry == nullptr || n_blocks == 0) return {};
  const size_t bytes = small ? small_block_bytes(type) : geometry->block_bytes;
  const auto numbers = [&](size_t offset, size_t width, size_t count) {
    return Numbers{blocks + offset, n_blocks, bytes, width, count, big_endian};
  };
  switch (static_cast<TypeId>(type)) {
    case TypeId::kF16:
      return count_invalid<F16Flaw>(numbers(0, 2, 1));
    case TypeId::kBF16:
      return count_invalid<Bf16Flaw>(numbers(0, 2, 1));
    case TypeId::kF32:
      return count_invalid<F32Flaw>(numbers(0, 4, 1));
    case TypeId::kF64:
      return count_invalid<F64Flaw>(numbers(0, 8, 1));
    case TypeId::kQ8_1:
      return {n_blocks, 0, BlockFlaw::kRefused};
    default:
      break;
  }
  const BlockScales* scales = find_scales(type, small);
  if (scales == nullptr) return {};
  const size_t count = size_t{scales->count} + scales->minimums;
  switch (scales->kind) {
    case ScaleKind::kF16:
      return count_invalid<F16Flaw>(numbers(scales->offset, 2, count));
    case ScaleKind::kF32:
      return count_invalid<F32Flaw>(numbers(scales->offset, 4, count));
    case ScaleKind::kE8m0:
      return count_invalid<E8m0Flaw>(numbers(scales->offset, 1, count));
    case ScaleKind::kIq1m:
      return count_invalid<Iq1mFlaw>(numbers(scales->offset, 8, count));
    case ScaleKind::kUe4m3:
      break;
  }
  return {};
}

}  // namespace ggufscope
