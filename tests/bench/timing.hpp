// Shared by the benchmarks: a clock, and functions that time slices of runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#if defined(__EMSCRIPTEN__)
#include <emscripten.h>
#else
#include <chrono>
#endif

namespace ggufscope::bench {

inline double now_ms() {
#if defined(__EMSCRIPTEN__)
  return emscripten_get_now();
#else
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Total milliseconds of `runs` calls of f.
template <class F>
double time_runs(size_t runs, F f) {
  const double start = now_ms();
  for (size_t i = 0; i < runs; ++i) {
    f();
    __asm__ volatile("" : : : "memory");  // otherwise a function that only reads would be called once
  }
  return now_ms() - start;
}

/// Runs f for about this time. Engines first compile to slow code, and optimize it in parallel after some calls.
template <class F>
void warm_up(double ms, F f) {
  const double start = now_ms();
  do f();
  while (now_ms() - start < ms);
}

/// The number of calls of f that take about this time, by the shortest of three, because other processes may interfere.
template <class F>
size_t runs_in(double ms, F f) {
  for (size_t runs = 1;; runs *= 4) {
    const double taken = std::min({time_runs(runs, f), time_runs(runs, f), time_runs(runs, f)});
    if (taken >= ms / 2) return std::max<size_t>(1, static_cast<size_t>(static_cast<double>(runs) * ms / taken));
  }
}

}  // namespace ggufscope::bench
