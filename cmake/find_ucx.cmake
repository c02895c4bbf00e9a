# Finds UCX and makes the imported target longshore::ucp, else sets LONGSHORE_UCX to OFF. Also finds
# PMIx: MPI or PMIx must start the processes of the transport ucx. This file is also installed, so
# that projects that link an installed Longshore find their own UCX.
if(NOT TARGET longshore::ucp)
  find_path(LONGSHORE_PMIX_INCLUDE pmix.h # the path is Debian's
            PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include)
  set(LONGSHORE_PMIX OFF) # the headers suffice: programs load PMIx's library at run time
  if(LONGSHORE_PMIX_INCLUDE)
    set(LONGSHORE_PMIX ON)
  endif()
  find_path(LONGSHORE_UCX_INCLUDE ucp/api/ucp.h)
  find_library(LONGSHORE_UCP_LIBRARY ucp)
  find_library(LONGSHORE_UCS_LIBRARY ucs)
  if((LONGSHORE_MPI OR LONGSHORE_PMIX)
     AND LONGSHORE_UCX_INCLUDE AND LONGSHORE_UCP_LIBRARY AND LONGSHORE_UCS_LIBRARY)
    add_library(longshore::ucp INTERFACE IMPORTED GLOBAL)
    target_include_directories(longshore::ucp SYSTEM INTERFACE ${LONGSHORE_UCX_INCLUDE})
    target_link_libraries(
      longshore::ucp INTERFACE ${LONGSHORE_UCP_LIBRARY} ${LONGSHORE_UCS_LIBRARY})
  else()
    set(LONGSHORE_UCX OFF)
  endif()
endif()
