# %% [markdown]
# # What are another tool's counterfactuals worth?
#
# DiCE is asked for a counterfactual for each of some refused applicants. `audit` says of each:
# does the model agree, may the person go there, is anybody like that, and is there a way?
#
# Needs DiCE, scikit-learn and pandas: `pip install ".[peers]"` in a clone of localface.

# %%
import sys

from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from localface import LocalFACE
from localface.cases.credit import synthetic
from localface.evaluation.baselines import Task
from localface.evaluation.baselines.peers import DiCE, available

if available()["dice-ml"] is None:
    print("skipped: dice-ml is not installed")
    sys.exit()

# %% [markdown]
# ## The same question to both
#
# DiCE gets the same table, the same model and the same limits: what never moves is left out of
# what it may vary, bounds are its permitted ranges.

# %%
credit = synthetic(1500, seed=0)
data = credit.frame()
words = make_column_transformer(
    (OrdinalEncoder(), ["school", "home", "purpose"]), remainder="passthrough"
)
model = make_pipeline(words, HistGradientBoostingClassifier(max_iter=50, random_state=0))
model = model.fit(data, credit.repaid)
explainer = LocalFACE(model, data, schema=credit.schema)
refused = data[model.predict_proba(data)[:, 1] < 0.5].iloc[:8]

dice = DiCE(Task.of(model, data, schema=credit.schema), method="random")
proposals = [dice.explain(person).counterfactual for _, person in refused.iterrows()]

# %%
audit = explainer.audit(refused, proposals, progress=False)
print(audit)

# %% [markdown]
# ## One of them in full

# %%
print(audit[0])

# %% [markdown]
# ## And LocalFACE's own answers to the same people, through the same audit

# %%
own = explainer.explain_many(refused, progress=False)
print(explainer.audit(refused, own.ends, progress=False))
print("features that our plans change:", [len(one.actions) for one in own])
