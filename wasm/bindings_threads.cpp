// What the variants of the engine with threads export beside its bindings.
#include <emscripten/em_macros.h>

#include "nn/pool.hpp"

using namespace ggufscope;

/// The entry point of the other threads, which they call in their own instance over the same memory. It calls no
/// JavaScript.
extern "C" EMSCRIPTEN_KEEPALIVE void run_thread(void* worker) { Pool::work(worker); }
extern "C" EMSCRIPTEN_KEEPALIVE void fail_thread(void* worker) { Pool::fail_worker(worker); }
