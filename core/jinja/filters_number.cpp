// Filters that return or print numbers.
#include <cmath>

#include "jinja/big_int.hpp"
#include "jinja/runtime.hpp"
#include "jinja/tables.hpp"

namespace ggufscope::jinja {
namespace {

Value absolute(Runtime& r, const Value* a, const Args&) {
  if (!a[0].is_number()) return r.fail({"abs wants a number, not ", type_name(a[0])});
  if (a[0].is(Type::kFloat)) return Value::of(std::fabs(a[0].real));
  return negate(r, a[0], is_negative(a[0]));
}

// Python's float(value); kMissing if that would raise an error.
Value as_float(Runtime& r, const Value& value) {
  if (value.is(Type::kUndefined)) return r.undefined_error(value);
  double out = 0;
  if (value.is(Type::kString)) return parse_python_float(value.str->view(), out) ? Value::of(out) : Value();
  if (!value.is_number()) return {};
  out = number(value);
  return value.is_int() && std::isinf(out) ? r.fail({"an integer is too large for a float"}) : Value::of(out);
}

Value to_float(Runtime& r, const Value* a, const Args&) {
  const Value made = as_float(r, a[0]);
  return !made.missing() ? made : a[1].missing() ? Value::of(0.0) : a[1];
}

Value to_int(Runtime& r, const Value* a, const Args&) {
  const Value fallback = a[1].missing() ? Value::of(int64_t{0}) : a[1];
  if (a[0].is_int()) return a[0].is(Type::kBool) ? Value::of(clamp_integer(a[0])) : a[0];
  if (a[0].is(Type::kString)) {
    const int64_t base = a[2].missing() ? 10 : a[2].is_int() ? clamp_integer(a[2]) : 1;
    if (base == 0 || (base >= 2 && base <= 36)) {
      const Value whole = parse_python_integer(r, a[0].str->view(), static_cast<uint32_t>(base));
      if (!whole.missing()) return whole;
    }
  }
  const Value real = as_float(r, a[0]);
  if (real.failed()) return real;
  if (!real.missing() && std::isinf(real.real) && a[0].is(Type::kFloat)) return r.fail({"infinity is no integer"});
  if (real.missing() || !std::isfinite(real.real)) return fallback;
  return r.integer(integer_of(r.arena, real.real));
}

Value round_number(Runtime& r, const Value* a, const Args&) {
  const std::string_view method = a[2].missing() ? "common" : a[2].is(Type::kString) ? a[2].str->view() : "";
  if (method != "common" && method != "ceil" && method != "floor")
    return r.fail({"round knows the methods common, ceil and floor"});
  const Value precision = a[1].missing() ? Value::of(int64_t{0}) : a[1];
  if (a[0].is(Type::kUndefined)) return r.undefined_error(a[0]);
  if (!a[0].is_number()) return r.fail({"round wants a number, not ", type_name(a[0])});
  if (method == "common") {
    if (precision.is_none()) return r.integer(a[0].is_int() ? a[0] : integer_of(r.arena, std::nearbyint(a[0].real)));
    if (!precision.is_int()) return r.fail({"round wants an integer as precision, not ", type_name(precision)});
    return round_half_even(r, a[0], clamp_integer(precision));
  }
  const Value unit = binary(r, Op::kPow, Value::of(int64_t{10}), precision);
  Value scaled = unit.failed() ? unit : binary(r, Op::kMul, a[0], unit);
  if (scaled.failed()) return scaled;
  if (scaled.is(Type::kFloat)) {
    if (!std::isfinite(scaled.real)) return r.fail({"round cannot make an integer of ", float_text(scaled.real)});
    scaled = r.integer(integer_of(r.arena, method == "ceil" ? std::ceil(scaled.real) : std::floor(scaled.real)));
  }
  return scaled.failed() ? scaled : binary(r, Op::kDiv, scaled, unit);
}

Value file_size(Runtime& r, const Value* a, const Args&) {
  constexpr const char* kDecimal[] = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  constexpr const char* kBinary[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  const Value made = as_float(r, a[0]);
  if (made.failed()) return made;
  if (made.missing()) return r.fail({"filesizeformat wants a number"});
  const double bytes = made.real;
  const double base = truth(a[1]) ? 1024 : 1000;
  if (bytes == 1) return r.string("1 Byte");
  if (bytes < base) return r.string(sentence({integer_text(integer_of(r.arena, bytes)), " Bytes"}));
  double unit = base;
  size_t i = 0;
  for (; i < 8; ++i) {
    unit *= base;
    if (bytes < unit || i == 7) break;
  }
  return r.string(
      sentence({format_float(base * bytes / unit, 'f', 1, false), " ", truth(a[1]) ? kBinary[i] : kDecimal[i]}));
}

constexpr Builtin kNumberFilterRows[] = {
    {"abs", "/", absolute},
    {"filesizeformat", "binary?", file_size},
    {"float", "default?", to_float},
    {"int", "default? base?", to_int},
    {"round", "precision? method?", round_number},
};

}  // namespace

constinit const std::span<const Builtin> kNumberFilters = kNumberFilterRows;

}  // namespace ggufscope::jinja
