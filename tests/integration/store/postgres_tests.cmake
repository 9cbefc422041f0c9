# What only PostgreSQL can have. The suite that all stores pass is beside this file.
if(NOT ATONE_HAS_POSTGRESQL)
  return()
endif()
if(NOT TARGET atone_test_postgres_server)
  add_subdirectory(${PROJECT_SOURCE_DIR}/tests/support ${PROJECT_BINARY_DIR}/tests/support)
endif()
atone_postgres_test(store_postgres_test
  SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/postgres_commit_test.cpp
  INCLUDE ${PROJECT_SOURCE_DIR}/compensation/src)
