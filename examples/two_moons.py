# %% [markdown]
# # Two moons: the smallest world in which there is something to see
#
# Two crescents of people in the plane; the model accepts those on the lower one. Somebody stands
# at the far end of the upper one. The straight way across leads over places where hardly anybody
# is, so that nobody can say whether they can be passed. LocalFACE keeps to where people are.
#
# Needs matplotlib for the picture: `pip install ".[plots]"` in a clone of localface.

# %%
from localface import LocalFACE
from localface.cases.moons import two_moons

moons = two_moons(500, noise=0.12, seed=2)
explainer = LocalFACE(moons.model, moons.data)
print(f"the model gives this person {explainer.score(moons.person):.2f}; 0.5 is wanted")

# %% [markdown]
# ## The answer
#
# Actions are what to do, in order. Each says which score is reached, and how common the state is
# that it leads to. Here both coordinates have to move together, twice.

# %%
answer = explainer.explain(moons.person)
print(answer)

# %% [markdown]
# ## The path beside it
#
# The path leads through people of the table. Every place on every step is proven to be at least as
# common as the floor: as 1 in 20 people's, unless you say otherwise.

# %%
for step, certificate in enumerate(answer.certificates, start=1):
    print(f"step {step}: {certificate.sentence}")
print(f"{answer.disclosure.rows} of {len(moons.data)} people were looked at")

# %%
figure = answer.plot()

# %% [markdown]
# ## And in one straight step?
#
# `check` takes what somebody wishes for instead. Here: the end of the path, at one go.

# %%
print(explainer.check(moons.person, dict(zip(("x0", "x1"), answer.end, strict=True))))

# %% [markdown]
# ## Where the moons do not touch
#
# With other people in the table there may be no way. A no is an answer: it has its reason, and
# says what would open one. `relax=True` takes the way whose least common place is as common as can
# be.

# %%
apart = two_moons(1000, noise=0.12, seed=3)
other = LocalFACE(apart.model, apart.data)
print(other.explain(apart.person))

# %%
print(other.explain(apart.person, relax=True))
