#include "profiles.hpp"

int main(int count, char** arguments) {
  return kit::run_service(profiles::define(), {arguments + 1, arguments + count});
}
