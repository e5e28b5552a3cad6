// Opens LoRA adapters and control vectors, and applies them to a model.
#include "model/adapter.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/sentence.hpp"
#include "gguf/access.hpp"
#include "gguf/parse.hpp"
#include "quant/byte_order.hpp"
#include "quant/registry.hpp"

namespace ggufscope {
namespace {

constexpr uint64_t kMaxRank = 1 << 16;
constexpr float kMaxFactor = 1e6f;  // of scale * alpha / rank: weights of ordinary size stay far from infinity

bool is_integer(TypeId type) {
  return type == TypeId::kI8 || type == TypeId::kI16 || type == TypeId::kI32 || type == TypeId::kI64;
}

uint64_t fingerprint_of(ByteView bytes) {
  uint64_t hash = 0xcbf29ce484222325u ^ bytes.size();
  for (size_t i = 0; i < bytes.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<size_t>(8, bytes.size() - i));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

std::string shape_text(const TensorInfo& t) {
  std::string text = "[";
  for (uint32_t i = 0; i < t.n_dims; ++i) text += (i == 0 ? "" : ", ") + std::to_string(t.shape[i]);
  return text + "]";
}

/// The shape of a weight: [n_in, n_out, n].
struct WeightShape {
  uint64_t n_in, n_out, n;
};

struct Pair {
  std::string_view weight;  // the name of the weight that it changes
  const TensorInfo* a = nullptr;
  const TensorInfo* b = nullptr;
};

}  // namespace

class AdapterReader {
 public:
  AdapterReader(const Model& model, Pool& pool, const Gguf& gguf, Precision precision)
      : model_(model), pool_(pool), gguf_(gguf), precision_(precision), adapter_(new (std::nothrow) Adapter) {}

  Result<std::unique_ptr<Adapter>> read() {
    if (adapter_ == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate an adapter");
    if (const Result<void> whole = check_bounds(); !whole) return std::unexpected(whole.error());
    const bool steers = get_string(gguf_, "general.architecture") == "controlvector";
    const Result<void> done = steers ? read_directions() : read_lora();
    if (!done) return std::unexpected(done.error());
    adapter_->fingerprint_ = fingerprint_of(gguf_.bytes);
    return std::move(adapter_);
  }

 private:
  using Done = Result<void>;

  [[nodiscard]] std::string name_of(const TensorInfo& t) const { return std::string(gguf_.text(t.name)); }

  Done check_bounds() const {
    for (const TensorInfo& t : gguf_.header.tensors) {
      if (t.n_bytes > gguf_.bytes.size() || t.offset > gguf_.bytes.size() - t.n_bytes)
        return fail(ErrorCode::kTruncated, gguf_.bytes.size(), "truncated", "tensor " + name_of(t));
    }
    return {};
  }

  /// The tensor's bytes, converted to little-endian.
  ByteView bytes_of(const TensorInfo& t, std::vector<uint8_t>& swapped) const {
    const ByteView bytes = gguf_.bytes.subspan(static_cast<size_t>(t.offset), static_cast<size_t>(t.n_bytes));
    if (!gguf_.header.big_endian) return bytes;
    swapped.assign(bytes.begin(), bytes.end());
    swap_block_bytes(t.type, swapped.data(), swapped.size() / find_type(t.type)->block_bytes);
    return swapped;
  }

  Done check_kind() const {
    const std::string_view type = get_string(gguf_, "general.type").value_or("");
    if (type != "adapter")
      return fail(ErrorCode::kInvalidArgument,
                  sentence({"this is not an adapter: general.type is ", Quoted{type}, ", not \"adapter\""}));
    const std::string_view kind = get_string(gguf_, "adapter.type").value_or("");
    if (kind != "lora")
      return fail(ErrorCode::kUnsupported, sentence({"adapter.type is ", Quoted{kind}, "; \"lora\" can be applied"}));
    const std::string_view architecture = get_string(gguf_, "general.architecture").value_or("");
    if (architecture != model_.architecture().name)
      return fail(ErrorCode::kInvalidArgument, sentence({"the adapter is for the architecture ", Quoted{architecture},
                                                         ", the model is of ", Quoted{model_.architecture().name}}));
    return {};
  }

  Done read_lora() {
    if (const Done right = check_kind(); !right) return right;
    const double alpha = get_f64(gguf_, "adapter.lora.alpha").value_or(0);
    if (!std::isfinite(alpha) || std::abs(alpha) > double{kMaxFactor} * double{kMaxRank})
      return fail(ErrorCode::kOutOfRange, "adapter.lora.alpha is not a finite number, or too large");
    if (const Done read = read_invocation(); !read) return read;
    Result<std::vector<Pair>> pairs = find_pairs();
    if (!pairs) return std::unexpected(pairs.error());
    for (const Pair& pair : *pairs)
      if (const Done added = add_pair(pair, static_cast<float>(alpha)); !added) return added;
    return make_scratch();
  }

  Done read_invocation() {
    constexpr std::string_view kKey = "adapter.alora.invocation_tokens";
    const KeyValue* key = find_key(gguf_, kKey);
    if (key == nullptr) return {};
    if (key->type != ValueType::kArray || key->element_type != ValueType::kU32)
      return fail(ErrorCode::kBadValueType, std::string(kKey) + " must be an array of u32");
    if (key->count == 0) return fail(ErrorCode::kBadCount, std::string(kKey) + " is empty");
    for (const int64_t id : get_integers(gguf_, kKey).value_or(std::vector<int64_t>())) {
      if (id >= model_.hparams().n_vocab)
        return fail(ErrorCode::kOutOfRange, std::string(kKey) + " names the token " + std::to_string(id));
      adapter_->invocation_.push_back(static_cast<int32_t>(id));
    }
    if (!model_.hparams().causal || model_.has_encoder())
      return fail(ErrorCode::kUnsupported, "an adapter with invocation tokens needs a causal model");
    return {};
  }

  Result<std::vector<Pair>> find_pairs() {
    std::vector<Pair> pairs;
    for (const TensorInfo& t : gguf_.header.tensors) {
      const std::string_view name = gguf_.text(t.name);
      const bool a = name.ends_with(".lora_a"), b = name.ends_with(".lora_b");
      if (!a && !b) {
        if (!name.ends_with("_norm.weight"))
          return fail(ErrorCode::kUnsupported,
                      sentence({"tensor ", Quoted{name}, " is neither a .lora_a nor a .lora_b"}));
        adapter_->ignored_.emplace_back(name);
        continue;
      }
      const std::string_view weight = name.substr(0, name.size() - 7);
      auto at = std::ranges::find(pairs, weight, &Pair::weight);
      if (at == pairs.end()) at = pairs.insert(at, Pair{weight});
      const TensorInfo*& place = a ? at->a : at->b;
      if (place != nullptr)
        return fail(ErrorCode::kInvalidArgument, sentence({"tensor ", Quoted{name}, " is in the file twice"}));
      place = &t;
    }
    for (const Pair& pair : pairs)
      if (pair.a == nullptr || pair.b == nullptr)
        return fail(ErrorCode::kNotFound, sentence({"tensor ", Quoted{pair.weight},
                                                    pair.a == nullptr ? " lacks its .lora_a" : " lacks its .lora_b"}));
    return pairs;
  }

  Done add_pair(const Pair& pair, float alpha) {
    const auto& plan = model_.plan();
    const auto request =
        std::ranges::find_if(plan, [&](const TensorRequest& r) { return r.entry.name == pair.weight; });
    if (request == plan.end())
      return fail(ErrorCode::kNotFound,
                  sentence({"the adapter changes ", Quoted{pair.weight}, ", which the model does not have"}));
    const Weights& w = model_.weights();
    const bool embeds = request->linear == &w.token_embedding;
    const auto& s = request->entry.shape;
    const WeightShape shape{s[0], s[1], s[2] * s[3]};
    if (const Done fits = check_shapes(pair, shape, embeds); !fits) return fits;
    const bool table = request->linear == &w.position_embedding || request->linear == &w.per_layer_embedding;
    // Such a tensor is neither a matrix nor a stack but a table of integers, for example the experts of each token.
    const bool multiplies = request->linear != nullptr || request->stack != nullptr;
    if (request->vector != nullptr || table || !multiplies) {
      adapter_->ignored_.emplace_back(pair.weight);
      return {};
    }
    if (embeds && !w.output && !model_.is_encoder())
      return fail(
          ErrorCode::kUnsupported,
          "the adapter changes token_embd.weight, which is this model's output, too: llama.cpp does not support this");
    Adapter::Target target;
    target.uses = request->linear != nullptr ? &request->linear->adapters : &request->stack->adapters;
    target.pair.rank = static_cast<size_t>(pair.b->shape[0]);
    target.factor = alpha == 0 ? 1.0f : alpha / static_cast<float>(target.pair.rank);
    if (std::abs(target.factor) > kMaxFactor)
      return fail(ErrorCode::kOutOfRange, sentence({"adapter.lora.alpha over the rank of ", Quoted{pair.weight},
                                                    " is above ", static_cast<uint64_t>(kMaxFactor)}));
    if (const Done done = pack(*pair.a, embeds ? Precision::kExact : precision_, target.pair.a); !done) return done;
    if (const Done done = pack(*pair.b, precision_, target.pair.b); !done) return done;
    adapter_->targets_.push_back(std::move(target));
    return {};
  }

  Done check_shapes(const Pair& pair, const WeightShape& w, bool embeds) const {
    const TensorInfo &a = *pair.a, &b = *pair.b;
    const auto refuse = [&](std::string_view why) {
      return fail(ErrorCode::kBadShape,
                  sentence({"the adapter's ", Quoted{pair.weight}, " ", why, ": lora_a ", shape_text(a), ", lora_b ",
                            shape_text(b), ", the weight [", w.n_in, ", ", w.n_out, w.n == 1 ? "" : ", ...", "]"}));
    };
    const uint64_t rank = b.shape[0];
    if (rank == 0 || rank > kMaxRank) return refuse("has an impossible rank");
    if ((embeds ? a.shape[0] : a.shape[1]) != rank) return refuse("has matrices of different ranks");
    if (embeds ? a.shape[1] != w.n_out || b.shape[1] != w.n_in : a.shape[0] != w.n_in || b.shape[1] != w.n_out)
      return refuse("does not fit");
    for (const TensorInfo* t : {&a, &b})
      if (t->shape[2] != w.n || t->shape[3] != 1 || t->n_dims > 4) return refuse("has a different number of matrices");
    return {};
  }

  /// Error: kUnsupported for a type without kernels, or of integers, which are tables and no weights.
  Done check_type(const TensorInfo& t) const {
    if (find_kernels(t.type) == nullptr || t.n_bytes == 0)
      return fail(ErrorCode::kUnsupported, "tensor " + name_of(t) + " has a type that is not supported");
    if (is_integer(static_cast<TypeId>(t.type)))
      return fail(ErrorCode::kUnsupported, "tensor " + name_of(t) + " has the type " +
                                               std::string(find_type(t.type)->name) +
                                               ": weights of an adapter are no integers");
    return {};
  }

  /// Packs a tensor's matrices one by one.
  Done pack(const TensorInfo& t, Precision precision, std::vector<PackedMatrix>& to) {
    std::vector<uint8_t> swapped;
    if (const Done good = check_type(t); !good) return good;
    const ByteView bytes = bytes_of(t, swapped);
    const size_t n = static_cast<size_t>(t.shape[2]), each = bytes.size() / n;
    for (size_t i = 0; i < n; ++i) {
      Result<PackedMatrix> matrix = PackedMatrix::create(pool_, t.type, t.shape[0], t.shape[1], precision);
      if (!matrix) return std::unexpected(matrix.error());
      if (const Done packed = matrix->pack_rows(pool_, 0, bytes.subspan(i * each, each)); !packed) return packed;
      to.push_back(std::move(*matrix));
    }
    return {};
  }

  Done make_scratch() {
    uint64_t floats = 0;
    for (const Adapter::Target& target : adapter_->targets_)
      floats = std::max<uint64_t>(floats, low_rank_scratch(target.pair));
    Result<Buffer> scratch = Buffer::allocate(floats * sizeof(float));
    if (!scratch) return std::unexpected(scratch.error());
    adapter_->scratch_ = std::move(*scratch);
    return {};
  }

  Done read_directions() {
    const Hparams& h = model_.hparams();
    for (const TensorInfo& t : gguf_.header.tensors) {
      const std::string name = name_of(t);
      constexpr std::string_view kPrefix = "direction.";
      uint32_t layer = 0;
      const char* const end = name.data() + name.size();
      const bool named = name.starts_with(kPrefix);
      const auto number = std::from_chars(name.data() + std::min(name.size(), kPrefix.size()), end, layer);
      if (!named || number.ec != std::errc() || number.ptr != end || layer == 0)
        return fail(ErrorCode::kUnsupported,
                    sentence({"tensor ", Quoted{name}, " of a control vector is no direction of a layer from 1 on"}));
      if (const Done good = check_type(t); !good) return good;
      const QuantKernels* kernels = find_kernels(t.type);
      if (t.n_elements != h.n_embd || t.shape[0] != h.n_embd)
        return fail(ErrorCode::kBadShape, sentence({"tensor ", Quoted{name}, " has shape ", shape_text(t),
                                                    ", the model's activations have ", h.n_embd, " elements"}));
      if (layer >= h.n_layer) {
        adapter_->ignored_.push_back(name);
        continue;
      }
      std::vector<uint8_t> swapped;
      Adapter::Direction direction{layer, std::vector<float>(h.n_embd)};
      kernels->dequantize(bytes_of(t, swapped).data(), direction.values.data(),
                          h.n_embd / find_type(t.type)->block_size);
      adapter_->directions_.push_back(std::move(direction));
    }
    if (adapter_->directions_.empty()) return fail(ErrorCode::kNotFound, "the control vector has no direction");
    return {};
  }

  const Model& model_;
  Pool& pool_;
  const Gguf& gguf_;
  Precision precision_;
  std::unique_ptr<Adapter> adapter_;
};

Result<std::unique_ptr<Adapter>> Adapter::open(const Model& model, Pool& pool, ByteView file, Precision precision) {
  ParseState state;
  const Result<ParseProgress> progress = parse_header(file, file.size(), state);
  if (!progress) return std::unexpected(progress.error());
  if (!progress->complete) return fail(ErrorCode::kTruncated, file.size(), "truncated", "header of an adapter");
  const Gguf gguf{state.header, file};
  return AdapterReader(model, pool, gguf, precision).read();
}

uint64_t Adapter::packed_bytes() const {
  uint64_t bytes = scratch_.size();
  for (const Target& target : targets_)
    for (const auto* matrices : {&target.pair.a, &target.pair.b})
      for (const PackedMatrix& matrix : *matrices) bytes += matrix.packed_bytes();
  for (const Direction& direction : directions_) bytes += direction.values.size() * sizeof(float);
  return bytes;
}

Result<void> check_scale(const AdapterUse& use) {
  float max = 1;
  for (const Adapter::Target& t : use.adapter->targets_) max = std::max(max, std::abs(t.factor));
  if (!std::isfinite(use.scale)) return fail(ErrorCode::kInvalidArgument, "an adapter's scale is not a finite number");
  if (std::abs(use.scale) > kMaxFactor / max)
    return fail(ErrorCode::kInvalidArgument, "an adapter's scale, times the factors in its file, is above " +
                                                 std::to_string(static_cast<uint64_t>(kMaxFactor)));
  return {};
}

Result<void> use_adapters(Model& model, std::span<const AdapterUse> uses) {
  for (const AdapterUse& use : uses)
    if (const Result<void> good = check_scale(use); !good) return good;
  for (const TensorRequest& request : model.plan()) {
    if (request.linear != nullptr) request.linear->adapters.clear();
    if (request.stack != nullptr) request.stack->adapters.clear();
  }
  const Hparams& h = model.hparams();
  std::vector<float> steering;
  for (const auto& [adapter, scale, first_layer, last_layer] : uses) {
    if (scale == 0) continue;
    for (const Adapter::Target& t : adapter->targets_)
      t.uses->push_back({&t.pair, scale * t.factor, const_cast<float*>(adapter->scratch_.as<float>())});
    for (const Adapter::Direction& d : adapter->directions_) {
      if (d.layer < first_layer || d.layer > last_layer) continue;
      steering.resize(size_t{h.n_layer} * h.n_embd);
      for (size_t i = 0; i < h.n_embd; ++i) steering[size_t{d.layer} * h.n_embd + i] += scale * d.values[i];
    }
  }
  model.steer(std::move(steering));
  return {};
}

}  // namespace ggufscope
