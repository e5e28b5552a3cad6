// Image projectors without reference vectors: generated files, and libmtmd's results for the same bytes.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/media.hpp"
#include "gguf/lint/lint.hpp"
#include "made_projectors.hpp"
#include "vision_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(projectors, *boost::unit_test::label("floats"))

namespace {

std::filesystem::path golden_of(const MadeProjector& made) { return fixture("golden/projectors") / made.name; }

/// Calls work(made) for every projector with pictures.
template <class Work>
void each_projector(const Work& work) {
  for (const MadeProjector& made : made_projectors()) {
    if (made.pictures.empty()) continue;
    BOOST_TEST_CONTEXT(made.name) work(made);
  }
}

/// Opening reads the header alone.
Result<std::unique_ptr<VisionModel>> open_made(const MadeModel& made, uint64_t n_embd) {
  const auto file = parse_file(made.header());
  const Gguf gguf = file->gguf();
  return VisionModel::open({&gguf, file->bytes.size() + made.n_data_bytes()}, 0, n_embd);
}

std::vector<Finding> findings_of(const MadeModel& made) {
  const auto file = parse_file(made.header());
  return lint(file->gguf(), file->bytes.size() + made.n_data_bytes(), "mmproj.gguf");
}

/// The embeddings of all parts and separators of an image with a canvas; the ids among its tokens are counted.
std::vector<float> canvas_embeddings(const VisionModel& model, Pool& pool, const Tokenizer& tokenizer,
                                     const Image& picture, int32_t& n_tokens) {
  ImageJob job(model, pool);
  MediaStore store;
  const auto started = job.start(picture.view(), 0, tokenizer, true, 1000, store);
  BOOST_REQUIRE_MESSAGE(started.has_value(), (started ? "" : started.error().message));
  while (*job.step(store)) {
  }
  n_tokens = static_cast<int32_t>(std::ranges::count_if(job.tokens(), is_media));
  BOOST_REQUIRE(store.size() == 1u);
  return store.begin()->second.embeddings;
}

/// Hashes the pixels [color][y][x] of consecutive parts.
std::string hash_of(const std::vector<const Image*>& parts) {
  uint64_t hash = 14695981039346656037u;
  for (const Image* part : parts)
    for (size_t c = 0; c < 3; ++c)
      for (size_t i = c; i < part->rgb.size(); i += 3) hash = (hash ^ part->rgb[i]) * 1099511628211u;
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

std::vector<int32_t> sizes_of(const std::vector<const Image*>& parts) {
  std::vector<int32_t> sizes;
  for (const Image* part : parts) {
    sizes.push_back(static_cast<int32_t>(part->size.width));
    sizes.push_back(static_cast<int32_t>(part->size.height));
  }
  return sizes;
}

std::vector<int32_t> flat(const Json& pairs) {
  std::vector<int32_t> out;
  for (const Json& pair : pairs.items)
    for (const int32_t value : pair.integers()) out.push_back(value);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(embeddings_agree_with_libmtmd) {
  const auto pool = make_pool(2);
  const auto wide = parse_file(made_wide_text().bytes());
  const auto tokenizer = Tokenizer::create(wide->gguf());
  each_projector([&](const MadeProjector& made) {
    const auto model = load_vision(*parse_file(made.file.bytes()), *pool, made.width());
    const Json index = read_json(golden_of(made) / "index.json");
    BOOST_REQUIRE(index.items.size() >= made.pictures.size());
    std::vector<float> all;
    ImageEncoder encoder(*model, *pool);
    for (size_t i = 0; i < made.pictures.size(); ++i) {
      const Image picture = made_picture(made.pictures[i]);
      const auto parts = split_image(picture.view(), model->parameters().image);
      BOOST_REQUIRE_MESSAGE(parts.has_value(), (parts ? "" : parts.error().message));
      BOOST_TEST(
          sizes_of(in_order(*parts, model->parameters().markers->overview_first)) == flat(index.items[i]["inputs"]),
          boost::test_tools::per_element());
      BOOST_TEST(hash_of(in_order(*parts, model->parameters().markers->overview_first)) == index.items[i]["hash"].text);
      std::vector<int32_t> n_tokens;
      if (model->row().canvas) {
        const std::vector<float> out = canvas_embeddings(*model, *pool, *tokenizer, picture, n_tokens.emplace_back());
        all.insert(all.end(), out.begin(), out.end());
      }
      for (const Image* part : in_order(*parts, model->parameters().markers->overview_first)) {
        if (model->row().canvas) break;
        const auto begun = encoder.start(*part);
        BOOST_REQUIRE_MESSAGE(begun.has_value(), (begun ? "" : begun.error().message));
        while (encoder.step()) {
        }
        const std::vector<float> out = encoder.take_output();
        n_tokens.push_back(static_cast<int32_t>(model->tokens_of(part->size).n_tokens));
        BOOST_TEST(out.size() == static_cast<uint32_t>(n_tokens.back()) * made.width());
        all.insert(all.end(), out.begin(), out.end());
      }
      BOOST_TEST(n_tokens == index.items[i]["tokens"].integers(), boost::test_tools::per_element());
    }
    std::vector<float> expected = read_floats(golden_of(made) / "embd.f32");
    if (!made.sounds.empty()) expected.resize(std::min(all.size(), expected.size()));
    const double off = max_difference(all, expected);
    BOOST_TEST(off <= made.tolerance);
    BOOST_TEST_MESSAGE(made.name << ": " << off << " of " << made.tolerance);
    // Tokens differ by more than the tolerance, so a projector that confuses them fails.
    double differs = 0;
    const size_t width = static_cast<size_t>(made.width());
    for (size_t i = width; i < expected.size(); ++i)
      differs = std::max(differs, double{std::fabs(expected[i] - expected[i - width])});
    BOOST_TEST(differs > 10 * made.tolerance);
  });
}

// The tokens around an image's parts, with the vocabulary that the results were made with.
BOOST_AUTO_TEST_CASE(markers_match_libmtmd) {
  const auto pool = make_pool();
  const auto text = parse_file(read_file(fixture("golden/arch/llama/model.gguf"))),
             wide = parse_file(made_wide_text().bytes());
  const auto narrow_tokenizer = Tokenizer::create(text->gguf()), wide_tokenizer = Tokenizer::create(wide->gguf());
  BOOST_REQUIRE(narrow_tokenizer.has_value() && wide_tokenizer.has_value());
  each_projector([&](const MadeProjector& made) {
    const auto& tokenizer = made.wide ? wide_tokenizer : narrow_tokenizer;
    const auto opened = open_made(made.file, made.width());
    BOOST_REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : opened.error().message));
    const auto& model = *opened;
    const Json index = read_json(golden_of(made) / "index.json");
    for (size_t i = 0; i < made.pictures.size(); ++i) {
      const auto layout = image_layout(made_picture(made.pictures[i]).size, model->parameters().image);
      BOOST_REQUIRE(layout.has_value());
      const std::vector<int32_t> expected = flat(index.items[i]["around"]);
      const auto pieces = image_pieces(*model->parameters().markers, *layout, 0, *tokenizer);
      BOOST_TEST(pieces.has_value() == (std::ranges::find(expected, -1) == expected.end()));
      if (!pieces) continue;
      std::vector<int32_t> around = tokenizer->encode("a");
      for (const ImagePiece& piece : *pieces) around.insert(around.end(), piece.tokens.begin(), piece.tokens.end());
      for (const int32_t id : tokenizer->encode("b")) around.push_back(id);
      BOOST_TEST(around == expected, boost::test_tools::per_element());
      if (made.name != "minicpmv4_6") continue;
      const auto second = image_pieces(*model->parameters().markers, *layout, 1, *tokenizer);
      BOOST_REQUIRE(second.has_value());
      BOOST_TEST((*second)[0].tokens == std::vector<TokenId>({11, 3, 5, 12, 7}), boost::test_tools::per_element());
    }
  });
}

// Where libmtmd spreads the overview's columns over those of the tiles.
BOOST_AUTO_TEST_CASE(overviews_spread_over_the_canvas) {
  const auto columns_of = [](uint32_t n_overview, uint32_t n_tiles, uint32_t n_tile) {
    ImageLayout layout;
    layout.cuts = true;
    layout.columns = n_tiles;
    layout.rows = 1;
    std::vector<int32_t> columns;
    for (const CanvasPlace& place :
         canvas_places(canvas_items(layout), layout, {n_overview, 1, n_overview}, {n_tile, 1, n_tile}))
      if (place.step == 0) columns.push_back(place.column);
    return columns;
  };
  BOOST_TEST(columns_of(3, 3, 2) == std::vector<int32_t>({0, 2, 5}), boost::test_tools::per_element());
  BOOST_TEST(columns_of(3, 4, 2) == std::vector<int32_t>({0, 4, 7}), boost::test_tools::per_element());
  BOOST_TEST(columns_of(5, 2, 5) == std::vector<int32_t>({0, 2, 4, 7, 9}), boost::test_tools::per_element());
  BOOST_TEST(columns_of(1, 2, 4) == std::vector<int32_t>({0}), boost::test_tools::per_element());
}

// lint() knows what llama.cpp requires.
BOOST_AUTO_TEST_CASE(lint_finds_no_error) {
  each_projector([](const MadeProjector& made) {
    for (const Finding& finding : findings_of(made.file))
      BOOST_TEST((finding.level != FindingLevel::kError), finding.message);
  });
}

BOOST_AUTO_TEST_CASE(lint_names_the_missing_tensors_of_mobilevlm) {
  for (const MadeProjector& made : {made_ldp(), made_ldpv2()})
    for (const auto& [name, shape] : made.file.tensors) {
      if (!name.starts_with("mm.")) continue;
      MadeModel without = made.file;
      without.tensors.erase(name);
      const bool named = std::ranges::any_of(findings_of(without), [&](const Finding& finding) {
        return finding.code == "projector-tensors" && finding.message == "a projector without tensor " + name;
      });
      BOOST_TEST(named, name);
    }
}

BOOST_AUTO_TEST_CASE(missing_tensors_are_named) {
  each_projector([](const MadeProjector& made) {
    if (made.name == "gemma3nv") return;  // the tensors determine which blocks there are
    size_t n_required = 0;
    for (const auto& [name, shape] : made.file.tensors) {
      MadeModel without = made.file;
      without.tensors.erase(name);
      const auto model = open_made(without, made.width());
      if (model) continue;
      ++n_required;
      BOOST_TEST((model.error().code == ErrorCode::kNotFound || model.error().code == ErrorCode::kBadShape));
      BOOST_TEST(
          model.error().message.find(name.substr(0, std::min(name.rfind('.'), name.find("qkv")))) != std::string::npos,
          name << ": " << model.error().message);
    }
    BOOST_TEST(n_required >= 10u);
  });
}

BOOST_AUTO_TEST_CASE(files_that_do_not_fit_are_refused) {
  each_projector([](const MadeProjector& made) {
    const auto other = open_made(made.file, made.width() + 1);
    BOOST_REQUIRE(!other.has_value());
    BOOST_TEST((other.error().code == ErrorCode::kOtherModel));
    const auto file = parse_file(made.file.header());
    const Gguf gguf = file->gguf();
    const size_t n_bytes = file->bytes.size() + made.file.n_data_bytes();
    BOOST_TEST((!VisionModel::open({&gguf, n_bytes / 2}, 0, made.width()).has_value()));
    if (!made.file.tensors.contains("v.blk.0.attn_out.weight")) return;
    MadeModel heads = made.file;
    heads.integers["vision.attention.head_count"] = 7;
    BOOST_TEST(!open_made(heads, made.width()).has_value());
  });
}

BOOST_AUTO_TEST_SUITE_END()
