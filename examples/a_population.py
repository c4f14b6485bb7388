# %% [markdown]
# # Everybody who was refused: what holds a population back?
#
# One plan helps one person. All plans together tell what keeps people out, whom there is no way
# for, and what the nearest changes cost. Nobody can save more than 1,500 until the next
# application. The applicants are generated.
#
# Needs scikit-learn and pandas: `pip install ".[models,frames]"` in a clone of localface.

# %%
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from localface import LocalFACE
from localface.cases.credit import synthetic

credit = synthetic(2000, seed=0)
data = credit.frame()
words = make_column_transformer(
    (OrdinalEncoder(), ["school", "home", "purpose"]), remainder="passthrough"
)
model = make_pipeline(words, HistGradientBoostingClassifier(max_iter=50, random_state=0))
model = model.fit(data, credit.repaid)
schema = credit.schema.with_("income", moves="up").with_("savings", moves="up", within=1500)
explainer = LocalFACE(model, data, schema=schema, min_score=0.6)

# %% [markdown]
# ## All at once
#
# The searches advance together, with one model call a round for all of them; each answer is the
# one that `explain` would give alone. `n_jobs=` shares them among processes.

# %%
refused = data[model.predict_proba(data)[:, 1] < 0.5].iloc[:60]
answers = explainer.explain_many(refused, progress=False)
print(answers)

# %% [markdown]
# ## What changes most often

# %%
print(answers.summary().query("people > 0").round(2).to_string(index=False))

# %% [markdown]
# ## Who has the longest way?
#
# One line a person, with the labels of their rows, to be joined with whatever else you know of
# them. What a plan costs is counted in standard deviations of change.

# %%
table = refused.join(answers.to_frame())
burden = (
    table.query("n_actions > 0")
    .groupby("home", observed=True)["action_cost"]
    .agg(["count", "median", "max"])
)
print(burden.round(2).to_string())

# %% [markdown]
# ## Nobody is left with a bare no

# %%
without = [answer for answer in answers if not answer.found]
print(f"{len(without)} of {len(answers)} people have no way at this floor")
for answer in without[:2]:
    print(answer)
