# One CMake library target a folder: atone_library(schemas SOURCES … LINK … PRIVATE_LINK …) makes atone::schemas.
add_library(atone_flags INTERFACE)
target_compile_features(atone_flags INTERFACE cxx_std_20)
target_compile_options(atone_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False with this compiler (12.2): the first for coroutine frames, the second for `"text" + std::string` when optimising
  # (GCC bug 105651); see ARCHITECTURE.md.
  target_compile_options(atone_flags INTERFACE -Wno-mismatched-new-delete -Wno-restrict)
endif()
if(ATONE_WERROR)
  target_compile_options(atone_flags INTERFACE -Werror)
endif()
if(ATONE_SANITIZE STREQUAL "address-undefined")
  # null, alignment, object-size and vptr triple the compile time of Asio code and find nothing ASan does not.
  set(flags -fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,vptr -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(ATONE_SANITIZE STREQUAL "thread")
  set(flags -fsanitize=thread -fno-omit-frame-pointer)
elseif(ATONE_SANITIZE)
  message(FATAL_ERROR "ATONE_SANITIZE is '${ATONE_SANITIZE}': expected address-undefined, thread or nothing")
endif()
if(ATONE_SANITIZE)
  target_compile_options(atone_flags INTERFACE ${flags})
  target_link_options(atone_flags INTERFACE ${flags})
endif()
# One set of flags everywhere, so that precompiled headers fit.
target_compile_options(atone_flags INTERFACE -pthread)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
find_program(ATONE_CCACHE ccache)
if(ATONE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ATONE_CCACHE})
endif()

# A change in a library links forty programs anew: 2.4 s by gold, 6.5 s by bfd. Where it is (binutils has it), and not with sanitizers.
find_program(ATONE_GOLD ld.gold)
if(ATONE_GOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT ATONE_SANITIZE)
  string(APPEND CMAKE_EXE_LINKER_FLAGS " -fuse-ld=gold")
endif()

# The standard headers that nearly every file sees, precompiled once: a third of a small file's compile time. With g++ only:
# the sanitizer builds mix flags that clang's precompiled headers refuse to share.
set(ATONE_PCH_HEADERS <algorithm> <array> <chrono> <cstdint> <deque> <functional> <map> <memory> <optional> <set> <string>
    <string_view> <unordered_map> <utility> <variant> <vector>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_library(atone_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
  target_link_libraries(atone_pch PRIVATE atone_flags)
  target_precompile_headers(atone_pch PRIVATE ${ATONE_PCH_HEADERS})
endif()
function(atone_precompiled target)
  if(TARGET atone_pch)
    target_precompile_headers(${target} REUSE_FROM atone_pch)
  endif()
endfunction()

function(atone_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(atone_${name} STATIC ${arg_SOURCES})
  add_library(atone::${name} ALIAS atone_${name})
  set_target_properties(atone_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(atone_${name}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  target_compile_features(atone_${name} PUBLIC cxx_std_20)
  target_link_libraries(atone_${name} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK} $<BUILD_INTERFACE:atone_flags>)
  set_property(GLOBAL APPEND PROPERTY ATONE_LIBRARIES atone_${name})
  atone_precompiled(atone_${name})
endfunction()
