# Finds hwloc and makes the imported target longshore::hwloc, else sets LONGSHORE_HWLOC to OFF. This
# file is also installed, so that projects that link an installed Longshore find their own hwloc.
if(NOT TARGET longshore::hwloc)
  # Like find_package, also search beside the folders of PATH.
  string(REPLACE ":" ";" prefixes "$ENV{PATH}")
  list(TRANSFORM prefixes REPLACE "/s?bin/?$" "")
  find_path(LONGSHORE_HWLOC_INCLUDE hwloc.h PATHS ${prefixes} PATH_SUFFIXES include)
  find_library(LONGSHORE_HWLOC_LIBRARY hwloc PATHS ${prefixes}
               PATH_SUFFIXES lib lib/${CMAKE_LIBRARY_ARCHITECTURE})
  if(LONGSHORE_HWLOC_INCLUDE AND LONGSHORE_HWLOC_LIBRARY)
    add_library(longshore::hwloc INTERFACE IMPORTED GLOBAL)
    target_include_directories(longshore::hwloc SYSTEM INTERFACE ${LONGSHORE_HWLOC_INCLUDE})
    target_link_libraries(longshore::hwloc INTERFACE ${LONGSHORE_HWLOC_LIBRARY})
  else()
    set(LONGSHORE_HWLOC OFF)
  endif()
endif()
