// The KV caches of one window of audio, and the decoder.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "audio/whisper.hpp"
#include "base/sentence.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr float kNormEps = 1e-5f;

// What is timed from now on belongs to a pass over so many tokens, or frames.
void begin_pass(Pool& pool, size_t n) {
  if (pool.profile() != nullptr) pool.profile()->begin_pass(n);
}

WhisperEncoderShape shape_of(const WhisperHparams& h, bool on_device) {
  WhisperEncoderShape shape = h.encoder_shape();
  shape.without_blocks = on_device;
  return shape;
}

uint64_t thread_scratch(const WhisperHparams& h, bool on_device) {
  if (on_device) return 0;
  return Arena::round_up(std::max<uint64_t>({WhisperEncoder::count_thread_scratch(h.encoder_shape()),
                                             attention_scratch(whisper_heads(h.decoder), h.encoder.n_ctx),
                                             attention_scratch(whisper_heads(h.decoder), h.decoder.n_ctx)}));
}

}  // namespace

// Floats of the arena: the encoder, the keys and values of its output, and a pass of the decoder's whole context.
uint64_t WhisperState::count_scratch(const WhisperModel& model, bool on_device) {
  const WhisperHparams& h = model.hparams();
  Pool pool(Pool::Counting{});
  WhisperState state(model, pool);
  state.shape_ = shape_of(h, on_device);
  state.arena_.count();
  if (!state.encoder_.start({}, h.encoder.n_ctx)) return Arena::kMaxFloats;
  for (size_t step = 0; step < (on_device ? 1 : state.n_steps()); ++step) state.encoder_.step(step);
  if (on_device) return state.arena_.peak();
  state.cross_.resize(h.decoder.n_layer), state.cells_.resize(h.decoder.n_layer);
  state.store_cross();
  state.decode(std::vector<DecoderToken>(h.decoder.n_ctx), nullptr);
  return state.arena_.peak();
}

Result<WhisperState::Sizes> WhisperState::sizes(const WhisperModel& model, CacheType cache_type, size_t n_threads,
                                                bool on_device) {
  if (is_quantized(cache_type)) return fail(ErrorCode::kUnsupported, "a speech model's cache must be f32 or f16");
  const WhisperHparams& h = model.hparams();
  const uint64_t element = cache_row_bytes(cache_type, 1), n_audio = h.encoder.n_ctx;
  Sizes s;
  const bool fits = add_product(s.cache, on_device ? 0 : 2 * element * h.decoder.n_layer,
                                (n_audio + h.decoder.n_ctx) * h.decoder.n_embd) &&
                    add_product(s.scratch, WhisperEncoder::count_buffers(shape_of(h, on_device)), sizeof(float)) &&
                    add_product(s.scratch, count_scratch(model, on_device), sizeof(float)) &&
                    add_product(s.scratch, thread_scratch(h, on_device) * n_threads, sizeof(float));
  if (!fits) return fail(ErrorCode::kOverflow, "the model needs more memory than can be counted");
  return s;
}

Result<std::unique_ptr<WhisperState>> WhisperState::create(const WhisperModel& model, Pool& pool, CacheType cache_type,
                                                           bool on_device) {
  if (const Result<Sizes> counted = sizes(model, cache_type, pool.n_threads(), on_device); !counted)
    return std::unexpected(counted.error());
  std::unique_ptr<WhisperState> state(new (std::nothrow) WhisperState(model, pool));
  if (state == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate a state");
  const WhisperHparams& h = model.hparams();
  state->cache_type_ = cache_type;
  state->shape_ = shape_of(h, on_device);
  if (const auto r = state->arena_.allocate(count_scratch(model, on_device)); !r) return std::unexpected(r.error());
  if (const auto r = state->pass_.allocate(thread_scratch(h, on_device)); !r) return std::unexpected(r.error());
  if (const auto r = state->encoder_.allocate(); !r) return std::unexpected(r.error());
  if (!on_device) state->cross_.resize(h.decoder.n_layer), state->cells_.resize(h.decoder.n_layer);
  const uint64_t cross = uint64_t{h.encoder.n_ctx} * h.decoder.n_embd * cache_row_bytes(cache_type, 1);
  for (Cache& cache : state->cross_)
    for (Buffer* buffer : {&cache.keys, &cache.values})
      if (const auto r = buffer->reserve(cross); !r) return std::unexpected(r.error());
  if (const Result<void> done = state->reserve_cells(h.decoder.n_ctx); !done) return std::unexpected(done.error());
  return state;
}

Result<void> WhisperState::reserve_cells(uint32_t n) {
  if (n <= n_cells_) return {};
  n_cells_ = on_device() ? n : 0;
  const WhisperSizes& sizes = model_.hparams().decoder;
  const uint64_t bytes = uint64_t{n} * sizes.n_embd * cache_row_bytes(cache_type_, 1);
  // Scratch memory need not grow: even with several sequences, no token attends to more cells than the decoder's
  // context.
  for (Cache& cache : cells_)
    for (Buffer* buffer : {&cache.keys, &cache.values})
      if (const Result<void> done = buffer->reserve(bytes); !done) return done;
  n_cells_ = n;
  return {};
}

CacheView WhisperState::view(Cache& cache, size_t n_cells) const {
  const size_t d = whisper_heads(model_.hparams().decoder).d_k;
  return {{cache_type_, cache_type_}, cache.keys.data(), cache.values.data(), d, n_cells};
}

Result<void> WhisperState::begin_encode(std::span<const float> mel, uint32_t n_ctx) {
  has_sound_ = false;
  return encoder_.start(mel, n_ctx);
}

void WhisperState::encode_step(size_t step) {
  begin_pass(pool_, n_audio());
  const Timed timed(pool_.profile(), Operation::kPass);
  if (on_device() ? step == kConvolution && !encoder_.step(step) : !encoder_.step(step)) return;
  if (step + 1 != n_steps()) return;
  if (!on_device()) store_cross();
  has_sound_ = true;
}

void WhisperState::store_cross() {
  const WhisperSizes& sizes = model_.hparams().decoder;
  const AttentionShape shape = whisper_heads(sizes);
  const size_t n = n_audio(), n_text = sizes.n_embd;
  arena_.release(0);
  float* k = arena_.take(n * n_text);
  float* v = arena_.take(n * n_text);
  for (size_t il = 0; il < model_.weights().decoder.size(); ++il) {
    const WhisperAttention& cross = model_.weights().decoder[il].cross;
    apply(pool_, {{&cross.k, k}, {&cross.v, v}}, encoded().data(), n);
    const CacheView cache = view(cross_[il], n);
    each_token(pool_, Operation::kCache, n,
               [&](size_t t) { cache_store(cache, shape, t, k + t * n_text, v + t * n_text); });
  }
}

void WhisperState::watch_cross(size_t il, const float* q, size_t n) {
  const WhisperSizes& sizes = model_.hparams().decoder;
  const size_t d = sizes.n_embd / sizes.n_head;
  const std::vector<AlignmentHead>& heads = model_.hparams().alignment_heads;
  std::vector<float> key(d);
  for (size_t i = 0; watched_out_ != nullptr && i < heads.size(); ++i) {
    if (heads[i].layer != il) continue;
    const uint8_t* const keys =
        cross_[il].keys.data() + heads[i].head * n_audio() * d * cache_row_bytes(cache_type_, 1);
    for (size_t t = 0; t < n; ++t) {
      float* const out = watched_out_ + (i * n + t) * n_audio();
      const float* const query = q + t * sizes.n_embd + heads[i].head * d;
      for (size_t c = 0; c < n_audio(); ++c) {
        if (cache_type_ == CacheType::kF32)
          std::memcpy(key.data(), keys + c * d * sizeof(float), d * sizeof(float));
        else
          vec::load_f16(reinterpret_cast<const uint16_t*>(keys) + c * d, key.data(), d);
        out[c] = vec::dot(query, key.data(), d) / std::sqrt(static_cast<float>(d));
      }
      softmax(out, n_audio());
    }
  }
}

void WhisperState::decoder_block(size_t il, std::span<const DecoderToken> tokens,
                                 std::span<const std::span<const CellRun>> visible, float* x) {
  const WhisperSizes& sizes = model_.hparams().decoder;
  const WhisperBlock& block = model_.weights().decoder[il];
  const AttentionShape shape = whisper_heads(sizes);
  const size_t n = tokens.size(), n_embd = sizes.n_embd, mark = arena_.mark();
  float* normed = arena_.take(n * n_embd);
  float* q = arena_.take(n * n_embd);
  float* k = arena_.take(n * n_embd);
  float* v = arena_.take(n * n_embd);
  float* mixed = arena_.take(n * n_embd);
  normalize_rows(pool_, kNormEps, NormKind::kLayer, block.attn_norm, x, n, n_embd, normed);
  apply(pool_, {{&block.attn.q, q}, {&block.attn.k, k}, {&block.attn.v, v}}, normed, n);
  const CacheView cache = view(cells_[il], n_cells_);
  each_token(pool_, Operation::kCache, n,
             [&](size_t t) { cache_store(cache, shape, tokens[t].cell, k + t * n_embd, v + t * n_embd); });
  pass_.attend(shape, cache, q, n, visible, mixed);
  apply(pool_, block.attn.out, mixed, n, normed);
  add_rows(pool_, x, normed, n, n_embd);

  normalize_rows(pool_, kNormEps, NormKind::kLayer, block.cross_norm, x, n, n_embd, normed);
  apply(pool_, block.cross.q, normed, n, q);
  const CellRun all{0, static_cast<uint32_t>(n_audio())};
  const std::vector<std::span<const CellRun>> frames(n, std::span(&all, 1));
  pass_.attend(shape, view(cross_[il], n_audio()), q, n, frames, mixed);
  watch_cross(il, q, n);
  apply(pool_, block.cross.out, mixed, n, normed);
  add_rows(pool_, x, normed, n, n_embd);
  arena_.release(mark);
  pass_.feed_forward(block, n, false, kNormEps, x);
}

Result<void> WhisperState::check(std::span<const DecoderToken> tokens) const {
  const WhisperHparams& h = model_.hparams();
  if (!has_sound_) return fail(ErrorCode::kInvalidArgument, "no audio was encoded");
  if (tokens.empty() || tokens.size() > h.decoder.n_ctx)
    return fail(ErrorCode::kOutOfRange,
                counted(tokens.size(), "token") + " do not fit a context of " + std::to_string(h.decoder.n_ctx));
  for (const DecoderToken& token : tokens) {
    if (token.id < 0 || static_cast<uint32_t>(token.id) >= h.n_vocab)
      return fail(ErrorCode::kOutOfRange, "there is no token " + std::to_string(token.id));
    if (token.position >= h.decoder.n_ctx || token.cell >= n_cells_)
      return fail(ErrorCode::kOutOfRange, "a token's position is beyond the context");
  }
  return {};
}

void WhisperState::decode(std::span<const DecoderToken> tokens, float* out) {
  const WhisperHparams& h = model_.hparams();
  const WhisperWeights& w = model_.weights();
  const size_t n = tokens.size(), n_embd = h.decoder.n_embd;
  begin_pass(pool_, n);
  const Timed timed(pool_.profile(), Operation::kPass);
  arena_.release(0);
  float* x = arena_.take(n * n_embd);
  std::vector<int32_t> ids(n);
  std::vector<std::span<const CellRun>> visible(n);
  for (size_t t = 0; t < n; ++t) {
    ids[t] = tokens[t].id;
    visible[t] = tokens[t].visible;
  }
  if (!arena_.counting()) get_rows(w.token_embedding.matrix, ids, x);
  for (size_t t = 0; t < n && !arena_.counting(); ++t)
    vec::add(x + t * n_embd, w.decoder_positions.data() + tokens[t].position * n_embd, n_embd);
  for (size_t il = 0; il < w.decoder.size(); ++il) decoder_block(il, tokens, visible, x);

  size_t n_wanted = 0;
  for (size_t t = 0; t < n; ++t)
    if (tokens[t].has_output) {
      if (t != n_wanted) std::memcpy(x + n_wanted * n_embd, x + t * n_embd, n_embd * sizeof(float));
      ++n_wanted;
    }
  if (n_wanted == 0) return;
  normalize_rows(pool_, kNormEps, NormKind::kLayer, w.decoder_norm, x, n_wanted, n_embd, x);
  apply(pool_, w.token_embedding, x, n_wanted, out);
}

Result<void> WhisperState::prepare(DecodeRequest& request) const {
  if (const Result<void> good = check(request.tokens); !good) return good;
  const WhisperHparams& h = model_.hparams();
  for (size_t t = 0; t < request.tokens.size(); ++t) request.tokens[t].visible = request.runs[t];
  const auto n_outputs = static_cast<size_t>(std::ranges::count(request.tokens, true, &DecoderToken::has_output));
  request.logits.resize(n_outputs * h.n_vocab);
  if (request.watches) request.weights.resize(h.alignment_heads.size() * request.tokens.size() * n_audio());
  return {};
}

Result<void> WhisperState::decode(DecodeRequest& request) {
  if (on_device()) return fail(ErrorCode::kUnsupported, "the model runs on a device");
  if (const Result<void> good = prepare(request); !good) return good;
  watched_out_ = request.watches ? request.weights.data() : nullptr;
  decode(request.tokens, request.logits.data());
  return {};
}

DecodeRequest WhisperState::request_text(std::span<const int32_t> ids, std::span<const uint32_t> rows) const {
  DecodeRequest request;
  request.tokens.resize(ids.size());
  request.runs.resize(ids.size());
  for (uint32_t t = 0; t < ids.size(); ++t) {
    request.runs[t] = {{0, t + 1}};
    request.tokens[t] = {ids[t], t, t, {}, false};
  }
  for (const uint32_t row : rows)
    if (row < ids.size()) request.tokens[row].has_output = true;
  return request;
}

}  // namespace ggufscope
