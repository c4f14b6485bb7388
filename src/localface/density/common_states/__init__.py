"""How common a state is among comparable people, from three questions.

1. Joint density: is the whole state near rows? Gaussian kernels, in a linear map of the points
   in which correlated features count as what they are.
2. Rarest pair: does every pair of features occur? Tables of counts; the rarest pair has a name.
3. Weighted pairs: do the features go together? A weighted sum over the same tables.

All three are measured leaving each person out, compared with people who are alike in what cannot
change, and combined so that a floor of 5 % refuses 5 % of new people.
"""

from localface.density.common_states.fit import fit_common_states
from localface.density.common_states.model import CommonStates

__all__ = ["CommonStates", "fit_common_states"]
