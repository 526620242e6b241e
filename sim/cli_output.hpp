// Where the commands write: data to standard output or a file that appears whole or not at all, talk to
// standard error.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/text_layout.hpp"

namespace halfopen::sim {

// Once, before anything is opened: closed standard streams are occupied, so that no file of ours takes their
// place; a reader that leaves becomes an error code instead of a signal; an interrupt leaves no half-written
// file.
void prepare_process();

// A sentence to standard error, with a line end.
void say(std::string_view text);

// The exit status: 0, or 2 after saying why. A reader that has left (`| head`) wanted no more: that is no
// error, and what follows is dropped.
int write_stdout(std::string_view text);

// Replaces the file in one step: everything goes to a temporary file beside it, which is then renamed. A
// target that is no regular file (a pipe, /dev/null) is written to directly. Exit status as above.
int write_file(const std::string& path, std::string_view text);

// Why `path` can't be written to, asked before a long run instead of after it.
std::optional<std::string> why_not_writable(const std::string& path);

// Colour only for a terminal that has some, and only while NO_COLOR is unset or empty.
bool stdout_wants_colour();

// The whole file, or none.
std::optional<std::string> read_whole_file(const std::string& path);

}  // namespace halfopen::sim
