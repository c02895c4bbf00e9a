# Finds Boost.Context and toml++, and makes the imported target longshore::boost_context, else sets
# LONGSHORE_SIMULATED to OFF. This file is also installed, so that projects that link an installed
# Longshore find their own Boost.Context.
if(NOT TARGET longshore::boost_context)
  find_path(LONGSHORE_BOOST_INCLUDE boost/context/fiber.hpp)
  find_library(LONGSHORE_BOOST_CONTEXT_LIBRARY boost_context)
  find_path(LONGSHORE_TOML_INCLUDE toml++/toml.h)
  if(LONGSHORE_BOOST_INCLUDE AND LONGSHORE_BOOST_CONTEXT_LIBRARY)
    add_library(longshore::boost_context INTERFACE IMPORTED GLOBAL)
    target_include_directories(
      longshore::boost_context SYSTEM INTERFACE ${LONGSHORE_BOOST_INCLUDE})
    target_link_libraries(longshore::boost_context INTERFACE ${LONGSHORE_BOOST_CONTEXT_LIBRARY})
  endif()
endif()
if(NOT TARGET longshore::boost_context)
  set(LONGSHORE_SIMULATED OFF)
endif()
