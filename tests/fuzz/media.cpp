// Projectors with damaged headers: an encoder refuses them, or encodes a picture or a sound without an access outside
// its memory. Input: any bytes (made.hpp).
#include <cstdlib>

#include "../core/made_projectors.hpp"
#include "../core/made_sound_projectors.hpp"
#include "audio/audio_model.hpp"
#include "gguf/parse.hpp"
#include "made.hpp"
#include "media/sound_frames.hpp"
#include "media/tiles.hpp"
#include "model/load_plan.hpp"
#include "vision/image_encoder.hpp"

using namespace ggufscope;

namespace {

constexpr uint64_t kMaxWeights = 1 << 21, kMaxPixels = 256 * 256, kMaxScratch = 64 << 20;
constexpr size_t kMaxFrames = 400;

const std::vector<test::MadeProjector>& all_made(bool sounds) {
  static const std::vector<test::MadeProjector> pictures = test::made_projectors(),
                                                heard = test::made_sound_projectors();
  return sounds ? heard : pictures;
}

Pool& pool() {
  static const std::unique_ptr<Pool> one = std::move(*Pool::create(1));
  return *one;
}

/// Gives a model all its rows. False if it is too large for a test, or refuses them.
template <class EncoderModel>
bool load(EncoderModel& model, fuzz::Choices& c) {
  const Precision precision = c.once_in(2) ? Precision::kExact : Precision::kFast;
  const Result<uint64_t> bytes = plan_bytes(model.plan(), precision);
  if (!bytes || *bytes > kMaxWeights) return false;
  model.begin_load(precision);
  const bool any = c.once_in(4);
  for (size_t i = 0; i < model.plan().size(); ++i) {
    const TensorRequest& r = model.plan()[i];
    if (!model.set_rows(pool(), i, 0, fuzz::rows_of(static_cast<size_t>(r.n_rows_kept * r.row_bytes), any, c)))
      return false;
  }
  return true;
}

void encode_picture(const ModelFile& file, uint64_t width, fuzz::Choices& c) {
  Result<std::unique_ptr<VisionModel>> model = VisionModel::open(file, 0, width);
  if (!model || !load(**model, c) || !(*model)->finish_load(pool())) return;
  const VisionModel& vision = **model;
  const ImageSize size{static_cast<uint32_t>(1 + c.pick(90)), static_cast<uint32_t>(1 + c.pick(90))};
  if (vision.parameters().image.image_size > 512 || vision.parameters().image.fit.min_pixels > kMaxPixels ||
      vision.parameters().image.fit.longest_edge > 512)
    return;
  for (const ImageSize& candidate : vision.parameters().image.candidates)
    if (candidate.n_pixels() > kMaxPixels) return;
  const Result<ImageParts> parts = split_image(test::made_picture(size).view(), vision.parameters().image);
  if (!parts || parts->size() > 4) return;
  ImageEncoder encoder(vision, pool());
  const auto run = [&](const Image& part) {
    if (part.size.n_pixels() > kMaxPixels || ImageEncoder::scratch_bytes(vision, part.size, 1) > kMaxScratch) return;
    if (!encoder.start(part)) return;
    while (encoder.step()) {
    }
    if (encoder.take_output().size() != encoder.grid().n_tokens * vision.n_out()) std::abort();
    if (encoder.grid().n_tokens != vision.tokens_of(part.size).n_tokens) std::abort();
  };
  for (const Image& tile : parts->tiles) run(tile);
  if (parts->overview) run(*parts->overview);
}

void encode_sound(const ModelFile& file, uint64_t width, fuzz::Choices& c) {
  Result<std::unique_ptr<AudioModel>> model = AudioModel::open(file, 0, width);
  if (!model || (*model)->scratch_bytes(1) > kMaxScratch || !load(**model, c) || !(*model)->finish_load()) return;
  const AudioModel& audio = **model;
  const SoundRule& rule = audio.parameters().sound;
  const size_t n_samples = rule.fewest + c.pick(4000);
  if (SoundFrames::n_parts(rule, n_samples) != 1 || SoundFrames::part_frames(rule, n_samples, 0) > kMaxFrames * 8)
    return;
  const auto floats = [](const Vector& v) { return std::span<const float>(v.data(), v.n); };
  SoundFrames frames(rule, floats(audio.weights().mel_filters), floats(audio.weights().mel_window));
  if (!frames.start(test::made_sound(n_samples))) return;
  do frames.compute(frames.first(), frames.last());
  while (frames.end_step());
  const std::unique_ptr<AudioEncoder> encoder = audio.row().family->create(audio, pool());
  const size_t n_frames = SoundFrames::part_frames(rule, n_samples, 0);
  if (!encoder->start(frames.part(0), n_frames)) return;
  while (encoder->step()) {
  }
  if (encoder->take_output().size() != audio.n_tokens(n_frames) * audio.n_out()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices c(data, size);
  const bool sounds = c.once_in(2);
  const auto& all = all_made(sounds);
  const test::MadeProjector& made = all[c.pick(all.size())];
  test::MadeModel model = made.file;
  for (size_t n = c.pick(4); n > 0; --n) fuzz::damage(model, c);
  test::Bytes bytes = model.header();
  if (c.once_in(3)) fuzz::damage(bytes, c);
  ParseState parsed;
  const Result<ParseProgress> progress = parse_header(bytes, std::nullopt, parsed);
  if (!progress || !progress->complete) return 0;
  const Gguf gguf{parsed.header, bytes};
  const ModelFile file{&gguf, std::nullopt};
  if (sounds) encode_sound(file, made.width(), c);
  if (!sounds) encode_picture(file, made.width(), c);
  return 0;
}
