// What a session computes of a whole text at once: logits, embeddings, scores of decisions.
#include "engine/number_watch.hpp"
#include "engine/session.hpp"

namespace ggufscope {

Result<Buffer> Session::evaluate(std::span<const TokenId> tokens) { return evaluate(tokens, {}, tokens.size()); }

Result<Buffer> Session::evaluate_last(std::span<const TokenId> tokens) {
  if (model_->is_encoder()) return fail(ErrorCode::kUnsupported, "this model has no logits");
  std::vector<uint8_t> mask(tokens.size(), 0);
  if (!mask.empty()) mask.back() = 1;
  return evaluate(tokens, mask, 1);
}

Result<Buffer> Session::evaluate(std::span<const TokenId> tokens, std::span<const uint8_t> output_mask,
                                 size_t n_outputs) {
  if (const Result<void> good = check(tokens); !good) return std::unexpected(good.error());
  if (const Result<void> has = check_logits(); !has) return std::unexpected(has.error());
  const uint64_t n_bytes = uint64_t{n_outputs} * model_->n_output() * sizeof(float);
  const NumberWatch watch(*this);
  Result<Buffer> out = plan_ ? take_text(tokens, n_bytes) : Buffer::allocate(n_bytes);
  if (!out) return out;
  if (!plan_) {
    clear_sequences();
    selected().adapter_starts = adapter_starts(selected(), tokens);
    const Result<void> done = run(tokens, 0, tokens.size(), 0, output_mask, out->as<float>());
    state_->clear();
    if (!done) return std::unexpected(done.error());
  }
  if (!none_is_nan({out->as<float>(), out->size() / sizeof(float)})) return watch.error();
  return out;
}

Result<void> Session::check_logits() const {
  if (!model_->has_encoder()) return {};
  return fail(ErrorCode::kUnsupported, "logits of a text are not available for encoder-decoder models");
}

Result<void> Session::check_text(std::span<const TokenId> tokens) const {
  if (const Result<void> good = check(tokens); !good) return good;
  if (std::ranges::any_of(tokens, is_media))
    return fail(ErrorCode::kUnsupported, "a text with images or audio cannot be embedded");
  return {};
}

Result<Buffer> Session::embed_rows(std::span<const TokenId> tokens) {
  const uint64_t n_bytes = uint64_t{tokens.size()} * output_floats(*model_, true) * sizeof(float);
  if (plan_) return take_text(tokens, n_bytes);
  clear_sequences();
  const Batch batch{.tokens = tokens, .positions = {}, .sequences = {}, .output_mask = {}, .embeddings = true};
  Result<Buffer> rows = Buffer::allocate(n_bytes);
  if (!rows) return rows;
  selected().adapter_starts = adapter_starts(selected(), tokens);
  Result<void> done = use_adapters_at(selected(), 0);
  if (done)
    done = model_->has_encoder() ? encode(*model_, *state_, *pool_, tokens, rows->as<float>())
                                 : forward_parts(0, batch, rows->as<float>());
  state_->clear();
  if (!done) return std::unexpected(done.error());
  return rows;
}

Result<std::vector<float>> Session::embed(std::span<const TokenId> tokens, Pooling pooling) {
  if (const Result<void> good = check_text(tokens); !good) return std::unexpected(good.error());
  const NumberWatch watch(*this);
  const Result<Buffer> rows = embed_rows(tokens);
  if (!rows) return std::unexpected(rows.error());
  if (pooling == Pooling::kUnspecified) pooling = pooling_of(*model_);
  std::vector<float> out(pooled_floats(*model_, pooling) * (pooling == Pooling::kNone ? tokens.size() : 1));
  if (const Result<void> pooled =
          pool_embeddings(*model_, *pool_, pooling, rows->as<float>(), tokens.size(), out.data());
      !pooled)
    return std::unexpected(pooled.error());
  if (!all_finite(out)) return watch.error();
  return out;
}

Result<std::vector<float>> Session::decide(std::span<const TokenId> tokens, std::span<const DecisionPart> parts) {
  if (const Result<void> good = check_text(tokens); !good) return std::unexpected(good.error());
  const NumberWatch watch(*this);
  const Result<Buffer> rows = embed_rows(tokens);
  if (!rows) return std::unexpected(rows.error());
  Result<std::vector<float>> scores = score_options(*model_, *pool_, tokens, parts, rows->as<float>());
  if (scores && !all_finite(*scores)) return watch.error();
  return scores;
}

}  // namespace ggufscope
