# How everything is compiled.

add_library(wardmote_options INTERFACE)
target_compile_options(wardmote_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wno-c23-extensions
  -fno-omit-frame-pointer -ffunction-sections -fdata-sections -fstack-protector-strong
  $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-designated-field-initializers>)
target_compile_definitions(wardmote_options INTERFACE
  WARDMOTE_VERSION="${PROJECT_VERSION}"
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE
  BOOST_BEAST_SEPARATE_COMPILATION
  $<$<CONFIG:Release,RelWithDebInfo>:_FORTIFY_SOURCE=2>)
target_include_directories(wardmote_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_link_options(wardmote_options INTERFACE -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now -Wl,--build-id=sha1)
if(WARDMOTE_DIST)
  # The same bits wherever the source lies: no path of a build is in them, and so in no build id.
  target_compile_options(wardmote_options INTERFACE -ffile-prefix-map=${PROJECT_BINARY_DIR}=build -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
                         -ffile-compilation-dir=.)
endif()

# Tests are not optimised: they are compiled far more often than their own code matters. What they test is.
add_library(wardmote_test_options INTERFACE)
target_compile_options(wardmote_test_options INTERFACE -O0 -U_FORTIFY_SOURCE)

# What a program of somebody else's must compile with to use the installed rooms.
add_library(wardmote_use INTERFACE)
target_compile_features(wardmote_use INTERFACE cxx_std_23)
set(wardmote_use_definitions BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE
    BOOST_BEAST_SEPARATE_COMPILATION)
target_compile_definitions(wardmote_use INTERFACE ${wardmote_use_definitions})
target_include_directories(wardmote_use INTERFACE $<INSTALL_INTERFACE:include>)

if(WARDMOTE_SANITIZE)
  target_compile_options(wardmote_options INTERFACE -fsanitize=${WARDMOTE_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(wardmote_options INTERFACE -fsanitize=${WARDMOTE_SANITIZE})
  # Of the tests' own code, bad addresses are enough: to check every expectation for undefined behaviour, too, doubles its time to compile.
  if(WARDMOTE_SANITIZE MATCHES undefined)
    target_compile_options(wardmote_test_options INTERFACE -fno-sanitize=undefined)
  endif()
endif()
if(WARDMOTE_COVERAGE)
  # Of the rooms that ./dev test --coverage measures; see rooms.cmake.
  set(wardmote_measured_rooms codec judge)
  target_link_options(wardmote_options INTERFACE -fprofile-instr-generate)
endif()

find_program(MOLD mold)
if(MOLD)
  target_link_options(wardmote_options INTERFACE -fuse-ld=mold)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Precompiled headers are cacheable only without time stamps and with these slacknesses.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()
