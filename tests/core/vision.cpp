// Image encoders and projectors on the reference vectors made with libmtmd: their input pixels and their outputs.
#include <boost/test/unit_test.hpp>

#include "vision_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(vision, *boost::unit_test::precondition(needs_shared("vectors/media/vision")) *
                                  boost::unit_test::label("floats"))

namespace {

/// The pixels [channel][y][x] of consecutive parts.
std::vector<uint8_t> planes(const ImageParts& parts) {
  std::vector<uint8_t> out;
  for (const Image* part : in_order(parts))
    for (size_t c = 0; c < 3; ++c)
      for (size_t i = c; i < part->rgb.size(); i += 3) out.push_back(part->rgb[i]);
  return out;
}

int largest_difference(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  if (a.size() != b.size()) return 256;
  int most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

/// Calls work(folder, meta, model, input, picture, parts) for every picture of every folder.
template <class Work>
void each_picture(Pool& pool, const Work& work) {
  for (const auto& folder : folders_of("vectors/media/vision")) {
    const Json meta = read_json(folder / "meta.json");
    const auto file = parse_file(read_file(folder / "mmproj.gguf"));
    const Json& inputs = meta["inputs"];
    const auto n_out = static_cast<uint64_t>(std::stoi(inputs.fields.begin()->second["result"]["n_embd_inp"].text));
    const auto model = load_vision(*file, pool, n_out);
    for (const auto& [input, data] : inputs.fields) {
      const auto picture = read_picture(input);
      if (!picture) continue;
      BOOST_TEST_CONTEXT(folder.filename().string() << ", " << input) {
        const auto parts = split_image(picture->view(), model->parameters().image);
        BOOST_REQUIRE_MESSAGE(parts.has_value(), (parts ? "" : parts.error().message));
        work(folder, data, *model, input, *parts);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(pixels_match_libmtmd) {
  const auto pool = make_pool();
  size_t n = 0;
  each_picture(*pool, [&](const auto& folder, const Json&, const VisionModel&, const std::string& input,
                          const ImageParts& parts) {
    const auto path = folder / (input + ".pre.u8");
    if (!std::filesystem::exists(path)) return;
    ++n;
    BOOST_TEST(largest_difference(planes(parts), read_file(path)) == 0);
  });
  BOOST_TEST(n >= 20u);
}

BOOST_AUTO_TEST_CASE(embeddings_agree_with_libmtmd) {
  const auto pool = make_pool(2);
  size_t n = 0;
  each_picture(*pool, [&](const auto& folder, const Json& data, const VisionModel& model, const std::string& input,
                          const ImageParts& parts) {
    std::vector<float> all;
    ImageEncoder encoder(model, *pool);
    for (const Image* part : in_order(parts)) {
      const auto begun = encoder.start(*part);
      BOOST_REQUIRE_MESSAGE(begun.has_value(), (begun ? "" : begun.error().message));
      size_t steps = 1;
      while (encoder.step()) ++steps;
      BOOST_TEST(steps == encoder.n_steps());
      const std::vector<float> out = encoder.take_output();
      BOOST_TEST(out.size() == model.tokens_of(part->size).n_tokens * model.n_out());
      all.insert(all.end(), out.begin(), out.end());
    }
    const double tolerance = std::stod(data["tolerance"]["embd"]["max_abs"].text);
    const double off = max_difference(all, read_floats(folder / (input + ".embd.f32")));
    BOOST_TEST(off <= tolerance);
    BOOST_TEST_MESSAGE(folder.filename().string() << " " << input << ": " << off << " of " << tolerance);
    ++n;
  });
  BOOST_TEST(n >= 20u);
}

BOOST_AUTO_TEST_SUITE_END()
