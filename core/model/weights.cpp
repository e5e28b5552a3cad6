// Plans tensors by name and shape, packs their rows, and applies them.
#include "model/weights.hpp"

#include <algorithm>

#include "base/sentence.hpp"
#include "nn/gemm/format.hpp"
#include "nn/halves.hpp"
#include "quant/byte_order.hpp"
#include "quant/registry.hpp"
#include "types/types.hpp"

namespace ggufscope {
namespace {

std::string shape_text(std::span<const uint64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

// Tensors that are not used.
bool is_ignored(std::string_view name) {
  return name.find(".nextn.") != std::string_view::npos || name.starts_with("rope_freqs") ||
         name.ends_with(".rot_embd.inv_freq") || name.ends_with(".attn_rot_embd") || name.ends_with(".input_scale") ||
         name.starts_with("cls.") || name.find(".vis_") != std::string_view::npos;
}

// An empty shape matches any.
Result<void> check_shape(const TensorEntry& entry, std::span<const uint64_t> shape) {
  for (size_t i = 0; i < 4 && !shape.empty(); ++i) {
    const uint64_t want = i < shape.size() ? shape[i] : 1;
    if (entry.shape[i] == want) continue;
    return fail(ErrorCode::kBadShape, "tensor " + entry.name + " has shape " +
                                          shape_text(std::span(entry.shape).first(std::max<size_t>(entry.n_dims, 1))) +
                                          ", the model's keys say " + shape_text(shape));
  }
  return {};
}

bool is_integer(uint32_t type) {
  return type == static_cast<uint32_t>(TypeId::kI32) || type == static_cast<uint32_t>(TypeId::kI64);
}

// Fills in the entry and its sizes.
Result<void> measure(const TensorEntry& entry, TensorRequest& out) {
  const TypeGeometry* geometry = find_type(entry.type);
  const bool integer = out.integers != nullptr && is_integer(entry.type);
  if (geometry == nullptr || geometry->block_size == 0 || (find_kernels(entry.type) == nullptr && !integer))
    return fail(ErrorCode::kUnsupported,
                "tensor " + entry.name + " has type " +
                    (geometry != nullptr ? std::string(geometry->name) : std::to_string(entry.type)) +
                    ", which cannot be computed");
  uint64_t n_rows = 1;
  for (size_t i = 1; i < 4; ++i) {
    if (entry.shape[i] == 0 || n_rows > (uint64_t{1} << 40) / entry.shape[i])
      return fail(ErrorCode::kBadShape, "tensor " + entry.name + " has an impossible shape " + shape_text(entry.shape));
    n_rows *= entry.shape[i];
  }
  const uint64_t row = entry.shape[0];
  if (row == 0 || row % geometry->block_size != 0 || row / geometry->block_size > (uint64_t{1} << 40) / n_rows)
    return fail(ErrorCode::kBadShape, "tensor " + entry.name + " has rows of " + counted(row, "element") + " of type " +
                                          std::string(geometry->name));
  out.entry = entry;
  out.n_rows = out.n_rows_kept = n_rows;
  out.row_bytes = row / geometry->block_size * geometry->block_bytes;
  return {};
}

// The tensor's bytes must be as many as its shape needs, fit into memory, and lie inside the file.
Result<void> check_bytes(const TensorRequest& request) {
  const TensorEntry& entry = request.entry;
  if (entry.n_bytes != request.row_bytes * request.n_rows)
    return fail(ErrorCode::kBadLength, "tensor " + entry.name + " has " + counted(entry.n_bytes, "byte") +
                                           ", its shape needs " + std::to_string(request.row_bytes * request.n_rows));
  if (entry.n_bytes > SIZE_MAX / 8 || entry.shape[0] * request.n_rows > SIZE_MAX / 8)
    return fail(ErrorCode::kOutOfMemory, "tensor " + entry.name + " is larger than this machine can address");
  const std::optional<uint64_t>& size = entry.file_size;
  if (size && (entry.offset > *size || entry.n_bytes > *size - entry.offset))
    return fail(ErrorCode::kTruncated, "tensor " + entry.name + " ends at byte " +
                                           std::to_string(entry.offset + entry.n_bytes) + ", beyond the file's " +
                                           std::to_string(*size));
  return {};
}

}  // namespace

Planner::Planner(std::vector<TensorEntry> tensors) : tensors_(std::move(tensors)) {
  std::stable_sort(tensors_.begin(), tensors_.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  used_.resize(tensors_.size());
}

void Planner::ignore(std::string_view prefix) {
  for (size_t i = 0; i < tensors_.size(); ++i)
    if (tensors_[i].name.starts_with(prefix)) used_[i] = true;
}

void Planner::refuse(ErrorCode code, std::string message) {
  if (failed_) return;
  failed_ = true;
  error_ = Error{code, 0, std::move(message)};
}

const TensorEntry* Planner::find(std::string_view name) const {
  const auto at = std::lower_bound(tensors_.begin(), tensors_.end(), name,
                                   [](const TensorEntry& entry, std::string_view n) { return entry.name < n; });
  return at != tensors_.end() && at->name == name ? &*at : nullptr;
}

uint64_t Planner::rows_of(const std::string& name) const {
  const TensorEntry* entry = find(name + ".weight");
  return entry == nullptr ? 0 : entry->shape[1];
}

bool Planner::request(const std::string& name, std::span<const uint64_t> shape, Need need, TensorRequest& out) {
  if (failed_) return false;
  const TensorEntry* entry = find(name);
  if (entry == nullptr) {
    if (need == Need::kRequired) refuse(ErrorCode::kNotFound, "tensor " + name + " is missing");
    return false;
  }
  Result<void> ok = check_shape(*entry, shape);
  if (ok) ok = measure(*entry, out);
  if (ok) ok = check_bytes(out);
  const size_t index = static_cast<size_t>(entry - tensors_.data());
  if (ok && used_[index]) ok = fail(ErrorCode::kInvalidArgument, "tensor " + name + " is used twice");
  if (!ok) {
    refuse(ok.error().code, ok.error().message);
    return false;
  }
  used_[index] = true;
  return true;
}

bool Planner::linear(Linear& to, const std::string& name, uint64_t n_in, uint64_t n_out, Need need) {
  if (!weights_of(to, name, n_in, n_out, need)) return false;
  vector(to.bias, name + ".bias", n_out, Need::kOptional);
  vector(to.scale, name + ".scale", 1, Need::kOptional);
  return true;
}

bool Planner::matrix(Linear& to, const std::string& name, uint64_t n_in, uint64_t n_out, Need need) {
  ignore(name + ".bias");
  ignore(name + ".scale");
  return weights_of(to, name, n_in, n_out, need);
}

bool Planner::weights_of(Linear& to, const std::string& name, uint64_t n_in, uint64_t n_out, Need need) {
  TensorRequest r;
  const uint64_t shape[] = {n_in, n_out};
  if (!request(name + ".weight", shape, need, r)) return false;
  to.n_in = static_cast<size_t>(n_in);
  to.n_out = static_cast<size_t>(n_out);
  r.linear = &to;
  plan_.push_back(std::move(r));
  return true;
}

bool Planner::convolution(Linear& to, const std::string& name, uint64_t n_kernel, uint64_t n_in, uint64_t n_out,
                          Need bias) {
  TensorRequest r;
  const uint64_t shape[] = {n_kernel, n_in, n_out};
  if (!request(name + ".weight", shape, Need::kRequired, r)) return false;
  if (find_type(r.entry.type)->block_size != 1) {
    refuse(ErrorCode::kUnsupported, "tensor " + name + ".weight is quantized, and its rows are no whole blocks");
    return false;
  }
  to.n_in = static_cast<size_t>(n_kernel * n_in);
  to.n_out = static_cast<size_t>(n_out);
  r.linear = &to;
  r.n_rows = r.n_rows_kept = n_out;
  r.row_bytes = r.entry.n_bytes / n_out;
  plan_.push_back(std::move(r));
  vector(to.bias, name + ".bias", n_out, bias);
  return true;
}

bool Planner::flattened(Linear& to, const std::string& tensor, uint64_t n_in, uint64_t n_out, Need need) {
  TensorRequest r;
  if (!request(tensor, {}, need, r)) return false;
  if (r.n_rows * r.entry.shape[0] != n_in * n_out ||
      (r.entry.shape[0] != n_in && find_type(r.entry.type)->block_size != 1)) {
    refuse(ErrorCode::kBadShape, "tensor " + tensor + " has shape " + shape_text(r.entry.shape) +
                                     ", the model's keys say " + counted(n_out, "row") + " of " + std::to_string(n_in));
    return false;
  }
  to.n_in = static_cast<size_t>(n_in);
  to.n_out = static_cast<size_t>(n_out);
  r.linear = &to;
  r.n_rows = r.n_rows_kept = n_out;
  r.row_bytes = r.entry.n_bytes / n_out;
  plan_.push_back(std::move(r));
  return true;
}

bool Planner::stack(LinearStack& to, const std::string& name, uint64_t n_in, uint64_t n_out, uint64_t n, Need need) {
  if (!bare_stack(to, name + ".weight", n_in, n_out, n, need)) return false;
  vector(to.biases, name + ".bias", n_out * n, Need::kOptional);
  vector(to.scales, name + ".scale", n, Need::kOptional);
  return true;
}

bool Planner::split_stack(LinearStack& to, const std::string& name, uint64_t n_in, uint64_t n_out, uint64_t n) {
  TensorRequest r;
  const TensorEntry* entry = find(name);
  const uint64_t flat[] = {n_in, n_out * n}, stacked[] = {n_in, n_out, n};
  const bool is_stack = entry != nullptr && entry->shape[2] != 1;
  if (!request(name, is_stack ? std::span<const uint64_t>(stacked) : std::span<const uint64_t>(flat), Need::kRequired,
               r))
    return false;
  return place_stack(to, std::move(r), n_in, n_out, n);
}

bool Planner::integers(std::vector<int32_t>& to, const std::string& name, uint64_t n, uint64_t n_rows, uint32_t limit) {
  TensorRequest r;
  r.integers = &to;
  r.integer_limit = limit;
  const uint64_t shape[] = {n, n_rows};
  if (!request(name, shape, Need::kRequired, r)) return false;
  if (!is_integer(r.entry.type)) {
    refuse(ErrorCode::kUnsupported, "tensor " + name + " is not of type I32 or I64");
    return false;
  }
  to.resize(static_cast<size_t>(n * n_rows));
  plan_.push_back(std::move(r));
  return true;
}

bool Planner::place_stack(LinearStack& to, TensorRequest&& r, uint64_t n_in, uint64_t n_out, uint64_t n) {
  to.n_in = static_cast<size_t>(n_in);
  to.n_out = static_cast<size_t>(n_out);
  to.matrices.resize(static_cast<size_t>(n));
  r.stack = &to;
  plan_.push_back(std::move(r));
  return true;
}

bool Planner::bare_stack(LinearStack& to, const std::string& name, uint64_t n_in, uint64_t n_out, uint64_t n,
                         Need need) {
  TensorRequest r;
  const uint64_t shape[] = {n_in, n_out, n};
  if (!request(name, shape, need, r)) return false;
  return place_stack(to, std::move(r), n_in, n_out, n);
}

bool Planner::vector(Vector& to, const std::string& name, uint64_t n, Need need) {
  TensorRequest r;
  if (!request(name, {}, need, r)) return false;
  if (r.n_rows * r.entry.shape[0] != n) {
    refuse(ErrorCode::kBadShape, "tensor " + name + " has shape " + shape_text(r.entry.shape) +
                                     ", the model's keys say " + counted(n, "element"));
    return false;
  }
  to.n = static_cast<size_t>(n);
  r.vector = &to;
  plan_.push_back(std::move(r));
  return true;
}

bool Planner::first_row(Vector& to, const std::string& name, uint64_t n, Need need) {
  TensorRequest r;
  if (!request(name, {}, need, r)) return false;
  if (r.entry.shape[0] != n) {
    refuse(ErrorCode::kBadShape, "tensor " + name + " has rows of " + counted(r.entry.shape[0], "element") +
                                     ", the model's keys say " + std::to_string(n));
    return false;
  }
  r.n_rows_kept = 1;
  to.n = static_cast<size_t>(n);
  r.vector = &to;
  plan_.push_back(std::move(r));
  return true;
}

bool Planner::affine(Affine& to, const std::string& name, uint64_t n, Need need, Need bias) {
  const bool bare = !has(name + ".weight") && has(name);
  to.present = vector(to.weight, bare ? name : name + ".weight", n, need);
  if (to.present) vector(to.bias, name + ".bias", n, bias);
  return to.present;
}

Result<std::vector<TensorRequest>> Planner::take_plan() {
  for (size_t i = 0; i < tensors_.size() && !failed_; ++i) {
    if (i > 0 && tensors_[i].name == tensors_[i - 1].name)
      refuse(ErrorCode::kInvalidArgument, "tensor " + tensors_[i].name + " is in the file twice");
    if (!used_[i] && !is_ignored(tensors_[i].name))
      refuse(ErrorCode::kSurplusTensor, "tensor " + tensors_[i].name + " is not part of this architecture");
  }
  if (failed_) return std::unexpected(error_);
  std::sort(plan_.begin(), plan_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.entry.file, a.entry.offset) < std::pair(b.entry.file, b.entry.offset);
  });
  return std::move(plan_);
}

uint32_t packed_type(const TensorRequest& request, Precision precision) {
  constexpr auto kFloats = static_cast<uint32_t>(TypeId::kF32), kHalves = static_cast<uint32_t>(TypeId::kF16);
  const bool is_float = request.linear != nullptr && request.entry.type == kFloats;
  if (!is_float || !request.halves_suffice || precision == Precision::kExact) return request.entry.type;
  return request.linear->n_in % find_packed_format(kHalves)->block() == 0 ? kHalves : kFloats;
}

Result<uint64_t> loaded_size(const TensorRequest& request, Precision precision) {
  if (request.integers != nullptr) return request.integers->size() * sizeof(int32_t);
  if (request.vector != nullptr) return request.n_rows_kept * request.entry.shape[0] * sizeof(float);
  const size_t n_in = request.linear != nullptr ? request.linear->n_in : request.stack->n_in;
  const size_t n_out = request.linear != nullptr ? request.linear->n_out : request.stack->n_out;
  const size_t n = request.linear != nullptr ? 1 : request.stack->matrices.size();
  const Result<uint64_t> bytes = packed_bytes(packed_type(request, precision), n_in, n_out, precision);
  if (!bytes) return std::unexpected(bytes.error());
  if (n != 0 && *bytes > (uint64_t{1} << 62) / n)
    return fail(ErrorCode::kOverflow, "tensor " + request.entry.name + " needs more memory than can be counted");
  return *bytes * n;
}

namespace {

Result<void> pack(Pool& pool, const TensorRequest& request, PackedMatrix& matrix, size_t n_in, size_t n_out,
                  Precision precision, uint64_t first_row, ByteView rows) {
  if (matrix.empty()) {  // memory is allocated when the first bytes arrive
    Result<PackedMatrix> created = PackedMatrix::create(pool, packed_type(request, precision), n_in, n_out, precision);
    if (!created) return std::unexpected(created.error());
    matrix = std::move(*created);
  }
  return matrix.pack_rows(pool, first_row, rows);
}

Result<void> pack_stack(Pool& pool, const TensorRequest& request, Precision precision, uint64_t first_row,
                        ByteView rows) {
  LinearStack& to = *request.stack;
  const uint64_t end = first_row + rows.size() / request.row_bytes;
  for (uint64_t row = first_row; row < end;) {
    const uint64_t index = row / to.n_out, within = row % to.n_out;
    const uint64_t count = std::min<uint64_t>(end - row, to.n_out - within);
    const ByteView part = rows.subspan(static_cast<size_t>((row - first_row) * request.row_bytes),
                                       static_cast<size_t>(count * request.row_bytes));
    PackedMatrix& matrix = to.matrices[static_cast<size_t>(index)];
    if (const Result<void> r = pack(pool, request, matrix, to.n_in, to.n_out, precision, within, part); !r) return r;
    row += count;
  }
  return {};
}

Result<void> dequantize_rows(const TensorRequest& request, uint64_t first_row, ByteView rows) {
  Vector& to = *request.vector;
  if (to.buffer.size() == 0) {
    Result<Buffer> buffer = Buffer::allocate(uint64_t{to.n} * sizeof(float));
    if (!buffer) return std::unexpected(buffer.error());
    to.buffer = std::move(*buffer);
  }
  const size_t row = static_cast<size_t>(request.entry.shape[0]);
  const uint64_t n_rows = rows.size() / request.row_bytes;
  const uint64_t kept = first_row >= request.n_rows_kept ? 0 : std::min(n_rows, request.n_rows_kept - first_row);
  find_kernels(request.entry.type)
      ->dequantize(rows.data(), to.data() + static_cast<size_t>(first_row) * row,
                   static_cast<size_t>(kept) * (row / find_type(request.entry.type)->block_size));
  return {};
}

Result<void> copy_integers(const TensorRequest& request, uint64_t first_row, ByteView rows) {
  int32_t* to = request.integers->data() + static_cast<size_t>(first_row * request.entry.shape[0]);
  const bool wide = request.entry.type == static_cast<uint32_t>(TypeId::kI64);
  const size_t size = wide ? sizeof(int64_t) : sizeof(int32_t);
  for (size_t i = 0; i < rows.size() / size; ++i) {
    const uint8_t* from = rows.data() + i * size;
    const int64_t value = wide ? load<int64_t>(from) : load<int32_t>(from);
    if (value < 0 || value >= int64_t{request.integer_limit})
      return fail(ErrorCode::kOutOfRange, "tensor " + request.entry.name + " holds " + std::to_string(value) +
                                              ", not a number below " + std::to_string(request.integer_limit));
    to[i] = static_cast<int32_t>(value);
  }
  return {};
}

}  // namespace

Result<void> pack_rows(Pool& pool, TensorRequest& request, Precision precision, uint64_t first_row, ByteView rows) {
  const uint64_t n_rows = rows.size() / request.row_bytes;
  if (rows.size() % request.row_bytes != 0 || first_row > request.n_rows || n_rows > request.n_rows - first_row)
    return fail(ErrorCode::kInvalidArgument,
                counted(rows.size(), "byte") + " are not whole rows of tensor " + request.entry.name);
  std::vector<uint8_t> converted;
  if (request.entry.big_endian) {
    converted.assign(rows.begin(), rows.end());
    swap_block_bytes(request.entry.type, converted.data(), rows.size() / find_type(request.entry.type)->block_bytes);
    rows = converted;
  }
  Result<void> done;
  if (request.linear != nullptr) {
    Linear& to = *request.linear;
    if (packed_type(request, precision) != request.entry.type) rows = to_halves(rows, converted);
    done = pack(pool, request, to.matrix, to.n_in, to.n_out, precision, first_row, rows);
  } else if (request.stack != nullptr) {
    done = pack_stack(pool, request, precision, first_row, rows);
  } else if (request.integers != nullptr) {
    done = copy_integers(request, first_row, rows);
  } else {
    done = dequantize_rows(request, first_row, rows);
  }
  if (done) request.n_rows_arrived += n_rows;
  return done;
}

Result<void> all_arrived(std::span<const TensorRequest> plan) {
  for (const TensorRequest& request : plan)
    if (request.n_rows_arrived < request.n_rows_kept)
      return fail(ErrorCode::kTruncated, request.entry.offset, "truncated", "tensor " + request.entry.name);
  return {};
}

uint64_t loaded_bytes(std::span<const TensorRequest> plan) {
  uint64_t bytes = 0;
  for (const TensorRequest& request : plan) {
    if (request.linear != nullptr) bytes += request.linear->matrix.packed_bytes();
    if (request.stack != nullptr)
      for (const PackedMatrix& matrix : request.stack->matrices) bytes += matrix.packed_bytes();
    if (request.vector != nullptr) bytes += request.vector->buffer.size();
    if (request.integers != nullptr && request.n_rows_arrived != 0) bytes += request.integers->size() * sizeof(int32_t);
  }
  return bytes;
}

namespace {

void scale_and_add(const Linear& linear, size_t n_tokens, float* y) {
  if (linear.scale && !linear.bias_first) vec::scale(y, linear.scale.data()[0], n_tokens * linear.n_out);
  if (linear.bias)
    for (size_t t = 0; t < n_tokens; ++t) vec::add(y + t * linear.n_out, linear.bias.data(), linear.n_out);
  if (linear.scale && linear.bias_first) vec::scale(y, linear.scale.data()[0], n_tokens * linear.n_out);
}

// The number of tokens to multiply by B at once: for wide outputs only a few, so that the output stays in the cache.
size_t low_rank_tokens(const LowRank& pair) {
  constexpr size_t kFloats = size_t{1} << 18;
  return std::clamp<size_t>(kFloats / pair.b[0].n_out(), 1, 64);
}

// For matrix i: y += scale B (A x).
void add_low_rank(Pool& pool, std::span<const LowRankUse> uses, size_t i, const float* x, size_t n_tokens, float* y) {
  for (const auto& [pair, scale, scratch] : uses) {
    const PackedMatrix &a = pair->a[i], &b = pair->b[i];
    const size_t n_in = a.n_in(), n_out = b.n_out(), step = low_rank_tokens(*pair);
    float* low = scratch;                        // [step, rank]
    float* added = scratch + step * pair->rank;  // [step, n_out]
    for (size_t t = 0; t < n_tokens; t += step) {
      const size_t n = std::min(step, n_tokens - t);
      matmul(pool, a, x + t * n_in, n, low);
      matmul(pool, b, low, n, added);
      vec::add_scaled(y + t * n_out, scale, added, n * n_out);
    }
  }
}

}  // namespace

size_t low_rank_scratch(const LowRank& pair) { return low_rank_tokens(pair) * (pair.rank + pair.b[0].n_out()); }

void apply(Pool& pool, const Linear& linear, const float* x, size_t n_tokens, float* y) {
  matmul(pool, linear.matrix, x, n_tokens, y);
  add_low_rank(pool, linear.adapters, 0, x, n_tokens, y);
  if (!pool.counting()) scale_and_add(linear, n_tokens, y);
}

void apply(Pool& pool, std::initializer_list<Projection> projections, const float* x, size_t n_tokens) {
  Product products[4];
  size_t n = 0;
  for (const Projection& p : projections)
    if (*p.linear) products[n++] = {&p.linear->matrix, p.y};
  matmul(pool, std::span<const Product>(products, n), x, n_tokens);
  for (const Projection& p : projections) {
    if (!*p.linear || pool.counting()) continue;
    add_low_rank(pool, p.linear->adapters, 0, x, n_tokens, p.y);
    scale_and_add(*p.linear, n_tokens, p.y);
  }
}

void apply(Pool& pool, const LinearStack& stack, size_t i, const float* x, size_t n_tokens, float* y) {
  matmul(pool, stack.matrices[i], x, n_tokens, y);
  add_low_rank(pool, stack.adapters, i, x, n_tokens, y);
  if (stack.scales) vec::scale(y, stack.scales.data()[i], n_tokens * stack.n_out);
  if (stack.biases)
    for (size_t t = 0; t < n_tokens; ++t)
      vec::add(y + t * stack.n_out, stack.biases.data() + i * stack.n_out, stack.n_out);
}

void look_up(Pool& pool, const Linear& table, std::span<const int32_t> ids, float* out) {
  get_rows(table.matrix, ids, out);
  for (const auto& [pair, scale, scratch] : table.adapters) {
    const size_t step = low_rank_tokens(*pair), n_in = table.n_in;
    float* added = scratch + step * pair->rank;
    for (size_t t = 0; t < ids.size(); t += step) {
      const size_t n = std::min(step, ids.size() - t);
      get_rows(pair->a[0], ids.subspan(t, n), scratch);
      matmul(pool, pair->b[0], scratch, n, added);
      vec::add_scaled(out + t * n_in, scale, added, n * n_in);
    }
  }
}

}  // namespace ggufscope
