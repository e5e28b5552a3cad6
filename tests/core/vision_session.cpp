// Images among the tokens of a text, on the reference vectors: the tokens around them, their positions, what the text
// model says after them, and what it goes on with.
#include <boost/test/unit_test.hpp>

#include "engine/session.hpp"
#include "vision_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(vision_session, *boost::unit_test::precondition(needs_shared("vectors/media/vision")))

namespace {

struct Loaded {
  std::vector<uint8_t> model, projector;
  std::unique_ptr<Session> session;
};

std::unique_ptr<Loaded> load_folder(const std::filesystem::path& folder, Precision precision = Precision::kExact,
                                    uint32_t n_ctx = 512, uint32_t n_sequences = 1) {
  auto out = std::make_unique<Loaded>();
  out->model = read_file(folder / "model.gguf");
  out->projector = read_file(folder / "mmproj.gguf");
  const HeaderBytes model{out->model, out->model.size()}, projector{out->projector, out->projector.size()};
  auto session = Session::open({&model, 1}, 1, &projector);
  BOOST_REQUIRE_MESSAGE(session.has_value(), (session ? "" : session.error().message));
  out->session = std::move(*session);
  Session& s = *out->session;
  BOOST_REQUIRE(s.begin_load(precision).has_value());
  for (size_t i = 0; i < s.n_planned(); ++i) {
    const TensorRequest& request = s.planned(i);
    const ByteView file = request.entry.file == 0 ? ByteView(out->model) : ByteView(out->projector);
    const auto r = s.set_rows(i, 0,
                              file.subspan(static_cast<size_t>(request.entry.offset),
                                           static_cast<size_t>(request.n_rows * request.row_bytes)));
    BOOST_REQUIRE_MESSAGE(r.has_value(), (r ? "" : r.error().message));
  }
  const auto started = s.start({.n_ctx = n_ctx, .n_sequences = n_sequences});
  BOOST_REQUIRE_MESSAGE(started.has_value(), (started ? "" : started.error().message));
  return out;
}

std::vector<TokenId> encode_image(Session& s, const Image& image) {
  const auto begun = s.begin_image(image.view());
  BOOST_REQUIRE_MESSAGE(begun.has_value(), (begun ? "" : begun.error().message));
  size_t n = 0;
  for (;;) {
    const auto more = s.step_image();
    BOOST_REQUIRE_MESSAGE(more.has_value(), (more ? "" : more.error().message));
    if (s.n_image_steps() != 0) ++n;
    if (!*more) break;
  }
  BOOST_TEST(n == s.n_image_steps());
  return s.image_tokens();
}

constexpr std::string_view kMarker = "<__media__>";

/// Text pieces tokenized by themselves, images between them.
std::vector<TokenId> prompt_tokens(Session& s, std::string_view prompt, std::span<const Image> images) {
  const Tokenizer& tokenizer = *s.tokenizer();
  std::vector<TokenId> out;
  if (tokenizer.adds_bos()) out.push_back(tokenizer.special().bos);
  size_t image = 0;
  for (size_t at = 0; at <= prompt.size();) {
    const size_t end = std::min(prompt.find(kMarker, at), prompt.size());
    const std::vector<TokenId> text = tokenizer.encode(prompt.substr(at, end - at), {.special = true});
    if (end > at) out.insert(out.end(), text.begin(), text.end());
    if (end == prompt.size()) break;
    const std::vector<TokenId> tokens = encode_image(s, images[image++]);
    out.insert(out.end(), tokens.begin(), tokens.end());
    at = end + kMarker.size();
  }
  return out;
}

struct Input {
  std::filesystem::path folder;
  std::string name;
  const Json& data;
  std::vector<Image> images;
};

/// work(loaded, input) for every input of every folder whose pictures are there.
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

GenerateOptions greedy() {
  GenerateOptions options;
  options.sampler.temperature = 0;
  options.ignore_end = true;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_CASE(prompts_and_logits_agree_with_libmtmd) {
  size_t n = 0;
  each_input([&](Session& s, const Input& input) {
    const std::vector<TokenId> tokens = prompt_tokens(s, input.data["prompt"].text, input.images);
    // The chunks: tokens of text as they are, of images so many.
    size_t at = 0;
    for (const Json& chunk : input.data["result"]["chunks"].items) {
      const auto count = static_cast<size_t>(std::stoi(chunk["n_tokens"].text));
      BOOST_REQUIRE(at + count <= tokens.size());
      const std::span<const TokenId> part = std::span(tokens).subspan(at, count);
      if (chunk["type"].text == "text") {
        const std::vector<int32_t> ids = chunk["ids"].integers();
        BOOST_CHECK_EQUAL_COLLECTIONS(part.begin(), part.end(), ids.begin(), ids.end());
      } else {
        BOOST_TEST(std::ranges::all_of(part, is_media));
      }
      at += count;
    }
    BOOST_TEST(at == tokens.size());

    const double tolerance = std::stod(input.data["tolerance"]["logits"]["max_abs"].text);
    const auto out = s.evaluate(tokens);
    BOOST_REQUIRE_MESSAGE(out.has_value(), (out ? "" : out.error().message));
    const size_t n_vocab = s.model().n_output();
    const std::span<const float> last(out->as<float>() + (tokens.size() - 1) * n_vocab, n_vocab);
    const double off = max_difference(last, read_floats(input.folder / (input.name + ".logits.f32")));
    BOOST_TEST(off <= tolerance);
    BOOST_TEST_MESSAGE(input.folder.filename().string() << " " << input.name << ": " << off << " of " << tolerance);

    // What it goes on with, as long as the reference is sure of it.
    BOOST_REQUIRE(s.begin(tokens, greedy()).has_value());
    const std::vector<int32_t> ids = input.data["result"]["greedy"].integers();
    for (size_t i = 0; i < ids.size(); ++i) {
      if (std::stod(input.data["result"]["margins"].items[i].text) < 2 * tolerance) break;
      const auto step = s.next();
      BOOST_REQUIRE_MESSAGE(step.has_value(), (step ? "" : step.error().message));
      BOOST_TEST(step->token == ids[i]);
    }
    ++n;
  });
  BOOST_TEST(n >= 28u);
}

BOOST_AUTO_TEST_CASE(positions_are_those_of_libmtmd) {
  each_input([&](Session& s, const Input& input) {
    const std::vector<TokenId> tokens = prompt_tokens(s, input.data["prompt"].text, input.images);
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
