# What only PostgreSQL can have, and the suite of all stores on one server. The suite itself is beside this file.
if(NOT ATONE_HAS_POSTGRESQL)
  return()
endif()
if(NOT TARGET atone_test_postgres_server)
  add_subdirectory(${PROJECT_SOURCE_DIR}/tests/support ${PROJECT_BINARY_DIR}/tests/support)
endif()
set(here ${CMAKE_CURRENT_LIST_DIR})
set(postgres_suite_sources ${suite_sources})
list(REMOVE_ITEM postgres_suite_sources ${here}/factories.cpp ${support}/sqlite_place.cpp)
atone_postgres_test(store_suite_postgres SANITIZED SOURCES ${postgres_suite_sources} ${here}/postgres_suite_factory.cpp)
atone_postgres_test(store_postgres_test SANITIZED
  SOURCES ${here}/postgres_commit_test.cpp ${here}/postgres_dump_test.cpp ${here}/postgres_fence_test.cpp ${here}/postgres_loss_test.cpp ${here}/postgres_membership_test.cpp
          ${here}/postgres_programs_test.cpp ${here}/postgres_retention_test.cpp ${here}/postgres_sql_step_test.cpp
          ${here}/postgres_tables_test.cpp ${here}/postgres_text_test.cpp
  INCLUDE ${PROJECT_SOURCE_DIR}/compensation/src
  LINK atone_fault_proxy PkgConfig::pqxx)
