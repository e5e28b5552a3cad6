// The JavaScript interface of a plan for a GPU (core/gpu/plan.hpp): of a session whose model runs there. Tables are
// returned as rows of numbers, whose columns are in wasm/src/gpu/plan.ts. Spans stay valid until the next call. If a
// call returns false, failure() describes the error.
#include <emscripten/bind.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/session.hpp"
#include "engine_values.hpp"
#include "plan_tables.hpp"
#include "span.hpp"

using namespace emscripten;

namespace ggufscope {
namespace {

void add_variants(const gpu::Plan& plan, std::vector<double>& out) {
  for (const gpu::Variant& v : plan.variants) {
    out.insert(out.end(), {double(v.kernel), double(v.epilogue), double(v.activation), double(v.gating), double(v.rope),
                           double(v.cache_keys), double(v.cache_values)});
    out.insert(out.end(), v.types.begin(), v.types.end());
    out.insert(out.end(), {double(v.d_k), double(v.d_v), double(v.heads), double(v.flags)});
  }
}

void add_dispatches(const std::vector<gpu::PlanDispatch>& list, std::vector<double>& out) {
  for (const gpu::PlanDispatch& d : list) {
    out.insert(out.end(), {double(d.variant), double(d.parameters), double(d.layer), double(d.weight_bytes)});
    for (const gpu::GridSize& g : d.grid)
      out.insert(out.end(), {double(g.fixed), double(g.per_row), double(g.per_split), double(g.divisor)});
    for (const gpu::PlanBinding& b : d.bindings)
      out.insert(out.end(), {double(b.buffer), double(b.offset), double(b.bytes)});
  }
}

}  // namespace

PlanFacts facts_of(const gpu::Plan& p, uint64_t logits_length, uint64_t embedded_length) {
  return {.step = p.step,
          .parameters = p.parameter_buffer,
          .logits = p.logits,
          .embedded = p.embedded,
          .chosen = p.chosen,
          .batch = p.n_batch,
          .output_rows = p.n_output_rows,
          .logits_length = static_cast<uint32_t>(logits_length),
          .embedded_length = static_cast<uint32_t>(embedded_length),
          .weight_bytes = double(p.weight_bytes),
          .stream = p.stream,
          .deep = p.deep.empty() ? gpu::kAbsent : p.deep[0],
          .deep_parts = static_cast<uint32_t>(p.deep.size()),
          .embeds = p.n_embed,
          .encodes = p.encodes,
          .weights = p.weights,
          .host_weights = 0,
          .host_scratch = 0};
}

void table_of(const gpu::Plan& p, std::string_view name, std::vector<double>& out) {
  out.clear();
  if (name == "variants") add_variants(p, out);
  if (name == "buffers")
    for (const gpu::PlanBuffer& b : p.buffers) out.insert(out.end(), {double(b.store), double(b.bytes)});
  if (name == "constants")
    for (const gpu::PlanConstant& c : p.constants) out.insert(out.end(), {double(c.buffer), double(c.offset)});
  constexpr std::pair<std::string_view, std::vector<gpu::PlanDispatch> gpu::Plan::*> kLists[] = {
      {"decode", &gpu::Plan::decode},         {"decodeLogits", &gpu::Plan::decode_logits},
      {"prefill", &gpu::Plan::prefill},       {"prefillLogits", &gpu::Plan::prefill_logits},
      {"embeddings", &gpu::Plan::embeddings}, {"choose", &gpu::Plan::choose}};
  for (const auto& [list, member] : kLists)
    if (name == list) add_dispatches(p.*member, out);
}

namespace {

class Device {
 public:
  /// session: what Engine::session returns, whose engine must outlive this object.
  explicit Device(uintptr_t session) : session_(*reinterpret_cast<Session*>(session)) {}

  [[nodiscard]] Failure failure() const { return failure_of(error_); }
  uintptr_t reserve(uint32_t n) { return ggufscope::reserve(input_, n); }

  /// Opens an adapter, whose n bytes are in the reserved buffer, as a part of the model that plan lowers.
  bool add_adapter(uint32_t n, float scale) {
    Result<std::shared_ptr<const Adapter>> adapter = session_.open_adapter({input_.data(), n});
    if (!adapter) return refuse(adapter.error());
    adapters_.push_back({std::move(*adapter), scale});
    return done(session_.set_adapters(adapters_));
  }
  /// Lowers the model, before its weights are loaded, for the sizes of startSession. After that, the session computes
  /// nothing itself.
  bool plan(const Sizes& sizes, const DeviceBytes& limits) {
    const Result<StateOptions> state = state_options(sizes);
    if (!state) return refuse(state.error());
    const auto planned = session_.plan_device(*state, {.max_buffer_bytes = static_cast<uint64_t>(limits.buffer),
                                                       .max_binding_bytes = static_cast<uint64_t>(limits.binding)});
    plan_ = session_.device_plan();
    return done(planned);
  }
  /// facts, table, parameters and constant are from now on about the plan of an encoder: 0: of images, 1: of audio, 2:
  /// of the model. False: there is none.
  bool describe(uint32_t encoder) {
    const gpu::Plan* plan =
        encoder == kNoEncoder ? session_.device_plan() : session_.device_encoder(Encoder(encoder)).plan.get();
    if (plan != nullptr) plan_ = plan;
    return plan != nullptr;
  }
  /// Why an encoder has none; empty: it has one, or there is no encoder.
  [[nodiscard]] std::string why_no_encoder(uint32_t encoder) const {
    return session_.device_encoder(Encoder(encoder)).reason;
  }
  /// An encoder runs on the CPU, for this reason.
  void keep_encoder(uint32_t encoder, const std::string& reason) { session_.keep_encoder(Encoder(encoder), reason); }
  [[nodiscard]] PlanFacts facts() const {
    const gpu::Plan& p = *plan_;
    MemoryEstimate host;
    // An overflow is found when the weights are allocated.
    (void)session_.add_projector_memory(Precision::kExact, host);
    PlanFacts facts = facts_of(
        p, session_.model().hparams().n_vocab,
        plan_ == session_.device_plan() ? session_.model().n_embedding() : p.buffers[p.embedded].bytes / 4 / p.n_batch);
    facts.host_weights = double(host.weights);
    facts.host_scratch = double(host.scratch);
    return facts;
  }
  /// The rows of a table of the plan, one after the other; empty for an unknown name.
  Span table(const std::string& name) {
    table_of(*plan_, name, numbers_);
    return span_of(numbers_);
  }
  [[nodiscard]] Span parameters() const { return span_of(plan_->parameters); }
  [[nodiscard]] Span constant(uint32_t i) const { return span_of(plan_->constants[i].values); }

  /// Repacks rows, whose bytes are in the reserved buffer. write(0) .. write(n_writes() - 1) are the results.
  bool repack(const ArrivedRows& rows) {
    writes_.clear();
    if (rows.at > input_.size() || rows.bytes > input_.size() - rows.at)
      return refuse(Error{ErrorCode::kInvalidArgument, 0, "rows beyond the reserved room"});
    auto writes =
        session_.repack_rows(rows.tensor, static_cast<uint64_t>(rows.first_row), {input_.data() + rows.at, rows.bytes});
    if (!writes) return refuse(writes.error());
    writes_ = std::move(*writes);
    of_encoder_ = session_.encoder_of(rows.tensor);
    return true;
  }
  [[nodiscard]] uint32_t n_writes() const { return static_cast<uint32_t>(writes_.size()); }
  [[nodiscard]] DeviceWrite write(uint32_t i) const {
    const gpu::BufferWrite& w = writes_[i];
    return {w.buffer, of_encoder_, double(w.offset), reinterpret_cast<uintptr_t>(w.bytes.data()),
            static_cast<uint32_t>(w.bytes.size())};
  }
  /// Frees what loading needed.
  void end_load() {
    writes_ = std::vector<gpu::BufferWrite>();
    adapters_ = {};
    input_ = Buffer();
  }

  /// Places up to n waiting tokens; pass() and record() describe the pass. accept() or discard() must follow.
  bool prepare(uint32_t n) { return keep(session_.prepare(n)); }
  /// The same for the token that the device will choose in the last pass in flight.
  bool prepare_chosen() { return keep(session_.prepare_chosen()); }
  [[nodiscard]] PassFacts pass() const { return {pass_.n_tokens, pass_.n_outputs, pass_.decode, pass_.embeds}; }
  [[nodiscard]] Span record() const { return span_of(pass_.record); }
  /// The floats to write to the buffer `stream` and to the `deep` ones before the pass; empty for a pass of tokens.
  [[nodiscard]] Span rows() const { return span_of(pass_.rows); }
  /// The logits of the oldest pass in flight: n floats in the reserved buffer.
  bool accept(uint32_t n) { return done(session_.accept({input_.as<float>(), n})); }
  /// Whether the device's choice is the answer's next token.
  [[nodiscard]] bool chooses() const { return session_.device_chooses(); }
  bool accept_chosen(int32_t token) { return done(session_.accept_chosen(token)); }
  /// Removes all passes in flight.
  void discard() { session_.discard(); }
  /// Opens a separate text of n ids in the reserved buffer, whose outputs the engine's evaluate, evaluateLast or embed
  /// then returns. outputs: a number of TextOutputs.
  bool open_text(uint32_t n, uint32_t outputs) {
    return done(session_.open_text({input_.as<TokenId>(), n}, static_cast<TextOutputs>(outputs)));
  }
  /// Places the next tokens of the text; pass() has none when all are computed.
  bool prepare_text() { return keep(session_.prepare_text()); }
  /// The rows of the text's pass: n floats in the reserved buffer.
  bool accept_text(uint32_t n) { return done(session_.accept_text({input_.as<float>(), n})); }
  /// Places layers of an encoder, before a step of it; layers(), record() and rows() describe the pass.
  bool prepare_layers() {
    auto pass = session_.prepare_layers();
    if (!pass) return refuse(pass.error());
    if (pass->grown) plan_ = session_.device_plan();  // the encoder's plan that it may have been is gone
    layers_ = {pass->encoder, pass->first, pass->end, pass->grown};
    pass_ = {};
    pass_.record = std::move(pass->record);
    pass_.rows.assign(pass->rows.begin(), pass->rows.end());
    return true;
  }
  [[nodiscard]] LayerFacts layers() const { return layers_; }
  /// The rows that they leave: n floats in the reserved buffer.
  bool accept_layers(uint32_t n) { return done(session_.accept_layers({input_.as<float>(), n})); }
  [[nodiscard]] uint32_t n_in_flight() const { return static_cast<uint32_t>(session_.n_in_flight()); }

 private:
  bool refuse(const Error& error) {
    error_ = error;
    return false;
  }
  bool done(const Result<void>& result) { return result ? true : refuse(result.error()); }
  bool keep(Result<DevicePass> pass) {
    if (!pass) return refuse(pass.error());
    pass_ = std::move(*pass);
    return true;
  }

  Session& session_;
  Error error_{};
  Buffer input_;
  std::vector<double> numbers_;
  std::vector<gpu::BufferWrite> writes_;
  std::vector<AdapterUse> adapters_;
  DevicePass pass_;
  const gpu::Plan* plan_ = nullptr;  // that is described
  Encoder of_encoder_ = kNoEncoder;  // the writes
  LayerFacts layers_{};
};

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
EMSCRIPTEN_BINDINGS(gpu) {
  value_object<DeviceBytes>("DeviceBytes")
      .field("buffer", &DeviceBytes::buffer)
      .field("binding", &DeviceBytes::binding);
  value_object<PlanFacts>("PlanFacts")
      .field("step", &PlanFacts::step)
      .field("parameters", &PlanFacts::parameters)
      .field("logits", &PlanFacts::logits)
      .field("embedded", &PlanFacts::embedded)
      .field("chosen", &PlanFacts::chosen)
      .field("batch", &PlanFacts::batch)
      .field("outputRows", &PlanFacts::output_rows)
      .field("logitsLength", &PlanFacts::logits_length)
      .field("embeddedLength", &PlanFacts::embedded_length)
      .field("weightBytes", &PlanFacts::weight_bytes)
      .field("stream", &PlanFacts::stream)
      .field("deep", &PlanFacts::deep)
      .field("deepParts", &PlanFacts::deep_parts)
      .field("embeds", &PlanFacts::embeds)
      .field("encodes", &PlanFacts::encodes)
      .field("weights", &PlanFacts::weights)
      .field("hostWeights", &PlanFacts::host_weights)
      .field("hostScratch", &PlanFacts::host_scratch);
  value_object<DeviceWrite>("DeviceWrite")
      .field("buffer", &DeviceWrite::buffer)
      .field("encoder", &DeviceWrite::encoder)
      .field("offset", &DeviceWrite::offset)
      .field("at", &DeviceWrite::at)
      .field("bytes", &DeviceWrite::bytes);
  value_object<LayerFacts>("LayerFacts")
      .field("encoder", &LayerFacts::encoder)
      .field("first", &LayerFacts::first)
      .field("end", &LayerFacts::end)
      .field("grown", &LayerFacts::grown);
  value_object<PassFacts>("PassFacts")
      .field("tokens", &PassFacts::tokens)
      .field("outputs", &PassFacts::outputs)
      .field("decode", &PassFacts::decode)
      .field("embeds", &PassFacts::embeds);
  class_<Device>("Device")
      .constructor<uintptr_t>()
      .function("failure", &Device::failure)
      .function("reserve", &Device::reserve)
      .function("addAdapter", &Device::add_adapter)
      .function("plan", &Device::plan)
      .function("describe", &Device::describe)
      .function("whyNoEncoder", &Device::why_no_encoder)
      .function("keepEncoder", &Device::keep_encoder)
      .function("facts", &Device::facts)
      .function("table", &Device::table)
      .function("parameters", &Device::parameters)
      .function("constant", &Device::constant)
      .function("repack", &Device::repack)
      .function("writeCount", &Device::n_writes)
      .function("write", &Device::write)
      .function("endLoad", &Device::end_load)
      .function("prepare", &Device::prepare)
      .function("prepareChosen", &Device::prepare_chosen)
      .function("pass", &Device::pass)
      .function("record", &Device::record)
      .function("rows", &Device::rows)
      .function("accept", &Device::accept)
      .function("chooses", &Device::chooses)
      .function("acceptChosen", &Device::accept_chosen)
      .function("openText", &Device::open_text)
      .function("prepareText", &Device::prepare_text)
      .function("acceptText", &Device::accept_text)
      .function("prepareLayers", &Device::prepare_layers)
      .function("layers", &Device::layers)
      .function("acceptLayers", &Device::accept_layers)
      .function("discard", &Device::discard)
      .function("passesInFlight", &Device::n_in_flight);
}

}  // namespace ggufscope
