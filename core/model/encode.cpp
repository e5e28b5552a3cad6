// T5 (Raffel et al. 2020): an encoder-decoder. The decoder's layers attend to keys and values of the encoder's output,
// which are computed once.
#include <cstring>

#include "base/sentence.hpp"
#include "model/forward.hpp"
#include "model/kv_cells.hpp"
#include "model/mixers/cross_attention.hpp"

namespace ggufscope {

void run_encoder(Pass& pass, std::span<const int32_t> tokens, float* out) {
  const Model& model = pass.model;
  const Hparams& h = pass.h();
  const size_t n = pass.n_tokens;
  pass.layers = &model.weights().encoder;
  pass.encoding = true;
  pass.state.arena.release(0);
  const Activations a = take_activations(pass);
  const auto watch = [&](int32_t il) {
    if (!pass.counting()) pass.state.watch_numbers(il, a.x, n * h.n_embd);
  };
  if (!pass.counting()) embed(pass, tokens, a.x, a.normed);
  watch(-1);
  for (size_t il = 0; il < h.n_encoder_layer; ++il) {
    run_layer(pass, il, a);
    watch(static_cast<int32_t>(il));
  }
  if (!pass.counting())
    normalize_rows(pass.pool, h.norm_eps, h.norm, model.weights().encoder_norm, a.x, n, h.n_embd, a.x);
  if (out != nullptr) std::memcpy(out, a.x, n * h.n_embd * sizeof(float));

  for (size_t il = 0; il < h.n_layer; ++il) {
    const LayerParameters& layer = h.layers[il];
    const CrossAttentionWeights& w = model.weights().layers[il].cross.get<CrossAttentionWeights>();
    const ArenaScope scope(pass.state.arena);
    const size_t n_k = w.k.n_out, n_v = w.v.n_out;
    float* k = pass.take(n, n_k);  // [n_tokens, n_head_kv, d_k]
    float* v = pass.take(n, n_v);  // [n_tokens, n_head_kv, d_v]
    if (pass.counting()) continue;
    apply(pass.pool, w.k, a.x, n, k);
    apply(pass.pool, w.v, a.x, n, v);
    for (size_t t = 0; t < n; ++t)
      cache_store(pass.state.cross(il), {layer.n_head, layer.n_head_kv, layer.d_k, layer.d_v}, t, k + t * n_k,
                  v + t * n_v);
  }
}

Result<void> encode(const Model& model, State& state, Pool& pool, std::span<const int32_t> tokens, float* out) {
  const Hparams& h = model.hparams();
  if (!model.has_encoder())
    return fail(ErrorCode::kUnsupported, std::string(model.architecture().name) + " has no encoder");
  const size_t n = tokens.size();
  if (n == 0 || n > state.options().n_batch)
    return fail(ErrorCode::kOutOfRange,
                counted(n, "token") + " cannot be encoded in batches of " + std::to_string(state.options().n_batch));
  for (const int32_t token : tokens)
    if (token < 0 || static_cast<uint32_t>(token) >= h.n_vocab)
      return fail(ErrorCode::kOutOfRange,
                  "token " + std::to_string(token) + " is not one of " + std::to_string(h.n_vocab));
  state.clear();  // a new input invalidates what was decoded before
  std::vector<int32_t> positions(n), sequences(n, 0);
  for (size_t t = 0; t < n; ++t) positions[t] = static_cast<int32_t>(t);
  if (const Result<void> reserved = state.reserve_scratch(); !reserved) return reserved;
  if (pool.profile() != nullptr) pool.profile()->begin_pass(n);
  const Timed timed(pool.profile(), Operation::kPass);
  Pass pass{model, state, pool};
  pass.n_tokens = n;
  pass.positions = positions;
  pass.sequences = sequences;
  pass.encoding = true;
  if (!state.take_cells(n, state.batch_cells))
    return fail(ErrorCode::kOutOfMemory, "the context is too small to encode this");
  state.batch_slots = state.batch_cells;
  for (size_t t = 0; t < n; ++t) state.cells()[state.batch_cells[t]] = {positions[t], 1};
  for (size_t c = 0; c < state.cells().size(); ++c) state.cell_positions[c] = state.cells()[c].position;
  find_visible(pass, false, state.runs_full, state.visible_full);

  run_encoder(pass, tokens, out);
  state.clear();
  state.n_encoded = n;
  return {};
}

}  // namespace ggufscope
