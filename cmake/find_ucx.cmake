# Finds UCX, and PMIx, which may start the transport, and makes the imported target longshore::ucp, or switches LONGSHORE_UCX off. Installed too,
# as find_hwloc.cmake is.
if(NOT TARGET longshore::ucp)
  find_path(LONGSHORE_PMIX_INCLUDE pmix.h PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include) # Debian's place
  set(LONGSHORE_PMIX OFF) # its library is loaded when a program asks for it
  if(LONGSHORE_PMIX_INCLUDE)
    set(LONGSHORE_PMIX ON)
  endif()
  find_path(LONGSHORE_UCX_INCLUDE ucp/api/ucp.h)
  find_library(LONGSHORE_UCP_LIBRARY ucp)
  find_library(LONGSHORE_UCS_LIBRARY ucs)
  if((LONGSHORE_MPI OR LONGSHORE_PMIX) AND LONGSHORE_UCX_INCLUDE AND LONGSHORE_UCP_LIBRARY AND LONGSHORE_UCS_LIBRARY)
    add_library(longshore::ucp INTERFACE IMPORTED GLOBAL)
    target_include_directories(longshore::ucp SYSTEM INTERFACE ${LONGSHORE_UCX_INCLUDE})
    target_link_libraries(longshore::ucp INTERFACE ${LONGSHORE_UCP_LIBRARY} ${LONGSHORE_UCS_LIBRARY})
  else()
    set(LONGSHORE_UCX OFF)
  endif()
endif()
