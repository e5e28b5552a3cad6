// Memory of a sound, and the encoder.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "audio/whisper.hpp"
#include "base/sentence.hpp"
#include "model/mixer.hpp"
#include "nn/activation.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

constexpr float kNormEps = 1e-5f;
constexpr size_t kChunkRows = 256;  // of the widest activations: they stay in L2

AttentionShape heads_of(const WhisperSizes& sizes) {
  const size_t d = sizes.n_embd / sizes.n_head;
  return {sizes.n_head, sizes.n_head, d, d};
}

uint64_t encoder_floats(const WhisperHparams& h) {
  const uint64_t n = h.encoder.n_ctx, n_embd = h.encoder.n_embd, rows = kChunkRows;
  const uint64_t convolution = arena_floats(2 * n * n_embd, rows * 3 * std::max<uint64_t>(h.n_mel, n_embd));
  const uint64_t block = arena_floats(n * n_embd, n * n_embd, n * n_embd, n * n_embd, n * n_embd);
  const uint64_t forward = arena_floats(rows * n_embd, rows * h.encoder.n_ff, rows * n_embd);
  const uint64_t cross = arena_floats(n * h.decoder.n_embd, n * h.decoder.n_embd);
  return std::max({convolution, block, forward, cross});
}

uint64_t decoder_floats(const WhisperHparams& h) {
  const uint64_t n = h.decoder.n_ctx, n_embd = h.decoder.n_embd, rows = kChunkRows;
  const uint64_t block = arena_floats(n * n_embd, n * n_embd, n * n_embd, n * n_embd, n * n_embd);
  const uint64_t forward = arena_floats(rows * n_embd, rows * h.decoder.n_ff, rows * n_embd);
  return arena_floats(n * n_embd) + std::max(block, forward);
}

uint64_t thread_floats(const WhisperHparams& h) {
  const uint64_t floats = std::max({attention_scratch(heads_of(h.encoder), h.encoder.n_ctx),
                                    attention_scratch(heads_of(h.decoder), h.encoder.n_ctx),
                                    attention_scratch(heads_of(h.decoder), h.decoder.n_ctx)});
  return Arena::round_up(floats);
}

Result<void> allocate_into(Buffer& to, uint64_t bytes) {
  to = Buffer();
  Result<Buffer> made = Buffer::allocate(bytes);
  if (!made) return std::unexpected(made.error());
  to = std::move(*made);
  return {};
}

}  // namespace

Result<WhisperState::Sizes> WhisperState::sizes(const WhisperModel& model, CacheType cache_type, size_t n_threads) {
  const WhisperHparams& h = model.hparams();
  const uint64_t element = cache_row_bytes(cache_type, 1), n_audio = h.encoder.n_ctx;
  Sizes s;
  // Of a layer's key and value; the encoder's own are floats.
  const bool fits =
      add_product(s.cache, 2 * element * h.decoder.n_layer, (n_audio + h.decoder.n_ctx) * h.decoder.n_embd) &&
      add_product(s.cache, 2 * sizeof(float), n_audio * h.encoder.n_embd) &&
      add_product(s.scratch, std::max(encoder_floats(h), decoder_floats(h)), sizeof(float)) &&
      add_product(s.scratch, n_audio * h.encoder.n_embd + 2 * n_audio * h.n_mel, sizeof(float)) &&
      add_product(s.scratch, thread_floats(h) * n_threads, sizeof(float));
  if (!fits) return fail(ErrorCode::kOverflow, "the model needs more memory than can be counted");
  return s;
}

Result<std::unique_ptr<WhisperState>> WhisperState::create(const WhisperModel& model, Pool& pool,
                                                           CacheType cache_type) {
  if (const Result<Sizes> counted = sizes(model, cache_type, pool.n_threads()); !counted)
    return std::unexpected(counted.error());
  std::unique_ptr<WhisperState> state(new (std::nothrow) WhisperState(model, pool));
  if (state == nullptr) return fail(ErrorCode::kOutOfMemory, "cannot allocate a state");
  const WhisperHparams& h = model.hparams();
  state->cache_type_ = cache_type;
  state->n_audio_embd_ = h.encoder.n_embd;
  state->cross_.resize(h.decoder.n_layer);
  state->cells_.resize(h.decoder.n_layer);
  state->thread_floats_ = static_cast<size_t>(thread_floats(h));
  const uint64_t own = uint64_t{h.encoder.n_ctx} * h.encoder.n_embd * sizeof(float);
  const uint64_t cross = uint64_t{h.encoder.n_ctx} * h.decoder.n_embd * cache_row_bytes(cache_type, 1);
  const uint64_t scratch = std::max(encoder_floats(h), decoder_floats(h)) * sizeof(float);
  std::vector<std::pair<Buffer*, uint64_t>> buffers = {
      {&state->encoded_, own},
      {&state->own_.keys, own},
      {&state->own_.values, own},
      {&state->scratch_, scratch},
      {&state->thread_scratch_, uint64_t{state->thread_floats_} * pool.n_threads() * sizeof(float)}};
  for (Cache& cache : state->cross_) {
    buffers.emplace_back(&cache.keys, cross);
    buffers.emplace_back(&cache.values, cross);
  }
  for (const auto& [buffer, bytes] : buffers)
    if (const Result<void> done = allocate_into(*buffer, bytes); !done) return std::unexpected(done.error());
  state->arena_.reset(state->scratch_.as<float>(), state->scratch_.size() / sizeof(float));
  if (const Result<void> done = state->reserve_cells(h.decoder.n_ctx); !done) return std::unexpected(done.error());
  return state;
}

Result<void> WhisperState::reserve_cells(uint32_t n) {
  if (n <= n_cells_) return {};
  n_cells_ = 0;
  const WhisperSizes& sizes = model_.hparams().decoder;
  const uint64_t bytes = uint64_t{n} * sizes.n_embd * cache_row_bytes(cache_type_, 1);
  // Of several sequences no token sees more than the decoder's context.
  for (Cache& cache : cells_)
    for (Buffer* buffer : {&cache.keys, &cache.values})
      if (const Result<void> done = allocate_into(*buffer, bytes); !done) return done;
  n_cells_ = n;
  return {};
}

CacheView WhisperState::view(Cache& cache, CacheType type, size_t n_cells) const {
  const WhisperSizes& sizes = &cache == &own_ ? model_.hparams().encoder : model_.hparams().decoder;
  return {{type, type}, cache.keys.data(), cache.values.data(), sizes.n_embd / sizes.n_head, n_cells};
}

void WhisperState::attend(const AttentionShape& shape, float scale, const CacheView& cache, float* q, size_t n,
                          std::span<const std::span<const CellRun>> visible, float* out) {
  AttentionOptions options;
  options.scale = scale;
  // No bias: positions matter to nothing, but one is read for each token.
  positions_.resize(std::max(positions_.size(), n));
  attention(pool_, shape, options, cache, q, n, visible, positions_.data(), positions_.data(),
            thread_scratch_.as<float>(), thread_floats_, out);
}

void WhisperState::feed_forward(const WhisperBlock& block, size_t n, size_t n_embd, size_t n_ff, float* x) {
  const size_t mark = arena_.mark();
  float* normed = arena_.take(kChunkRows * n_embd);
  float* wide = arena_.take(kChunkRows * n_ff);
  float* added = arena_.take(kChunkRows * n_embd);
  for (size_t first = 0; first < n; first += kChunkRows) {
    const size_t rows = std::min(kChunkRows, n - first);
    float* const part = x + first * n_embd;
    normalize_rows(pool_, kNormEps, NormKind::kLayer, block.ffn_norm, part, rows, n_embd, normed);
    apply(pool_, block.up, normed, rows, wide);
    each_token(pool_, Operation::kGate, rows, [&](size_t t) { activate(Activation::kGelu, wide + t * n_ff, n_ff); });
    apply(pool_, block.down, wide, rows, added);
    add_rows(pool_, part, added, rows, n_embd);
  }
  arena_.release(mark);
}

Result<void> WhisperState::begin_encode(std::span<const float> mel, uint32_t n_ctx) {
  const WhisperHparams& h = model_.hparams();
  if (n_ctx == 0 || n_ctx > h.encoder.n_ctx)
    return fail(ErrorCode::kOutOfRange,
                "an audio context of " + std::to_string(n_ctx) + "; the model has " + std::to_string(h.encoder.n_ctx));
  if (mel.size() != size_t{2} * n_ctx * h.n_mel)
    return fail(ErrorCode::kInvalidArgument, "a spectrogram of " + counted(mel.size(), "value") + " for " +
                                                 std::to_string(n_ctx) + " frames of output");
  mel_.assign(mel.begin(), mel.end());
  n_audio_ = n_ctx;
  n_next_step_ = 0;
  has_sound_ = false;
  return {};
}

size_t WhisperState::n_steps() const { return model_.weights().encoder.size() + 2; }

namespace {

// Rows of a convolution over frames x [n_frames, n_in]: frame t and its neighbours, [n_in, 3]. There are zeros around.
void gather(const float* x, size_t n_frames, size_t n_in, size_t t, float* row) {
  for (size_t k = 0; k < 3; ++k) {
    const bool inside = t + k >= 1 && t + k - 1 < n_frames;
    const float* frame = x + (t + k - 1) * n_in;
    for (size_t c = 0; c < n_in; ++c) row[c * 3 + k] = inside ? frame[c] : 0;
  }
}

}  // namespace

void WhisperState::convolve() {
  const WhisperHparams& h = model_.hparams();
  const WhisperWeights& w = model_.weights();
  const size_t n = n_audio_, n_embd = h.encoder.n_embd;
  float* first = arena_.take(2 * n * n_embd);
  float* gathered = arena_.take(kChunkRows * 3 * std::max<size_t>(h.n_mel, n_embd));
  const auto layer = [&](const Linear& by, const float* x, size_t n_in, size_t stride, size_t n_out, float* y) {
    for (size_t begin = 0; begin < n_out; begin += kChunkRows) {
      const size_t rows = std::min(kChunkRows, n_out - begin);
      each_token(pool_, Operation::kCache, rows,
                 [&](size_t t) { gather(x, 2 * n, n_in, (begin + t) * stride, gathered + t * 3 * n_in); });
      float* const part = y + begin * n_embd;
      apply(pool_, by, gathered, rows, part);
      each_token(pool_, Operation::kGate, rows,
                 [&](size_t t) { activate(Activation::kGelu, part + t * n_embd, n_embd); });
    }
  };
  layer(w.conv1, mel_.data(), h.n_mel, 1, 2 * n, first);
  layer(w.conv2, first, n_embd, 2, n, encoded_.as<float>());
}

void WhisperState::encoder_block(const WhisperBlock& block) {
  const WhisperSizes& sizes = model_.hparams().encoder;
  const AttentionShape shape = heads_of(sizes);
  const size_t n = n_audio_, n_embd = sizes.n_embd, mark = arena_.mark();
  float* x = encoded_.as<float>();
  float* normed = arena_.take(n * n_embd);
  float* q = arena_.take(n * n_embd);
  float* k = arena_.take(n * n_embd);
  float* v = arena_.take(n * n_embd);
  float* mixed = arena_.take(n * n_embd);
  normalize_rows(pool_, kNormEps, NormKind::kLayer, block.attn_norm, x, n, n_embd, normed);
  apply(pool_, {{&block.attn.q, q}, {&block.attn.k, k}, {&block.attn.v, v}}, normed, n);
  const CacheView cache = view(own_, CacheType::kF32, n);
  each_token(pool_, Operation::kCache, n,
             [&](size_t t) { cache_store(cache, shape, t, k + t * n_embd, v + t * n_embd); });
  const CellRun all{0, static_cast<uint32_t>(n)};
  const std::vector<std::span<const CellRun>> visible(n, std::span(&all, 1));
  attend(shape, 1 / std::sqrt(static_cast<float>(shape.d_k)), cache, q, n, visible, mixed);
  apply(pool_, block.attn.out, mixed, n, normed);
  add_rows(pool_, x, normed, n, n_embd);
  arena_.release(mark);
  feed_forward(block, n, n_embd, sizes.n_ff, x);
}

void WhisperState::encode_step(size_t step) {
  const WhisperHparams& h = model_.hparams();
  const WhisperWeights& w = model_.weights();
  const size_t n = n_audio_, n_embd = h.encoder.n_embd;
  if (step != n_next_step_ || step >= n_steps()) return;
  ++n_next_step_;
  float* x = encoded_.as<float>();
  arena_.release(0);
  if (step == kConvolution) return convolve();
  if (step == 1) vec::add(x, w.encoder_positions.data(), n * n_embd);
  if (step <= w.encoder.size()) return encoder_block(w.encoder[step - 1]);
  normalize_rows(pool_, kNormEps, NormKind::kLayer, w.encoder_norm, x, n, n_embd, x);
  const AttentionShape shape = heads_of(h.decoder);
  const size_t n_text = h.decoder.n_embd;
  float* k = arena_.take(n * n_text);
  float* v = arena_.take(n * n_text);
  for (size_t il = 0; il < w.decoder.size(); ++il) {
    apply(pool_, {{&w.decoder[il].cross.k, k}, {&w.decoder[il].cross.v, v}}, x, n);
    const CacheView cache = view(cross_[il], cache_type_, n);
    each_token(pool_, Operation::kCache, n,
               [&](size_t t) { cache_store(cache, shape, t, k + t * n_text, v + t * n_text); });
  }
  has_sound_ = true;
}

// Decoder.

void WhisperState::watch_cross(size_t il, const float* q, size_t n) {
  const WhisperSizes& sizes = model_.hparams().decoder;
  const size_t d = sizes.n_embd / sizes.n_head;
  std::vector<float> key(d);
  for (size_t i = 0; i < watched_.size(); ++i) {
    if (watched_[i].layer != il) continue;
    const uint8_t* const keys =
        cross_[il].keys.data() + watched_[i].head * n_audio_ * d * cache_row_bytes(cache_type_, 1);
    for (size_t t = 0; t < n; ++t) {
      float* const out = watched_out_ + (i * n + t) * n_audio_;
      const float* const query = q + t * sizes.n_embd + watched_[i].head * d;
      for (size_t c = 0; c < n_audio_; ++c) {
        if (cache_type_ == CacheType::kF32)
          std::memcpy(key.data(), keys + c * d * sizeof(float), d * sizeof(float));
        else
          vec::load_f16(reinterpret_cast<const uint16_t*>(keys) + c * d, key.data(), d);
        out[c] = vec::dot(query, key.data(), d) / std::sqrt(static_cast<float>(d));
      }
      softmax(out, n_audio_);
    }
  }
}

void WhisperState::decoder_block(size_t il, std::span<const DecoderToken> tokens,
                                 std::span<const std::span<const CellRun>> visible, float* x) {
  const WhisperSizes& sizes = model_.hparams().decoder;
  const WhisperBlock& block = model_.weights().decoder[il];
  const AttentionShape shape = heads_of(sizes);
  const float scale = 1 / std::sqrt(static_cast<float>(shape.d_k));
  const size_t n = tokens.size(), n_embd = sizes.n_embd, mark = arena_.mark();
  float* normed = arena_.take(n * n_embd);
  float* q = arena_.take(n * n_embd);
  float* k = arena_.take(n * n_embd);
  float* v = arena_.take(n * n_embd);
  float* mixed = arena_.take(n * n_embd);
  normalize_rows(pool_, kNormEps, NormKind::kLayer, block.attn_norm, x, n, n_embd, normed);
  apply(pool_, {{&block.attn.q, q}, {&block.attn.k, k}, {&block.attn.v, v}}, normed, n);
  const CacheView cache = view(cells_[il], cache_type_, n_cells_);
  for (size_t t = 0; t < n; ++t) cache_store(cache, shape, tokens[t].cell, k + t * n_embd, v + t * n_embd);
  attend(shape, scale, cache, q, n, visible, mixed);
  apply(pool_, block.attn.out, mixed, n, normed);
  add_rows(pool_, x, normed, n, n_embd);

  normalize_rows(pool_, kNormEps, NormKind::kLayer, block.cross_norm, x, n, n_embd, normed);
  apply(pool_, block.cross.q, normed, n, q);
  const CellRun all{0, static_cast<uint32_t>(n_audio_)};
  const std::vector<std::span<const CellRun>> frames(n, std::span(&all, 1));
  attend(shape, scale, view(cross_[il], cache_type_, n_audio_), q, n, frames, mixed);
  watch_cross(il, q, n);
  apply(pool_, block.cross.out, mixed, n, normed);
  add_rows(pool_, x, normed, n, n_embd);
  arena_.release(mark);
  feed_forward(block, n, n_embd, sizes.n_ff, x);
}

Result<void> WhisperState::check(std::span<const DecoderToken> tokens) const {
  const WhisperHparams& h = model_.hparams();
  if (!has_sound_) return fail(ErrorCode::kInvalidArgument, "no sound was encoded");
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

Result<void> WhisperState::decode(std::span<const DecoderToken> tokens, float* out) {
  if (const Result<void> good = check(tokens); !good) return good;
  const WhisperHparams& h = model_.hparams();
  const WhisperWeights& w = model_.weights();
  const size_t n = tokens.size(), n_embd = h.decoder.n_embd;
  arena_.release(0);
  float* x = arena_.take(n * n_embd);
  std::vector<int32_t> ids(n);
  std::vector<std::span<const CellRun>> visible(n);
  for (size_t t = 0; t < n; ++t) {
    ids[t] = tokens[t].id;
    visible[t] = tokens[t].visible;
  }
  get_rows(w.token_embedding.matrix, ids, x);
  for (size_t t = 0; t < n; ++t)
    vec::add(x + t * n_embd, w.decoder_positions.data() + tokens[t].position * n_embd, n_embd);
  for (size_t il = 0; il < w.decoder.size(); ++il) decoder_block(il, tokens, visible, x);
  watched_.clear();

  size_t n_wanted = 0;
  for (size_t t = 0; t < n; ++t)
    if (tokens[t].wanted) {
      if (t != n_wanted) std::memcpy(x + n_wanted * n_embd, x + t * n_embd, n_embd * sizeof(float));
      ++n_wanted;
    }
  if (n_wanted == 0) return {};
  normalize_rows(pool_, kNormEps, NormKind::kLayer, w.decoder_norm, x, n_wanted, n_embd, x);
  apply(pool_, w.token_embedding, x, n_wanted, out);
  return {};
}

Result<void> WhisperState::decode_text(std::span<const int32_t> ids, bool all, float* out) {
  std::vector<CellRun> runs(ids.size());
  std::vector<DecoderToken> tokens(ids.size());
  for (uint32_t t = 0; t < ids.size(); ++t) {
    runs[t] = {0, t + 1};
    tokens[t] = {ids[t], t, t, std::span(&runs[t], 1), all || t + 1 == ids.size()};
  }
  return decode(tokens, out);
}

}  // namespace ggufscope
