"""What can be chosen: ``Search`` and ``Options`` once per explainer, an ``Ask`` with every call.

Each option is named, documented and checked here, once. The methods of ``LocalFACE``, the
command line, the service and the batch workers take their options from the fields of these
classes: adding one is one edit.
"""

from localface.options.ask import Ask, AskAlternatives, AskCheck, AskMany, accepted_options
from localface.options.keywords import takes_options_of
from localface.options.search import Options, Search

__all__ = [
    "Ask",
    "AskAlternatives",
    "AskCheck",
    "AskMany",
    "Options",
    "Search",
    "accepted_options",
    "takes_options_of",
]
