// Pooled vectors, dense layers and classification heads against llama.cpp's.
#include "model/pooling.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "session_data.hpp"

using namespace ggufscope;
using namespace ggufscope::test;

BOOST_AUTO_TEST_SUITE(pooling, *boost::unit_test::label("floats"))

namespace {

constexpr const char* kNames[] = {"none", "mean", "cls", "last", "rank"};

/// The part of meta.json for one pooling type; empty if the vectors lack it.
std::string part_of(const std::string& meta, const std::string& name) {
  const std::string all = meta.substr(meta.find("\"poolings\""));
  const size_t at = all.find("\"" + name + "\": {");
  return at == std::string::npos ? std::string() : all.substr(at);
}

std::vector<std::vector<int32_t>> sequences_of(const std::string& meta) {
  std::vector<std::vector<int32_t>> out;
  const size_t begin = meta.find("\"sequences\"");
  std::string rest = meta.substr(begin, meta.find("\"poolings\"") - begin);
  rest = rest.substr(rest.find('[') + 1);
  for (size_t at = rest.find('['); at != std::string::npos; at = rest.find('[', at + 1))
    out.push_back(json_integers(rest.substr(at), ""));
  return out;
}

std::unique_ptr<Session> session_of(const std::vector<uint8_t>& file) {
  return loaded(file, {.n_ctx = 128, .n_batch = 16}, Precision::kExact);
}

void check_folder(const std::filesystem::path& folder) {
  const std::string meta = read_text(folder / "meta.json");
  const std::vector<uint8_t> file = read_file(folder / "model.gguf");
  const auto session = session_of(file);
  const std::vector<std::vector<int32_t>> sequences = sequences_of(meta);
  BOOST_REQUIRE_EQUAL(sequences.size(), 4u);
  const Pooling own = pooling_of(session->model());
  size_t n_checked = 0;
  for (size_t kind = 0; kind < std::size(kNames); ++kind) {
    const std::string part = part_of(meta, kNames[kind]), name = std::string(kNames[kind]);
    if (part.empty()) continue;
    const bool exact = json_string(part, "compare_with") == "exact_file";
    const std::vector<float> want = read_floats(folder / (name + (exact ? ".exact.f32" : ".f32")));
    std::vector<float> got;
    for (const std::vector<int32_t>& tokens : sequences) {
      const auto out = session->embed(tokens, static_cast<Pooling>(kind));
      BOOST_REQUIRE_MESSAGE(out.has_value(), name << ": " << (out ? "" : out.error().message));
      got.insert(got.end(), out->begin(), out->end());
      if (static_cast<Pooling>(kind) == own) BOOST_TEST(*session->embed(tokens) == *out);
    }
    BOOST_REQUIRE_EQUAL(got.size(), want.size());
    const double d = max_difference(got, want), tolerance = json_number(part, "max_abs");
    BOOST_CHECK_MESSAGE(d <= tolerance, name << " differs by " << d << " > " << tolerance);
    ++n_checked;
  }
  BOOST_TEST(n_checked > 0u);
  if (part_of(meta, "rank").empty()) BOOST_TEST(!session->embed(sequences[0], Pooling::kRank).has_value());
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_kind_of_pooling_matches_llama_cpp,
                     *boost::unit_test::precondition(needs_shared("vectors/pooling"))) {
  size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(shared("vectors/pooling"))) {
    if (!entry.is_directory()) continue;
    BOOST_TEST_CONTEXT(entry.path().filename().string()) { check_folder(entry.path()); }
    ++n;
  }
  BOOST_TEST(n >= 13u);
}

BOOST_AUTO_TEST_CASE(ranking_without_a_head_is_refused) {
  const auto session = session_of(read_file(fixture("stories.gguf")));
  const std::vector<TokenId> tokens{1, 5, 9};
  const auto ranked = session->embed(tokens, Pooling::kRank);
  BOOST_REQUIRE(!ranked.has_value());
  BOOST_TEST((ranked.error().code == ErrorCode::kUnsupported));
  const auto rows = session->embed(tokens, Pooling::kNone), mean = session->embed(tokens, Pooling::kMean),
             first = session->embed(tokens, Pooling::kCls), last = session->embed(tokens, Pooling::kLast);
  BOOST_REQUIRE((rows.has_value() && mean.has_value() && first.has_value() && last.has_value()));
  const size_t n = first->size();
  BOOST_REQUIRE_EQUAL(rows->size(), 3 * n);
  for (size_t i = 0; i < n; ++i) {
    BOOST_TEST((*rows)[i] == (*first)[i]);
    BOOST_TEST((*rows)[2 * n + i] == (*last)[i]);
    BOOST_TEST(std::abs(((*rows)[i] + (*rows)[n + i] + (*rows)[2 * n + i]) / 3 - (*mean)[i]) < 1e-5);
  }
  BOOST_TEST((*session->embed(tokens) == *mean));
}

BOOST_AUTO_TEST_SUITE_END()
