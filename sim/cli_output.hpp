// Where the commands write: data to standard output or a file that appears whole or not at all, talk to
// standard error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/interrupts.hpp"
#include "sim/text_layout.hpp"

namespace halfopen::sim {

// Once, before anything is opened: closed standard streams are occupied, so that no file of ours takes their
// place; a reader that leaves becomes an error code instead of a signal; an interrupt (128 + its number is
// the exit status) leaves no half-written file.
void prepare_process();

// A sentence to standard error, with a line end.
void say(std::string_view text);

// The exit status: 0, or 2 after saying why. A reader that has left (`| head`) wanted no more: that is no
// error, and what follows is dropped.
int write_stdout(std::string_view text);

// Whether a write has met that, for commands that would otherwise work on without an end in sight.
bool stdout_reader_left();

// Whether the name that a command was given for its output, empty where none was, is standard output.
inline bool names_stdout(std::string_view output) { return output.empty() || output == "-"; }

// One line at the end of standard error, for a terminal: shown in place of the one before it, and taken away
// before anything else is written and by an interrupt. From any thread. `line` must fit the terminal.
void show_status_line(std::string_view line);
void clear_status_line();

// How wide a status line may be; 0 where standard error is no terminal, or one that can't take a line back.
std::size_t status_line_width();

// Replaces the file in one step: everything goes to a temporary file beside it, which is then renamed. A
// target that is no regular file (a pipe, /dev/null) is written to directly, and so is one that names a
// stream of ours (/dev/stdout, /dev/fd/3), where it goes on after what is there. Exit status as above. From
// the first thread only.
int write_file(const std::string& path, std::string_view text);

// Why `path` can't be written to, asked before a long run instead of after it.
std::optional<std::string> why_not_writable(const std::string& path);

// The same for the output of a command that reads `inputs`, none of which it may overwrite. Empty or "-" is
// standard output.
std::optional<std::string> output_problem(std::string_view option, const std::string& output,
                                          const std::vector<std::string>& inputs);

// Colour only for a terminal that has some, and only while NO_COLOR is unset or empty.
bool stdout_wants_colour();

// Why the file `path` can't be read, as the system says it. It is not opened.
std::optional<std::string> why_not_readable(const std::string& path);

// The whole file, or none.
std::optional<std::string> read_whole_file(const std::string& path);

}  // namespace halfopen::sim
