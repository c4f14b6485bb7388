# %% [markdown]
# # A promise, and the model is retrained
#
# In spring, applicants are told what to do. They start. In autumn the bank retrains its model.
# Which of the promises still hold, what is left to do, and what would it cost the bank to keep its
# word? The people are invented.
#
# Needs scikit-learn and pandas: `pip install ".[models,frames]"` in a clone of localface.

# %%
import tempfile

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from localface import LocalFACE, Promises, Schema


def applicants(n, seed):
    """Some who apply, and who of them repaid."""
    rng = np.random.default_rng(seed)
    income = rng.normal(32, 8, n).clip(12).round(1)
    debt = (0.4 * income * rng.beta(2, 3, n)).round(1)
    table = pd.DataFrame({"income": income, "debt": debt, "savings": rng.gamma(2, 3, n).round(1)})
    good = income - 2.2 * debt + 0.6 * table["savings"] + rng.normal(0, 4, n) > 22
    return table, good


# %% [markdown]
# ## Spring: answers are given, and written down

# %%
data, repaid = applicants(800, seed=0)
schema = Schema.infer(data)
for name in schema.names:
    schema = schema.with_(name, unit="k", resolution=0.1)
spring = LogisticRegression(max_iter=1000).fit(data, repaid)
explainer = LocalFACE(spring, data, schema=schema, target=True)
refused = data[~spring.predict(data)].iloc[:25]
answers = explainer.explain_many(refused, progress=False)

promises = Promises.open(tempfile.mkdtemp())
for reference, answer in zip(refused.index, answers, strict=True):
    if answer.found:
        explainer.promise(answer, to=promises, person=reference)
print(f"{len(promises)} promises; their head, to be kept elsewhere: {promises.head[:16]}...")
print(promises[0].recourse)

# %% [markdown]
# ## Autumn: a stricter model, and people half way there

# %%
later, repaid = applicants(800, seed=7)
autumn = LogisticRegression(max_iter=1000).fit(later, repaid & (later["debt"] < 9))
today = LocalFACE(autumn, later, schema=schema, target=True)
halfway = {
    str(one.person): (data.loc[int(one.person)] + one.recourse.end) / 2  # all of it, half done
    for one in promises
}
found = today.recheck(promises, halfway, show_progress=False)
print(found)

# %% [markdown]
# ## One person
#
# What is done of the plan, what is left, and the cheapest way on from where they stand.

# %%
print(found[0])

# %% [markdown]
# ## Could that have been foreseen?
#
# With the outcomes at hand (`y=`) an answer says how likely the same model, fitted again on people
# like these, agrees with it; `lasting=0.95` asks for one with which it will. What no such figure
# covers is what happened here: in autumn other outcomes were called good. A promise is what holds
# the owner of a model to its word then.

# %%
data, repaid = applicants(800, seed=0)
careful = LocalFACE(spring, data, schema=schema, target=True, y=repaid)
print(careful.explain(refused.iloc[0], lasting=0.95))
