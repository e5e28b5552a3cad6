# tests/bench/*.cpp: one program each, built when a benchmark asks for it (ninja bench_NAME).
file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/bench/*.cpp)
foreach(source ${bench_sources})
  cmake_path(GET source STEM name)
  add_executable(bench_${name} EXCLUDE_FROM_ALL ${source})
  if(EMSCRIPTEN)
    target_link_options(bench_${name} PRIVATE -O3 -sMODULARIZE=1 -sEXPORT_ES6=1 -sALLOW_MEMORY_GROWTH=1
      -sENVIRONMENT=web,node -sEXIT_RUNTIME=1)
    set_target_properties(bench_${name} PROPERTIES SUFFIX .mjs)
  endif()
  if(EMSCRIPTEN AND name STREQUAL kernels)  # as today's browsers multiply
    target_sources(bench_kernels PRIVATE ${CMAKE_SOURCE_DIR}/core/nn/pool.cpp)
    target_link_libraries(bench_kernels PRIVATE engine_math_relaxed engine_common)
  else()
    target_link_libraries(bench_${name} PRIVATE core)
  endif()
endforeach()

# The references once more, as scalar code: -O3 by itself makes SIMD of some. In a namespace of another name, so that one
# program holds both.
file(GLOB quant_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/base/*.cpp ${CMAKE_SOURCE_DIR}/core/types/*.cpp
  ${CMAKE_SOURCE_DIR}/core/quant/*.cpp)
list(FILTER quant_sources EXCLUDE REGEX "quant/(quantize|fit|codebook|stats)[a-z0-9_]*\\.cpp")
add_library(quant_scalar STATIC EXCLUDE_FROM_ALL ${quant_sources})
target_link_libraries(quant_scalar PRIVATE flags)
target_compile_options(quant_scalar PRIVATE -O3 -Dggufscope=ggufscope_scalar
  $<$<CXX_COMPILER_ID:Clang>:-fno-vectorize;-fno-slp-vectorize> $<$<CXX_COMPILER_ID:GNU>:-fno-tree-vectorize>)
if(EMSCRIPTEN)
  target_compile_options(quant_scalar PRIVATE -msimd128)  # of the kernels beside them
endif()
target_link_libraries(bench_dequantize PRIVATE quant_scalar)
