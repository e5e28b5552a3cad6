// Traces a text through the layers: the probability of each token, the tokens that each layer tends to (logit lens,
// nostalgebraist 2020), and the weights of attention heads.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/number_watch.hpp"
#include "engine/session.hpp"
#include "model/logits.hpp"
#include "model/wavtokenizer.hpp"
#include "nn/finite.hpp"

namespace ggufscope {
namespace {

constexpr size_t kStep = 32;  // tokens between which the caller can stop
constexpr size_t kRows = 32;  // rows of logits at once
constexpr uint32_t kMaxBest = 1000;

std::string name_of(const LayerPart& part) {
  const std::string layer = "layer " + std::to_string(part.layer);
  return part.head == LayerPart::kWhole ? layer : "head " + std::to_string(part.head) + " of " + layer;
}

// The logarithm of the sum of exp(logits).
float log_sum(std::span<const float> logits) {
  const float max = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - max);
  return max + static_cast<float>(std::log(sum));
}

// The largest logits, of equal ones those with the lowest ids; ids [n_best].
void best_of(std::span<const float> logits, std::span<TokenId> ids) {
  std::vector<TokenId> all(logits.size());
  std::iota(all.begin(), all.end(), 0);
  const auto likelier = [&](TokenId a, TokenId b) {
    const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
    return x > y || (x == y && a < b);
  };
  std::partial_sort_copy(all.begin(), all.end(), ids.begin(), ids.end(), likelier);
}

}  // namespace

Result<void> Session::check_parts(std::span<const LayerPart> parts) const {
  if (parts.empty()) return {};
  const Hparams& h = model_->hparams();
  if (model_->has_encoder())
    return fail(ErrorCode::kUnsupported, "parts of encoder-decoder models cannot be ablated or traced");
  if (plan_) return fail(ErrorCode::kUnsupported, "parts of a model are ablated only where it runs on the CPU");
  for (const LayerPart& part : parts) {
    if (part.layer >= h.n_layer || (part.head != LayerPart::kWhole && part.head >= h.layers[part.layer].n_head))
      return fail(ErrorCode::kOutOfRange, "there is no " + name_of(part));
    if (part.head == LayerPart::kWhole && !has_one_stream(*model_))
      return fail(ErrorCode::kUnsupported,
                  "the layers of this model have several residual streams, so a whole layer cannot be ablated");
  }
  return {};
}

Result<void> Session::no_heads(const LayerPart& part) {
  return fail(ErrorCode::kUnsupported, name_of(part) + ": this layer does not compute attention head by head");
}

Result<void> Session::check_trace(std::span<const TokenId> tokens, const TraceOptions& options) const {
  const Hparams& h = model_->hparams();
  if (const Result<void> good = check(tokens); !good) return good;
  if (std::ranges::any_of(tokens, is_media))
    return fail(ErrorCode::kUnsupported, "a text with images or audio cannot be traced");
  if (model_->has_encoder() || h.part<CodecSizes>().n != 0)
    return fail(ErrorCode::kUnsupported, "models of this architecture cannot be traced");
  if (const Result<void> good = check_parts(options.attention); !good) return good;
  if (const Result<void> good = check_parts(options.ablated); !good) return good;
  for (const LayerPart& part : options.attention)
    if (part.head == LayerPart::kWhole) return fail(ErrorCode::kInvalidArgument, "attention is recorded of heads");
  if (options.n_best > std::min(kMaxBest, h.n_vocab))
    return fail(ErrorCode::kOutOfRange, "the number of best tokens is out of range");
  for (const uint32_t layer : options.layers) {
    if (layer > h.n_layer)
      return fail(ErrorCode::kOutOfRange, "there is no layer " + std::to_string(layer) + " to read: the output is " +
                                              std::to_string(h.n_layer));
    if (model_->is_encoder()) return fail(ErrorCode::kUnsupported, "this model has no logits");
    if (layer != h.n_layer && !has_one_stream(*model_))
      return fail(ErrorCode::kUnsupported,
                  "the layers of this model have several residual streams, so only its output can be read");
  }
  return {};
}

Result<void> Session::begin_trace(std::span<const TokenId> tokens, TraceOptions options) {
  const uint32_t n_layer = model_->hparams().n_layer;
  if (options.all_layers) {
    const uint32_t count = model_->is_encoder() ? 0 : has_one_stream(*model_) ? n_layer + 1 : 1;
    options.layers.resize(count);
    std::iota(options.layers.begin(), options.layers.end(), n_layer + 1 - count);
  }
  if (const Result<void> good = check_trace(tokens, options); !good) return good;
  free_trace();
  const size_t n = tokens.size();
  const uint64_t n_weights = uint64_t{options.attention.size()} * n * n;
  Result<Buffer> weights = Buffer::allocate(n_weights * sizeof(float));
  if (!weights) return std::unexpected(weights.error());
  trace_.attention = std::move(*weights);
  std::fill_n(trace_.attention.as<float>(), n_weights, 0.0f);
  trace_.layers = std::move(options.layers);
  trace_.n_best = options.n_best;
  if (!model_->is_encoder()) {
    trace_.log_p.assign(n, std::numeric_limits<float>::quiet_NaN());
    trace_.ranks.assign(n, -1);
  }
  trace_.best.resize(trace_.layers.size() * n * trace_.n_best);
  trace_.best_log_p.resize(trace_.best.size());
  trace_probe_.emplace(std::move(options.ablated), std::move(options.attention));
  trace_probe_->record_to(trace_.attention.as<float>(), n);
  traced_.assign(tokens.begin(), tokens.end());
  clear_sequences();
  selected().adapter_starts = adapter_starts(selected(), tokens);
  return {};
}

Result<bool> Session::step_trace() {
  if (!trace_probe_) return fail(ErrorCode::kInvalidArgument, "no text is being traced");
  const Result<void> done = trace_tokens(traced_, n_traced_);
  const bool more = done && n_traced_ < traced_.size();
  if (more) return true;
  state_->clear();
  const LayerPart* const missed = trace_probe_->missed();
  const Result<void> good = !done ? done : missed != nullptr ? no_heads(*missed) : Result<void>();
  trace_probe_.reset();
  if (good) return false;
  free_trace();
  return std::unexpected(good.error());
}

// Computes tokens from `first` on, and reads the layers of each.
Result<void> Session::trace_tokens(std::span<const TokenId> tokens, size_t first) {
  const Hparams& h = model_->hparams();
  const size_t n_max = h.causal ? std::min<size_t>(kStep, state_->options().n_batch) : tokens.size();
  const size_t n = std::min({n_max, tokens.size() - first, n_with_same_adapters(selected(), first)});
  if (const Result<void> used = use_adapters_at(selected(), first); !used) return used;
  const bool reads = !model_->is_encoder();
  std::vector<uint32_t> watched = trace_.layers;
  if (reads) watched.push_back(h.n_layer);
  std::vector<float> seen(n * watched.size() * h.n_embd), out(reads ? 0 : n * model_->n_output());
  const std::vector<uint8_t> output_mask(n, reads ? 0 : 1);
  Batch batch{.tokens = tokens.subspan(first, n), .positions = {}, .sequences = {}, .output_mask = output_mask};
  batch.watched = watched;
  batch.seen = seen.data();
  batch.probe = &*trace_probe_;
  const NumberWatch watch(*this);
  if (const Result<void> passed = forward(*model_, *state_, *pool_, batch, out.data()); !passed) return passed;
  // What is ablated hides numbers that are none, but not where its attention is read.
  for (size_t i = 0; !state_->broken_layer && i < trace_probe_->recorded().size(); ++i)
    if (!none_is_nan({trace_.attention.as<float>() + (i * tokens.size() + first) * tokens.size(), n * tokens.size()}))
      state_->broken_layer = static_cast<int32_t>(trace_probe_->recorded()[i].layer);
  if (state_->broken_layer) return watch.error();
  if (reads) read_layers(first, n, seen);
  if (reads && !read_numbers(first, n)) return watch.error();
  n_traced_ += n;
  return {};
}

// Whether what read_layers wrote is numbers.
bool Session::read_numbers(size_t first, size_t n) const {
  const size_t n_next = std::min(n, traced_.size() - first - 1);
  bool good = trace_.log_p.empty() || none_is_nan(std::span(trace_.log_p).subspan(first + 1, n_next));
  for (size_t layer = 0; good && layer < trace_.layers.size(); ++layer)
    good = none_is_nan(
        std::span(trace_.best_log_p).subspan((layer * traced_.size() + first) * trace_.n_best, n * trace_.n_best));
  return good;
}

// states [n, trace_.layers.size() + 1, n_embd], which are overwritten; the last row of a token is the model's output.
void Session::read_layers(size_t first, size_t n, std::span<float> states) {
  const size_t n_embd = model_->hparams().n_embd, n_vocab = model_->hparams().n_vocab;
  const size_t n_layers = trace_.layers.size(), n_rows = n * (n_layers + 1), n_best = trace_.n_best;
  std::vector<float> all(std::min(kRows, n_rows) * n_vocab);
  const auto read = [&](size_t row, std::span<const float> logits) {
    const size_t token = first + row / (n_layers + 1), layer = row % (n_layers + 1);
    const float sum = log_sum(logits);
    if (layer < n_layers) {
      const size_t at = (layer * traced_.size() + token) * n_best;
      const std::span<TokenId> ids = std::span(trace_.best).subspan(at, n_best);
      best_of(logits, ids);
      for (size_t i = 0; i < n_best; ++i) trace_.best_log_p[at + i] = logits[static_cast<size_t>(ids[i])] - sum;
    } else if (token + 1 < traced_.size()) {
      const float next = logits[static_cast<size_t>(traced_[token + 1])];
      trace_.log_p[token + 1] = next - sum;
      trace_.ranks[token + 1] =
          static_cast<int32_t>(std::ranges::count_if(logits, [&](float logit) { return logit > next; }));
    }
  };
  for (size_t begin = 0; begin < n_rows; begin += kRows) {
    const size_t count = std::min(kRows, n_rows - begin);
    logits_of_states(*model_, *pool_, states.data() + begin * n_embd, count, all.data());
    pool_->parallel_for(count, 1, [&](size_t from, size_t to, size_t) {
      for (size_t i = from; i < to; ++i) read(begin + i, std::span(all).subspan(i * n_vocab, n_vocab));
    });
  }
}

void Session::free_trace() {
  trace_ = {};
  trace_probe_.reset();
  traced_.clear();
  n_traced_ = 0;
}

}  // namespace ggufscope
