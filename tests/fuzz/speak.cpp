// Models that speak, with damaged headers, are refused, or speak a text and encode a voice. Input: any bytes
// (made.hpp). Without the shared vectors only Kokoro is there to be damaged.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "../core/made_encoder.hpp"
#include "engine/session.hpp"
#include "files.hpp"
#include "made.hpp"

using namespace ggufscope;

namespace {

constexpr uint64_t kMaxMemory = 64 << 20;

struct Pipeline {
  fuzz::File text;
  std::optional<fuzz::File> projector;  // Kokoro has none
};

const std::vector<Pipeline>& pipelines() {
  static const std::vector<Pipeline> all = [] {
    std::vector<Pipeline> out;
    const auto folder = std::filesystem::path(GGUFSCOPE_SOURCE_DIR) / "../shared/vectors/new/speech";
    for (const char* name : {"pockettts", "qwen3tts"})
      if (std::filesystem::exists(folder / name / "text.gguf"))
        out.push_back({fuzz::read_file(folder / name / "text.gguf"), fuzz::read_file(folder / name / "mmproj.gguf")});
    const auto golden = std::filesystem::path(GGUFSCOPE_SOURCE_DIR) / "tests/fixtures/golden";
    out.push_back({fuzz::read_file(golden / "kokoro/model.gguf"), std::nullopt});
    return out;
  }();
  return all;
}

void put(test::Bytes& header, size_t at, fuzz::Choices& c) {
  uint32_t before = 0;
  std::memcpy(&before, header.data() + at, 4);
  auto value = static_cast<uint32_t>(fuzz::odd_integer(c, before));
  if (c.once_in(4)) {
    const float odd = fuzz::odd_float(c);
    std::memcpy(&value, &odd, 4);
  }
  std::memcpy(header.data() + at, &value, 4);
}

/// Changes the number after the name of a key or of a tensor: its value, type, length, a side or its place.
void damage_entry(test::Bytes& header, fuzz::Choices& c) {
  constexpr std::string_view kNames[] = {"clip.",       "pockettts.", "qwen3tts.",  "kokoro.",   "attention.", "rope.",
                                         "block_count", "length",     "count",      "epsilon",   ".weight",    ".bias",
                                         "embedding",   "general",    "tokenizer.", "dimension", "_size",      "scale"};
  const std::string_view name = kNames[c.pick(std::size(kNames))];
  std::vector<size_t> places;
  const std::string_view text(reinterpret_cast<const char*>(header.data()), header.size());
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) places.push_back(at);
  if (places.empty()) return;
  size_t after = places[c.pick(places.size())] + name.size();
  while (after < header.size() && header[after] >= ' ' && header[after] < 127) ++after;  // the rest of the name
  after += 4 * c.pick(10);
  if (after + 8 <= header.size()) put(header, after, c);
}

test::Bytes damaged(const fuzz::File& file, fuzz::Choices& c) {
  test::Bytes out = file.bytes;
  test::Bytes header(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(file.n_header));
  for (size_t n = c.pick(4); n > 0; --n) damage_entry(header, c);
  if (c.once_in(4)) put(header, c.pick(header.size() - 8), c);
  if (c.once_in(8)) fuzz::damage(header, c);
  std::copy(header.begin(), header.end(), out.begin());
  return out;
}

bool load(Session& session, const test::Bytes& text, const test::Bytes& projector, fuzz::Choices& c) {
  const Precision precision = c.once_in(2) ? Precision::kExact : Precision::kFast;
  const StateOptions options{.n_ctx = static_cast<uint32_t>(40 + c.pick(200))};
  const Result<MemoryEstimate> memory = session.memory(options, precision);
  if (!memory || memory->total() > kMaxMemory || !session.begin_load(precision)) return false;
  const bool any = c.once_in(6);
  for (size_t i = 0; i < session.n_planned(); ++i) {
    const TensorRequest& r = session.planned(i);
    std::vector<uint8_t> rows = fuzz::rows_of(static_cast<size_t>(r.n_rows * r.row_bytes), any, c);
    const ByteView file(r.entry.file == 0 ? text : projector);
    if (!any && r.entry.offset < file.size() && rows.size() <= file.size() - r.entry.offset)
      std::memcpy(rows.data(), file.data() + r.entry.offset, rows.size());
    if (!session.set_rows(i, 0, rows)) return false;
  }
  return session.start(options).has_value();
}

void encode_voice(Speaker& speaker, fuzz::Choices& c) {
  const auto rate = static_cast<uint32_t>(c.once_in(4) ? fuzz::odd_integer(c, 16000) : kSpeechRate);
  if (!speaker.begin_voice(test::made_sound(c.pick(6000)), rate)) return;
  for (;;) {
    const Result<bool> more = speaker.step_voice();
    if (!more || !*more) return;
  }
}

void speak(Session& session, fuzz::Choices& c) {
  constexpr std::string_view kTexts[] = {"the", "The hand, the rest.", "It is on. The rest of it was there!", "\xff\n",
                                         "nat \u0259n\u02d0b\u0361a, ta."};
  constexpr std::string_view kLanguages[] = {"", "en", "german", "zz"};
  SpeakOptions options;
  options.language = kLanguages[c.pick(std::size(kLanguages))];
  options.seed = static_cast<uint32_t>(c.pick(5));
  options.temperature = c.once_in(3) ? fuzz::odd_float(c) : static_cast<float>(c.pick(4)) / 2 - 0.5f;
  if (c.once_in(3)) options.speed = fuzz::odd_float(c);
  if (c.once_in(3)) options.top_k = static_cast<int32_t>(fuzz::odd_integer(c, 50));
  if (c.once_in(3)) options.top_p = fuzz::odd_float(c);
  if (!session.begin_speech(kTexts[c.pick(std::size(kTexts))], options)) return;
  Speaker& speaker = **session.speaker();
  // Kokoro's steps are short, and there are many of them.
  for (size_t n = 0; n < (session.speech()->pipeline().name == kSpeaksAlone ? 4000 : 8); ++n) {
    const Result<bool> more = speaker.next();
    if (!more || !*more) break;
  }
  speaker.end();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices c(data, size);
  const Pipeline& from = pipelines()[c.pick(pipelines().size())];
  const test::Bytes text = !from.projector || c.once_in(3) ? damaged(from.text, c) : from.text.bytes;
  const test::Bytes projector = from.projector ? damaged(*from.projector, c) : test::Bytes();
  const HeaderBytes model{text, text.size()}, mmproj{projector, projector.size()};
  Result<std::unique_ptr<Session>> session = Session::open({&model, 1}, 1, from.projector ? &mmproj : nullptr);
  if (!session || (*session)->speech() == nullptr || !load(**session, text, projector, c)) return 0;
  const Result<Speaker*> speaker = (*session)->speaker();
  if (!speaker) return 0;
  if (c.once_in(3)) encode_voice(**speaker, c);
  speak(**session, c);
  return 0;
}
