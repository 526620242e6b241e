// The reference of the scenario language as Markdown, made from the tables that readers and schemas are held
// to: every key with its type, range, default and meaning, and one change to scenarios/reference.json that
// shows it at work. scenarios/REFERENCE.md is this text; a test keeps it so and runs every example.
#pragma once

#include <string>

namespace halfopen::sim {

std::string scenario_reference();

}  // namespace halfopen::sim
