// Prompts with images, on the reference vectors: the tokens around them, their positions, the text model's logits after
// them, and its continuation.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <limits>

#include "media_session.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(vision_session, *boost::unit_test::precondition(needs_shared("vectors/media/vision")) *
                                          boost::unit_test::label("floats"))

namespace {

std::vector<TokenId> tokens_of(Session& s, std::string_view prompt, std::span<const Image> images) {
  return prompt_tokens(
      s, prompt, [&](size_t i) { return encode_medium(s, s.begin_image(images[i].view(), static_cast<uint32_t>(i))); });
}

struct Input {
  std::filesystem::path folder;
  std::string name;
  const Json& data;
  std::vector<Image> images;
};

/// Calls work(loaded, input) for every input of every folder whose pictures exist.
template <class Work>
void each_input(const Work& work) {
  for (const auto& folder : folders_of("vectors/media/vision")) {
    const Json meta = read_json(folder / "meta.json");
    const auto loaded = load_folder(folder);
    for (const auto& [name, data] : meta["inputs"].fields) {
      Input input{folder, name, data, {}};
      for (const std::string picture : {"small", "large"})
        if (name == "two" || name == picture) input.images.push_back(*read_picture(picture));
      if (input.images.empty()) continue;
      BOOST_TEST_CONTEXT(folder.filename().string() << ", " << name) work(*loaded->session, input);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(prompts_and_logits_agree_with_libmtmd) {
  size_t n = 0;
  each_input([&](Session& s, const Input& input) {
    const std::vector<TokenId> tokens = tokens_of(s, input.data["prompt"].text, input.images);
    check_chunks(tokens, input.data["result"]);
    check_answer(s, tokens, input.data, input.folder / (input.name + ".logits.f32"));
    ++n;
  });
  BOOST_TEST(n >= 28u);
}

BOOST_AUTO_TEST_CASE(positions_match_libmtmd) {
  each_input([&](Session& s, const Input& input) {
    const std::vector<TokenId> tokens = tokens_of(s, input.data["prompt"].text, input.images);
    const auto media = s.encoded_media(tokens);
    BOOST_REQUIRE_MESSAGE(media.has_value(), (media ? "" : media.error().message));
    std::vector<int32_t> positions;
    for (const Json& chunk : input.data["result"]["chunks"].items) {
      if (chunk["type"].text != "image") continue;
      const int first = std::stoi(chunk["first_pos"].text), count = std::stoi(chunk["n_tokens"].text);
      const auto written = chunk.fields.find("positions_t_y_x");
      for (int i = 0; i < count; ++i) {
        const std::vector<int32_t> place = written == chunk.fields.end()
                                               ? std::vector<int32_t>(3, first + i)
                                               : written->second.items[static_cast<size_t>(i)].integers();
        positions.insert(positions.end(), place.begin(), place.end());
      }
    }
    BOOST_CHECK_EQUAL_COLLECTIONS(media->positions.begin(), media->positions.end(), positions.begin(), positions.end());
  });
}

BOOST_AUTO_TEST_CASE(encoders_that_give_no_numbers_are_errors_with_the_layer) {
  struct Case {
    const char* folder;
    const char* tensor;
    const char* where;
  };
  const Case cases[] = {{"vision/gemma3", "v.patch_embd.bias", "the first step of the image encoder"},
                        {"vision/gemma3", "v.blk.1.ln1.bias", "layer 1 (counted from 0) of the image encoder"},
                        {"vision/gemma3", "mm.soft_emb_norm.weight", "the projector"},
                        {"audio/ultravox", "a.blk.0.ln1.bias", "layer 0 (counted from 0) of the audio encoder"}};
  for (const Case& c : cases) {
    LoadedSession made;
    const auto folder = shared("vectors/media") / c.folder;
    made.model = read_file(folder / "model.gguf");
    made.projector = read_file(folder / "mmproj.gguf");
    const HeaderBytes model{made.model, made.model.size()}, projector{made.projector, made.projector.size()};
    auto session = Session::open({&model, 1}, 1, &projector);
    BOOST_REQUIRE_MESSAGE(session.has_value(), (session ? "" : session.error().message));
    made.session = std::move(*session);
    size_t n_changed = 0;
    for (size_t i = 0; i < made.session->n_planned(); ++i) {
      const TensorRequest& r = made.session->planned(i);
      if (r.entry.file == 0 || r.entry.name != c.tensor) continue;
      const float none = std::numeric_limits<float>::quiet_NaN();
      std::memcpy(made.projector.data() + r.entry.offset, &none, sizeof none);
      ++n_changed;
    }
    BOOST_REQUIRE_EQUAL(n_changed, 1u);
    load_weights(made, Precision::kExact, 2048, 1);
    const Image picture{{40, 30}, std::vector<uint8_t>(40 * 30 * 3, 77)};
    const std::vector<float> sound(16000, 0.25f);
    Result<bool> more = true;
    if (std::string_view(c.folder).starts_with("audio"))
      BOOST_REQUIRE(made.session->begin_sound(sound, 16000).has_value());
    else
      BOOST_REQUIRE(made.session->begin_image(picture.view()).has_value());
    while (more && *more) more = made.session->step_media();
    BOOST_REQUIRE_MESSAGE(!more.has_value(), c.tensor);
    BOOST_TEST((more.error().code == ErrorCode::kOutOfRange));
    BOOST_TEST(more.error().message.find(c.where) != std::string::npos, more.error().message);
  }
}

BOOST_AUTO_TEST_SUITE_END()
