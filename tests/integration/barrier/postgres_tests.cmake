# The suite of all participants' databases on PostgreSQL at its three isolation levels, and what only PostgreSQL can have.
if(NOT ATONE_HAS_POSTGRESQL)
  return()
endif()
if(NOT TARGET atone_test_postgres_server)
  add_subdirectory(${PROJECT_SOURCE_DIR}/tests/support ${PROJECT_BINARY_DIR}/tests/support)
endif()
set(here ${CMAKE_CURRENT_LIST_DIR})
atone_postgres_test(barrier_suite_postgres SANITIZED
  SOURCES ${here}/barrier_order_test.cpp ${here}/barrier_reports_test.cpp ${here}/barrier_session_test.cpp ${here}/barrier_tcc_test.cpp
          ${here}/postgres_suite_factory.cpp)
atone_postgres_test(barrier_postgres_test SANITIZED
  SOURCES ${here}/postgres_barrier_test.cpp ${here}/postgres_barrier_sql_test.cpp
  LINK atone_fault_proxy PkgConfig::pqxx)
