# The two functions by which a layer says what it is made of: longshore_add_layer and longshore_add_test.

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

# Which of the HEADERS is the first include of a source of the same name: that one is compiled alone whenever the source is.
function(longshore_split_headers alone first_of_a_source headers sources)
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "hpp$" "cpp" source ${header})
    set(first)
    if(source IN_LIST sources)
      file(STRINGS ${source} first REGEX "^ *# *include" LIMIT_COUNT 1)
    endif()
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/src" OUTPUT_VARIABLE folder)
    if(first STREQUAL "#include <${folder}/${header}>")
      list(APPEND with_source ${header})
    else()
      list(APPEND without ${header})
    endif()
  endforeach()
  set(${alone} ${without} PARENT_SCOPE)
  set(${first_of_a_source} ${with_source} PARENT_SCOPE)
endfunction()

# longshore_add_layer(NAME HEADERS a.hpp... [SOURCES a.cpp...] [PUBLIC targets...] [PRIVATE targets...])
#
# Makes target longshore_NAME, alias longshore::NAME, from files of the current folder. HEADERS are the public ones: installed
# under include/longshore/<folder>, each verified to compile alone: by its own source, whose first include it is, or else by one that CMake
# makes. A layer without sources is an interface library.
function(longshore_add_layer name)
  cmake_parse_arguments(ARG "" "" "HEADERS;SOURCES;PUBLIC;PRIVATE" ${ARGN})
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
    if(LONGSHORE_SANITIZE) # most of the time of a source goes into reading headers; where nobody looks at one source, a layer reads them once
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
  longshore_split_headers(alone first_of_a_source "${ARG_HEADERS}" "${ARG_SOURCES}")
  set(installed)
  foreach(set alone first_of_a_source)
    if(${set})
      target_sources(${target} ${scope} FILE_SET ${set} TYPE HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/src" FILES ${${set}})
      list(APPEND installed FILE_SET ${set} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    endif()
  endforeach()
  if(alone)
    set_target_properties(${target} PROPERTIES INTERFACE_HEADER_SETS_TO_VERIFY alone)
  else()
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS OFF)
  endif()
  install(TARGETS ${target} EXPORT longshore ${installed})
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
  add_library(longshore_test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(longshore_test_headers PRIVATE longshore_flags GTest::gtest fmt::fmt)
  target_compile_features(longshore_test_headers PRIVATE cxx_std_20)
  target_compile_options(longshore_test_headers PRIVATE ${LONGSHORE_TEST_OPTIONS})
  target_precompile_headers(
    longshore_test_headers PRIVATE <gtest/gtest.h> <fmt/core.h> <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstdint> <cstring>
    <fstream> <functional> <map> <memory> <mutex> <numeric> <optional> <random> <span> <sstream> <string> <thread> <vector>)
endfunction()

# In which layouts a test is run: sets OUT to a list of RANKS.PER_NODE (0: the real nodes).
#
# The conformance suite (label transport) sees every number of ranks on every kind of nodes on threads and mpi. The transports on one-sided
# libraries share all but the calls of their library: one number of ranks on each kind of virtual nodes shows the rest, and what stands above
# them runs on the suite (tests/test_one_sided.py tries each pattern whole). What stands on it need not be seen in every layout either: on
# threads it is run at each number of ranks, and on virtual nodes at one number that divides into them and at one that does not; over a
# launcher, where a start costs more than most tests, at one rank, at an odd number and once on each kind of virtual nodes. CALLS_MPI:
# the code under test has MPI calls of its own, and is tried with them at each number of ranks.
# The one-sided transports share all but the calls of their library: on virtual nodes they are tried at two numbers of ranks, and patterns as a
# whole (tests/test_one_sided.py). LONGSHORE_TEST_ALL_LAYOUTS: everything everywhere; an hour or two.
# What a sanitizer sees, it sees with these: one rank (which has no races), an odd number, ranks that share nothing, two nodes of two.
function(longshore_test_layouts out transport ranks per_nodes labels calls_mpi)
  set(layouts)
  foreach(per_node 0 ${per_nodes})
    set(chosen ${ranks})
    if(LONGSHORE_SANITIZE)
      set(most "^[134]$")
      if(NOT "transport" IN_LIST labels)
        if(per_node GREATER 1)
          set(most "^4$")
        elseif(3 IN_LIST ranks)
          set(most "^[13]$")
        else()
          set(most "^[14]$")
        endif()
        if(LONGSHORE_SANITIZE STREQUAL "thread")
          list(REMOVE_ITEM chosen 1)
        endif()
      endif()
    elseif(LONGSHORE_TEST_ALL_LAYOUTS)
      set(most ".")
    elseif("transport" IN_LIST labels AND (NOT per_node OR NOT transport IN_LIST LONGSHORE_ONE_SIDED))
      set(most ".")
    elseif(per_node EQUAL 1)
      set(most "^4$")
    elseif(per_node GREATER 1)
      set(most "^[478]$")
      if(NOT transport STREQUAL "threads")
        set(most "^[78]$")
      endif()
    elseif(transport STREQUAL "threads" OR calls_mpi)
      set(most ".")
    else()
      set(most "^[13]$")
    endif()
    list(FILTER chosen INCLUDE REGEX "${most}")
    foreach(count ${chosen})
      if(per_node LESS count)
        list(APPEND layouts "${count}.${per_node}")
      endif()
    endforeach()
  endforeach()
  set(${out} ${layouts} PARENT_SCOPE)
endfunction()

# longshore_add_test(FILE [THREADED] [CALLS_MPI] LINKS targets... [RANKS n...] [RANKS_PER_NODE k...] [LABELS l...])
#
# A GoogleTest program named after its file. Without RANKS it is run once. With RANKS it is an SPMD test (its main is that of
# longshore_spmd_test_main) and is run on every transport of this build, in the layouts above; on shmem and ucx that is the conformance suite.
# THREADED: it starts threads though it has no ranks. What has neither is not built for ThreadSanitizer: one thread has no races.
function(longshore_add_test file)
  if(NOT LONGSHORE_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "THREADED;CALLS_MPI" "" "LINKS;RANKS;RANKS_PER_NODE;LABELS" ${ARGN})
  if(LONGSHORE_SANITIZE STREQUAL "thread" AND NOT ARG_RANKS AND NOT ARG_THREADED)
    return()
  endif()
  cmake_path(GET file STEM name)
  add_executable(${name} ${file})
  target_link_libraries(${name} PRIVATE longshore_flags ${ARG_LINKS})
  target_compile_options(${name} PRIVATE ${LONGSHORE_TEST_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM longshore_test_headers)
  if(NOT ARG_RANKS)
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300)
    if(ARG_THREADED)  # tasks of OpenMP that wait give their core to other tests
      set_tests_properties(${name} PROPERTIES PROCESSORS 2 COST 10 ENVIRONMENT OMP_WAIT_POLICY=passive)
    endif()
    return()
  endif()
  target_link_libraries(${name} PRIVATE longshore_spmd_test_main)
  set(transports threads)
  if(LONGSHORE_MPI)
    list(APPEND transports mpi)
    set(LONGSHORE_mpi_RUN ${MPIEXEC_EXECUTABLE})
  endif()
  if("transport" IN_LIST ARG_LABELS OR LONGSHORE_TEST_ALL_LAYOUTS OR LONGSHORE_SANITIZE)
    list(APPEND transports ${LONGSHORE_ONE_SIDED})
  endif()
  foreach(transport IN LISTS transports)
    longshore_test_layouts(layouts ${transport} "${ARG_RANKS}" "${ARG_RANKS_PER_NODE}" "${ARG_LABELS}" "${ARG_CALLS_MPI}")
    foreach(layout IN LISTS layouts)
      string(REPLACE "." ";" layout ${layout})
      list(GET layout 0 ranks)
      list(GET layout 1 per_node)
      set(test ${name}.${transport}.${ranks})
      if(per_node)
        string(APPEND test ".per_node_${per_node}")
      endif()
      set(program $<TARGET_FILE:${name}> --transport ${transport} --ranks-per-node ${per_node})
      if(transport STREQUAL "threads")
        add_test(NAME ${test} COMMAND ${program} --ranks ${ranks})
      else()
        add_test(NAME ${test} COMMAND ${LONGSHORE_${transport}_RUN} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${LONGSHORE_MPIEXEC_FLAGS} ${program})
      endif()
      set(cores 2) # the longest first (COST), and in the end those that go side by side
      if(ranks EQUAL 1)
        set(cores 1)
      endif()
      set_tests_properties(${test} PROPERTIES LABELS "${transport};${ARG_LABELS}" TIMEOUT 300 PROCESSORS ${cores} COST ${ranks}
                                              ENVIRONMENT "${LONGSHORE_TEST_ENVIRONMENT}")
    endforeach()
  endforeach()
endfunction()

# Tests share their cores with other tests: ranks are not bound, and Open MPI gives its core away while it waits (it takes ranks
# of one test for all there are, and then a collective lasts a time slice). What strategy auto measured for a user is not theirs, and they do
# not measure.
set(LONGSHORE_TEST_ENVIRONMENT LONGSHORE_PIN=0 LONGSHORE_TIMEOUT=60 LONGSHORE_PROFILE=off OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
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
  execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE launcher_version ERROR_QUIET)
  if(launcher_version MATCHES "Open MPI|OpenRTE|PRRTE")
    set(LONGSHORE_MPIEXEC_FLAGS --oversubscribe --bind-to none)
  endif()
endif()
