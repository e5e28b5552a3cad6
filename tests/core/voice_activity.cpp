// Which frames of audio are active.
#include "media/voice_activity.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

using namespace ggufscope;

namespace {

/// A second of silence, 10.5 frames of a tone with the amplitude, and a second of silence.
std::vector<float> tone(double amplitude) {
  std::vector<float> out(16000);
  for (int i = 0; i < 1680; ++i) out.push_back(static_cast<float>(amplitude * std::sin(0.4 * i)));
  out.resize(out.size() + 16000);
  return out;
}

VoiceActivity activity(std::span<const float> samples, float threshold, size_t piece) {
  VoiceActivity out;
  out.start(threshold);
  for (size_t at = 0; at < samples.size(); at += piece)
    out.add(samples.subspan(at, std::min(piece, samples.size() - at)));
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(voice_activity)

BOOST_AUTO_TEST_CASE(frames_with_enough_energy_are_active) {
  const std::vector<float> samples = tone(0.01);
  for (const size_t piece : {1u, 7u, 160u, 100000u}) {
    const VoiceActivity a = activity(samples, 0.005f, piece);
    BOOST_TEST(a.n_frames() == 211);
    BOOST_TEST(a.next_active(0) == 100);
    BOOST_TEST(a.next_active(105) == 105);
    BOOST_TEST(a.next_active(110) == 110);  // half of it has the tone
    BOOST_TEST(a.next_active(111) == 211);
    BOOST_TEST(a.next_active(500) == 500);
  }
}

// The root mean square of a sine is its amplitude divided by the root of 2.
BOOST_AUTO_TEST_CASE(the_threshold_is_a_root_mean_square) {
  const std::vector<float> samples = tone(0.01);
  BOOST_TEST(activity(samples, 0.0069f, 160).next_active(0) == 100);
  BOOST_TEST(activity(samples, 0.0073f, 160).next_active(0) == 211);
  BOOST_TEST(activity(samples, 0, 160).next_active(150) == 150);
}

BOOST_AUTO_TEST_CASE(an_incomplete_frame_counts) {
  std::vector<float> samples(165);
  BOOST_TEST(activity(samples, 0.01f, 165).n_frames() == 2);
  BOOST_TEST(activity(samples, 0.01f, 165).next_active(0) == 2);
  samples[162] = 1;
  BOOST_TEST(activity(samples, 0.01f, 165).next_active(0) == 1);
  BOOST_TEST(activity({}, 0, 1).n_frames() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
