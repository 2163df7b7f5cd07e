// SPDX-License-Identifier: Apache-2.0
// The least that a program with iostream costs; what start-up is compared with.
#include <iostream>

int main() {
  std::cout << "";
}
