# core_tests: every tests/core/*.cpp in one runner. Under Emscripten the same program runs in Node, with real files.
enable_testing()
find_path(BOOST_INCLUDE boost/test/included/unit_test.hpp PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
# A folder that holds boost alone: the system's whole include folder would shadow Emscripten's headers.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/boost)
file(CREATE_LINK ${BOOST_INCLUDE}/boost ${CMAKE_BINARY_DIR}/boost/boost SYMBOLIC)

file(GLOB test_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/core/*.cpp)
list(REMOVE_ITEM test_sources ${CMAKE_SOURCE_DIR}/tests/core/main.cpp)
file(GLOB gpu_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/core/gpu/*.cpp)
list(APPEND test_sources ${gpu_sources})
# npm test runs suites that compute with floats only as wasm: with the sanitizers they take several times as long.
if(NOT GGUFSCOPE_ALL AND GGUFSCOPE_SANITIZE)
  foreach(source ${test_sources})
    file(READ ${source} text)
    if(NOT text MATCHES "BOOST_AUTO_TEST_SUITE\\(" OR text MATCHES "label\\(\"floats\"\\)")
      list(REMOVE_ITEM test_sources ${source})
    endif()
  endforeach()
endif()
# What computes whole models is optimized: a tenth of the time.
set_source_files_properties(${CMAKE_SOURCE_DIR}/tests/core/gpu/interpret.cpp ${CMAKE_SOURCE_DIR}/tests/core/gpu/interpret_attention.cpp
  ${CMAKE_SOURCE_DIR}/tests/core/gpu/interpret_recurrent.cpp
  PROPERTIES COMPILE_OPTIONS -O2 SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
# It uses names of jinja that others have too.
set_source_files_properties(${CMAKE_SOURCE_DIR}/tests/core/jinja.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# The header-only runner is slow to compile and never changes: its own target, not optimized. Where the system has it
# compiled, that one is linked.
add_library(test_main OBJECT ${CMAKE_SOURCE_DIR}/tests/core/main.cpp)
if(NOT EMSCRIPTEN)
  find_library(BOOST_TEST_LIBRARY libboost_unit_test_framework.a)
endif()
add_executable(core_tests ${test_sources} $<TARGET_OBJECTS:test_main>)
set(runners core_tests)
if(EMSCRIPTEN)
  # relaxed_tests: products with relaxed SIMD, which have other kernels. emulated_tests: the same with the relaxed
  # instructions emulated as another CPU computes them, so that one machine tests the kernels of all.
  set(gemm_tests ${CMAKE_SOURCE_DIR}/tests/core/gemm.cpp ${CMAKE_SOURCE_DIR}/tests/core/gemm_values.cpp
    ${CMAKE_SOURCE_DIR}/core/nn/pool.cpp $<TARGET_OBJECTS:test_main>)
  set(relaxed ${CMAKE_SOURCE_DIR}/tests/core/relaxed)
  core_library(nn_emulated FLOORS nn OPTIONS -msimd128 -mrelaxed-simd -matomics -mbulk-memory -DGGUFSCOPE_EMULATED_RELAXED
    "SHELL:-include ${relaxed}/emulated.hpp" WITHOUT "/nn/pool\\.cpp")
  add_executable(relaxed_tests ${gemm_tests} ${relaxed}/emulated.cpp ${relaxed}/instructions.cpp)
  add_executable(emulated_tests ${gemm_tests} ${relaxed}/emulated.cpp)
  target_link_libraries(relaxed_tests PRIVATE engine_math_relaxed)
  target_link_libraries(emulated_tests PRIVATE nn_emulated)
  foreach(runner relaxed_tests emulated_tests)
    target_compile_options(${runner} PRIVATE -msimd128 -mrelaxed-simd)
    target_link_libraries(${runner} PRIVATE engine_common quantizers)
    list(APPEND runners ${runner})
  endforeach()
endif()
foreach(target test_main ${runners})
  target_include_directories(${target} SYSTEM PRIVATE ${CMAKE_BINARY_DIR}/boost)
  if(EMSCRIPTEN)
    target_compile_definitions(${target} PRIVATE BOOST_TEST_DISABLE_ALT_STACK _LIBCPP_ENABLE_CXX17_REMOVED_UNARY_BINARY_FUNCTION)
    target_compile_options(${target} PRIVATE -fwasm-exceptions -O0)
  endif()
endforeach()
target_compile_options(test_main PRIVATE -O0 -w)
if(NOT EMSCRIPTEN)
  # What they test is optimized, and checked for undefined behaviour: they compile in a third of the time.
  target_compile_options(test_main PRIVATE -fno-sanitize=all)
  target_compile_options(core_tests PRIVATE -O0 -fno-sanitize=undefined)
endif()
target_compile_definitions(core_tests PRIVATE GGUFSCOPE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_link_libraries(core_tests PRIVATE core)
if(BOOST_TEST_LIBRARY)
  target_compile_definitions(test_main PRIVATE GGUFSCOPE_BOOST_LIBRARY)
  target_link_libraries(core_tests PRIVATE ${BOOST_TEST_LIBRARY})
endif()
# Their headers take most of the time, too.
set_target_properties(core_tests PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
if(EMSCRIPTEN)
  # Boost.Test's headers and the standard library's are parsed once. GCC gains nothing by it.
  target_precompile_headers(core_tests PRIVATE <boost/test/unit_test.hpp> <algorithm> <cmath> <cstdint> <cstring>
    <filesystem> <functional> <limits> <map> <memory> <random> <set> <span> <string> <vector>)
  foreach(runner ${runners})
    target_link_options(${runner} PRIVATE -fwasm-exceptions -sNODERAWFS=1 -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=4GB
      -sSTACK_SIZE=1MB -sEXIT_RUNTIME=1 -sENVIRONMENT=node -O1)
    set_target_properties(${runner} PROPERTIES SUFFIX .js)
  endforeach()
  file(WRITE ${CMAKE_BINARY_DIR}/package.json "{\"type\": \"commonjs\"}")  # the root says "module"
endif()
