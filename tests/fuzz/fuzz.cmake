# fuzz_NAME for every tests/fuzz/NAME.cpp: with clang real libFuzzer programs (-DGGUFSCOPE_FUZZ=ON), else the target with
# the driver that runs seeds and fixed mutations.
file(GLOB fuzz_targets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*.cpp)
list(REMOVE_ITEM fuzz_targets ${CMAKE_SOURCE_DIR}/tests/fuzz/driver.cpp)
add_custom_target(fuzz)
if(NOT GGUFSCOPE_FUZZ)
  add_library(fuzz_driver OBJECT EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/fuzz/driver.cpp)
  target_link_libraries(fuzz_driver PRIVATE flags)
endif()
foreach(source ${fuzz_targets})
  get_filename_component(name ${source} NAME_WE)
  add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(fuzz_${name} PRIVATE core)
  target_compile_options(fuzz_${name} PRIVATE -fno-rtti)  # as the core, or else the sanitizer misses its type information
  target_compile_definitions(fuzz_${name} PRIVATE GGUFSCOPE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  if(GGUFSCOPE_FUZZ)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz_${name} PRIVATE $<TARGET_OBJECTS:fuzz_driver>)
  endif()
  add_dependencies(fuzz fuzz_${name})
endforeach()
# The interpreter of plans.
target_sources(fuzz_plans PRIVATE tests/core/gpu/interpret.cpp tests/core/gpu/interpret_attention.cpp
                                  tests/core/gpu/interpret_recurrent.cpp)
