#include "orders.hpp"

int main(int count, char** arguments) {
  return kit::run_service(orders::define(), {arguments + 1, arguments + count});
}
