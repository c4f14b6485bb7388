# %% [markdown]
# # Your own idea of what is common
#
# "Common" is told by a kernel density that is fitted to your rows, and what is called proven is
# proven for it. If you know better, a normalising flow, a mixture, a formula, give it as
# `density=`: a function from records to densities, or a fitted estimator with `score_samples`.
#
# Needs scikit-learn: `pip install ".[models]"` in a clone of localface.

# %%
import numpy as np
from sklearn.mixture import GaussianMixture

from localface import LocalFACE
from localface.cases.moons import two_moons

moons = two_moons(600, noise=0.2, seed=0)
usual = LocalFACE(moons.model, moons.data)

# %% [markdown]
# ## A mixture of Gaussians

# %%
mixture = GaussianMixture(8, random_state=0).fit(moons.data)
smooth = LocalFACE(moons.model, moons.data, density=mixture)
answer = smooth.explain(moons.person)
print(answer)

# %% [markdown]
# A density of your own is sampled along every step: nothing is known of it in between, so the
# answer says "sampled, not proven". The one that is fitted for you is proven on the whole of every
# step.

# %%
for name, one in (("built in", usual.explain(moons.person)), ("mixture", answer)):
    print(f"{name:9} length {one.cost:.2f}; first step: {one.certificates[0].sentence}")

# %% [markdown]
# ## A formula: keep away from a place
#
# A road is closed on the way across. Whatever lies within 0.2 of it shall count as a thousand
# times less common, and the way leads round it.


# %%
def open_roads(points):
    """How common a place is, and hardly so near the closed road."""
    density = np.exp(mixture.score_samples(points))
    closed = np.hypot(points[:, 0] + 0.5, points[:, 1] - 0.4) < 0.2
    return np.where(closed, density / 1000, density)


detour = LocalFACE(moons.model, moons.data, density=open_roads)
around = detour.explain(moons.person)
print(around)
print(f"the way is {around.cost / answer.cost:.1f} times as long as before")
