// A Whisper model with a damaged header is refused, or transcribes a sound. Input: any bytes (made.hpp).
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "../core/made_encoder.hpp"
#include "audio/transcribe.hpp"
#include "files.hpp"
#include "gguf/parse.hpp"
#include "made.hpp"

using namespace ggufscope;

namespace {

constexpr uint64_t kMaxMemory = 64 << 20;
constexpr size_t kMaxSteps = 60;

/// The trained sample of the tests.
const fuzz::File& sample() {
  static const fuzz::File one =
      fuzz::read_file(std::filesystem::path(GGUFSCOPE_SOURCE_DIR) / "tests/fixtures/commands.gguf");
  return one;
}

/// Changes numbers in the part of the header that `from` and `to` limit.
void damage_numbers(test::Bytes& header, fuzz::Choices& c) {
  for (size_t n = c.pick(4); n > 0; --n) {
    const size_t at = c.pick(header.size() - 8);
    uint32_t before = 0;
    std::memcpy(&before, header.data() + at, 4);
    const auto value = static_cast<uint32_t>(fuzz::odd_integer(c, before));
    std::memcpy(header.data() + at, &value, 4);
  }
}

/// Changes the number after the name of a key, or a side or the type of a tensor.
void damage_entry(test::Bytes& header, fuzz::Choices& c) {
  constexpr std::string_view kNames[] = {
      "whisper.",   "encoder.", "decoder.", "context_length", "embedding_length", "head_count", "block_count",
      "mels_count", "vocab",    ".weight",  ".bias"};
  const std::string_view name = kNames[c.pick(std::size(kNames))];
  std::vector<size_t> places;
  const std::string_view text(reinterpret_cast<const char*>(header.data()), header.size());
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) places.push_back(at);
  if (places.empty()) return;
  const size_t after = places[c.pick(places.size())] + name.size() + 4 * c.pick(10);
  if (after + 8 > header.size()) return;
  uint32_t before = 0;
  std::memcpy(&before, header.data() + after, 4);
  const auto value = static_cast<uint32_t>(fuzz::odd_integer(c, before));
  std::memcpy(header.data() + after, &value, 4);
}

TranscribeOptions options_of(fuzz::Choices& c) {
  TranscribeOptions o;
  if (c.once_in(3)) o.language = c.once_in(2) ? "de" : "en";
  o.translate = c.once_in(4);
  o.timestamps = !c.once_in(4);
  o.single_segment = c.once_in(4);
  o.token_times = c.once_in(2);
  o.split_on_word = c.once_in(3);
  o.carry_prompt = c.once_in(4);
  if (c.once_in(3)) o.prompt = "yes no";
  if (c.once_in(3)) o.max_length = static_cast<uint32_t>(c.pick(20));
  if (c.once_in(4)) o.audio_context = static_cast<uint32_t>(fuzz::odd_integer(c, 100));
  if (c.once_in(6)) o.offset_ms = static_cast<uint32_t>(fuzz::odd_integer(c, 500));
  if (c.once_in(6)) o.duration_ms = static_cast<uint32_t>(fuzz::odd_integer(c, 500));
  if (c.once_in(4)) o.temperature = 0.5f;
  if (c.once_in(4)) o.beam_size = static_cast<uint32_t>(c.pick(6));
  if (c.once_in(6)) o.silence_threshold = fuzz::odd_float(c);
  if (c.once_in(6)) o.entropy_threshold = fuzz::odd_float(c);
  return o;
}

/// The model with its weights, or nullptr if it refuses them.
std::unique_ptr<WhisperModel> loaded(const Gguf& gguf, Pool& pool, fuzz::Choices& c) {
  Result<std::unique_ptr<WhisperModel>> model = WhisperModel::open(gguf, std::nullopt);
  if (!model) return nullptr;
  const Precision precision = c.once_in(2) ? Precision::kExact : Precision::kFast;
  const Result<uint64_t> weights = (*model)->weight_bytes(precision);
  const Result<WhisperState::Sizes> sizes = WhisperState::sizes(**model, CacheType::kF16, 1);
  if (!weights || !sizes || *weights > kMaxMemory || sizes->cache > kMaxMemory || sizes->scratch > kMaxMemory)
    return nullptr;
  (*model)->begin_load(precision);
  const bool any = c.once_in(6);
  for (size_t i = 0; i < (*model)->plan().size(); ++i) {
    const TensorRequest& r = (*model)->plan()[i];
    std::vector<uint8_t> rows = fuzz::rows_of(static_cast<size_t>(r.n_rows_kept * r.row_bytes), any, c);
    const ByteView file(sample().bytes);
    if (!any && r.entry.offset < file.size() && rows.size() <= file.size() - r.entry.offset)
      std::memcpy(rows.data(), file.data() + r.entry.offset, rows.size());
    if (!(*model)->set_rows(pool, i, 0, rows)) return nullptr;
  }
  return (*model)->finish_load() ? std::move(*model) : nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices c(data, size);
  const fuzz::File& from = sample();
  test::Bytes header(from.bytes.begin(), from.bytes.begin() + static_cast<std::ptrdiff_t>(from.n_header));
  if (c.once_in(3)) damage_numbers(header, c);
  for (size_t n = c.pick(3); n > 0; --n) damage_entry(header, c);
  if (c.once_in(6)) fuzz::damage(header, c);
  ParseState parsed;
  const Result<ParseProgress> progress = parse_header(header, std::nullopt, parsed);
  if (!progress || !progress->complete) return 0;
  static const std::unique_ptr<Pool> pool = std::move(*Pool::create(1));
  const std::unique_ptr<WhisperModel> model = loaded({parsed.header, header}, *pool, c);
  if (model == nullptr) return 0;
  Result<std::unique_ptr<WhisperState>> state = WhisperState::create(*model, *pool, CacheType::kF16);
  if (!state) return 0;
  Transcriber transcriber(*model, **state, *pool);
  const std::vector<float> samples = test::made_sound(c.pick(40000));
  if (!transcriber.start(options_of(c), samples.size()) || !transcriber.add(samples)) return 0;
  for (size_t n = 0; n < kMaxSteps; ++n) {
    const Result<bool> more = transcriber.step();
    if (!more || !*more) break;
  }
  return 0;
}
