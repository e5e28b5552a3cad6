// Damaged models are refused, or a text is traced through their layers, with any parts recorded and ablated. Input: any
// bytes (made.hpp).
#include <cstdio>
#include <cstdlib>

#include "made_models.hpp"

using namespace ggufscope;

namespace {

std::vector<LayerPart> parts_of(fuzz::Choices& c, bool heads_only) {
  std::vector<LayerPart> parts(c.pick(4));
  for (LayerPart& part : parts) {
    part.layer = static_cast<uint32_t>(c.pick(4));
    if (heads_only || c.once_in(2)) part.head = static_cast<uint32_t>(c.pick(6));
    if (c.once_in(12)) part.head = static_cast<uint32_t>(fuzz::odd_integer(c, part.head));
  }
  return parts;
}

TraceOptions options_of(fuzz::Choices& c) {
  TraceOptions options;
  options.all_layers = c.once_in(2);
  for (size_t n = c.pick(4); n > 0; --n) options.layers.push_back(static_cast<uint32_t>(c.pick(5)));
  options.n_best = static_cast<uint32_t>(c.pick(34));
  options.attention = parts_of(c, true);
  options.ablated = parts_of(c, false);
  return options;
}

[[noreturn]] void fault(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void check(const Session& session, size_t n, const TraceOptions& options) {
  const Trace& trace = session.trace();
  const size_t n_best = trace.layers.size() * n * trace.n_best, n_vocab = session.model().hparams().n_vocab;
  if (trace.best.size() != n_best || trace.best_log_p.size() != n_best) fault("best tokens of another length");
  for (const TokenId id : trace.best)
    if (id < 0 || static_cast<size_t>(id) >= n_vocab) fault("a token that is not there");
  if (!session.model().is_encoder() && (trace.log_p.size() != n || trace.ranks.size() != n))
    fault("probabilities of another length");
  const float* const weights = trace.attention.as<float>();
  for (size_t i = 0; i < options.attention.size() * n * n; ++i)
    if (!(weights[i] >= 0 && weights[i] <= 1.001f)) {
      std::fprintf(stderr, "%s: %g\n", session.architecture().c_str(), static_cast<double>(weights[i]));
      fault("a weight of attention that is none");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices c(data, size);
  const test::Bytes header = fuzz::damaged_header(c);
  const Result<std::unique_ptr<Session>> session = Session::open(header, std::nullopt, 1);
  const StateOptions state{.n_ctx = 48, .n_batch = static_cast<uint32_t>(1 + c.pick(40))};
  if (!session || !fuzz::start(**session, state, c)) return 0;
  for (size_t round = 0; round < 2; ++round) {
    std::vector<TokenId> tokens(c.pick(50));
    for (TokenId& id : tokens) id = static_cast<TokenId>(c.pick(c.once_in(30) ? 40 : 32));
    const TraceOptions options = options_of(c);
    if (!(*session)->begin_trace(tokens, options)) continue;
    for (;;) {
      const Result<bool> more = (*session)->step_trace();
      if (more && !*more) check(**session, tokens.size(), options);
      if (!more || !*more) break;
    }
  }
  return 0;
}
