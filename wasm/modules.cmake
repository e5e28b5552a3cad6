# The wasm modules of the package; their glue and .wasm land in wasm/dist.
# Every environment gets its bytes from wasm/src/runtime/module.ts, so the glue needs no loader of its own (ENVIRONMENT=web is
# the smallest; it runs in workers and Node as well).
set(MODULE_LINK_OPTIONS -sMODULARIZE=1 -sEXPORT_ES6=1 -sENVIRONMENT=web -sALLOW_MEMORY_GROWTH=1
  -sMAXIMUM_MEMORY=4GB -sINITIAL_MEMORY=1MB -sSTACK_SIZE=128KB -sFILESYSTEM=0 -sMALLOC=emmalloc -sASSERTIONS=0 -sDYNAMIC_EXECUTION=0
  -sAUTO_NATIVE_LIBRARIES=0 -sEXPORTED_RUNTIME_METHODS=HEAPU8 -sEXPORTED_FUNCTIONS=_malloc,_free -sINCOMING_MODULE_JS_API=instantiateWasm
  -fno-exceptions -fno-rtti)
set(BINDINGS_OPTIONS -fno-exceptions -fno-rtti -DEMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0)

# wasm_module(NAME LIBRARY FOLDER SOURCES... OPTIONS...): one factory NAME.js with NAME.wasm beside it, in wasm/dist or its FOLDER.
function(wasm_module name)
  cmake_parse_arguments(arg "" "LIBRARY;FOLDER" "SOURCES;OPTIONS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/wasm)
  target_compile_options(${name} PRIVATE ${BINDINGS_OPTIONS})
  # Embind after the sources: embind_types.cpp stands in for a part of it.
  target_link_libraries(${name} PRIVATE ${arg_LIBRARY} -lembind)
  target_link_options(${name} PRIVATE ${MODULE_LINK_OPTIONS} ${arg_OPTIONS})
  set_target_properties(${name} PROPERTIES SUFFIX .js RUNTIME_OUTPUT_DIRECTORY ${CMAKE_SOURCE_DIR}/wasm/dist${arg_FOLDER})
endfunction()

# inspect: parse, lint. What open() loads: small, but for the loop that every byte runs through. Its glue starts text, too
# (wasm/src/runtime/module.ts), so -lexports.js keeps the names of imports and exports, and nothing waits for a promise.
core_library(inspect_core FLOORS ${INSPECT_FLOORS} OPTIONS -msimd128 -Oz -flto)
set_source_files_properties(${CMAKE_SOURCE_DIR}/core/gguf/parse.cpp PROPERTIES COMPILE_OPTIONS -O3 SKIP_PRECOMPILE_HEADERS ON)
wasm_module(inspect LIBRARY inspect_core SOURCES ${CMAKE_SOURCE_DIR}/wasm/bindings.cpp
  ${CMAKE_SOURCE_DIR}/wasm/document.cpp ${CMAKE_SOURCE_DIR}/wasm/embind_types.cpp
  OPTIONS -Oz -flto -lexports.js -sTEXTDECODER=2 -sWASM_ASYNC_COMPILATION=0)

# text: tokenizers. Loaded when the first one is asked for; started without a promise, as tokenizer() answers without one.
# Of the glue, -mbulk-memory leaves out a function that inspect's lacks.
# Setting one up is a few long loops that run once: their bodies stay functions, which engines compile well after some calls.
core_library(text_core FLOORS ${TEXT_FLOORS} OPTIONS -msimd128 -O2 -flto)
wasm_module(text LIBRARY text_core SOURCES ${CMAKE_SOURCE_DIR}/wasm/bindings_text.cpp
  ${CMAKE_SOURCE_DIR}/wasm/embind_types.cpp OPTIONS -O2 -flto -mbulk-memory
  -sBINARYEN_EXTRA_PASSES=one-caller-inline-max-function-size=64)

# quant: dequantize, quantize, statistics. Loaded when the first tensor's values are asked for.
# Quantizers search for seconds whatever the compiler does: small. Apart, because core_tests takes the rest from the engine.
file(GLOB quantizer_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/quant/*.cpp)
set(QUANTIZERS "/quant/(quantize|fit|codebook)[a-z0-9_]*\\.cpp$")
list(FILTER quantizer_sources INCLUDE REGEX "${QUANTIZERS}")
core_library(quantizers FILES ${quantizer_sources} OPTIONS -msimd128 -O2)
set_target_properties(quantizers PROPERTIES UNITY_BUILD OFF)
core_library(quant_core FLOORS ${QUANT_FLOORS} OPTIONS -msimd128 -O3 WITHOUT "${QUANTIZERS}")
target_link_libraries(quant_core INTERFACE $<LINK_ONLY:quantizers>)
wasm_module(quant LIBRARY quant_core SOURCES ${CMAKE_SOURCE_DIR}/wasm/bindings_quant.cpp OPTIONS -O3)

# edit: writes headers, reads the containers before GGUF. Loaded when either is wanted.
wasm_module(edit LIBRARY inspect_core SOURCES ${CMAKE_SOURCE_DIR}/wasm/bindings_edit.cpp OPTIONS -Oz -flto)

# jinja: chat templates. Loaded when the first one is rendered. Templates nest, and so does what runs them.
# base apart: core_tests takes jinja's objects from here, and base's from the engine.
core_library(jinja_base FLOORS base OPTIONS -msimd128 -Oz -flto)
core_library(jinja_core FLOORS jinja OPTIONS -msimd128 -Oz -flto)
target_link_libraries(jinja_core PUBLIC jinja_base)
wasm_module(jinja LIBRARY jinja_core SOURCES ${CMAKE_SOURCE_DIR}/wasm/bindings_jinja.cpp
  ${CMAKE_SOURCE_DIR}/wasm/embind_types.cpp OPTIONS -Oz -flto -Wl,-mllvm,-inline-threshold=-50
  -sSTACK_SIZE=2MB -sINITIAL_MEMORY=4MB)

# engine: inference, in a worker of its own. Variants of one source; the package picks one at run time. They share what
# they can of the objects: only nn and model multiply differently, and only the pool knows of threads. Memory that is
# shared takes objects that know atomics, which those of the others may as well.
set(ATOMICS -matomics -mbulk-memory)
# What runs once for each model, medium, grammar or saved state: small. The encoders are audio and vision; speech takes its time in products.
set(RUNS_ONCE "/core/(model/(adapter|architectures/[a-z_]+|hparams|model|required_keys|rwkv_container|state_io)")
string(APPEND RUNS_ONCE "|engine/(answer_grammar|encoder_views|english_words|gbnf|image_canvas|media|session_adapters|session_device|session_media|session_outputs|session_speech|session_state|session_trace|whisper_device))\\.cpp$")
file(GLOB_RECURSE once CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/*.cpp)
list(FILTER once INCLUDE REGEX "${RUNS_ONCE}")
function(engine_once name)
  core_library(${name} FLOORS audio vision FILES ${once} OPTIONS -msimd128 -Os ${ATOMICS} ${ARGN})
endfunction()
# Smaller still. A plan is made once for each model; rows are repacked by copies. Speech takes its time in products, and in
# loops over rows that call nn's.
file(GLOB speakers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/core/engine/speaker*.cpp)
function(engine_small name)
  core_library(${name} FLOORS speech gpu FILES ${speakers} OPTIONS -msimd128 -Oz ${ATOMICS} ${ARGN})
endfunction()
# Nothing is quantized there but activations. What multiplies is in nn and model, so the rest gains nothing from -O3.
set(NOT_IN_ENGINE "${RUNS_ONCE}|${QUANTIZERS}|/engine/speaker")
function(engine_others name)
  core_library(${name} FLOORS ${TEXT_FLOORS} quant media engine OPTIONS -msimd128 -O2 ${ATOMICS} ${ARGN})
endfunction()
function(engine_math name)
  core_library(${name} FLOORS nn model OPTIONS -msimd128 -O3 ${ATOMICS} ${ARGN} WITHOUT "/nn/pool\\.cpp|${RUNS_ONCE}")
endfunction()
engine_others(engine_others WITHOUT "${NOT_IN_ENGINE}")
engine_once(engine_once)
engine_small(engine_small)
engine_math(engine_math_simd)
engine_math(engine_math_relaxed -mrelaxed-simd)
# It plans weights, too, but also adds biases.
set_source_files_properties(${CMAKE_SOURCE_DIR}/core/model/weights.cpp PROPERTIES COMPILE_OPTIONS -Os SKIP_PRECOMPILE_HEADERS ON)
# They run once for each token, and take their time in passes over the model.
foreach(file session draft_length speculation speculation_states)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/core/engine/${file}.cpp PROPERTIES COMPILE_OPTIONS -Os SKIP_PRECOMPILE_HEADERS ON)
endforeach()
# engine_common: what the variants of 32-bit memory share.
add_library(engine_common INTERFACE)
target_link_libraries(engine_common INTERFACE engine_others $<LINK_ONLY:engine_once> $<LINK_ONLY:engine_small>)
# engine_bindings(NAME FURTHER SOURCES...). They only pass on what a call takes and returns.
function(engine_bindings name)
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/wasm/bindings_engine.cpp ${CMAKE_SOURCE_DIR}/wasm/bindings_adapters.cpp
    ${CMAKE_SOURCE_DIR}/wasm/bindings_gpu.cpp ${CMAKE_SOURCE_DIR}/wasm/bindings_speaker.cpp ${CMAKE_SOURCE_DIR}/wasm/bindings_trace.cpp
    ${CMAKE_SOURCE_DIR}/wasm/bindings_values.cpp ${ARGN})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/wasm)
  target_compile_options(${name} PRIVATE ${BINDINGS_OPTIONS} -msimd128 -Oz ${ATOMICS})
  target_link_libraries(${name} PRIVATE flags)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)  # Embind's headers take most of the time
endfunction()
engine_bindings(engine_bindings ${CMAKE_SOURCE_DIR}/wasm/bindings_speech.cpp)
# engine_module(NAME MATH OTHERS BINDINGS OPTIONS...). What runs once is not drawn into its one caller: engines compile as
# a whole what has one long loop.
function(engine_module name math others bindings)
  wasm_module(${name} LIBRARY ${math} FOLDER /engine SOURCES $<TARGET_OBJECTS:${bindings}>
    ${CMAKE_SOURCE_DIR}/core/nn/pool.cpp
    OPTIONS -O2 -sBINARYEN_EXTRA_PASSES=one-caller-inline-max-function-size=64 -sSTACK_SIZE=1MB -sINITIAL_MEMORY=8MB
    -sMEMORY_GROWTH_LINEAR_STEP=1MB
    ${ARGN})
  target_compile_options(${name} PRIVATE ${ARGN})
  target_link_libraries(${name} PRIVATE ${others})
endfunction()
# Threads: wasm/src/engine/threads.ts brings them. Of Emscripten's own, only what makes an instance ready for another
# thread is used: its glue for threads knows one layout of files, ours is any bundler's. -lexports.js keeps the names of
# exports.
function(engine_module_with_threads name math others bindings)
  engine_module(${name} ${math} ${others} ${bindings} -sWASM_WORKERS=1)
  target_sources(${name} PRIVATE ${CMAKE_SOURCE_DIR}/wasm/bindings_threads.cpp)
  target_link_options(${name} PRIVATE -lexports.js -sENVIRONMENT=web,worker -sINCOMING_MODULE_JS_API=instantiateWasm,wasmMemory)
  add_custom_command(TARGET ${name} POST_BUILD COMMAND ${CMAKE_COMMAND} -E rm -f ${CMAKE_SOURCE_DIR}/wasm/dist/engine/${name}.ww.js)
endfunction()
engine_module(engine-simd engine_math_simd engine_common engine_bindings)
# The names of its functions, for the sizes of the core's parts (scripts/check-package.ts).
target_link_options(engine-simd PRIVATE --emit-symbol-map)
add_custom_command(TARGET engine-simd POST_BUILD VERBATIM COMMAND ${CMAKE_COMMAND} -E rename
  ${CMAKE_SOURCE_DIR}/wasm/dist/engine/engine-simd.js.symbols ${CMAKE_BINARY_DIR}/engine-simd.symbols)
engine_module(engine-relaxed engine_math_relaxed engine_common engine_bindings)
engine_module_with_threads(engine-simd-threads engine_math_simd engine_common engine_bindings)
engine_module_with_threads(engine-relaxed-threads engine_math_relaxed engine_common engine_bindings)
add_custom_target(engine DEPENDS engine-simd engine-relaxed engine-simd-threads engine-relaxed-threads)

# 64-bit memory, for models that need more than 4 GiB. No object of the other variants has its addresses, so it is one
# module: with relaxed SIMD and with shared memory, which works without threads, too.
# Nor is a file checked or written; the tests of the core take that from engine_others.
engine_others(engine_others_memory64 WITHOUT "${NOT_IN_ENGINE}|/gguf/(lint/|write\\.cpp)")
engine_once(engine_once_memory64)
engine_small(engine_small_memory64)
engine_math(engine_math_memory64 -mrelaxed-simd)
add_library(memory64 INTERFACE)
# Linked after `flags`, whose -Wall turns the warning on again.
target_compile_options(memory64 INTERFACE -sMEMORY64=1 -Wno-experimental)
target_link_options(memory64 INTERFACE -sMEMORY64=1 -Wno-experimental -sMAXIMUM_MEMORY=16GB -sMALLOC=dlmalloc)
foreach(library engine_others_memory64 engine_once_memory64 engine_small_memory64 engine_math_memory64)
  target_link_libraries(${library} PUBLIC memory64)
endforeach()
add_library(engine_common_memory64 INTERFACE)
target_link_libraries(engine_common_memory64 INTERFACE engine_others_memory64 $<LINK_ONLY:engine_once_memory64>
  $<LINK_ONLY:engine_small_memory64>)
engine_bindings(engine_bindings_memory64)
target_link_libraries(engine_bindings_memory64 PRIVATE memory64)
engine_module_with_threads(engine-memory64 engine_math_memory64 engine_common_memory64 engine_bindings_memory64)
# Emscripten 3.1.69 knows an earlier name of the descriptor's field for 64-bit memory.
set(GLUE64 ${CMAKE_SOURCE_DIR}/wasm/dist/engine/engine-memory64.js)
add_custom_command(TARGET engine-memory64 POST_BUILD VERBATIM
  COMMAND sed -i.old "s/index:\"i64\"/address:\"i64\"/g" ${GLUE64} COMMAND ${CMAKE_COMMAND} -E rm ${GLUE64}.old)
