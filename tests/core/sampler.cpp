// Samplers beside llama.cpp, a full sort and their definitions; seeds and distributions.
#include "engine/sampler.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

using namespace ggufscope;

namespace {

// Without any sampler option, the result is a plain softmax.
SamplerOptions plain() {
  SamplerOptions o;
  o.temperature = 1;
  o.top_k = 0;
  o.top_p = 1;
  o.min_p = 0;
  return o;
}

std::vector<float> logits_of(const std::vector<float>& probabilities) {
  std::vector<float> logits;
  for (const float p : probabilities) logits.push_back(std::log(p));
  return logits;
}

struct SamplerCase {
  const char* name;
  SamplerOptions options;
  std::vector<float> probabilities;
  std::vector<int32_t> history;
  std::map<int32_t, float> expected;  // id -> probability of the remaining tokens
  std::vector<int32_t> breakers = {};
};

template <class Set>
SamplerOptions with(Set set) {
  SamplerOptions o = plain();
  set(o);
  return o;
}
#define WITH(...) with([](SamplerOptions& o) { __VA_ARGS__; })

// The expected values are those of llama.cpp's samplers (its tests/test-sampling.cpp has most of these inputs).
std::vector<SamplerCase> sampler_cases() {
  const std::vector<float> rising = {0.1f, 0.2f, 0.3f, 0.4f}, even5(5, 0.2f), even4(4, 0.25f);
  const auto penalties = [](float repeat, float frequency, float presence) {
    SamplerOptions o = plain();
    o.repeat_penalty = repeat, o.frequency_penalty = frequency, o.presence_penalty = presence;
    return o;
  };
  const auto dry = [](float multiplier, float base, int32_t allowed, int32_t last_n) {
    SamplerOptions o = plain();
    o.dry_multiplier = multiplier, o.dry_base = base, o.dry_allowed_length = allowed, o.dry_last_n = last_n;
    return o;
  };
  const auto xtc = [](float threshold) {
    SamplerOptions o = plain();
    o.xtc_probability = 1, o.xtc_threshold = threshold;
    return o;
  };
  return {
      {"temperature 1", plain(), rising, {}, {{0, 0.1f}, {1, 0.2f}, {2, 0.3f}, {3, 0.4f}}},
      {"temperature 0.5", WITH(o.temperature = 0.5f), {0.2f, 0.8f}, {}, {{0, 0.0588235f}, {1, 0.9411765f}}},
      {"temperature 0", WITH(o.temperature = 0), rising, {}, {{3, 1.0f}}},
      {"temperature 0, equals", WITH(o.temperature = 0), even4, {}, {{0, 1.0f}}},
      {"top-k 1", WITH(o.top_k = 1), rising, {}, {{3, 1.0f}}},
      {"top-k 3", WITH(o.top_k = 3), rising, {}, {{3, 0.444444f}, {2, 0.333333f}, {1, 0.222222f}}},
      {"top-k beyond", WITH(o.top_k = 9), rising, {}, {{0, 0.1f}, {1, 0.2f}, {2, 0.3f}, {3, 0.4f}}},
      {"top-p 0", WITH(o.top_p = 0), rising, {}, {{3, 1.0f}}},
      {"top-p 0.7", WITH(o.top_p = 0.69f), rising, {}, {{3, 0.571429f}, {2, 0.428571f}}},
      {"top-p 0.8", WITH(o.top_p = 0.8f), rising, {}, {{3, 0.444444f}, {2, 0.333333f}, {1, 0.222222f}}},
      {"min-p 0.26", WITH(o.min_p = 0.26f), rising, {}, {{3, 0.444444f}, {2, 0.333333f}, {1, 0.222222f}}},
      {"min-p 0.51", WITH(o.min_p = 0.51f), rising, {}, {{3, 0.571429f}, {2, 0.428571f}}},
      {"min-p 0.76", WITH(o.min_p = 0.76f), rising, {}, {{3, 1.0f}}},
      {"typical, one dominates", WITH(o.typical_p = 0.5f), {0.97f, 0.01f, 0.01f, 0.01f}, {}, {{0, 1.0f}}},
      {"typical, the middle",
       WITH(o.typical_p = 0.5f),
       {0.4f, 0.2f, 0.2f, 0.2f},
       {},
       {{1, 0.333333f}, {2, 0.333333f}, {3, 0.333333f}}},
      {"top-n-sigma 1", WITH(o.top_n_sigma = 1), rising, {}, {{3, 0.571429f}, {2, 0.428571f}}},
      {"top-n-sigma 3", WITH(o.top_n_sigma = 3), rising, {}, {{0, 0.1f}, {1, 0.2f}, {2, 0.3f}, {3, 0.4f}}},
      {"xtc keeps the last above", xtc(0.09f), {0.4f, 0.3f, 0.2f, 0.1f}, {}, {{3, 1.0f}}},
      {"xtc 0.19", xtc(0.19f), {0.4f, 0.3f, 0.2f, 0.1f}, {}, {{2, 0.666667f}, {3, 0.333333f}}},
      {"xtc 0.29", xtc(0.29f), {0.4f, 0.3f, 0.2f, 0.1f}, {}, {{1, 0.5f}, {2, 0.333333f}, {3, 0.166667f}}},
      {"xtc, one above", xtc(0.39f), {0.4f, 0.3f, 0.2f, 0.1f}, {}, {{0, 0.4f}, {1, 0.3f}, {2, 0.2f}, {3, 0.1f}}},
      {"repeat", penalties(50, 0, 0), even5, {0}, {{0, 0}, {1, 0.25f}, {2, 0.25f}, {3, 0.25f}, {4, 0.25f}}},
      {"repeat thrice", penalties(50, 0, 0), even5, {0, 1, 2, 0, 0}, {{0, 0}, {1, 0}, {2, 0}, {3, 0.5f}, {4, 0.5f}}},
      {"frequency, presence",
       penalties(1, 5, 5),
       even5,
       {0},
       {{0, 0.000011f}, {1, 0.249997f}, {2, 0.249997f}, {3, 0.249997f}, {4, 0.249997f}}},
      {"frequency counts",
       penalties(1, 5, 5),
       even5,
       {0, 1, 2, 0, 0},
       {{0, 0}, {1, 0.000023f}, {2, 0.000023f}, {3, 0.499977f}, {4, 0.499977f}}},
      {"dry, nothing repeats", dry(1, 1.1f, 2, 4), even4, {0, 1}, {{0, 0.25f}, {1, 0.25f}, {2, 0.25f}, {3, 0.25f}}},
      {"dry",
       dry(1, 1.1f, 2, 5),
       even4,
       {0, 1, 2, 0, 1},
       {{0, 0.296923f}, {1, 0.296923f}, {2, 0.109232f}, {3, 0.296923f}}},
      {"dry, no length is free",
       dry(1, 1.1f, 0, 4),
       even4,
       {0, 1},
       {{0, 0.296923f}, {1, 0.109231f}, {2, 0.296923f}, {3, 0.296923f}}},
      {"dry, breaker",
       dry(1, 1.1f, 2, 6),
       even5,
       {0, 1, 3, 4, 0, 1},
       {{0, 0.2f}, {1, 0.2f}, {2, 0.2f}, {3, 0.2f}, {4, 0.2f}},
       {3}},
      {"dry twice",
       dry(2, 1.1f, 2, 5),
       even5,
       {0, 1, 2, 0, 1},
       {{0, 0.241818f}, {1, 0.241818f}, {2, 0.032727f}, {3, 0.241818f}, {4, 0.241818f}}},
      {"dry, too short",
       dry(1, 1.1f, 4, 7),
       even5,
       {0, 1, 2, 3, 4, 0, 1},
       {{0, 0.2f}, {1, 0.2f}, {2, 0.2f}, {3, 0.2f}, {4, 0.2f}}},
      {"logit bias",
       WITH(o.logit_bias = {{3, -std::numeric_limits<float>::infinity()}, {0, 10}, {99, 1}, {-1, 1}}),
       {1e-9f, 0.5f, 0.25f, 0.25f},
       {},
       {{0, 2.9e-5f}, {1, 0.666647f}, {2, 0.333324f}}},
      {"mirostat cuts what surprises",
       WITH(o.mirostat = 2; o.mirostat_tau = 0.75f),
       {0.4f, 0.3f, 0.2f, 0.1f},
       {},
       {{0, 1.0f}}},
      {"the usual chain",
       SamplerOptions{},
       rising,
       {},
       {{3, 0.435696f}, {2, 0.304096f}, {1, 0.183188f}, {0, 0.077020f}}},
  };
}

std::vector<float> noise(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> out(n);
  for (float& value : out) value = static_cast<float>(random() % 100000) / 5000.0f;
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sampler)

BOOST_AUTO_TEST_CASE(distributions_match_llama_cpp) {
  for (const SamplerCase& c : sampler_cases()) {
    BOOST_TEST_CONTEXT(c.name) {
      DryBreakers breakers;
      breakers.breaks.resize(c.probabilities.size());
      for (const int32_t id : c.breakers) breakers.breaks[static_cast<size_t>(id)] = true;
      Sampler s(c.options, breakers);
      for (const int32_t id : c.history) s.accept(id);
      Candidates got = s.distribution(logits_of(c.probabilities));
      BOOST_TEST(got.size() == c.expected.size());
      for (const Candidate& candidate : got.items()) {
        const auto want = c.expected.find(candidate.id);
        BOOST_TEST_REQUIRE((want != c.expected.end()), "unexpected id " << candidate.id);
        BOOST_TEST(std::abs(candidate.p - want->second) < 2e-5f, candidate.id << ": " << candidate.p);
      }
      BOOST_TEST(std::is_sorted(got.items().begin(), got.items().end(),
                                [](const Candidate& a, const Candidate& b) { return a.logit > b.logit; }));
    }
  }
}

BOOST_AUTO_TEST_CASE(large_vocabularies_match_a_full_sort) {
  const std::vector<float> logits = noise(50000, 3);
  std::vector<int32_t> order(logits.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  });
  for (const size_t k : {size_t{1}, size_t{7}, size_t{64}, size_t{1000}, logits.size() + 5}) {
    Candidates best;
    best.assign_top(logits, k);
    BOOST_REQUIRE_EQUAL(best.size(), std::min(k, logits.size()));
    for (size_t i = 0; i < best.size(); ++i) BOOST_REQUIRE_EQUAL(best.sorted(i).id, order[i]);
  }
  Candidates all;
  all.assign(logits);
  for (size_t i = 0; i < 300; ++i) BOOST_REQUIRE_EQUAL(all.sorted(i).id, order[i]);
  all.drop_best(100);
  all.keep_best(400);
  for (size_t i = 0; i < 400; ++i) BOOST_REQUIRE_EQUAL(all.sorted(i).id, order[100 + i]);
  BOOST_TEST(argmax(logits) == order[0]);
}

// Compares top-k, top-p etc. of a large vocabulary, which use a histogram, with definitions that sort all tokens.
BOOST_AUTO_TEST_CASE(truncation_samplers_match_their_definitions) {
  for (const float spread : {0.5f, 3.0f, 12.0f}) {
    std::vector<float> logits = noise(30011, 5);
    for (float& logit : logits) logit *= spread;
    logits[77] = logits[4077];                    // equal ones
    std::vector<std::pair<double, int32_t>> all;  // p, id
    double sum = 0, entropy = 0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
    for (size_t i = 0; i < logits.size(); ++i)
      all.emplace_back(std::exp(static_cast<double>(logits[i])) / sum, static_cast<int32_t>(i));
    for (const auto& [p, id] : all) entropy -= p * std::log(p);
    const auto kept = [&](double most, bool strict, const auto& key) {
      std::vector<std::pair<double, int32_t>> order = all;
      std::stable_sort(order.begin(), order.end(),
                       [&](const auto& a, const auto& b) { return key(a.first) < key(b.first); });
      double mass = 0;
      size_t n = 0;
      while (n < order.size() && (strict ? mass <= most : mass < most)) mass += order[n++].first;
      return n;
    };
    for (const float cut : {0.1f, 0.5f, 0.95f}) {
      const auto size = [&](SamplerOptions o) { return Sampler(std::move(o)).distribution(logits).size(); };
      const auto close = [](size_t a, size_t b) {
        return a + 1 + a / 10000 >= b && b + 1 + b / 10000 >= a;
      };  // sums round
      const size_t top = kept(cut, false, [](double p) { return -p; });
      const size_t typical = kept(cut, true, [&](double p) { return std::abs(-std::log(p) - entropy); });
      const double most = std::max_element(all.begin(), all.end())->first;
      const auto above = static_cast<size_t>(std::count_if(
          all.begin(), all.end(), [&](const auto& one) { return one.first >= static_cast<double>(cut) * most; }));
      SamplerOptions o = plain();
      o.top_p = cut;
      BOOST_TEST(close(size(o), top), "top-p " << size(o) << " " << top);
      o.min_p = cut;
      BOOST_TEST(close(size(o), std::min(top, above)), "both " << size(o));
      o.top_p = 1;
      BOOST_TEST(close(size(o), above), "min-p " << size(o) << " " << above);
      o = plain();
      o.typical_p = cut;
      BOOST_TEST(close(size(o), typical), "typical " << size(o) << " " << typical);
      Candidates left = Sampler(o).distribution(logits);
      double mass = 0;
      for (const Candidate& c : left.items()) mass += static_cast<double>(c.p);
      BOOST_TEST(std::abs(mass - 1) < 1e-4);
    }
  }
}

BOOST_AUTO_TEST_CASE(draws_follow_the_distribution_and_the_seed) {
  const std::vector<float> logits = logits_of({0.1f, 0.2f, 0.3f, 0.4f});
  std::vector<int> hits(4);
  Sampler s(plain()), same(plain());
  for (int i = 0; i < 20000; ++i) {
    const Result<Candidate> c = s.sample(logits), again = same.sample(logits);
    BOOST_REQUIRE(c.has_value() && again.has_value());
    BOOST_REQUIRE_EQUAL(c->id, again->id);
    ++hits[static_cast<size_t>(c->id)];
  }
  for (size_t i = 0; i < 4; ++i) BOOST_TEST(std::abs(hits[i] / 20000.0 - 0.1 * (static_cast<double>(i) + 1)) < 0.015);
  SamplerOptions other = plain();
  other.seed = 1;
  Sampler different(other), first(plain());
  int equal = 0;
  for (int i = 0; i < 100; ++i) equal += different.sample(logits)->id == first.sample(logits)->id;
  BOOST_TEST(equal < 60);
}

BOOST_AUTO_TEST_CASE(mirostat_keeps_the_surprise_near_tau) {
  SamplerOptions o = plain();
  o.mirostat = 2;
  o.mirostat_tau = 3;
  Sampler s(o);
  double surprise = 0;
  const std::vector<float> logits = noise(2000, 9);
  for (int i = 0; i < 2000; ++i) {
    const Result<Candidate> c = s.sample(logits);
    BOOST_REQUIRE(c.has_value());
    surprise -= std::log2(static_cast<double>(c->p));
  }
  BOOST_TEST(std::abs(surprise / 2000 - 3) < 0.3);
}

BOOST_AUTO_TEST_CASE(nan_logits_are_never_sampled) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  Sampler s{SamplerOptions{}};
  const Result<Candidate> none = s.sample(std::vector<float>{nan, nan, -infinity});
  BOOST_REQUIRE(!none.has_value());
  BOOST_TEST((none.error().code == ErrorCode::kOutOfRange));
  BOOST_TEST(!s.sample(std::vector<float>{}).has_value());
  BOOST_TEST(s.sample(std::vector<float>{nan, 1.0f, nan})->id == 1);
  BOOST_TEST(s.sample(std::vector<float>{0.0f, infinity, 5.0f})->id == 1);
  BOOST_TEST(s.sample(std::vector<float>{0.0f, 9.0f, 1.0f}, {true, false, false})->id == 0);
  BOOST_TEST(!s.sample(std::vector<float>{0.0f, 9.0f}, {false, false}).has_value());
  BOOST_TEST(argmax(std::vector<float>{nan, -infinity}) == -1);
}

BOOST_AUTO_TEST_CASE(options_at_the_ends_of_floats_choose_among_all_tokens_or_the_best) {
  const std::vector<float> logits = {-2.0f, 3.0f, 1.0f, 2.5f};
  const auto likeliest = [&](SamplerOptions o) {
    Sampler s(o);
    for (const int32_t token : {3, 1, 1, 1}) s.accept(token);
    const Candidates& c = s.distribution(logits);
    BOOST_REQUIRE(!c.empty());
    for (int i = 0; i < 50; ++i) BOOST_REQUIRE(s.sample(logits).has_value());
    return std::pair{Candidates(c).sorted(0).id, Candidates(c).sorted(0).p};
  };
  using Id = std::pair<int32_t, float>;
  for (const float tiny : {1e-45f, 1e-40f, 1e-38f}) {
    BOOST_TEST((likeliest(WITH(o.temperature = 1e-45f)) == Id{1, 1.0f}), tiny);
    SamplerOptions mirostat = WITH(o.mirostat = 2);
    mirostat.temperature = tiny;
    BOOST_TEST((likeliest(mirostat) == Id{1, 1.0f}), tiny);
  }
  // A penalty leaves what has no penalty, and if all have one it forbids none.
  BOOST_TEST(likeliest(WITH(o.repeat_penalty = 3e38f)).first == 2);
  BOOST_TEST(likeliest(WITH(o.frequency_penalty = 3.4e38f, o.presence_penalty = 3.4e38f)).first == 2);
  BOOST_TEST(likeliest(WITH(o.frequency_penalty = -3.4e38f, o.typical_p = 0.9f)).first == 1);
  BOOST_TEST(likeliest(WITH(o.dry_multiplier = 3.4e38f, o.dry_base = 3.4e38f, o.dry_allowed_length = 0)).first != 1);
  BOOST_TEST(likeliest(WITH(o.top_n_sigma = 3.4e38f)).first == 1);
  for (const float end : {0.0f, 1e-45f, 3.4e38f})
    for (const float other : {0.0f, 1e-45f, 3.4e38f}) {
      SamplerOptions options = WITH(o.mirostat = 2);
      options.mirostat_tau = end, options.mirostat_eta = other;
      BOOST_TEST(likeliest(options).first == 1);
    }
  Sampler forbidden(WITH(o.logit_bias = {{0, -INFINITY}, {1, -INFINITY}, {2, -INFINITY}, {3, -INFINITY}}));
  BOOST_TEST(forbidden.sample(logits).error().message == "the logit bias forbids every token");
}

BOOST_AUTO_TEST_CASE(log_probabilities_cover_the_whole_vocabulary) {
  const LogProbabilities l = log_probabilities(logits_of({0.1f, 0.2f, 0.3f, 0.4f}), 1, 2);
  BOOST_TEST(std::abs(l.token - std::log(0.2f)) < 1e-6f);
  BOOST_REQUIRE_EQUAL(l.best.size(), 2u);
  BOOST_TEST(l.best[0].id == 3);
  BOOST_TEST(std::abs(l.best[1].log_p - std::log(0.3f)) < 1e-6f);
}

BOOST_AUTO_TEST_SUITE_END()
