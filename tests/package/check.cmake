# cmake -D SOURCE_DIR= -D WORK_DIR= -D GENERATOR= -D COMPILER= -P check.cmake
# Installs the core alone into an empty prefix, then builds and runs a stranger's program against it.
# The core is built here a second time, without the sanitizers of the surrounding build (a stranger has
# none) and with tests and simulator switched off, which shows that the core needs none of their libraries.
cmake_minimum_required(VERSION 3.25)

set(prefix ${WORK_DIR}/prefix)
# Whatever an earlier version installed must not help this one; the core's objects may stay.
file(REMOVE_RECURSE ${prefix} ${WORK_DIR}/stranger)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "`${command}` failed (${result}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(common -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/core ${common}
  -D HALFOPEN_BUILD_TESTS=OFF -D HALFOPEN_BUILD_SIM=OFF -D HALFOPEN_BUILD_PYTHON=OFF)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/core)
run(${CMAKE_COMMAND} --install ${WORK_DIR}/core --prefix ${prefix})

run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/package -B ${WORK_DIR}/stranger ${common}
  -D CMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/stranger)
run(${WORK_DIR}/stranger/stranger)
message(STATUS "${output}")

# An installed package that points back at the tree it was built from works only on this machine.
file(GLOB_RECURSE installed ${prefix}/*.cmake)
foreach(file IN LISTS installed)
  file(READ ${file} text)
  string(FIND "${text}" "${SOURCE_DIR}" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${file} mentions the source tree ${SOURCE_DIR}")
  endif()
endforeach()
