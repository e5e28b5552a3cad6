// Prompts with images on a model that runs on a device answer as on the CPU. The device is the interpreter.
#include <boost/test/unit_test.hpp>
#include <map>

#include "../made_sound_projectors.hpp"
#include "../media_session.hpp"
#include "device_session.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(gpu_media, *boost::unit_test::precondition(needs_shared("vectors/media/vision")) *
                                     boost::unit_test::label("floats"))

namespace {

// Image encoders of the vectors that run on the CPU, and why.
const std::map<std::string, std::string, std::less<>> kEncodersOnCpu = {
#include "encoder_reasons.inc"
};

std::vector<TokenId> tokens_of(Session& s, std::string_view prompt, const Image& image) {
  return prompt_tokens(s, prompt, [&](size_t) { return encode_medium(s, s.begin_image(image.view())); });
}

std::string reason_in(const std::map<std::string, std::string, std::less<>>& reasons, const std::string& name) {
  const auto known = reasons.find(name);
  return known == reasons.end() ? "" : known->second;
}

// What the device's encoder gave: each layer ran there, and the embeddings are libmtmd's.
void check_encoded(const DeviceSession& d, std::span<const TokenId> tokens, const Json& data,
                   const std::filesystem::path& embeddings) {
  if (!d.encoders[kImageEncoder]) return;
  BOOST_TEST(d.n_layers + 2 * d.n_parts == d.session->n_media_steps());
  const auto media = d.session->encoded_media(tokens);
  BOOST_REQUIRE(media.has_value());
  const double off = max_difference(media->embeddings, read_floats(embeddings));
  const double tolerance = std::stod(data["tolerance"]["embd"]["max_abs"].text);
  BOOST_TEST(off <= tolerance);
  BOOST_TEST_MESSAGE(embeddings.string() << ": " << off << " of " << tolerance);
}

// The model has a plan, and its image encoder one or the reason that is listed.
void check_plans(const std::filesystem::path& folder) {
  const std::vector<uint8_t> model = read_file(folder / "model.gguf"), projector = read_file(folder / "mmproj.gguf");
  const HeaderBytes header{model, model.size()}, beside{projector, projector.size()};
  const auto session = Session::open({&header, 1}, 1, &beside);
  BOOST_REQUIRE(session.has_value());
  const Result<void> planned = (*session)->plan_device({.n_ctx = 512}, {});
  BOOST_TEST_REQUIRE((planned ? "" : planned.error().message) == "");
  const DeviceEncoder& encoder = (*session)->device_encoder(kImageEncoder);
  BOOST_TEST(encoder.reason == reason_in(kEncodersOnCpu, folder.filename().string()));
  BOOST_TEST((encoder.plan != nullptr) == encoder.reason.empty());
}

}  // namespace

BOOST_AUTO_TEST_CASE(prompts_with_images_agree_with_libmtmd) {
  for (const auto& folder : folders_of("vectors/media/vision")) {
    BOOST_TEST_CONTEXT(folder.filename().string()) {
      check_plans(folder);
      DeviceSession d({.n_ctx = 512}, read_file(folder / "model.gguf"), read_file(folder / "mmproj.gguf"));
      Session& s = *d.session;
      const Json data = read_json(folder / "meta.json")["inputs"]["small"];
      const std::vector<TokenId> tokens = prompt_tokens(
          s, data["prompt"].text, [&](size_t) { return d.encode(s.begin_image(read_picture("small")->view())); });
      check_encoded(d, tokens, data, folder / "small.embd.f32");
      GenerateOptions options = greedy();
      options.ignore_end = true;
      BOOST_REQUIRE(s.begin_answer(tokens, options).has_value());
      d.compute(64);
      const double tolerance = std::stod(data["tolerance"]["logits"]["max_abs"].text);
      const auto last = d.device->floats(s.device_plan()->logits).first(s.model().n_output());
      const double off = max_difference(last, read_floats(folder / "small.logits.f32"));
      BOOST_TEST(off <= tolerance);
      BOOST_TEST_MESSAGE(folder.filename().string() << ": " << off << " of " << tolerance);
      const std::vector<int32_t> ids = data["result"]["greedy"].integers();
      const auto clear = [&](size_t i) { return std::stod(data["result"]["margins"].items[i].text) >= 2 * tolerance; };
      size_t n = 0;
      while (n < std::min<size_t>(ids.size(), 6) && clear(n)) ++n;
      const Answer chosen = d.chosen(tokens, n, 3), sampled = d.answer(tokens, options, n, 7);
      BOOST_CHECK_EQUAL_COLLECTIONS(chosen.tokens.begin(), chosen.tokens.end(), ids.begin(),
                                    ids.begin() + static_cast<std::ptrdiff_t>(n));
      BOOST_CHECK_EQUAL_COLLECTIONS(sampled.tokens.begin(), sampled.tokens.end(), chosen.tokens.begin(),
                                    chosen.tokens.end());
    }
  }
}

// Encodes audio on the device, each layer of each part.
std::vector<float> embeddings_of(DeviceSession& d, std::span<const float> samples) {
  Session& s = *d.session;
  const auto tokens = d.encode(s.begin_sound(samples, s.audio()->parameters().sound.rate));
  BOOST_TEST(d.n_layers == d.n_parts * s.device_encoder(kAudioEncoder).plan->embeddings.back().layer + d.n_parts);
  BOOST_TEST(d.n_parts > 0u);
  const auto media = s.encoded_media(tokens);
  BOOST_REQUIRE(media.has_value());
  return {media->embeddings.begin(), media->embeddings.end()};
}

BOOST_AUTO_TEST_CASE(audio_agrees_with_libmtmd) {
  for (const auto& folder : folders_of("vectors/media/audio")) {
    const std::string name = folder.filename().string(), sound = "speech-fr-short";
    DeviceSession d({.n_ctx = 2048}, read_file(folder / "model.gguf"), read_file(folder / "mmproj.gguf"));
    BOOST_REQUIRE(d.encoders[kAudioEncoder]);
    // The memory of the layers is not taken.
    const auto on_cpu = load_folder(folder);
    BOOST_TEST(d.session->audio()->scratch_bytes(2) < on_cpu->session->audio()->scratch_bytes(2));
    if (!whole_run()) continue;  // Whisper's 1,500 frames take long
    const auto got = embeddings_of(d, read_floats(shared("vectors/media/whisper/inputs") / (sound + ".f32")));
    const double off = max_difference(got, read_floats(folder / (sound + ".embd.f32")));
    const Json data = read_json(folder / "meta.json")["inputs"][sound];
    const double tolerance = std::stod(data["tolerance"]["embd"]["max_abs"].text);
    BOOST_TEST(off <= tolerance, name);
    BOOST_TEST_MESSAGE(name << ": " << off << " of " << tolerance);
  }
}

BOOST_AUTO_TEST_CASE(audio_encoders_have_a_plan_or_a_reason) {
  const std::vector<uint8_t> text = read_file(fixture("golden/arch/llama/model.gguf"));
  for (const MadeProjector& made : made_sound_projectors()) {
    BOOST_TEST_CONTEXT(made.name) {
      const std::string reason = reason_in(kEncodersOnCpu, made.name);
      DeviceSession d({.n_ctx = 2048}, text, made.file.bytes());
      BOOST_TEST(d.session->device_encoder(kAudioEncoder).reason == reason);
      BOOST_TEST((d.encoders[kAudioEncoder] != nullptr) == reason.empty());
      if (!d.encoders[kAudioEncoder] || (made.name != "qwen3a" && !whole_run())) continue;
      std::vector<float> all;
      for (const size_t n : made.sounds) {
        const std::vector<float> part = embeddings_of(d, made_sound(n));
        all.insert(all.end(), part.begin(), part.end());
      }
      const double off = max_difference(all, read_floats(fixture("golden/projectors") / made.name / "embd.f32"));
      BOOST_TEST(off <= made.tolerance);
      BOOST_TEST_MESSAGE(made.name << ": " << off << " of " << made.tolerance);
    }
  }
}

// After the device is lost, the CPU has the images that were encoded.
BOOST_AUTO_TEST_CASE(encoded_images_move_to_another_session) {
  const std::filesystem::path folder = shared("vectors/media/vision/internvl");
  const auto from = load_folder(folder), to = load_folder(folder);
  const std::vector<TokenId> tokens = tokens_of(*from->session, "a<__media__>b", *read_picture("small"));
  BOOST_TEST(!to->session->holds_media(tokens));
  const std::vector<uint8_t> saved = from->session->save_encoded();
  for (size_t n = 0; n < saved.size(); n = n < 50 ? n + 1 : n + saved.size() / 5)
    BOOST_TEST(!to->session->load_encoded(ByteView(saved).first(n)).has_value());
  BOOST_REQUIRE(to->session->load_encoded(saved).has_value());
  BOOST_REQUIRE(to->session->holds_media(tokens));
  const auto first = from->session->evaluate(tokens), second = to->session->evaluate(tokens);
  BOOST_REQUIRE((first && second));
  BOOST_TEST(std::memcmp(first->data(), second->data(), static_cast<size_t>(first->size())) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
