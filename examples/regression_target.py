# %% [markdown]
# # A number instead of a class: bring the forecast below a limit
#
# A regressor forecasts the yearly heating demand of houses, in kWh for each square metre. A house
# is over the limit of a grant. Which works bring it below, and in which order? The houses are
# invented.
#
# Needs scikit-learn and pandas: `pip install ".[models,frames]"` in a clone of localface.

# %%
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

from localface import Feature, LocalFACE, Schema

rng = np.random.default_rng(0)
n = 1500
built = rng.integers(1920, 2020, n)
modern = (built - 1920) / 100
walls = np.clip(1.6 - 1.2 * modern + rng.normal(0, 0.2, n), 0.15, 2).round(2)
windows = np.clip(3.2 - 2.0 * modern + rng.normal(0, 0.4, n), 0.8, 5).round(1)
roof = np.clip(4 + 20 * modern + rng.normal(0, 5, n), 0, 40).round()
boiler = np.clip(rng.normal(14, 7, n), 0, 40).round()
houses = pd.DataFrame(
    {"built": built, "walls": walls, "windows": windows, "roof": roof, "boiler": boiler}
)
demand = 45 + 60 * walls + 22 * windows - 1.4 * roof + 1.1 * boiler + rng.normal(0, 8, n)
model = HistGradientBoostingRegressor(max_iter=120, random_state=0).fit(houses, demand)

# %% [markdown]
# ## What can be done to a house
#
# Insulation only gets better, a boiler only younger, and nobody changes when a house was built.

# %%
schema = Schema(
    [
        Feature("built", kind="integer", moves="never"),
        Feature("walls", unit="W/m2K", moves="down", bounds=(0.15, None), resolution=0.05),
        Feature("windows", unit="W/m2K", moves="down", bounds=(0.8, None), resolution=0.1),
        Feature("roof", unit="cm of insulation", kind="integer", moves="up", bounds=(0, 40)),
        Feature("boiler", unit="years old", kind="integer", moves="down", bounds=(0, None)),
    ]
)
explainer = LocalFACE(
    model, houses, schema=schema, target="at most", min_score=110, each_row="house"
)
house = {"built": 1978, "walls": 0.95, "windows": 2.2, "roof": 12, "boiler": 18}
print(f"today: {explainer.score(house):.0f} kWh/m2; the grant asks for at most 110")

# %%
answer = explainer.explain(house)
print(answer)

# %% [markdown]
# ## The owner's purse
#
# The walls have to wait, and nothing else will do as well: then how far does one get without them?
# `best_effort=True` goes as far as possible, and says so first.

# %%
print(explainer.explain(house, avoid=["walls"], best_effort=True))

# %% [markdown]
# ## A range
#
# A forecast within a range instead of below a limit is `target=(low, high)`.

# %%
between = explainer.explain(house, target=(110, 125))
print(f"with a demand between 110 and 125: {between.actions[-1].score:.0f} kWh/m2")
for action in between.actions:
    print(f"  {dict(action.changes)}")
