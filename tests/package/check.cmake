# cmake -D SOURCE_DIR= -D WORK_DIR= -D GENERATOR= -D COMPILER= -D PROBER=ON|OFF -P check.cmake
# Installs the core alone into an empty prefix, then builds and runs a stranger's program against it; with PROBER the
# same again, in another prefix, for core and prober.
# The core is built here a second time, without the sanitizers of the surrounding build (a stranger has
# none) and with tests and simulator switched off, which shows that the core needs none of their libraries.
cmake_minimum_required(VERSION 3.25)

set(core_alone ${WORK_DIR}/prefix)
set(with_prober ${WORK_DIR}/prefix-prober)
# Whatever an earlier version installed must not help this one; the objects of ours may stay.
file(REMOVE_RECURSE ${core_alone} ${with_prober} ${WORK_DIR}/stranger)
set(common -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=Release)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "`${command}` failed (${result}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(install_into prefix prober)
  run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/core ${common} -D HALFOPEN_BUILD_PROBER=${prober}
    -D HALFOPEN_BUILD_TESTS=OFF -D HALFOPEN_BUILD_SIM=OFF -D HALFOPEN_BUILD_PYTHON=OFF)
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/core)
  run(${CMAKE_COMMAND} --install ${WORK_DIR}/core --prefix ${prefix})
endfunction()

# The stranger's project in a folder of its own each time: what one found must not help the next.
macro(configure_stranger name)
  set(stranger ${WORK_DIR}/stranger/${name})
  set(as_stranger ${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/package -B ${stranger} ${common} ${ARGN})
endmacro()

function(expect_refusal sentence)
  execute_process(COMMAND ${as_stranger} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " said "${output}") # CMake breaks a sentence where its line is full
  string(FIND "${said}" "${sentence}" at)
  if(result EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "expected a refusal with the words `${sentence}`, not (${result}):\n${output}")
  endif()
endfunction()

# A name in any installed file of CMake's: the path of the tree it was built from works only on this machine.
function(expect_no_mention name files)
  foreach(file IN LISTS files)
    file(READ ${file} text)
    string(FIND "${text}" "${name}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} mentions ${name}")
    endif()
  endforeach()
endfunction()

function(expect_files prefix expected)
  file(GLOB_RECURSE found RELATIVE ${prefix}/include/halfopen/core ${prefix}/include/halfopen/core/prober/*)
  list(SORT found)
  if(NOT "${found}" STREQUAL "${expected}")
    message(FATAL_ERROR "expected the prober's headers `${expected}` in ${prefix}, not `${found}`")
  endif()
endfunction()

set(no_openssl -D CMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON)

# ---- the core alone ----
install_into(${core_alone} OFF)
configure_stranger(core -D CMAKE_PREFIX_PATH=${core_alone} ${no_openssl})
run(${as_stranger})
run(${CMAKE_COMMAND} --build ${stranger})
run(${stranger}/stranger)
message(STATUS "${output}")

file(GLOB_RECURSE installed ${core_alone}/*.cmake)
expect_no_mention(${SOURCE_DIR} "${installed}")
list(FILTER installed EXCLUDE REGEX "/halfopenConfig\\.cmake$") # which looks for OpenSSL only if it is asked to
expect_no_mention(OpenSSL "${installed}")
expect_files(${core_alone} "")

configure_stranger(refused -D CMAKE_PREFIX_PATH=${core_alone} -D PROBING=ON)
expect_refusal("This halfopen was installed without its component prober")
configure_stranger(maybe -D CMAKE_PREFIX_PATH=${core_alone} -D MAYBE=prober)
run(${as_stranger})

# As a subfolder of somebody's project the core is all there is, too.
configure_stranger(subfolder -D HALFOPEN_FOLDER=${SOURCE_DIR} ${no_openssl})
run(${as_stranger})

if(NOT PROBER)
  message(STATUS "This build has no prober: its package was not checked.")
  return()
endif()

# ---- core and prober ----
install_into(${with_prober} ON)
configure_stranger(prober -D CMAKE_PREFIX_PATH=${with_prober} -D PROBING=ON)
run(${as_stranger})
run(${CMAKE_COMMAND} --build ${stranger} --target probing)
run(${stranger}/probing)
if(NOT output MATCHES "\nrefused\n$")
  message(FATAL_ERROR "the probe of a closed port was not refused:\n${output}")
endif()
message(STATUS "${output}")

file(GLOB_RECURSE installed ${with_prober}/*.cmake)
expect_no_mention(${SOURCE_DIR} "${installed}")
expect_files(${with_prober} "prober/active_probes.hpp;prober/probe.hpp")

# Who wants the core of the very same installation needs no OpenSSL; who wants the prober is told that he does.
configure_stranger(core_of_both -D CMAKE_PREFIX_PATH=${with_prober} ${no_openssl})
run(${as_stranger})
configure_stranger(no_openssl -D CMAKE_PREFIX_PATH=${with_prober} -D PROBING=ON ${no_openssl})
expect_refusal("halfopen's component prober needs OpenSSL, which was not found")
