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
