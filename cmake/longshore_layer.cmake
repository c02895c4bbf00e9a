# The two functions by which a layer says what it is made of: longshore_add_layer and longshore_add_tests.

add_library(longshore_flags INTERFACE) # what every own source is compiled with; never exported
target_compile_options(
  longshore_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
                            $<$<BOOL:${LONGSHORE_WERROR}>:-Werror>)
if(LONGSHORE_SANITIZE)
  # What UndefinedBehaviorSanitizer finds ends the program: else its test would pass.
  target_compile_options(longshore_flags INTERFACE -fsanitize=${LONGSHORE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(longshore_flags INTERFACE -fsanitize=${LONGSHORE_SANITIZE})
  if(LONGSHORE_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # gcc says that it cannot follow fences. Ours only add to an acquire-release operation that it does follow.
    target_compile_options(longshore_flags INTERFACE -Wno-tsan)
  endif()
endif()

# longshore_add_layer(NAME [HEADERS a.hpp...] [DETAIL detail/b.hpp...] [SOURCES a.cpp...]
#                     [PUBLIC targets...] [PRIVATE targets...])
#
# Makes target longshore_NAME, alias longshore::NAME, from files of the current folder. HEADERS are the
# public headers. DETAIL are the headers of machinery that public headers include. Both are installed
# under include/longshore/<folder>, and each is verified to compile alone (target
# all_verify_interface_header_sets). Other headers serve the sources only and are not installed.
# A layer without sources is an interface library.
function(longshore_add_layer name)
  cmake_parse_arguments(ARG "" "" "HEADERS;DETAIL;SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "longshore_add_layer(${name}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(ARG_PUBLIC MATCHES "\\$<")
    message(FATAL_ERROR "longshore_add_layer(${name}): PUBLIC ${ARG_PUBLIC}: an exported generator expression would not name targets "
                        "as others see them; use if() and a variable")
  endif()
  set(target longshore_${name})
  if(ARG_SOURCES)
    set(scope PUBLIC)
    add_library(${target} STATIC ${ARG_SOURCES})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:longshore_flags> ${ARG_PRIVATE})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
    if(LONGSHORE_UNITY)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    endif()
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(longshore::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} VERIFY_INTERFACE_HEADER_SETS ON)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${ARG_PUBLIC})
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/src" FILES ${ARG_HEADERS} ${ARG_DETAIL})
  install(TARGETS ${target} EXPORT longshore FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()

# Tests instantiate loops by the hundred, over little data: they are to be right, not fast, and compiling them is what takes time (with
# AddressSanitizer and UndefinedBehaviorSanitizer seven times as much at -O1).
set(LONGSHORE_TEST_OPTIONS -O0)
if(LONGSHORE_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A third less again: AddressSanitizer's checks are calls, and undefined behaviour stops the program where it is (SIGILL) without a message.
  list(APPEND LONGSHORE_TEST_OPTIONS "SHELL:--param asan-instrumentation-with-call-threshold=0" -fsanitize-undefined-trap-on-error)
endif()

# What all tests include, compiled once: GoogleTest alone takes as long as a small test.
function(longshore_share_test_headers)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "")
  add_library(longshore_test_headers OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(longshore_test_headers PRIVATE longshore_flags GTest::gtest fmt::fmt)
  target_compile_features(longshore_test_headers PRIVATE cxx_std_20)
  target_compile_options(longshore_test_headers PRIVATE ${LONGSHORE_TEST_OPTIONS})
  target_precompile_headers(
    longshore_test_headers PRIVATE <gtest/gtest.h> <fmt/core.h> <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstdint> <cstring>
    <fstream> <functional> <map> <memory> <mutex> <numeric> <optional> <random> <span> <sstream> <string> <thread> <vector>)
endfunction()

# In which layouts tests are run: sets OUT to a list of RANKS or RANKS:PER_NODE (virtual nodes of so many ranks).
#
# The contract of the transports sees every number of ranks on every kind of nodes on threads and mpi. What stands on it need not be seen in
# every layout: on threads it is run at each number of ranks, and on virtual nodes at one number that divides into them and at one that does
# not; over a launcher at one rank, at an odd number and once on each kind of virtual nodes. CALLS_MPI: the code under test has MPI calls of
# its own, and is tried with them at each number of ranks. The transports on one-sided libraries share all but the calls of their library:
# on virtual nodes they are tried at two numbers of ranks, and patterns as a whole (tests/program/test_one_sided_transports.py). LONGSHORE_TEST_ALL_LAYOUTS:
# everything everywhere; an hour or two.
# What a sanitizer sees, it sees with these: one rank (which has no races), an odd number, ranks that share nothing, two nodes of two.
function(longshore_test_layouts out transport layer ranks per_nodes calls_mpi)
  set(layouts)
  foreach(per_node 0 ${per_nodes})
    set(chosen ${ranks})
    if(LONGSHORE_SANITIZE)
      set(most "^[134]$")
      if(NOT layer STREQUAL "transport")
        if(per_node GREATER 1)
          set(most "^4$")
        else()
          set(most "^[13]$")
        endif()
        if(LONGSHORE_SANITIZE STREQUAL "thread")
          list(REMOVE_ITEM chosen 1)
        endif()
      endif()
    elseif(LONGSHORE_TEST_ALL_LAYOUTS)
      set(most ".")
    elseif(layer STREQUAL "transport" AND (NOT per_node OR NOT transport IN_LIST LONGSHORE_ONE_SIDED))
      set(most ".")
    elseif(per_node EQUAL 1)
      set(most "^4$")
    elseif(per_node GREATER 1 AND transport IN_LIST LONGSHORE_ONE_SIDED)
      set(most "^[78]$")
    elseif(per_node GREATER 1)
      set(most "^[478]$")
    elseif(transport STREQUAL "threads" OR calls_mpi)
      set(most ".")
    else()
      set(most "^[13]$")
    endif()
    list(FILTER chosen INCLUDE REGEX "${most}")
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

# What `make test` runs is built by the target quick_tests: the programs of all tests without a label of those that it leaves out
# (layouts, one_sided, programs: the table is in CONTRIBUTING.md).
add_custom_target(quick_tests)

# longshore_spmd_test(PROGRAM NAME TRANSPORT LAYOUTS LABELS [FILTER]): the tests of PROGRAM, at all LAYOUTS after one start.
function(longshore_spmd_test program name transport layouts labels)
  if(NOT layouts)
    return()
  endif()
  list(JOIN layouts "," joined)
  list(TRANSFORM layouts REPLACE ":.*" "" OUTPUT_VARIABLE ranks)
  list(SORT ranks COMPARE NATURAL ORDER DESCENDING)
  list(GET ranks 0 ranks)
  set(command $<TARGET_FILE:${program}> --transport ${transport} --layouts ${joined} ${ARGN})
  if(NOT transport STREQUAL "threads")
    set(command ${LONGSHORE_${transport}_RUN} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${LONGSHORE_MPIEXEC_FLAGS} ${command})
  endif()
  add_test(NAME ${name} COMMAND ${command})
  list(LENGTH layouts count) # the longest first (COST), and in the end those that are short
  set_tests_properties(${name} PROPERTIES LABELS "${transport};${labels}" TIMEOUT 600 COST ${count} ENVIRONMENT "${LONGSHORE_TEST_ENVIRONMENT}")
endfunction()

# longshore_add_tests(LAYER LINKS targets... [UNIT files...] [THREADED files...] [SPMD files...] [CALLS_MPI] [RANKS n...] [RANKS_PER_NODE k...]
#                     [FEW_RANKS suites...])
#
# The tests of a layer, in two programs of GoogleTest. LAYER_unit_tests is run once: UNIT, and THREADED, which are those that start threads. What
# does not is left out for ThreadSanitizer: one thread has no races. LAYER_spmd_tests (its main is launch/spmd_test_main.cpp) is run on every
# transport of this build in the layouts above: a few of them by `make test` (the contract of the transports: nearly all), the others by
# `make test-all` (label layouts). On shmem and ucx that is the contract alone, one start for each number of ranks (label one_sided).
# FEW_RANKS: suites of SPMD that show with four ranks what they show with more.
function(longshore_add_tests layer)
  if(NOT LONGSHORE_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "CALLS_MPI" "" "LINKS;UNIT;THREADED;SPMD;RANKS;RANKS_PER_NODE;FEW_RANKS" ${ARGN})
  set(unit ${ARG_UNIT} ${ARG_THREADED})
  if(LONGSHORE_SANITIZE STREQUAL "thread")
    set(unit ${ARG_THREADED})
  endif()
  set(sources_together_unit 6)
  set(sources_together_spmd 3)
  set(spmd ${ARG_SPMD})
  foreach(kind unit spmd)
    if(${kind})
      set(program ${layer}_${kind}_tests)
      add_executable(${program} ${${kind}})
      target_link_libraries(${program} PRIVATE longshore_flags ${ARG_LINKS} $<IF:$<STREQUAL:${kind},spmd>,longshore_spmd_test_main,GTest::gtest_main>)
      target_compile_options(${program} PRIVATE ${LONGSHORE_TEST_OPTIONS})
      target_precompile_headers(${program} REUSE_FROM longshore_test_headers)
      # Reading a layer's headers takes most of the time of a test. Those of ranks have loops to compile, too: two cores are to share them.
      set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${sources_together_${kind}})
      add_dependencies(quick_tests ${program})
    endif()
  endforeach()
  if(TARGET ${layer}_unit_tests)
    add_test(NAME ${layer}.unit COMMAND ${layer}_unit_tests)
    set_tests_properties(${layer}.unit PROPERTIES LABELS ${layer} TIMEOUT 300)
    if(ARG_THREADED) # tasks of OpenMP that wait give their core to other tests
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
    longshore_test_layouts(layouts ${transport} ${layer} "${ARG_RANKS}" "${ARG_RANKS_PER_NODE}" "${ARG_CALLS_MPI}")
    set(quick ${layouts})
    if(NOT LONGSHORE_SANITIZE)
      list(FILTER quick INCLUDE REGEX "${quick_on_${transport}}")
    endif()
    list(REMOVE_ITEM layouts ${quick})
    set(many ${layouts})
    list(FILTER layouts INCLUDE REGEX "^[1-4](:|$)")
    list(FILTER many EXCLUDE REGEX "^[1-4](:|$)")
    longshore_spmd_test(${program} ${layer}.${transport} ${transport} "${quick}" ${layer})
    longshore_spmd_test(${program} ${layer}.${transport}.layouts ${transport} "${layouts}" "${layer};layouts")
    longshore_spmd_test(${program} ${layer}.${transport}.many_ranks ${transport} "${many}" "${layer};layouts" ${without_few_ranks})
  endforeach()
  if(NOT layer STREQUAL "transport" AND NOT LONGSHORE_TEST_ALL_LAYOUTS AND NOT LONGSHORE_SANITIZE)
    return()
  endif()
  foreach(transport IN LISTS LONGSHORE_ONE_SIDED)
    longshore_test_layouts(layouts ${transport} ${layer} "${ARG_RANKS}" "${ARG_RANKS_PER_NODE}" "${ARG_CALLS_MPI}")
    foreach(ranks ${ARG_RANKS}) # of their ranks, none can be left out
      set(these ${layouts})
      list(FILTER these INCLUDE REGEX "^${ranks}(:|$)")
      longshore_spmd_test(${program} ${layer}.${transport}.${ranks} ${transport} "${these}" "${layer};one_sided")
    endforeach()
  endforeach()
endfunction()

# Tests share their cores with other tests: ranks are not bound, and Open MPI gives its core away while it waits (it takes ranks
# of one test for all there are, and then a collective lasts a time slice). What strategy auto measured for a user is not theirs, and they do
# not measure. Ranks compare all their collective calls.
set(LONGSHORE_TEST_ENVIRONMENT LONGSHORE_CHECK=1 LONGSHORE_PIN=0 LONGSHORE_TIMEOUT=60 LONGSHORE_PROFILE=off OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_mpi_yield_when_idle=1)

# AddressSanitizer over the libraries of MPI, OpenSHMEM and UCX: what they keep until the end is theirs, and their functions are found on a stack
# only by its slow way. It has memory where Open MPI's symmetric heap would be.
if(LONGSHORE_SANITIZE MATCHES "address")
  list(APPEND LONGSHORE_TEST_ENVIRONMENT "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/leaks_of_libraries.txt:print_suppressions=0")
  if(LONGSHORE_MPI OR LONGSHORE_ONE_SIDED)
    list(APPEND LONGSHORE_TEST_ENVIRONMENT ASAN_OPTIONS=fast_unwind_on_malloc=0 OMPI_MCA_sshmem_base_start_address=0x200000000000)
  endif()
endif()

# Open MPI refuses more ranks than cores, and binds two launches that run side by side to the same cores; other launchers do neither.
if(LONGSHORE_MPI AND LONGSHORE_TESTS)
  find_package(MPI 3.1 REQUIRED COMPONENTS CXX)
  set(LONGSHORE_mpi_RUN ${MPIEXEC_EXECUTABLE})
  execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE launcher_version ERROR_QUIET)
  if(launcher_version MATCHES "Open MPI|OpenRTE|PRRTE")
    set(LONGSHORE_MPIEXEC_FLAGS --oversubscribe --bind-to none)
  endif()
endif()
