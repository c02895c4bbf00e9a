// Checks the compiler and its options. Without this check, an unsuitable compiler reports many
// errors that do not name the cause.
#pragma once

#if __cplusplus < 202002L
#error "Longshore needs C++20: compile with -std=c++20 or -std=c++23"
#endif
#if !defined(__cpp_exceptions)
#error "Longshore reports errors by exceptions: compile without -fno-exceptions"
#endif
#if !defined(__cpp_rtti)
#error "Longshore needs type information at run time: compile without -fno-rtti"
#endif
