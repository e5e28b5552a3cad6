// The JavaScript interface of a trace (core/engine/session_trace.cpp). Spans stay valid until the next call. If a call
// returns false or -1, failure() describes the error.
#include <emscripten/bind.h>

#include <utility>
#include <vector>

#include "engine/session.hpp"
#include "engine_values.hpp"
#include "layer_parts.hpp"
#include "span.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

/// How many numbers of each kind are in the reserved buffer, in this order; parts are pairs of a layer and a head.
struct TraceCounts {
  uint32_t tokens, layers, attention, ablated;
};

class Tracer {
 public:
  /// session: what Engine::session returns, whose engine must outlive this object.
  explicit Tracer(uintptr_t session) : session_(*reinterpret_cast<Session*>(session)) {}

  [[nodiscard]] Failure failure() const { return failure_of(error_); }
  uintptr_t reserve(uint32_t n) { return ggufscope::reserve(input_, n); }

  /// n: how many numbers of each kind are in the reserved buffer. best: tokens to rank for each layer.
  bool begin(const TraceCounts& n, bool all_layers, uint32_t best) {
    const int32_t* p = input_.as<int32_t>();
    const std::span<const TokenId> tokens(p, n.tokens);
    p += n.tokens;
    TraceOptions options;
    options.layers.assign(p, p + n.layers);
    p += n.layers;
    options.all_layers = all_layers;
    options.n_best = best;
    options.attention = layer_parts(p, n.attention);
    options.ablated = layer_parts(p + size_t{2} * n.attention, n.ablated);
    const Result<void> begun = session_.begin_trace(tokens, std::move(options));
    if (!begun) error_ = begun.error();
    return begun.has_value();
  }
  /// 1: there is more to do; 0: done; -1: an error
  int32_t step() {
    const Result<bool> more = session_.step_trace();
    if (!more) error_ = more.error();
    return !more ? -1 : *more ? 1 : 0;
  }
  [[nodiscard]] uint32_t n_done() const { return static_cast<uint32_t>(session_.n_traced()); }
  [[nodiscard]] Span layers() const { return span_of(session_.trace().layers); }
  [[nodiscard]] Span log_p() const { return span_of(session_.trace().log_p); }
  [[nodiscard]] Span ranks() const { return span_of(session_.trace().ranks); }
  [[nodiscard]] Span best() const { return span_of(session_.trace().best); }
  [[nodiscard]] Span best_log_p() const { return span_of(session_.trace().best_log_p); }
  [[nodiscard]] Span attention() const {
    const Buffer& weights = session_.trace().attention;
    return {reinterpret_cast<uintptr_t>(weights.data()), static_cast<uint32_t>(weights.size() / sizeof(float))};
  }
  /// Frees the results.
  void end() { session_.free_trace(); }

 private:
  Session& session_;
  Buffer input_;
  Error error_{};
};

}  // namespace

EMSCRIPTEN_BINDINGS(trace) {
  value_object<TraceCounts>("TraceCounts")
      .field("tokens", &TraceCounts::tokens)
      .field("layers", &TraceCounts::layers)
      .field("attention", &TraceCounts::attention)
      .field("ablated", &TraceCounts::ablated);
  class_<Tracer>("Tracer")
      .constructor<uintptr_t>()
      .function("failure", &Tracer::failure)
      .function("reserve", &Tracer::reserve)
      .function("begin", &Tracer::begin)
      .function("step", &Tracer::step)
      .function("doneTokens", &Tracer::n_done)
      .function("layers", &Tracer::layers)
      .function("logProbabilities", &Tracer::log_p)
      .function("ranks", &Tracer::ranks)
      .function("best", &Tracer::best)
      .function("bestLogProbabilities", &Tracer::best_log_p)
      .function("attention", &Tracer::attention)
      .function("end", &Tracer::end);
}

}  // namespace ggufscope
