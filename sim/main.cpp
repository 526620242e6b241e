#include "sim/cli.hpp"

int main(int argc, char** argv) { return halfopen::sim::run_cli(argc, argv); }
