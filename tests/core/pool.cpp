// The worker threads: loops, initial chunks, stealing, ends.
#include "nn/pool.hpp"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

using namespace ggufscope;

BOOST_AUTO_TEST_SUITE(pool)

BOOST_AUTO_TEST_CASE(every_item_runs_once_for_any_threads_and_grain) {
  for (const size_t n_threads : {1u, 2u, 5u}) {
    Result<std::unique_ptr<Pool>> pool = Pool::create(n_threads);
    BOOST_REQUIRE(pool.has_value());
    BOOST_TEST((*pool)->n_threads() <= n_threads);
    for (int round = 0; round < 300; ++round) {
      const size_t n_items = static_cast<size_t>(round * 7 % 101), grain = static_cast<size_t>(round % 5);
      std::vector<int> hits(n_items, 0);
      (*pool)->parallel_for(n_items, grain, [&](size_t first, size_t last, size_t thread) {
        if (thread >= (*pool)->n_threads() || last - first > (grain == 0 ? 1 : grain)) return;
        for (size_t i = first; i < last; ++i) ++hits[i];
      });
      for (size_t i = 0; i < n_items; ++i) BOOST_REQUIRE_EQUAL(hits[i], 1);
      (*pool)->parallel_for_runs(n_items, grain, [&](size_t first, size_t last, size_t thread) {
        if (thread >= (*pool)->n_threads() ||
            (grain != 0 && (first % grain != 0 || (last % grain != 0 && last != n_items))))
          return;
        for (size_t i = first; i < last; ++i) ++hits[i];
      });
      for (size_t i = 0; i < n_items; ++i) BOOST_REQUIRE_EQUAL(hits[i], 2);
    }
  }
}

BOOST_AUTO_TEST_CASE(threads_begin_with_their_initial_chunk) {
  Result<std::unique_ptr<Pool>> pool = Pool::create(3);
  BOOST_REQUIRE(pool.has_value());
  const size_t n = (*pool)->n_threads();
  for (int round = 0; round < 50; ++round) {
    std::vector<size_t> thread_of(n, SIZE_MAX);
    std::atomic<size_t> n_begun{0};
    (*pool)->parallel_for(n, 1, [&](size_t item, size_t, size_t thread) {
      thread_of[item] = thread;
      ++n_begun;
      while (n_begun.load() < n) {  // no thread takes a second item
      }
    });
    for (size_t i = 0; i < n; ++i) BOOST_REQUIRE_EQUAL(thread_of[i], i);
  }
}

BOOST_AUTO_TEST_CASE(loops_use_the_set_number_of_threads) {
  Result<std::unique_ptr<Pool>> pool = Pool::create(3);
  BOOST_REQUIRE(pool.has_value());
  const size_t n_threads = (*pool)->n_threads();
  for (size_t round = 0; round < 100; ++round) {
    const size_t n_used = round % 5;  // also out of range: 0 means one thread, too large numbers mean all
    (*pool)->use_threads(n_used);
    const size_t n = std::clamp<size_t>(n_used, 1, n_threads);
    // Each thread has an item that waits for those of the others.
    std::atomic<size_t> n_begun{0}, n_beyond{0};
    (*pool)->parallel_for(n, 1, [&](size_t, size_t, size_t thread) {
      if (thread >= n) ++n_beyond;
      ++n_begun;
      while (n_begun.load() < n) {
      }
    });
    BOOST_REQUIRE_EQUAL(n_begun.load(), n);
    std::vector<int> hits(37, 0);
    (*pool)->parallel_for_runs(hits.size(), 2, [&](size_t first, size_t last, size_t thread) {
      if (thread >= n) ++n_beyond;
      for (size_t i = first; i < last; ++i) ++hits[i];
    });
    for (const int hit : hits) BOOST_REQUIRE_EQUAL(hit, 1);
    BOOST_REQUIRE_EQUAL(n_beyond.load(), 0u);
  }
}

BOOST_AUTO_TEST_CASE(pools_stop_with_unused_threads) {
  for (int round = 0; round < 50; ++round) {
    Result<std::unique_ptr<Pool>> pool = Pool::create(4);
    BOOST_REQUIRE(pool.has_value());
    (*pool)->use_threads(static_cast<size_t>(round % 3) + 1);
    std::atomic<int> n{0};
    (*pool)->parallel_for(100, 1, [&](size_t, size_t, size_t) { ++n; });
    BOOST_REQUIRE_EQUAL(n.load(), 100);
  }
}

BOOST_AUTO_TEST_CASE(scratch_grows_and_refuses_impossible_sizes) {
  Result<std::unique_ptr<Pool>> pool = Pool::create(3);
  BOOST_REQUIRE(pool.has_value());
  BOOST_REQUIRE((*pool)->reserve_scratch(100, 10).has_value());
  BOOST_TEST((*pool)->shared_scratch().size() == 100u);
  BOOST_REQUIRE((*pool)->reserve_scratch(50, 5).has_value());
  BOOST_TEST((*pool)->shared_scratch().size() == 100u);
  (*pool)->parallel_for(3, 1, [&](size_t, size_t, size_t thread) { (*pool)->thread_scratch(thread)[9] = 1; });
  for (const uint64_t impossible : {uint64_t{1} << 60, UINT64_MAX}) {
    const Result<void> refused = (*pool)->reserve_scratch(0, impossible);
    BOOST_REQUIRE(!refused.has_value());
    BOOST_TEST((refused.error().code == ErrorCode::kOutOfMemory));
  }
}

BOOST_AUTO_TEST_SUITE_END()
