# The library of the Fortran module. Only the compiler that made a module file can read that file.
# So the build of Longshore uses this function, and this file is also installed: a project with
# another compiler compiles the modules itself.
function(longshore_add_fortran_module target sources module_folder)
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
                                             Fortran_MODULE_DIRECTORY "${module_folder}")
  # Ranks may be threads, so local variables of procedures must not be static. Without these
  # options, all compilers except flang make large local arrays static.
  target_compile_options(
    ${target} PUBLIC $<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-frecursive>
                     $<$<COMPILE_LANG_AND_ID:Fortran,Intel,IntelLLVM>:-recursive>
                     $<$<COMPILE_LANG_AND_ID:Fortran,NVHPC>:-Mrecursive>)
endfunction()

# Sets `result` to the compiler's name and major version. Compilers with the same name and major
# version can read each other's module files.
function(longshore_fortran_compiler result)
  string(REGEX MATCH "^[0-9]+" number "${CMAKE_Fortran_COMPILER_VERSION}")
  set(${result} "${CMAKE_Fortran_COMPILER_ID} ${number}" PARENT_SCOPE)
endfunction()
