// Models for tests: loading from a file's bytes, and parsing the reference vectors' small JSON files.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data.hpp"
#include "engine/sampler.hpp"
#include "gguf/parse.hpp"
#include "model/forward.hpp"

namespace ggufscope::test {

/// The number after "key": anywhere in a JSON text, which is sufficient for the vectors' flat files.
inline double json_number(const std::string& text, const std::string& key) {
  const size_t at = text.find("\"" + key + "\":");
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, "no " << key);
  return std::strtod(text.c_str() + at + key.size() + 3, nullptr);
}
inline std::string json_string(const std::string& text, const std::string& key) {
  const size_t at = text.find("\"" + key + "\":");
  if (at == std::string::npos) return {};
  const size_t begin = text.find('"', at + key.size() + 3) + 1;
  return text.substr(begin, text.find('"', begin) - begin);
}
/// The array of integers after "key":, or the first array of the text if key is empty.
inline std::vector<int32_t> json_integers(const std::string& text, const std::string& key) {
  const size_t from = key.empty() ? 0 : text.find("\"" + key + "\":");
  std::vector<int32_t> out;
  if (from == std::string::npos) return out;
  const char* p = text.c_str() + text.find('[', from) + 1;
  while (*p != ']') {
    char* end = nullptr;
    out.push_back(static_cast<int32_t>(std::strtol(p, &end, 10)));
    p = end;
    while (*p == ',' || *p == ' ' || *p == '\n') ++p;
  }
  return out;
}

/// A header together with its bytes.
struct ParsedFile {
  std::vector<uint8_t> bytes;
  ParseState state;
  [[nodiscard]] Gguf gguf() const { return {state.header, bytes}; }
};

inline std::unique_ptr<ParsedFile> parse_file(std::vector<uint8_t> bytes) {
  auto file = std::make_unique<ParsedFile>();
  file->bytes = std::move(bytes);
  const auto progress = parse_header(file->bytes, file->bytes.size(), file->state);
  BOOST_REQUIRE_MESSAGE(progress.has_value(), (progress ? "" : progress.error().message));
  BOOST_REQUIRE(progress->complete);
  return file;
}

inline std::unique_ptr<Pool> make_pool(size_t n_threads = 1) {
  auto pool = Pool::create(n_threads);
  BOOST_REQUIRE(pool.has_value());
  return std::move(*pool);
}

/// Feeds every tensor of the plan from the file's bytes. The last tensors first, so that order does not matter.
inline Result<void> load_weights(Model& model, Pool& pool, ByteView bytes, Precision precision = Precision::kExact) {
  if (const auto r = model.begin_load(pool, precision); !r) return r;
  for (size_t i = model.plan().size(); i-- > 0;) {
    const TensorRequest& request = model.plan()[i];
    if (request.entry.offset > bytes.size() || request.entry.n_bytes > bytes.size() - request.entry.offset)
      return fail(ErrorCode::kTruncated, "tensor " + request.entry.name + " is beyond the bytes");
    // Feeds each tensor in two parts, so that rows arrive piecewise.
    const uint64_t half = request.n_rows / 2;
    const size_t middle = static_cast<size_t>(half * request.row_bytes);
    const ByteView all =
        bytes.subspan(static_cast<size_t>(request.entry.offset), static_cast<size_t>(request.entry.n_bytes));
    if (const auto r = model.set_rows(pool, i, half, all.subspan(middle)); !r) return r;
    if (const auto r = model.set_rows(pool, i, 0, all.first(middle)); !r) return r;
  }
  return model.finish_load();
}

struct LoadedModel {
  std::unique_ptr<Model> model;
  std::string error;  ///< why there is none
};

inline LoadedModel load_model(const ParsedFile& file, Pool& pool, Precision precision = Precision::kExact) {
  LoadedModel loaded;
  auto model = Model::open(file.gguf(), file.bytes.size());
  if (!model) {
    loaded.error = model.error().message;
    return loaded;
  }
  if (const auto r = load_weights(**model, pool, file.bytes, precision); !r) {
    loaded.error = r.error().message;
    return loaded;
  }
  loaded.model = std::move(*model);
  return loaded;
}

/// The values of a reference run's meta.json.
inline StateOptions options_of(const std::string& meta) {
  constexpr uint32_t kContext = 256;
  const bool sparse = json_string(meta, "reference_run").find("flash attention on") != std::string::npos;
  return {.n_ctx = kContext, .n_batch = 64, .attend_to_all = !sparse};
}

inline std::unique_ptr<State> make_state(const Model& model, Pool& pool, StateOptions options) {
  auto state = State::create(model, pool, options);
  BOOST_REQUIRE_MESSAGE(state.has_value(), (state ? "" : state.error().message));
  return std::move(*state);
}

/// The outputs [n_tokens, output] of tokens that continue sequence 0.
inline std::vector<float> evaluate(const Model& model, State& state, Pool& pool, std::span<const int32_t> tokens) {
  std::vector<float> out(tokens.size() * model.n_output());
  Batch batch;
  batch.tokens = tokens;
  const auto r = forward(model, state, pool, batch, out.data());
  BOOST_REQUIRE_MESSAGE(r.has_value(), (r ? "" : r.error().message));
  return out;
}

/// The largest difference; infinite if a value is NaN or the lengths differ.
inline double max_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return INFINITY;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(d <= most)) most = std::isnan(d) ? INFINITY : d;
  }
  return most;
}

}  // namespace ggufscope::test
