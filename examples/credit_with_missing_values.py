# %% [markdown]
# # A loan that was refused, in a table with gaps
#
# Twelve columns of mixed kinds: numbers, whole numbers, categories with and without an order. A
# fifth of the applicants did not say what they have saved. Nobody here is real.
#
# Needs scikit-learn and pandas: `pip install ".[models,frames]"` in a clone of localface.

# %%
import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from localface import LocalFACE
from localface.cases.credit import synthetic

credit = synthetic(2000, seed=0)
rng = np.random.default_rng(1)
data = credit.frame()
data["savings"] = data["savings"].mask(rng.random(len(data)) < 0.2)
print(data.head(4).to_string())

# %% [markdown]
# ## The model is your own
#
# A pipeline that takes the frame as it is. Boosted trees read a gap as a gap; nothing is filled
# in.

# %%
words = make_column_transformer(
    (OrdinalEncoder(), ["school", "home", "purpose"]), remainder="passthrough"
)
model = make_pipeline(words, HistGradientBoostingClassifier(max_iter=60, random_state=0))
model = model.fit(data, credit.repaid)

# %% [markdown]
# ## What may change
#
# The schema says it once, for everybody: age only goes up, and at most by two years; what the loan
# is for and past late payments stay as they are. Nobody shall be told to earn less, whatever the
# model makes of it. Where savings are missing, having them stated may help; the answer says so
# without counting on it.

# %%
schema = credit.schema.with_("savings", missing="may be measured").with_("income", moves="up")
print(schema)

# %% [markdown]
# ## Somebody who was refused, and who did not say what they have saved

# %%
explainer = LocalFACE(model, data, schema=schema, min_score=0.6)
chances = model.predict_proba(data)[:, 1]
refused = data[(chances < 0.5) & data["savings"].isna()]
applicant = refused.iloc[0]
answer = explainer.explain(applicant)
print(answer)

# %% [markdown]
# ## They cannot change that
#
# "I have nobody to stand guarantor." `where=` narrows what may change for this call;
# `alternatives` gives several ways that change different features.

# %%
print(explainer.explain(applicant, where={"guarantor": "never"}))

# %%
for number, way in enumerate(explainer.alternatives(applicant, n=3), start=1):
    changes = {name: value for action in way.actions for name, value in action.changes.items()}
    print(f"way {number}, to score {way.actions[-1].score:.2f}: {changes}")
