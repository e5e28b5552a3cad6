// Damaged models are refused, or lowered to a plan for a GPU: its rows stay inside the buffers, and the interpreter of
// plans runs it. Input: any bytes (made.hpp).
#include <cstdio>
#include <cstdlib>

#include "../core/gpu/interpret.hpp"
#include "made_models.hpp"
#include "model/kv_cells.hpp"

using namespace ggufscope;

namespace {

[[noreturn]] void fault(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

void check_dispatches(const gpu::Plan& plan, std::span<const gpu::PlanDispatch> list, const gpu::DeviceLimits& limits) {
  for (const gpu::PlanDispatch& d : list) {
    if (d.variant >= plan.variants.size()) fault("a variant that is not there");
    if (d.parameters / 4 + gpu::kParameterWords > plan.parameters.size()) fault("parameters that are not there");
    for (const gpu::PlanBinding& b : d.bindings) {
      if (b.buffer == gpu::kAbsent) continue;
      if (b.buffer >= plan.buffers.size()) fault("a buffer that is not there");
      const uint64_t all = plan.buffers[b.buffer].bytes;
      if (b.offset % 256 != 0 || b.offset > all || b.bytes > all - b.offset) fault("a binding outside its buffer");
      if ((b.bytes == 0 ? all - b.offset : b.bytes) > limits.max_binding_bytes) fault("a binding that is too large");
    }
  }
}

void check_plan(const gpu::Plan& plan, const gpu::DeviceLimits& limits) {
  for (const gpu::PlanBuffer& b : plan.buffers)
    if (b.bytes % 16 != 0 || b.bytes > limits.max_buffer_bytes) fault("a buffer of a wrong size");
  for (const auto* list :
       {&plan.decode, &plan.decode_logits, &plan.prefill, &plan.prefill_logits, &plan.embeddings, &plan.choose})
    check_dispatches(plan, *list, limits);
  for (const gpu::Upload& u : plan.uploads)
    if (u.buffer >= plan.buffers.size() || std::max({u.quants, u.middles, u.scales}) > plan.buffers[u.buffer].bytes)
      fault("an upload outside its buffer");
  for (const gpu::PlanConstant& k : plan.constants)
    if (k.buffer >= plan.buffers.size() || k.offset + 4 * k.values.size() > plan.buffers[k.buffer].bytes)
      fault("a constant outside its buffer");
}

/// Repacks rows for the buffers. False if the model refuses them.
bool upload(Model& model, Pool& pool, const gpu::Plan& plan, test::PlanInterpreter& to, fuzz::Choices& c) {
  if (!model.begin_load(pool, Precision::kExact)) return false;
  const bool any = c.once_in(6);
  for (uint32_t i = 0; i < model.plan().size(); ++i) {
    const TensorRequest& r = model.plan()[i];
    const std::vector<uint8_t> rows = fuzz::rows_of(static_cast<size_t>(r.n_rows * r.row_bytes), any, c);
    const Result<std::vector<gpu::BufferWrite>> writes = gpu::repack(plan, model, i, 0, rows);
    if (!writes) return false;
    for (const gpu::BufferWrite& write : *writes) {
      const uint64_t all = plan.buffers[write.buffer].bytes;
      if (write.offset > all || write.bytes.size() > all - write.offset) fault("rows outside their buffer");
      to.write(write);
    }
    if (std::ranges::find(plan.host_requests, i) != plan.host_requests.end() && !model.set_rows(pool, i, 0, rows))
      return false;
  }
  return true;
}

void run(Model& model, Pool& pool, const gpu::Plan& plan, StateOptions options, fuzz::Choices& c) {
  test::PlanInterpreter device(plan);
  if (!upload(model, pool, plan, device, c)) return;
  options.cells_only = true;
  Result<std::unique_ptr<State>> state = State::create(model, pool, options);
  if (!state) return;
  gpu::StateSlots slots;
  for (size_t passes = 1 + c.pick(3); passes > 0; --passes) {
    const bool encodes = plan.encodes && ((*state)->n_encoded == 0 || c.once_in(4));
    const bool decode = !encodes && !plan.decode.empty() && c.once_in(2);
    const size_t max = std::min<size_t>(plan.n_batch, decode ? gpu::kMaxColumns : 12);
    if (max == 0) return;
    const size_t n = 1 + c.pick(max);
    std::vector<TokenId> tokens(n);
    for (TokenId& id : tokens) id = static_cast<TokenId>(c.pick(model.hparams().n_vocab));
    Batch batch;
    batch.tokens = tokens;
    batch.both_ways = encodes;
    slots = {(*state)->recurrent_end(0) < 0 ? gpu::kAbsent : slots.to, (slots.to + 1) % std::max(plan.n_slots, 1u)};
    Result<Pass> pass = place_batch(model, **state, pool, batch, 0, n);
    if (!pass) return;
    const std::vector<uint32_t> ids(tokens.begin(), tokens.end()), outputs{static_cast<uint32_t>(n - 1)};
    const Result<std::vector<uint32_t>> step = gpu::step_record(plan, *pass, ids, outputs, slots);
    if (!step) return;
    device.set_step(*step);
    if (!encodes) device.run(decode ? plan.decode : plan.prefill);
    const bool embeds = encodes || model.is_encoder();
    device.run(embeds ? plan.embeddings : decode ? plan.decode_logits : plan.prefill_logits);
    if (!encodes) device.run(plan.choose);
    commit_batch(*pass, true);
    if (encodes) (*state)->clear(), (*state)->n_encoded = n;
    if (!device.fault().empty()) fault(device.fault().c_str());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kMaxBytes = 32 << 20;
  static const std::unique_ptr<Pool> pool = std::move(*Pool::create(1));
  fuzz::Choices c(data, size);
  const test::Bytes header = fuzz::damaged_header(c);
  ParseState parsed;
  const Result<ParseProgress> progress = parse_header(header, std::nullopt, parsed);
  if (!progress || !progress->complete) return 0;
  const Result<std::unique_ptr<Model>> model = Model::open({parsed.header, header}, std::nullopt);
  if (!model) return 0;
  constexpr CacheType kCaches[] = {CacheType::kF32, CacheType::kF16, CacheType::kQ8_0};
  StateOptions options{.n_ctx = static_cast<uint32_t>(1 + c.pick(64)),
                       .n_batch = static_cast<uint32_t>(1 + c.pick(40))};
  options.cache_types = {kCaches[c.pick(std::size(kCaches))], kCaches[c.pick(std::size(kCaches))]};
  if (c.once_in(6)) options.n_ctx = static_cast<uint32_t>(fuzz::odd_integer(c, options.n_ctx));
  if (c.once_in(6)) options.n_batch = static_cast<uint32_t>(fuzz::odd_integer(c, options.n_batch));
  if (c.once_in(4)) options.n_sequences = static_cast<uint32_t>(1 + c.pick(4));
  gpu::DeviceLimits limits;
  if (c.once_in(3)) limits = {uint64_t{1} << (12 + c.pick(16)), uint64_t{1} << (10 + c.pick(16))};
  const Result<gpu::Plan> plan = gpu::lower(**model, options, limits);
  if (!plan) return 0;
  check_plan(*plan, limits);
  uint64_t bytes = 0;
  for (const gpu::PlanBuffer& b : plan->buffers) bytes += b.bytes;
  if (bytes <= kMaxBytes) run(**model, *pool, *plan, options, c);
  return 0;
}
