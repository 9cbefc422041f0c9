# The example services on PostgreSQL.
if(NOT ATONE_HAS_POSTGRESQL)
  return()
endif()
if(NOT TARGET atone_test_postgres_server)
  add_subdirectory(${PROJECT_SOURCE_DIR}/tests/support ${PROJECT_BINARY_DIR}/tests/support)
endif()
atone_postgres_test(example_services_postgres_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/services_postgres_test.cpp
  LINK atone_example_services)
