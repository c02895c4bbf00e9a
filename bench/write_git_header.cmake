# Writes longshore_git.hpp: the commit of this build, and whether tracked files differ from it. Runs at
# each build, because a commit changes no source; touches the file only when its content changes.
# Outside a git repository, or without git, the commit is empty.
#   cmake -D SOURCE=folder -D HEADER=file -P write_git_header.cmake
cmake_minimum_required(VERSION 3.25)
set(commit "")
set(dirty false)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND "${GIT}" rev-parse HEAD WORKING_DIRECTORY "${SOURCE}" OUTPUT_VARIABLE commit RESULT_VARIABLE status
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND "${GIT}" rev-parse --show-toplevel WORKING_DIRECTORY "${SOURCE}" OUTPUT_VARIABLE top
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH "${SOURCE}" real_source)
  # The sources may lie in a repository of another project, whose commit is not theirs.
  if(NOT status EQUAL 0 OR NOT top STREQUAL real_source)
    set(commit "")
  else()
    execute_process(COMMAND "${GIT}" --no-optional-locks status --porcelain --untracked-files=no WORKING_DIRECTORY "${SOURCE}"
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    if(NOT changes STREQUAL "")
      set(dirty true)
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT "${HEADER}" @ONLY CONTENT
"// Made by the build.
#pragma once

namespace longshore::bench {
inline constexpr const char* git_commit = \"@commit@\";
inline constexpr bool git_dirty = @dirty@;
}  // namespace longshore::bench
")
