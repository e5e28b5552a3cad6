# tests/bench/*.cpp: one program each, built when a benchmark asks for it (ninja bench_NAME).
file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/bench/*.cpp)
foreach(source ${bench_sources})
  cmake_path(GET source STEM name)
  add_executable(bench_${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(bench_${name} PRIVATE core)
  if(EMSCRIPTEN)
    target_link_options(bench_${name} PRIVATE -O3 -sMODULARIZE=1 -sEXPORT_ES6=1 -sALLOW_MEMORY_GROWTH=1
      -sENVIRONMENT=web,node -sEXIT_RUNTIME=1)
    set_target_properties(bench_${name} PROPERTIES SUFFIX .mjs)
  endif()
endforeach()
