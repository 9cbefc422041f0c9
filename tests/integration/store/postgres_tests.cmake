# What only PostgreSQL can have. The suite that all stores pass is beside this file.
if(ATONE_HAS_POSTGRESQL)
  if(NOT TARGET atone_test_postgres_server)
    add_subdirectory(${PROJECT_SOURCE_DIR}/tests/support ${PROJECT_BINARY_DIR}/tests/support)
  endif()
  atone_test(store_postgres_test
    SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/postgres_commit_test.cpp
    LINK atone::compensation atone_test_postgres_server PkgConfig::pqxx
    LABELS postgres)
  target_include_directories(store_postgres_test PRIVATE ${PROJECT_SOURCE_DIR}/compensation/src)
endif()
