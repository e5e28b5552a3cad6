// The JavaScript interface of the quant module. Blocks and floats are passed as addresses in the heap (malloc), numbers
// as doubles.
#include <emscripten/bind.h>

#include <cmath>
#include <string>
#include <vector>

#include "quant/byte_order.hpp"
#include "quant/k_quants_64.hpp"
#include "quant/legacy.hpp"
#include "quant/registry.hpp"
#include "quant/stats.hpp"
#include "quant/validate.hpp"
#include "span.hpp"
#include "types/types.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

uint8_t* bytes_at(uintptr_t pointer) { return reinterpret_cast<uint8_t*>(pointer); }
float* floats_at(uintptr_t pointer) { return reinterpret_cast<float*>(pointer); }

/// Returns false for a type without kernels. Big-endian blocks are converted in place.
bool dequantize(uint32_t type, uintptr_t blocks, uintptr_t floats, uint32_t n_blocks, bool big_endian) {
  const QuantKernels* kernels = find_kernels(type);
  if (kernels == nullptr) return false;
  if (big_endian) swap_block_bytes(type, bytes_at(blocks), n_blocks);
  kernels->dequantize(bytes_at(blocks), floats_at(floats), n_blocks);
  return true;
}

/// The same for super-blocks of 64 elements, for types that had them.
bool dequantize_small(uint32_t type, uintptr_t blocks, uintptr_t floats, uint32_t n_blocks, bool big_endian) {
  const SmallBlockKernels* kernels = find_small_block_kernels(type);
  if (kernels == nullptr) return false;
  if (big_endian) swap_block_bytes(type, bytes_at(blocks), n_blocks, true);
  kernels->dequantize(bytes_at(blocks), floats_at(floats), n_blocks);
  return true;
}

bool can_dequantize(uint32_t type) { return find_kernels(type) != nullptr; }
bool can_quantize(uint32_t type) { return find_quantizer(type).quantize != nullptr; }
bool needs_importance(uint32_t type) { return find_quantizer(type).needs_importance; }

/// importance: the floats for row_blocks blocks, or 0.
void quantize(uint32_t type, uintptr_t floats, uintptr_t blocks, uint32_t n_blocks, uintptr_t importance,
              uint32_t row_blocks) {
  find_quantizer(type).quantize(floats_at(floats), bytes_at(blocks), n_blocks,
                                importance == 0 ? nullptr : floats_at(importance), row_blocks);
}

/// Returns -1 if there is none.
double modern_type_of(uint32_t type) { return modern_type(type) ? static_cast<double>(*modern_type(type)) : -1; }
void modernize_blocks(uint32_t type, uintptr_t from, uintptr_t to, uint32_t n_blocks) {
  modernize(type, bytes_at(from), bytes_at(to), n_blocks);
}

void swap_bytes_of(uint32_t type, uintptr_t blocks, uint32_t n_blocks, bool small) {
  swap_block_bytes(type, bytes_at(blocks), n_blocks, small);
}

/// Numbers as doubles; flaw: a BlockFlaw.
struct InvalidRow {
  double count, first, flaw;
};

InvalidRow invalid_blocks(uint32_t type, uintptr_t blocks, uint32_t n_blocks, bool big_endian, bool small) {
  const InvalidBlocks found = find_invalid_blocks(type, bytes_at(blocks), n_blocks, big_endian, small);
  return {static_cast<double>(found.count), static_cast<double>(found.first), static_cast<double>(found.flaw)};
}

struct TypeRow {
  int id;  ///< -1: unknown type
  uint32_t block_size, block_bytes;
};

TypeRow find_type_row(const std::string& name) {
  const TypeGeometry* type = find_type(name);
  if (type == nullptr || type->removed) return {-1, 0, 0};
  return {static_cast<int>(type->id), type->block_size, type->block_bytes};
}

/// Collects all statistics of a tensor in one pass.
class Collector {
 public:
  /// small_blocks: super-blocks of 64 elements.
  Collector(uint32_t type, bool small_blocks, double row_length, double n_rows)
      : type_(type),
        small_blocks_(small_blocks),
        stats_(static_cast<uint64_t>(row_length), static_cast<uint64_t>(n_rows)) {}

  void add(uintptr_t blocks, uint32_t n_blocks, uintptr_t floats, uint32_t n) {
    has_scales_ = scales_.add(type_, bytes_at(blocks), n_blocks, small_blocks_);
    stats_.add(floats_at(floats), n);
  }
  void compare(uintptr_t reference, uintptr_t other, uint32_t n) {
    comparison_.add(floats_at(reference), floats_at(other), n);
  }

  val numbers() const {
    val out = val::object();
    const auto set = [&](const char* key, auto number) { out.set(key, static_cast<double>(number)); };
    set("count", stats_.count);
    set("finite", stats_.moments.count);
    set("zeros", stats_.zeros);
    set("nans", stats_.nans);
    set("infinities", stats_.infinities);
    set("min", stats_.min);
    set("max", stats_.max);
    set("mean", stats_.moments.mean);
    set("standardDeviation", stats_.moments.deviation());
    return out;
  }
  val scales() const {
    if (!has_scales_) return val::undefined();
    val out = val::object();
    const auto set = [&](const char* key, auto number) { out.set(key, static_cast<double>(number)); };
    set("count", scales_.count);
    set("zeros", scales_.zeros);
    set("subnormal", scales_.subnormal);
    set("notFinite", scales_.not_finite);
    set("min", scales_.min);
    set("max", scales_.max);
    set("mean", scales_.moments.mean);
    set("standardDeviation", scales_.moments.deviation());
    return out;
  }
  val comparison() const {
    const double reference = comparison_.squares_of_reference, other = comparison_.squares_of_other;
    val out = val::object();
    out.set("notFinite", static_cast<double>(comparison_.not_finite));
    out.set("nmse", comparison_.squares_of_difference / reference);
    out.set("cosine", comparison_.products / std::sqrt(reference) / std::sqrt(other));
    out.set("maximum", comparison_.maximum);
    return out;
  }
  int histogram_exponent() const { return stats_.histogram.exponent; }
  /// The counts, as doubles.
  Span histogram() {
    scratch_.assign(std::begin(stats_.histogram.counts), std::end(stats_.histogram.counts));
    return span_of(scratch_);
  }
  /// Absolute maximum and root mean square of each line, as doubles.
  Span lines(bool columns) {
    scratch_.clear();
    const size_t n = columns ? stats_.n_columns() : stats_.rows.size();
    for (size_t i = 0; i < n; ++i) {
      const LineStats line = columns ? stats_.column(i) : stats_.rows[i];
      scratch_.push_back(static_cast<double>(line.absolute_maximum));
      scratch_.push_back(line.count == 0 ? 0 : std::sqrt(line.sum_of_squares / static_cast<double>(line.count)));
    }
    return span_of(scratch_);
  }

 private:
  uint32_t type_;
  bool small_blocks_;
  TensorStats stats_;
  Comparison comparison_;
  ScaleStats scales_;
  bool has_scales_ = false;
  std::vector<double> scratch_;
};

}  // namespace

EMSCRIPTEN_BINDINGS(quant) {
  value_array<Span>("Span").element(&Span::pointer).element(&Span::length);
  value_object<TypeRow>("TypeRow")
      .field("id", &TypeRow::id)
      .field("blockSize", &TypeRow::block_size)
      .field("blockBytes", &TypeRow::block_bytes);
  value_array<InvalidRow>("InvalidRow")
      .element(&InvalidRow::count)
      .element(&InvalidRow::first)
      .element(&InvalidRow::flaw);
  function("findType", &find_type_row);
  function("canDequantize", &can_dequantize);
  function("canQuantize", &can_quantize);
  function("needsImportance", &needs_importance);
  function("dequantize", &dequantize);
  function("dequantizeSmall", &dequantize_small);
  function("quantize", &quantize);
  function("swapBytes", &swap_bytes_of);
  function("invalidBlocks", &invalid_blocks);
  function("modernType", &modern_type_of);
  function("modernize", &modernize_blocks);
  class_<Collector>("Collector")
      .constructor<uint32_t, bool, double, double>()
      .function("add", &Collector::add)
      .function("compare", &Collector::compare)
      .function("numbers", &Collector::numbers)
      .function("scales", &Collector::scales)
      .function("comparison", &Collector::comparison)
      .function("histogramExponent", &Collector::histogram_exponent)
      .function("histogram", &Collector::histogram)
      .function("lines", &Collector::lines);
}

}  // namespace ggufscope
