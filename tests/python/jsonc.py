"""JSON with comments, as scenarios are written, for tests that look at the files themselves."""

import json
import re

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.S)


def loads(text):
    """The value; comments may stand wherever a blank may."""
    return json.loads(_TOKEN.sub(lambda found: found[0] if found[0].startswith('"') else " ", text))
