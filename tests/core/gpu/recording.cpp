// Records plans and what the interpreter computes, dispatch by dispatch, for a replay on a device
// (tests/package/gpu-plans.ts). Nothing happens unless GGUFSCOPE_GPU_RECORDING names a folder.
//
// A file is a sequence of parts: a length in bytes (u32), then that many bytes. First the plan as JSON; then each
// buffer of weights and parameters, as its number and its words; then an empty part; then for each pass the part "step"
// and its record, and for each dispatch the part "list index", then the buffers that it may write, and an empty part.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <set>

#include "device.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(gpu_recording, *boost::unit_test::label("floats"))

namespace {

constexpr size_t kPromptTokens = 18, kDecodedTokens = 4;
constexpr uint32_t kBatch = 32;

class Recording {
 public:
  explicit Recording(const std::filesystem::path& path) : out_(path, std::ios::binary) {}
  void text(const std::string& s) { part(s.data(), s.size()); }
  void words(std::span<const uint32_t> w) { part(w.data(), w.size_bytes()); }
  void end() { part(nullptr, 0); }

 private:
  void part(const void* bytes, size_t n) {
    const auto length = static_cast<uint32_t>(n);
    out_.write(reinterpret_cast<const char*>(&length), sizeof(length));
    if (n != 0) out_.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(n));
  }
  std::ofstream out_;
};

// "name": number, without the last comma.
std::string object(std::initializer_list<std::pair<const char*, uint64_t>> fields) {
  std::string out;
  for (const auto& [name, value] : fields)
    out += (out.empty() ? "\"" : ",\"") + std::string(name) + "\":" + std::to_string(value);
  return out;
}

template <class List, class Each>
std::string array(const List& list, Each each) {
  std::string out;
  for (const auto& one : list) out += (out.empty() ? "" : ",") + each(one);
  return "[" + out + "]";
}

std::string variant_text(const gpu::Variant& v) {
  std::vector<uint8_t> types;
  for (const uint8_t type : v.types)
    if (type != gpu::Variant::kNoType) types.push_back(type);
  const auto number = [](auto value) { return static_cast<uint64_t>(value); };
  return "{" +
         object({{"kernel", number(v.kernel)},
                 {"epilogue", number(v.epilogue)},
                 {"activation", number(v.activation)},
                 {"gating", number(v.gating)},
                 {"rope", number(v.rope)},
                 {"cacheKeys", number(v.cache_keys)},
                 {"cacheValues", number(v.cache_values)},
                 {"dK", v.d_k},
                 {"dV", v.d_v},
                 {"heads", v.heads},
                 {"flags", v.flags}}) +
         ",\"types\":" + array(types, [](uint8_t type) { return std::to_string(type); }) + "}";
}

std::string dispatch_text(const gpu::PlanDispatch& d) {
  const auto binding = [](const gpu::PlanBinding& b) {
    return b.buffer == gpu::kAbsent
               ? std::string("null")
               : "{" + object({{"buffer", b.buffer}, {"offset", b.offset}, {"bytes", b.bytes}}) + "}";
  };
  const auto size = [](const gpu::GridSize& g) {
    return "{" +
           object({{"fixed", g.fixed}, {"perRow", g.per_row}, {"perSplit", g.per_split}, {"divisor", g.divisor}}) + "}";
  };
  return "{" + object({{"variant", d.variant}, {"parameters", d.parameters}}) +
         ",\"bindings\":" + array(d.bindings, binding) + ",\"grid\":" + array(d.grid, size) + "}";
}

// The lists in the order of their numbers in a recording.
std::array<const std::vector<gpu::PlanDispatch>*, 6> lists_of(const gpu::Plan& p) {
  return {&p.decode, &p.decode_logits, &p.prefill, &p.prefill_logits, &p.embeddings, &p.choose};
}

std::string plan_text(const gpu::Plan& p) {
  const auto list = [](const std::vector<gpu::PlanDispatch>* l) { return array(*l, dispatch_text); };
  return "{" + object({{"step", p.step}, {"parameters", p.parameter_buffer}}) +
         ",\"buffers\":" + array(p.buffers, [](const gpu::PlanBuffer& b) { return std::to_string(b.bytes); }) +
         ",\"variants\":" + array(p.variants, variant_text) + ",\"lists\":" + array(lists_of(p), list) + "}";
}

void record_list(Recording& out, PlanDevice& device, size_t number) {
  const std::span<const gpu::PlanDispatch> list = *lists_of(device.plan)[number];
  for (size_t i = 0; i < list.size(); ++i) {
    device.interpreter.run(list.subspan(i, 1));
    out.text(std::to_string(number) + " " + std::to_string(i));
    std::set<uint32_t> written;
    for (const gpu::BindingRow& row : gpu::binding_rows())
      if (row.kernel == device.plan.variants[list[i].variant].kernel && row.access == gpu::Access::kReadWrite)
        written.insert(list[i].bindings[row.index].buffer);
    written.erase(gpu::kAbsent);
    for (const uint32_t buffer : written) {
      out.text(std::to_string(buffer));
      out.words(device.interpreter.words(buffer));
    }
    out.end();
  }
}

// chosen: the first token is what was chosen last.
void record_pass(Recording& out, PlanDevice& device, std::span<const int32_t> tokens, std::span<const uint32_t> outputs,
                 bool decode, bool chosen = false) {
  out.text("step");
  out.words(device.place(tokens, outputs, chosen));
  record_list(out, device, decode ? 0 : 2);
  record_list(out, device, device.model.is_encoder() ? 4 : decode ? 1 : 3);
  record_list(out, device, 5);
}

void record_model(const std::filesystem::path& folder, const std::filesystem::path& to) {
  const auto pool = make_pool();
  const auto file = parse_file(read_file(folder / "model.gguf"));
  auto model = Model::open(file->gguf(), file->bytes.size());
  BOOST_REQUIRE(model.has_value());
  StateOptions options = options_of(read_text(folder / "meta.json"));
  options.n_batch = kBatch;
  auto plan = gpu::lower(**model, options, {});
  if (!plan) return;
  PlanDevice device(**model, *pool, std::move(*plan), options, file->bytes);
  Recording out(to);
  out.text(plan_text(device.plan));
  for (uint32_t b = 0; b < device.plan.buffers.size(); ++b)
    if (device.plan.buffers[b].store == gpu::Store::kWeights || b == device.plan.parameter_buffer) {
      out.text(std::to_string(b));
      out.words(device.interpreter.words(b));
    }
  out.end();
  const std::string tokens_text = read_text(folder / "tokens.json");
  const std::vector<int32_t> encoder = json_integers(tokens_text, "encoder");
  if (!encoder.empty()) {
    out.text("step");
    out.words(device.place(encoder, {}, false, true));
    record_list(out, device, 4);
    device.state->clear();
    device.state->n_encoded = encoder.size();
  }
  std::vector<int32_t> all = json_integers(tokens_text, encoder.empty() ? "" : "decoder");
  all.resize(std::min(all.size(), kPromptTokens));
  const std::span<const int32_t> tokens(all);
  const size_t n = tokens.size() - kDecodedTokens;
  record_pass(out, device, tokens.first(n), first_n(n), false);
  if (device.plan.decode.empty()) return;
  record_pass(out, device, tokens.subspan(n, 3), std::vector<uint32_t>{1, 2}, true);
  record_pass(out, device, tokens.last(1), first_n(1), true);
  record_pass(out, device, tokens.last(1), first_n(1), true, true);
}

}  // namespace

BOOST_AUTO_TEST_CASE(record) {
  const char* to = std::getenv("GGUFSCOPE_GPU_RECORDING");
  if (to == nullptr) {
    BOOST_TEST_MESSAGE("GGUFSCOPE_GPU_RECORDING is not set");
    return;
  }
  // Names, each between commas; none: all models.
  const char* names = std::getenv("GGUFSCOPE_GPU_MODELS");
  for (const auto& entry : std::filesystem::directory_iterator(models_folder())) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || (names != nullptr && std::string(names).find("," + name + ",") == std::string::npos))
      continue;
    record_model(entry.path(), std::filesystem::path(to) / (name + ".bin"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
