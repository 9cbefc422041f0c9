# Installs ATONE_BUILD to a fresh prefix, then configures, builds and runs ATONE_CONSUMER against it and nothing else of the tree.
file(REMOVE_RECURSE ${ATONE_WORK})
file(MAKE_DIRECTORY ${ATONE_WORK})
set(prefix ${ATONE_WORK}/prefix)
string(REPLACE ";" " " flags "${ATONE_CXX_FLAGS}")

function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE rc OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT rc EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${rc}): ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

step(${CMAKE_COMMAND} --install ${ATONE_BUILD} --prefix ${prefix})
step(${CMAKE_COMMAND} -S ${ATONE_CONSUMER} -B ${ATONE_WORK}/build -G ${ATONE_GENERATOR} -DCMAKE_BUILD_TYPE=${ATONE_BUILD_TYPE}
  -DCMAKE_CXX_COMPILER=${ATONE_CXX} "-DCMAKE_CXX_FLAGS=${flags}" -DCMAKE_PREFIX_PATH=${prefix})
step(${CMAKE_COMMAND} --build ${ATONE_WORK}/build)
step(${CMAKE_COMMAND} -E chdir ${ATONE_WORK} ${ATONE_WORK}/build/app)
if(NOT output MATCHES "consumer: ok")
  message(FATAL_ERROR "the consumer ran, but did not say 'consumer: ok':\n${output}")
endif()
# The sample of the pages, as the project of its own that it is: it runs, and a second start finds what the first one left.
step(${CMAKE_COMMAND} -S ${ATONE_SAMPLE} -B ${ATONE_WORK}/sample -G ${ATONE_GENERATOR} -DCMAKE_BUILD_TYPE=${ATONE_BUILD_TYPE}
  -DCMAKE_CXX_COMPILER=${ATONE_CXX} "-DCMAKE_CXX_FLAGS=${flags}" -DCMAKE_PREFIX_PATH=${prefix})
step(${CMAKE_COMMAND} --build ${ATONE_WORK}/sample)
foreach(start first second)
  step(${ATONE_WORK}/sample/embedded sqlite:${ATONE_WORK}/checkout.db)
  if(NOT output MATCHES "^completed .*17")
    message(FATAL_ERROR "the ${start} run of the sample did not say 'completed': ${output}")
  endif()
endforeach()
# Another minor version must be refused: before 1.0 they may differ in the interface.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${ATONE_CONSUMER} -B ${ATONE_WORK}/refused -G ${ATONE_GENERATOR} -DCONSUMER_WANTS=99.0
  -DCMAKE_CXX_COMPILER=${ATONE_CXX} -DCMAKE_PREFIX_PATH=${prefix} RESULT_VARIABLE rc OUTPUT_QUIET ERROR_QUIET)
if(rc EQUAL 0)
  message(FATAL_ERROR "find_package(atone 99.0) found this version")
endif()
