// Embeddings of hashed n-grams (Qwen 4, 2026). Each of the last 2 .. n tokens select rows of a table by hashes: head g
// of length l takes
//
//   row = (t[p] m[0] xor t[p-1] m[1] xor .. xor t[p-l+1] m[l-1]) mod n_rows[g] + offset[g].
//
// A key and a value are computed from all rows. Stream i, normalized, is a query: with s = key_i . query_i /
// sqrt(n_embd)
//
//   v_i = value sigmoid(sign(s) sqrt(|s|)),   stream_i += v_i + silu(convolution of norm(v_i)).
//
// The convolution is depthwise and causal, and its inputs are n tokens apart.
#include "model/residual/ngram_embedding.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "gguf/access.hpp"
#include "model/residual/low_rank_connections.hpp"
#include "nn/activation.hpp"
#include "nn/vec.hpp"

namespace ggufscope {
namespace {

// llama.cpp's limits.
constexpr uint32_t kMaxNgramLength = 8, kMaxNgramHeads = 64;

// An array of at least n counts, each at most `max`.
std::vector<uint64_t> counts_of(Keys& keys, std::string_view name, size_t n, uint64_t max) {
  const std::string key = std::string("qwen4exp.") + std::string(name);
  const auto values = get_integers(keys.gguf(), key);
  std::vector<uint64_t> out;
  if (!values || values->size() < n) {
    keys.refuse(ErrorCode::kNotFound, key + " is missing, or no array of " + std::to_string(n) + " counts");
    return out;
  }
  for (size_t i = 0; i < n; ++i) {
    if ((*values)[i] < 0 || static_cast<uint64_t>((*values)[i]) > max)
      keys.refuse(ErrorCode::kOutOfRange, key + " holds " + std::to_string((*values)[i]));
    out.push_back(static_cast<uint64_t>((*values)[i]));
  }
  return out;
}

void read_ngram_heads(NgramSizes& s, Keys& keys) {
  constexpr uint64_t kMaxRow = INT32_MAX;
  const size_t n_heads = size_t{s.n - 1} * s.n_heads_per_gram;
  s.multipliers = counts_of(keys, "ple.layer_multipliers", s.n, INT64_MAX);
  const std::vector<uint64_t> offsets = counts_of(keys, "ple.head_offsets", n_heads, kMaxRow);
  const std::vector<uint64_t> n_rows = counts_of(keys, "ple.head_vocab_sizes", n_heads, kMaxRow);
  if (keys.failed()) return;
  for (size_t i = 0; i < n_heads; ++i) {
    const uint64_t end = offsets[i] + n_rows[i];
    if (n_rows[i] == 0 || end > kMaxRow)
      return keys.refuse(ErrorCode::kOutOfRange, "ple.head_offsets and ple.head_vocab_sizes: head " +
                                                     std::to_string(i) + " has no rows, or rows beyond 2^31");
    s.offsets.push_back(static_cast<uint32_t>(offsets[i]));
    s.n_rows_of.push_back(static_cast<uint32_t>(n_rows[i]));
    s.n_rows = std::max(s.n_rows, end);
  }
}

}  // namespace

void read_ngrams(Hparams& h, Keys& keys) {
  const auto layers = get_integers(keys.gguf(), "qwen4exp.ple.layers");
  if (!layers || layers->empty()) return;
  if (layers->size() != 1 || (*layers)[0] < 0 || (*layers)[0] >= h.n_layer)
    return keys.refuse(ErrorCode::kUnsupported, "ple.layers does not name exactly one layer of the model");
  NgramSizes& s = h.parts.edit<NgramSizes>();
  s.layer = static_cast<uint32_t>((*layers)[0]);
  if (find_mixer(h.layers[s.layer].mixer).state == nullptr)
    return keys.refuse(ErrorCode::kUnsupported, "ple.layers names a layer with attention");
  uint32_t end_token = 0, media_token = 0;
  keys.required("ple.ngram_size", s.n, kMaxNgramLength);
  keys.required("ple.heads_per_ngram", s.n_heads_per_gram, kMaxNgramHeads);
  keys.required("ple.conv_kernel", s.n_kernel, 1u << 10);
  keys.required("embedding_length_per_layer_input", s.d_head, 1u << 16);
  if (!keys.u32("ple.eos_token_id", end_token)) keys.refuse(ErrorCode::kNotFound, "ple.eos_token_id is missing");
  keys.u32("ple.image_token_id", media_token);
  s.end_token = static_cast<int32_t>(end_token);
  s.media_token = static_cast<int32_t>(media_token != 0 ? media_token : end_token);
  if (keys.failed()) return;
  if (s.n < 2 || (s.n - 1) * s.n_heads_per_gram > kMaxNgramHeads)
    return keys.refuse(ErrorCode::kOutOfRange, "ple.ngram_size or ple.heads_per_ngram is out of range");
  read_ngram_heads(s, keys);
}

void plan_ngram_table(Planner& planner, const Hparams& h, Weights& weights) {
  const NgramSizes& s = h.part<NgramSizes>();
  if (s.n == 0) return;
  // The table may have more rows than the heads select from.
  const uint64_t n_rows = std::max(s.n_rows, planner.rows_of("per_layer_token_embd"));
  planner.matrix(weights.per_layer_embedding, "per_layer_token_embd", s.d_head, n_rows);
}

void plan_ngrams(const LayerPlan& plan, LayerWeights& weights) {
  const NgramSizes& s = plan.h.part<NgramSizes>();
  if (s.n == 0 || plan.il != s.layer) return;
  NgramWeights& w = weights.per_layer.create<NgramWeights>();
  Planner& p = plan.planner;
  const uint64_t n_in = uint64_t{s.n_heads()} * s.d_head, n_embd = plan.h.n_embd;
  const uint64_t n_wide = plan.h.part<LowRankSizes>().n * n_embd;
  p.matrix(w.key, plan.name("ple_key"), n_in, n_wide);
  p.matrix(w.value, plan.name("ple_value"), n_in, n_embd);
  p.vector(w.key_norm, plan.name("ple_norm_key.weight"), n_wide);
  p.vector(w.query_norm, plan.name("ple_norm_query.weight"), n_wide);
  p.vector(w.conv_norm, plan.name("ple_norm_conv.weight"), n_wide);
  p.vector(w.conv, plan.name("ple_conv1d.weight"), n_wide * s.n_kernel);
}

uint64_t ngram_state(const Hparams& h, size_t il) {
  const NgramSizes& s = h.part<NgramSizes>();
  if (s.n == 0 || il != s.layer) return 0;
  return s.n - 1 + uint64_t{s.n_history()} * h.part<LowRankSizes>().n * h.n_embd;
}

namespace {

// The table's rows of one token, rows [n_heads]. last [n - 1]: the tokens before it plus 1, the nearest first; 0: none.
// Then moves the token to the front of them.
void hash_ngrams(const NgramSizes& s, int32_t token, bool is_media, float* last, int32_t* rows) {
  const size_t n_before = s.n - 1;
  uint64_t hash = static_cast<uint64_t>(token) * s.multipliers[0];
  bool ended = false;
  for (size_t i = 0; i < n_before; ++i) {
    const int32_t before = static_cast<int32_t>(last[i]) - 1;
    ended = ended || before < 0 || before == s.end_token;
    hash ^= static_cast<uint64_t>(ended ? s.end_token : before) * s.multipliers[i + 1];
    for (size_t g = i * s.n_heads_per_gram; g < (i + 1) * s.n_heads_per_gram; ++g)
      rows[g] = static_cast<int32_t>(hash % s.n_rows_of[g] + s.offsets[g]);
  }
  std::memmove(last + 1, last, (n_before - 1) * sizeof(float));
  last[0] = is_media ? 0.0f : static_cast<float>(token + 1);
}

// Normalizes each stream of a token.
void normalize_streams(const Hparams& h, const Vector& weights, const float* from, float* to) {
  for (size_t i = 0; i < h.part<LowRankSizes>().n; ++i)
    normalize(NormKind::kRms, from + i * h.n_embd, weights.data() + i * h.n_embd, nullptr, h.n_embd, h.norm_eps,
              to + i * h.n_embd);
}

// gated [n_streams, n_embd] of one token: the value, scaled for each stream. key is normalized in place, and query is
// scratch.
void gate_values(const Hparams& h, const NgramWeights& w, const float* streams, const float* value, float* key,
                 float* query, float* gated) {
  const size_t n_embd = h.n_embd;
  normalize_streams(h, w.key_norm, key, key);
  normalize_streams(h, w.query_norm, streams, query);
  for (size_t i = 0; i < h.part<LowRankSizes>().n; ++i) {
    const float score = vec::dot(key + i * n_embd, query + i * n_embd, n_embd) / std::sqrt(static_cast<float>(n_embd));
    const float root = std::sqrt(std::max(std::fabs(score), 1e-6f));
    const float sign = score > 0 ? 1.0f : score < 0 ? -1.0f : 0.0f;
    std::memcpy(gated + i * n_embd, value, n_embd * sizeof(float));
    vec::scale(gated + i * n_embd, 1.0f / (1.0f + std::exp(-sign * root)), n_embd);
  }
}

// x [n_tokens, n_channels] -> the convolution's outputs, in place. A state holds the last n_history inputs.
void convolve(Pool& pool, const NgramSizes& s, const Vector& weights, size_t n_channels, States states, float* x) {
  const size_t n_history = s.n_history(), n_kernel = s.n_kernel;
  pool.parallel_for(n_channels, 64, [&](size_t first, size_t last, size_t) {
    for (size_t t = 0; t < states.size(); ++t)
      for (size_t c = first; c < last; ++c) {
        float* const history = states[t] + c * n_history;
        float& value = x[t * n_channels + c];
        const float* const w = weights.data() + c * n_kernel;
        float sum = 0;
        for (size_t k = 0; k + 1 < n_kernel; ++k) sum += w[k] * history[k * s.n];
        sum += w[n_kernel - 1] * value;
        std::memmove(history, history + 1, n_history == 0 ? 0 : (n_history - 1) * sizeof(float));
        if (n_history != 0) history[n_history - 1] = value;
        value = sum;
      }
  });
}

}  // namespace

void add_ngrams(Pass& pass, size_t il, float* streams) {
  const Hparams& h = pass.h();
  const NgramSizes& s = h.part<NgramSizes>();
  const size_t n = pass.n_tokens, n_embd = h.n_embd, n_wide = h.part<LowRankSizes>().n * n_embd;
  const size_t n_in = s.n_heads() * s.d_head;
  const ArenaScope scope(pass.state.arena);
  float* rows = pass.take(n, n_in);
  float* key = pass.take(n, n_wide);
  float* value = pass.take(n, n_embd);
  float* normed = pass.take(n, n_wide);
  float* gated = pass.take(n, n_wide);
  if (pass.counting()) return;
  const NgramWeights& w = pass.weights(il).per_layer.get<NgramWeights>();
  const size_t offset = static_cast<size_t>(find_mixer(pass.layer(il).mixer).state(h));
  const States last = pass.states(il, offset);
  const bool is_media = !pass.inputs.empty();
  std::vector<int32_t> ids(n * s.n_heads());
  for (size_t t = 0; t < n; ++t)
    hash_ngrams(s, is_media ? s.media_token : pass.tokens[t], is_media, last[t], ids.data() + t * s.n_heads());
  look_up(pass.pool, pass.model.weights().per_layer_embedding, ids, rows);
  apply(pass.pool, {{&w.key, key}, {&w.value, value}}, rows, n);
  each_token(pass.pool, Operation::kAdd, n, [&](size_t t) {
    gate_values(h, w, streams + t * n_wide, value + t * n_embd, key + t * n_wide, normed + t * n_wide,
                gated + t * n_wide);
    normalize_streams(h, w.conv_norm, gated + t * n_wide, normed + t * n_wide);
  });
  convolve(pass.pool, s, w.conv, n_wide, pass.states(il, offset + s.n - 1), normed);
  activate(Activation::kSilu, normed, n * n_wide);
  vec::add(gated, normed, n * n_wide);
  vec::add(streams, gated, n * n_wide);
}

}  // namespace ggufscope
