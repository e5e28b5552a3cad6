// Prompts with images, on the reference vectors: the tokens around them, their positions, the text model's logits after
// them, and its continuation.
#include <boost/test/unit_test.hpp>

#include "media_session.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(vision_session, *boost::unit_test::precondition(needs_shared("vectors/media/vision")))

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

BOOST_AUTO_TEST_SUITE_END()
