# The functions by which each layer of src/ declares its library (longshore_add_layer) and its tests
# (longshore_add_tests), and the compiler flags and the test environment of all layers. Changes here
# affect every target of the project.

add_library(longshore_flags INTERFACE) # compiler flags of all sources of the project; not exported
target_compile_options(
  longshore_flags
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
            $<$<BOOL:${LONGSHORE_WERROR}>:-Werror>
            # Since version 17 clang reports a function within std::stable_sort of libstdc++ 12.
            $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>)
# gcc collects its garbage from 128 MB on. From 512 MB on, a compilation takes 0.93 to 0.95 of the
# time, and up to 200 MB more memory.
target_compile_options(
  longshore_flags
  INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=524288>)
# The presets turn off warnings that only gcc has.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-unknown-warning-option>)
if(LONGSHORE_SANITIZE)
  # Undefined behaviour must end the program, else its test would pass.
  target_compile_options(
    longshore_flags INTERFACE -fsanitize=${LONGSHORE_SANITIZE} -fno-sanitize-recover=all
                              -fno-omit-frame-pointer)
  target_link_options(longshore_flags INTERFACE -fsanitize=${LONGSHORE_SANITIZE})
  if(LONGSHORE_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # gcc warns that ThreadSanitizer ignores fences. Each fence of Longshore only adds to an
    # acquire-release operation, which ThreadSanitizer knows.
    target_compile_options(longshore_flags INTERFACE -Wno-tsan)
  endif()
endif()

# longshore_add_layer(NAME [HEADERS a.hpp...] [DETAIL detail/b.hpp...] [SOURCES a.cpp...]
#                     [PUBLIC targets...] [PRIVATE targets...] [DEFINITIONS names...]
#                     [MODULE] [NO_LOOPS | ONLY_PLANS] [COLD a.cpp...])
#
# Makes the target longshore_NAME, and the alias longshore::NAME that programs and tests link, from
# files of the current folder. HEADERS are the public headers. DETAIL are internal headers that
# public headers include. HEADERS and DETAIL are installed under include/longshore/<folder>, and the
# target all_verify_interface_header_sets compiles each header alone. Other headers of the layer are
# not installed. DEFINITIONS are for the layer and for those that link it.
#
# Release compiles with -O3, with three exceptions that make code smaller and no exchange slower.
# NO_LOOPS says that the layer has no loops over many elements: -O2 saves a fifth. ONLY_PLANS says
# that the layer makes plans, which other layers carry out: -Os saves a third of -O2. COLD lists
# those of SOURCES that run once per plan or run, or beside calls of MPI that take longer: -Os, too.
#
# longshore_NAME is a static library. With BUILD_SHARED_LIBS it is a set of object files, which
# longshore_shared_library() links into liblongshore.so, or into a module if MODULE is given;
# longshore::NAME then stands for liblongshore.so with the headers of the layer (docs/decisions.md,
# 0014).
function(longshore_add_layer name)
  cmake_parse_arguments(ARG "MODULE;NO_LOOPS;ONLY_PLANS" "" "HEADERS;DETAIL;SOURCES;COLD;PUBLIC;PRIVATE;DEFINITIONS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "longshore_add_layer(${name}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(ARG_PUBLIC MATCHES "\\$<")
    message(FATAL_ERROR
            "longshore_add_layer(${name}): PUBLIC ${ARG_PUBLIC}: do not export generator "
            "expressions, whose targets have other names for users; use if() and a variable")
  endif()
  set(target longshore_${name})
  set(linked ${target})
  set(linked_scope PUBLIC)
  if(BUILD_SHARED_LIBS)
    add_library(${target} OBJECT ${ARG_SOURCES})
    if(ARG_MODULE)
      longshore_add_module(${name} ${target})
    else()
      set_property(GLOBAL APPEND PROPERTY longshore_layers ${target})
    endif()
    # Users of a shared library do not need the libraries that it links. This build does: tests
    # include headers of MPI.
    set(public ${ARG_PUBLIC})
    list(FILTER public EXCLUDE REGEX "^longshore_")
    list(TRANSFORM public REPLACE "(.+)" "$<BUILD_INTERFACE:\\1>")
    set(lower_layers ${ARG_PUBLIC})
    list(FILTER lower_layers INCLUDE REGEX "^longshore_")
    list(TRANSFORM lower_layers REPLACE "^longshore_" "longshore_shared_")
    set(linked longshore_shared_${name})
    set(linked_scope INTERFACE)
    add_library(${linked} INTERFACE)
    target_compile_features(${linked} INTERFACE cxx_std_20)
    target_compile_definitions(${linked} INTERFACE ${ARG_DEFINITIONS})
    target_link_libraries(${linked} INTERFACE longshore_shared ${lower_layers} ${public})
    target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  else()
    add_library(${target} STATIC ${ARG_SOURCES})
    # A program gets the functions that it uses, not whole objects of several sources.
    target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
    target_link_options(${target} INTERFACE LINKER:--as-needed LINKER:--gc-sections)
  endif()
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_definitions(${target} PUBLIC ${ARG_DEFINITIONS})
  target_link_libraries(${target} PUBLIC ${ARG_PUBLIC}
                                  PRIVATE $<BUILD_INTERFACE:longshore_flags> ${ARG_PRIVATE})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  if(ARG_NO_LOOPS)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
  elseif(ARG_ONLY_PLANS)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Os>)
  endif()
  if(ARG_COLD AND CMAKE_BUILD_TYPE STREQUAL "Release") # other builds keep their larger unity sources
    set_source_files_properties(${ARG_COLD} PROPERTIES COMPILE_OPTIONS -Os)
  endif()
  if(LONGSHORE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  endif()
  set_property(GLOBAL APPEND PROPERTY longshore_components ${name})
  add_library(longshore::${name} ALIAS ${linked})
  set_target_properties(${linked} PROPERTIES EXPORT_NAME ${name} VERIFY_INTERFACE_HEADER_SETS ON)
  target_sources(${linked} ${linked_scope} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/src"
                                           FILES ${ARG_HEADERS} ${ARG_DETAIL})
  longshore_install_library(${linked})
endfunction()

# Links all layers into liblongshore.so, if BUILD_SHARED_LIBS is on. The interface of C++ may change
# with each minor version, and so does the name that programs load (liblongshore.so.1.0).
function(longshore_shared_library)
  if(NOT BUILD_SHARED_LIBS)
    return()
  endif()
  get_property(layers GLOBAL PROPERTY longshore_layers)
  add_library(longshore_shared SHARED)
  target_link_libraries(longshore_shared PRIVATE ${layers})
  set_target_properties(
    longshore_shared PROPERTIES OUTPUT_NAME longshore EXPORT_NAME shared_library
                                LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_link_options(longshore_shared PRIVATE LINKER:--as-needed) # MPI::MPI_CXX has more libraries
  longshore_find_neighbours(longshore_shared "$ORIGIN")
  longshore_install_library(longshore_shared)
  # No program links a module. So what links the start of ranks builds the modules first.
  get_property(modules GLOBAL PROPERTY longshore_modules)
  if(modules)
    add_dependencies(longshore_shared_launch ${modules})
  endif()
endfunction()

# longshore_add_module(NAME OBJECTS)
#
# Links a target of object files into a module: a file beside liblongshore.so that is loaded when a
# program asks for it (core/detail/module.hpp).
function(longshore_add_module name objects)
  set(target longshore_${name}_module)
  set(folder longshore-${PROJECT_VERSION})
  add_library(${target} MODULE "${PROJECT_SOURCE_DIR}/src/longshore/core/detail/module_version.cpp")
  set_property(GLOBAL APPEND PROPERTY longshore_modules ${target})
  target_compile_definitions(${target} PRIVATE LONGSHORE_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${target} PRIVATE ${objects} longshore_shared)
  target_link_options(${target} PRIVATE LINKER:--as-needed)
  set_target_properties(
    ${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
                         LIBRARY_OUTPUT_DIRECTORY "$<TARGET_FILE_DIR:longshore_shared>/${folder}")
  longshore_find_neighbours(${target} "$ORIGIN/..")
  if(LONGSHORE_INSTALL)
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${folder}
            COMPONENT longshore_modules)
  endif()
endfunction()

# An installed program or shared library finds the shared libraries of Longshore in `folder`, and
# other libraries where the build found them. Packages for standard folders set
# CMAKE_SKIP_INSTALL_RPATH.
function(longshore_find_neighbours target folder)
  set_target_properties(
    ${target} PROPERTIES INSTALL_RPATH "${folder}" INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()

# Installs a library and its headers. The components of the installation are longshore_runtime
# (shared libraries), longshore_modules, longshore_development and longshore_tools.
function(longshore_install_library target)
  if(NOT LONGSHORE_INSTALL)
    return()
  endif()
  install(TARGETS ${target} EXPORT longshore
          ARCHIVE COMPONENT longshore_development
          LIBRARY COMPONENT longshore_runtime NAMELINK_COMPONENT longshore_development
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT longshore_development)
endfunction()

# Tests instantiate hundreds of loops and run them on little data, so compiling takes most of the
# time. -Og compiles as fast as -O0, because it leaves less code, and the tests run in half of the
# time. -O1 takes up to twice as long to compile (gcc 12).
set(LONGSHORE_TEST_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-Og>)
if(LONGSHORE_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # These options save another third of the time: AddressSanitizer checks by calls, and undefined
  # behaviour stops the program at once (SIGILL) without a message.
  list(APPEND LONGSHORE_TEST_OPTIONS "SHELL:--param asan-instrumentation-with-call-threshold=0"
       -fsanitize-undefined-trap-on-error)
endif()

# Precompiles the headers that all tests include. GoogleTest alone takes as long as a small test.
function(longshore_share_test_headers)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "")
  add_library(longshore_test_headers OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(longshore_test_headers PRIVATE longshore_flags GTest::gtest fmt::fmt)
  target_compile_features(longshore_test_headers PRIVATE cxx_std_20)
  target_compile_options(longshore_test_headers PRIVATE ${LONGSHORE_TEST_OPTIONS})
  target_precompile_headers(
    longshore_test_headers
    PRIVATE <gtest/gtest.h> <fmt/core.h> <algorithm> <array> <atomic> <chrono> <cmath>
            <condition_variable> <cstdint> <cstring> <fstream> <functional> <map> <memory> <mutex>
            <numeric> <optional> <random> <span> <sstream> <string> <thread> <vector>)
endfunction()

# Sets OUT to the layouts in which tests run: a list of RANKS or RANKS:PER_NODE (virtual nodes of
# PER_NODE ranks).
#
# On threads and mpi, the tests of layer transport run with every number of ranks on every kind of
# nodes. Other layers need fewer layouts. On threads, their tests run with each number of ranks, and
# on virtual nodes with one number that is divisible by the ranks per node and one that is not. On
# mpi, their tests run with one rank, with an odd number, and once on each kind of virtual nodes.
# With CALLS_MPI, the code under test calls MPI itself and runs on mpi with each number of ranks.
#
# The transports on one-sided libraries differ only in the calls of their library. On virtual nodes,
# their tests run with two numbers of ranks. tests/program/test_one_sided_transports.py runs whole
# patterns on these transports. LONGSHORE_TEST_ALL_LAYOUTS selects all layouts (an hour or two).
#
# Sanitizers run with one rank (not ThreadSanitizer: one rank has no races), an odd number, ranks
# that share no memory, and two nodes of two ranks.
function(longshore_test_layouts out transport layer ranks per_nodes calls_mpi)
  set(layouts)
  foreach(per_node 0 ${per_nodes}) # 0 ranks per node stands for the real nodes
    set(chosen ${ranks})
    if(LONGSHORE_SANITIZE)
      set(rank_pattern "^[134]$")
      if(NOT layer STREQUAL "transport")
        if(per_node GREATER 1)
          set(rank_pattern "^4$")
        else()
          set(rank_pattern "^[13]$")
        endif()
        if(LONGSHORE_SANITIZE STREQUAL "thread")
          list(REMOVE_ITEM chosen 1)
        endif()
      endif()
    elseif(LONGSHORE_TEST_ALL_LAYOUTS)
      set(rank_pattern ".")
    elseif(layer STREQUAL "transport"
           AND (NOT per_node OR NOT transport IN_LIST LONGSHORE_ONE_SIDED))
      set(rank_pattern ".")
    elseif(per_node EQUAL 1)
      set(rank_pattern "^4$")
    elseif(per_node GREATER 1 AND transport IN_LIST LONGSHORE_ONE_SIDED)
      set(rank_pattern "^[78]$")
    elseif(per_node GREATER 1)
      set(rank_pattern "^[478]$")
    elseif(transport STREQUAL "threads" OR calls_mpi)
      set(rank_pattern ".")
    else()
      set(rank_pattern "^[13]$")
    endif()
    list(FILTER chosen INCLUDE REGEX "${rank_pattern}")
    foreach(count ${chosen})
      if(NOT per_node)
        list(APPEND layouts ${count})
      elseif(per_node LESS count)
        list(APPEND layouts ${count}:${per_node})
      endif()
    endforeach()
  endforeach()
  set(${out} ${layouts} PARENT_SCOPE)
endfunction()

# The target quick_tests builds the programs of `make test`, which runs the tests without the labels
# layouts, one_sided and programs (CONTRIBUTING.md has a table).
if(LONGSHORE_TESTS)
  add_custom_target(quick_tests)
endif()

# longshore_polling_test(NAME RANKS)
#
# Ranks that poll take the cores from the tests beside them: together, such tests take many times as
# long as one after the other. Tests of 3 or 4 ranks run in pairs, and those of more run alone.
function(longshore_polling_test name ranks)
  if(ranks GREATER 4)
    set_tests_properties(${name} PROPERTIES PROCESSORS 4)
  elseif(ranks GREATER 2)
    set_tests_properties(${name} PROPERTIES PROCESSORS 2)
  endif()
endfunction()

# longshore_spmd_test(PROGRAM NAME TRANSPORT LAYOUTS LABELS [OPTIONS])
#
# Adds a test that starts PROGRAM once and runs its tests in all LAYOUTS. With the option --rotate,
# `make test-rest` runs half of them in each commit.
function(longshore_spmd_test program name transport layouts labels)
  if(NOT layouts)
    return()
  endif()
  list(JOIN layouts "," joined)
  list(TRANSFORM layouts REPLACE ":.*" "" OUTPUT_VARIABLE ranks)
  list(SORT ranks COMPARE NATURAL ORDER DESCENDING)
  list(GET ranks 0 ranks)
  set(command $<TARGET_FILE:${program}> --transport ${transport} --layouts ${joined} ${ARGN})
  if(NOT transport MATCHES "^(threads|simulated)$")
    set(command ${LONGSHORE_${transport}_RUN} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
                ${LONGSHORE_MPIEXEC_FLAGS} ${command})
  endif()
  add_test(NAME ${name} COMMAND ${command})
  list(LENGTH layouts count) # COST starts the longest tests first
  set_tests_properties(${name} PROPERTIES LABELS "${transport};${labels}" TIMEOUT 600 COST ${count}
                                          ENVIRONMENT "${LONGSHORE_TEST_ENVIRONMENT}")
  if(NOT transport STREQUAL "simulated")
    longshore_polling_test(${name} ${ranks})
  endif()
endfunction()

# longshore_add_tests(LAYER LINKS targets... [UNIT files...] [THREADED files...] [SPMD files...]
#                     [CALLS_MPI] [RANKS n...] [RANKS_PER_NODE k...] [FEW_RANKS suites...]
#                     [AT_64_RANKS tests...])
#
# Makes two programs of GoogleTest.
#
# LAYER_unit_tests, with the files UNIT and THREADED, runs once. THREADED are the tests that start
# threads. ThreadSanitizer runs only THREADED, because one thread has no races.
#
# LAYER_spmd_tests, with the files SPMD and launch/spmd_test_main.cpp, runs on the transports
# threads and mpi in the layouts above. `make test` runs a few layouts (nearly all for layer
# transport), and `make test-all` runs the rest (label layouts). On shmem and ucx, only the tests of
# layer transport run, with one start for each number of ranks (label one_sided). FEW_RANKS are
# suites of SPMD that need no more than four ranks. AT_64_RANKS are the tests of SPMD that run on 64
# simulated ranks, as patterns of GoogleTest: the other tests of a layer with this list have more
# messages than 64 ranks can send in seconds. Without the list, all tests run on 64 simulated ranks.
function(longshore_add_tests layer)
  if(NOT LONGSHORE_TESTS)
    return()
  endif()
  cmake_parse_arguments(
    ARG "CALLS_MPI" "" "LINKS;UNIT;THREADED;SPMD;RANKS;RANKS_PER_NODE;FEW_RANKS;AT_64_RANKS"
    ${ARGN})
  set(unit ${ARG_UNIT} ${ARG_THREADED})
  if(LONGSHORE_SANITIZE STREQUAL "thread")
    set(unit ${ARG_THREADED})
  endif()
  set(batch_size_unit 6)
  set(batch_size_spmd 3)
  set(spmd ${ARG_SPMD})
  foreach(kind unit spmd)
    if(${kind})
      set(program ${layer}_${kind}_tests)
      add_executable(${program} ${${kind}})
      target_link_libraries(
        ${program}
        PRIVATE longshore_flags ${ARG_LINKS}
                $<IF:$<STREQUAL:${kind},spmd>,longshore_spmd_test_main,GTest::gtest_main>)
      target_compile_options(${program} PRIVATE ${LONGSHORE_TEST_OPTIONS})
      target_precompile_headers(${program} REUSE_FROM longshore_test_headers)
      # Parsing a layer's headers takes most of a test's compile time. SPMD tests also compile
      # loops, so smaller batches let two cores share the work.
      set_target_properties(${program} PROPERTIES UNITY_BUILD ON
                                                  UNITY_BUILD_BATCH_SIZE ${batch_size_${kind}})
      add_dependencies(quick_tests ${program})
    endif()
  endforeach()
  if(TARGET ${layer}_unit_tests)
    add_test(NAME ${layer}.unit COMMAND ${layer}_unit_tests)
    set_tests_properties(${layer}.unit PROPERTIES LABELS ${layer} TIMEOUT 300)
    if(ARG_THREADED) # idle OpenMP threads leave their core to other tests
      set_tests_properties(${layer}.unit PROPERTIES COST 10 ENVIRONMENT OMP_WAIT_POLICY=passive)
    endif()
  endif()
  if(NOT ARG_SPMD)
    return()
  endif()
  set(program ${layer}_spmd_tests)
  set(quick_on_threads "^([123]|4:2)$")
  set(quick_on_mpi "^([13]|4:2)$")
  if(layer STREQUAL "transport")
    set(quick_on_threads ".")
    set(quick_on_mpi "^[1-4](:|$)")
  endif()
  set(without_few_ranks)
  if(ARG_FEW_RANKS)
    list(JOIN ARG_FEW_RANKS ".*:" without_few_ranks)
    set(without_few_ranks "--gtest_filter=-${without_few_ranks}.*")
  endif()
  set(transports threads)
  if(LONGSHORE_MPI)
    list(APPEND transports mpi)
  endif()
  foreach(transport IN LISTS transports)
    longshore_test_layouts(layouts ${transport} ${layer} "${ARG_RANKS}" "${ARG_RANKS_PER_NODE}"
                           "${ARG_CALLS_MPI}")
    set(quick ${layouts})
    if(NOT LONGSHORE_SANITIZE)
      list(FILTER quick INCLUDE REGEX "${quick_on_${transport}}")
    endif()
    list(REMOVE_ITEM layouts ${quick})
    set(many ${layouts})
    list(FILTER layouts INCLUDE REGEX "^[1-4](:|$)")
    list(FILTER many EXCLUDE REGEX "^[1-4](:|$)")
    longshore_spmd_test(${program} ${layer}.${transport} ${transport} "${quick}" ${layer})
    longshore_spmd_test(${program} ${layer}.${transport}.layouts ${transport} "${layouts}"
                        "${layer};layouts" --rotate)
    longshore_spmd_test(${program} ${layer}.${transport}.many_ranks ${transport} "${many}"
                        "${layer};layouts" --rotate ${without_few_ranks})
  endforeach()
  # One thread runs all simulated ranks, so ThreadSanitizer has nothing to find. The tests of the
  # benchmark program are about real time.
  if(LONGSHORE_SIMULATED AND NOT layer STREQUAL "bench"
     AND NOT LONGSHORE_SANITIZE STREQUAL "thread")
    longshore_spmd_test(${program} ${layer}.simulated simulated "1;2;3;4:2;7:2" ${layer})
    if(NOT LONGSHORE_SANITIZE)
      set(many "4;7;7:1")
      if(ARG_AT_64_RANKS)
        list(JOIN ARG_AT_64_RANKS ":" at_64_ranks)
        longshore_spmd_test(${program} ${layer}.simulated.64_ranks simulated "64:8"
                            "${layer};layouts" "--gtest_filter=${at_64_ranks}")
      else()
        list(APPEND many "64:8")
      endif()
      longshore_spmd_test(${program} ${layer}.simulated.many_ranks simulated "${many}"
                          "${layer};layouts" --rotate ${without_few_ranks})
    endif()
  endif()
  if(NOT layer STREQUAL "transport" AND NOT LONGSHORE_TEST_ALL_LAYOUTS AND NOT LONGSHORE_SANITIZE)
    return()
  endif()
  foreach(transport IN LISTS LONGSHORE_ONE_SIDED)
    longshore_test_layouts(layouts ${transport} ${layer} "${ARG_RANKS}" "${ARG_RANKS_PER_NODE}"
                           "${ARG_CALLS_MPI}")
    foreach(ranks ${ARG_RANKS}) # one start each: a layout must use all ranks of a start
      set(layouts_of_ranks ${layouts})
      list(FILTER layouts_of_ranks INCLUDE REGEX "^${ranks}(:|$)")
      longshore_spmd_test(${program} ${layer}.${transport}.${ranks} ${transport}
                          "${layouts_of_ranks}" "${layer};one_sided")
    endforeach()
  endforeach()
endfunction()

# Tests share cores with other tests. So ranks are not bound. Open MPI must yield while it waits. It
# knows only the ranks of its own test, so without yielding a collective would take a time slice.
# Tests ignore the user's profile of strategy auto. They measure neither strategies nor caches.
# Ranks compare all their collective calls.
set(LONGSHORE_TEST_ENVIRONMENT
    LONGSHORE_MACHINE=${PROJECT_SOURCE_DIR}/tests/machines/small.toml
    LONGSHORE_CHECK=1 LONGSHORE_PIN=0 LONGSHORE_TIMEOUT=60 LONGSHORE_PROFILE=off
    LONGSHORE_CACHES=near
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1)

# AddressSanitizer with the libraries of MPI, OpenSHMEM and UCX: memory that these libraries keep
# until the end is no leak of Longshore. Only the slow unwinder finds their functions on a stack.
# Open MPI's symmetric heap gets another address, because AddressSanitizer uses the usual address.
if(LONGSHORE_SANITIZE MATCHES "address")
  set(suppressions ${PROJECT_SOURCE_DIR}/tests/leaks_of_libraries.txt)
  list(APPEND LONGSHORE_TEST_ENVIRONMENT
       "LSAN_OPTIONS=suppressions=${suppressions}:print_suppressions=0")
  if(LONGSHORE_MPI OR LONGSHORE_ONE_SIDED)
    list(APPEND LONGSHORE_TEST_ENVIRONMENT ASAN_OPTIONS=fast_unwind_on_malloc=0
         OMPI_MCA_sshmem_base_start_address=0x200000000000)
  endif()
endif()

# By default Open MPI refuses more ranks than cores, and binds simultaneous launches to the same
# cores. Other launchers do not.
if(LONGSHORE_MPI AND LONGSHORE_TESTS)
  find_package(MPI 3.1 REQUIRED COMPONENTS CXX)
  set(LONGSHORE_mpi_RUN ${MPIEXEC_EXECUTABLE})
  execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE launcher_version
                  ERROR_QUIET)
  if(launcher_version MATCHES "Open MPI|OpenRTE|PRRTE")
    set(LONGSHORE_MPIEXEC_FLAGS --oversubscribe --bind-to none)
  endif()
endif()
