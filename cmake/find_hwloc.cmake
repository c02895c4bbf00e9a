# Finds hwloc, and makes the imported target longshore::hwloc, or switches LONGSHORE_HWLOC off. Installed too: who links an installed
# Longshore finds his own hwloc, wherever it lies.
if(NOT TARGET longshore::hwloc)
  # Also beside the programs in PATH, where find_package looks by itself.
  string(REPLACE ":" ";" prefixes "$ENV{PATH}")
  list(TRANSFORM prefixes REPLACE "/s?bin/?$" "")
  find_path(LONGSHORE_HWLOC_INCLUDE hwloc.h PATHS ${prefixes} PATH_SUFFIXES include)
  find_library(LONGSHORE_HWLOC_LIBRARY hwloc PATHS ${prefixes} PATH_SUFFIXES lib lib/${CMAKE_LIBRARY_ARCHITECTURE})
  if(LONGSHORE_HWLOC_INCLUDE AND LONGSHORE_HWLOC_LIBRARY)
    add_library(longshore::hwloc INTERFACE IMPORTED GLOBAL)
    target_include_directories(longshore::hwloc SYSTEM INTERFACE ${LONGSHORE_HWLOC_INCLUDE})
    target_link_libraries(longshore::hwloc INTERFACE ${LONGSHORE_HWLOC_LIBRARY})
  else()
    set(LONGSHORE_HWLOC OFF)
  endif()
endif()
