// Damaged adapters of small models are refused, or the model computes with them. Input: any bytes (made.hpp).
#include <cstdlib>

#include "engine/session.hpp"
#include "made.hpp"
#include "model/adapter.hpp"

using namespace ggufscope;

namespace {

std::unique_ptr<Session> loaded(const test::MadeModel& made) {
  static std::vector<std::unique_ptr<test::Bytes>> kept;  // sessions read the vocabulary from the header
  const test::Bytes& file = *kept.emplace_back(std::make_unique<test::Bytes>(made.bytes()));
  Result<std::unique_ptr<Session>> session = Session::open(file, file.size(), 1);
  if (!session || !(*session)->begin_load(Precision::kFast)) std::abort();
  for (size_t i = 0; i < (*session)->n_planned(); ++i) {
    const TensorRequest& r = (*session)->planned(i);
    const ByteView rows =
        ByteView(file).subspan(static_cast<size_t>(r.entry.offset), static_cast<size_t>(r.n_rows * r.row_bytes));
    if (!(*session)->set_rows(i, 0, rows)) std::abort();
  }
  if (!(*session)->start({.n_ctx = 32})) std::abort();
  return std::move(*session);
}

test::MadeModel made_adapter(const test::MadeModel& base, fuzz::Choices& c) {
  test::MadeModel m;
  m.architecture = "adapter.lora";  // the prefix of the key
  m.floats["alpha"] = static_cast<float>(1 + c.pick(32));
  m.weight_scale = 0.1f;
  for (const auto& [name, shape] : base.tensors) {
    if (c.once_in(2) || shape.size() < 2) continue;
    const uint64_t rank = 1 + c.pick(5);
    std::vector<uint64_t> a{shape[0], rank}, b{rank, shape[1]};
    if (name == "token_embd.weight") a = {rank, shape[1]}, b = {rank, shape[0]};
    if (shape.size() > 2) a.push_back(shape[2]), b.push_back(shape[2]);
    m.tensors[name + ".lora_a"] = a;
    m.tensors[name + ".lora_b"] = b;
    if (c.once_in(8)) m.halves.insert(name + ".lora_a");
  }
  return m;
}

test::MadeModel made_control_vector(fuzz::Choices& c) {
  test::MadeModel m;
  m.architecture = "controlvector";
  for (size_t layer = 1; layer < 2 + c.pick(2); ++layer) m.tensors["direction." + std::to_string(layer)] = {16};
  return m;
}

/// Writes the keys that every LoRA adapter has before those of the made file.
test::Bytes bytes_of(const test::MadeModel& m, const std::string& architecture) {
  if (m.architecture == "controlvector") return m.bytes();
  test::MadeModel renamed = m;
  renamed.architecture = architecture;
  renamed.floats.clear();
  test::Bytes plain = renamed.bytes();
  test::GgufBytes keys(m.tensors.size(), 3 + m.floats.size() + 1);
  keys.kv("general.type", "adapter").kv("adapter.type", "lora");
  for (const auto& [key, value] : m.floats) keys.kv("adapter.lora." + key, ValueType::kF32, value);
  keys.array("adapter.alora.invocation_tokens", ValueType::kU32, 1).put(1u);
  // The header without its first 24 bytes follows, and the alignment of the tensors moves with it.
  test::Bytes rest(plain.begin() + 24, plain.begin() + static_cast<std::ptrdiff_t>(renamed.header().size()));
  while (!rest.empty() && rest.back() == 0 && (keys.out.size() + rest.size()) % 32 != 0) rest.pop_back();
  keys.out.insert(keys.out.end(), rest.begin(), rest.end());
  keys.pad(32, renamed.n_data_bytes());
  return keys.out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const test::MadeModel bases[] = {test::made_llama(), test::made_experts(), test::made_gemma2(),
                                          test::made_mamba()};
  static const std::unique_ptr<Session> sessions[] = {loaded(bases[0]), loaded(bases[1]), loaded(bases[2]),
                                                      loaded(bases[3])};
  fuzz::Choices c(data, size);
  const size_t which = c.pick(std::size(bases));
  Session& session = *sessions[which];
  test::MadeModel made = c.once_in(5) ? made_control_vector(c) : made_adapter(bases[which], c);
  for (size_t n = c.pick(3); n > 0; --n) fuzz::damage(made, c);
  test::Bytes file = bytes_of(made, bases[which].architecture);
  if (c.once_in(3)) fuzz::damage(file, c);
  if (c.once_in(8)) file.resize(c.pick(file.size()));
  const Result<std::shared_ptr<const Adapter>> adapter = session.open_adapter(file);
  if (!adapter) return 0;
  const AdapterUse use{*adapter, fuzz::odd_float(c), static_cast<uint32_t>(c.pick(3)),
                       static_cast<uint32_t>(c.pick(3))};
  if (!session.set_adapters({use})) return 0;
  const std::vector<TokenId> tokens{1, 2, static_cast<TokenId>(c.pick(32))};
  (void)session.evaluate(tokens);
  (void)session.embed(tokens, Pooling::kMean);
  if (!session.set_adapters({})) std::abort();
  return 0;
}
