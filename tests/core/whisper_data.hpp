// Whisper models for tests: GGUF files and whisper.cpp's own containers, with loaded weights.
#pragma once

#include "audio/transcribe.hpp"
#include "gguf/legacy.hpp"
#include "model_data.hpp"

namespace ggufscope::test {

struct OpenedWhisper {
  std::vector<uint8_t> bytes;
  LegacyHeader header;
  ParseState parsed;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<WhisperModel> model;

  [[nodiscard]] ByteView rows(size_t request) const {
    const TensorRequest& r = model->plan()[request];
    return ByteView(bytes).subspan(static_cast<size_t>(r.entry.offset), static_cast<size_t>(r.n_rows * r.row_bytes));
  }
};

inline OpenedWhisper open_whisper(const std::filesystem::path& path) {
  OpenedWhisper out;
  out.bytes = read_file(path);
  const bool legacy = path.extension() == ".bin";
  if (legacy) {
    LegacyState state;
    const auto progress = read_legacy(out.bytes, out.bytes.size(), state);
    BOOST_REQUIRE_MESSAGE(progress && progress->complete, "cannot read " << path.string());
    auto header = legacy_header(state);
    BOOST_REQUIRE(header);
    out.header = std::move(*header);
  } else {
    const auto progress = parse_header(out.bytes, out.bytes.size(), out.parsed);
    BOOST_REQUIRE_MESSAGE(progress && progress->complete, "cannot read " << path.string());
  }
  const Gguf gguf = legacy ? Gguf{out.header.header, out.header.bytes} : Gguf{out.parsed.header, out.bytes};
  auto model = WhisperModel::open(gguf, out.bytes.size());
  BOOST_REQUIRE_MESSAGE(model, model.error().message);
  out.model = std::move(*model);
  out.pool = std::move(*Pool::create(2));
  return out;
}

struct LoadedWhisper : OpenedWhisper {
  std::unique_ptr<WhisperState> state;
};

inline LoadedWhisper load_whisper(const std::filesystem::path& path, Precision precision, CacheType cache_type) {
  LoadedWhisper out{open_whisper(path), nullptr};
  out.model->begin_load(precision);
  for (size_t i = 0; i < out.model->plan().size(); ++i)
    BOOST_REQUIRE(out.model->set_rows(*out.pool, i, 0, out.rows(i)));
  BOOST_REQUIRE(out.model->finish_load());
  auto made = WhisperState::create(*out.model, *out.pool, cache_type);
  BOOST_REQUIRE(made);
  out.state = std::move(*made);
  return out;
}

/// Returns the number of steps. before: called before each; true: it has done something in its place.
template <class Before>
size_t transcribe(Transcriber& transcriber, const TranscribeOptions& options, std::span<const float> samples,
                  const Before& before) {
  BOOST_REQUIRE(transcriber.start(options, samples.size()));
  BOOST_REQUIRE(transcriber.add(samples));
  size_t n_steps = 0;
  for (bool goes_on = true; goes_on; ++n_steps) {
    if (before()) continue;
    const Result<bool> more = transcriber.step();
    BOOST_REQUIRE_MESSAGE(more, (more ? "" : more.error().message));
    goes_on = *more;
  }
  return n_steps;
}
inline size_t transcribe(Transcriber& transcriber, const TranscribeOptions& options, std::span<const float> samples) {
  return transcribe(transcriber, options, samples, [] { return false; });
}

/// The samples of a WAV file with a header of 44 bytes and 16 bits a sample.
inline std::vector<float> read_wav(const std::filesystem::path& path) {
  const std::vector<uint8_t> bytes = read_file(path);
  std::vector<float> samples;
  for (size_t at = 44; at + 1 < bytes.size(); at += 2)
    samples.push_back(static_cast<float>(static_cast<int16_t>(load<uint16_t>(bytes.data() + at))) / 32768);
  return samples;
}

}  // namespace ggufscope::test
