// Kokoro's first half: what the phonemes are, and how long each one is.
#include <cmath>
#include <cstring>

#include "nn/vec.hpp"
#include "speech/kokoro.hpp"

namespace ggufscope {
namespace {

constexpr float kBertEps = 1e-12f, kTextEps = 1e-5f;
constexpr size_t kPhonemesOfStep = 64;

void normalize_to(Pool& pool, float eps, const Affine& by, const float* x, size_t n, size_t width, float* y) {
  normalize_rows(pool, eps, NormKind::kLayer, by, x, n, width, y);
}

// Every phoneme attends to all.
void add_attention(StepList& s, const KokoroBert& w, const float* x, size_t n, float* y) {
  const ArenaScope scope(s.arena);
  const size_t d = w.n_embd / w.n_head;
  const AttentionShape shape{w.n_head, w.n_head, d, d};
  float* q = s.arena.take(n, w.n_embd);
  float* k = s.arena.take(n, w.n_embd);
  float* v = s.arena.take(n, w.n_embd);
  float* keys = s.arena.take(n, w.n_embd);
  float* values = s.arena.take(n, w.n_embd);
  float* mixed = s.arena.take(n, w.n_embd);
  const auto n_scratch = static_cast<size_t>(Arena::round_up(attention_scratch(shape, n)));
  float* scratch = s.arena.take(s.pool.n_threads(), n_scratch);
  Pool& pool = s.pool;
  const CacheView cache{CacheTypes{}, reinterpret_cast<uint8_t*>(keys), reinterpret_cast<uint8_t*>(values), d, n};
  s.add([=, &pool, &w] {
    apply(pool, {{&w.q, q}, {&w.k, k}, {&w.v, v}}, x, n);
    for (size_t t = 0; t < n; ++t) cache_store(cache, shape, t, k + t * w.n_embd, v + t * w.n_embd);
  });
  s.add_parts(n, kPhonemesOfStep, [=, &pool, &w](size_t first, size_t rows) {
    const CellRun all{0, static_cast<uint32_t>(n)};
    const std::vector<std::span<const CellRun>> visible(rows, std::span(&all, 1));
    const std::vector<int32_t> positions(rows, 0);
    const AttentionOptions options{.scale = 1 / std::sqrt(static_cast<float>(d))};
    attention(pool, shape, options, cache, q + first * w.n_embd, rows, visible, positions.data(), nullptr, scratch,
              n_scratch, mixed + first * w.n_embd);
  });
  s.add([=, &pool, &w] { apply(pool, w.out, mixed, n, y); });
}

// Adds added to x and normalizes.
void add_sum(StepList& s, const Affine& norm, size_t n, size_t width, const float* added, float* x) {
  Pool& pool = s.pool;
  s.add([=, &pool, &norm] {
    add_rows(pool, x, added, n, width);
    normalize_to(pool, kBertEps, norm, x, n, width, x);
  });
}

// x [n, n_embd].
void add_bert(StepList& s, const KokoroBert& w, std::vector<int32_t> ids, float* x) {
  const ArenaScope scope(s.arena);
  const size_t n = ids.size(), narrow = w.tokens.n_in;
  float* embedded = s.arena.take(n, narrow);
  float* positions = s.arena.take(n, narrow);
  float* added = s.arena.take(n, w.n_embd);
  float* wide = s.arena.take(n, w.n_ff);
  Pool& pool = s.pool;
  s.add([=, &pool, &w, ids = std::move(ids)] {
    std::vector<int32_t> places(n);
    for (size_t t = 0; t < n; ++t) places[t] = static_cast<int32_t>(t);
    look_up(pool, w.tokens, ids, embedded);
    look_up(pool, w.positions, places, positions);
    add_rows(pool, embedded, positions, n, narrow);
    for (size_t t = 0; t < n; ++t) vec::add(embedded + t * narrow, w.token_type.data(), narrow);
    normalize_to(pool, kBertEps, w.norm, embedded, n, narrow, embedded);
    apply(pool, w.widen, embedded, n, x);
  });
  for (size_t i = 0; i < w.n_repeats; ++i) {
    add_attention(s, w, x, n, added);
    add_sum(s, w.attention_norm, n, w.n_embd, added, x);
    s.add_parts(n, kPhonemesOfStep, [=, &pool, &w](size_t first, size_t rows) {
      apply(pool, w.up, x + first * w.n_embd, rows, wide);
      each_token(pool, Operation::kGate, rows,
                 [&](size_t t) { activate(Activation::kGelu, wide + t * w.n_ff, w.n_ff); });
      apply(pool, w.down, wide, rows, added + first * w.n_embd);
    });
    add_sum(s, w.out_norm, n, w.n_embd, added, x);
  }
}

void copy_rows(const float* x, size_t n, size_t width, float* y, size_t y_width) {
  for (size_t t = 0; t < n; ++t) std::memcpy(y + t * y_width, x + t * width, width * sizeof(float));
}

// Embeddings of the text, y [n, lstm.n_out()].
void add_text(StepList& s, const KokoroText& w, std::vector<int32_t> ids, float* y) {
  const ArenaScope scope(s.arena);
  const size_t n = ids.size();
  size_t width = w.embedding.n_in;
  float* x = s.arena.take(n, width);
  Pool& pool = s.pool;
  s.add([=, &pool, &w, ids = std::move(ids)] { look_up(pool, w.embedding, ids, x); });
  for (const KokoroText::Layer& layer : w.layers) {
    width = layer.convolution.n_out();
    float* made = s.arena.take(n, width);
    add_convolution(s, layer.convolution, x, n, made);
    s.add([=, &pool, &layer] { normalize_to(pool, kTextEps, layer.norm, made, n, width, made); });
    add_leaky(s, 0.2f, made, n * width);
    x = made;
  }
  add_lstm(s, w.lstm, x, n, y);
}

}  // namespace

void record_prosody(StepList& s, const KokoroWeights& w, const KokoroInput& in, KokoroPhonemes& to) {
  const KokoroProsody& p = w.prosody;
  const size_t n = in.ids.size(), width = p.n_hidden + w.n_style;
  const std::vector<int32_t> ids(in.ids.begin(), in.ids.end());
  Pool& pool = s.pool;
  float* style = s.arena.take(w.n_style);
  float* embedded = s.arena.take(n, w.bert.n_embd);
  float* narrow = s.arena.take(n, std::max(p.n_hidden, p.durations_lstm.n_out()));
  float* normed = s.arena.take(n, p.n_hidden);
  float* wide = s.arena.take(n, p.durations.n_out);
  float* text = s.arena.take(n, w.text.lstm.n_out());
  if (!s.counting()) {
    std::memcpy(style, in.style + w.n_style, w.n_style * sizeof(float));
    to.n = n;
    to.hidden.assign(n * width, 0.0f);
    to.text.assign(n * w.text.lstm.n_out(), 0.0f);
    to.durations.assign(n, 0.0f);
  }
  float* hidden = s.counting() ? nullptr : to.hidden.data();
  add_bert(s, w.bert, ids, embedded);
  s.add([=, &pool, &p, &w] {
    apply(pool, p.encode, embedded, n, narrow);
    copy_rows(narrow, n, p.n_hidden, hidden, width);
    for (size_t t = 0; t < n; ++t) std::memcpy(hidden + t * width + p.n_hidden, style, w.n_style * sizeof(float));
  });
  for (const KokoroProsody::Layer& layer : p.layers) {
    add_lstm(s, layer.lstm, hidden, n, narrow);
    add_adaptive_rows(s, layer.norm, style, narrow, n, normed);
    s.add([=, &p] { copy_rows(normed, n, p.n_hidden, hidden, width); });
  }
  add_lstm(s, p.durations_lstm, hidden, n, narrow);
  s.add([=, &pool, &p, &to] {
    apply(pool, p.durations, narrow, n, wide);
    for (size_t t = 0; t < n; ++t) {
      float sum = 0;
      for (size_t i = 0; i < p.durations.n_out; ++i) sum += 1 / (1 + std::exp(-wide[t * p.durations.n_out + i]));
      to.durations[t] = sum;
    }
  });
  add_text(s, w.text, ids, text);
  s.add([=, &to, &w] { std::copy_n(text, n * w.text.lstm.n_out(), to.text.data()); });
}

}  // namespace ggufscope
