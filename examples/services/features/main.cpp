#include "features.hpp"

int main(int count, char** arguments) {
  return kit::run_service(features::define(), {arguments + 1, arguments + count});
}
