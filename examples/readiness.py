# %% [markdown]
# # Ready to leave intensive care?
#
# A forest was grown to tell which patients were ready to be discharged. For one who is not: what
# stands between them and "ready", in an order that patients really go through? The patients are
# generated (22 features, as in the paper's case study). This is decision support, not advice: it
# says what the *model* would make of a change, not that causing it is possible, or good.
#
# Needs scikit-learn and pandas: `pip install ".[models,frames]"` in a clone of localface.

# %%
from sklearn.ensemble import RandomForestClassifier

from localface import LocalFACE
from localface.cases.readiness import synthetic

cohort = synthetic(seed=0, sizes={"mimic": 2400, "gicu": 600})
patients = cohort.frame()
known, new = patients[:2700], patients[2700:]
model = RandomForestClassifier(60, max_depth=7, random_state=0).fit(known, cohort.ready[:2700])
explainer = LocalFACE(model, known, schema=cohort.schema, min_score=0.75)

# %% [markdown]
# ## What is a patient's own
#
# Age, sex, weight for height and the length of stay are kept as they are, bit for bit, in every
# state. Others need not share them to be an example, but "common" is told among those who are
# alike.

# %%
own = [feature.name for feature in cohort.schema if feature.moves in ("never", "grows")]
print("kept as they are:", ", ".join(own))

# %%
chances = model.predict_proba(new)[:, 1]
patient = new[(chances > 0.2) & (chances < 0.4)].iloc[0]
answer = explainer.explain(patient)
print(answer)

# %% [markdown]
# ## Hold it against what a clinician knows
#
# "The coma score will not rise by that much in a day: by two at the most." Then something else has
# to do as well, or nothing will: the answer says which.

# %%
print(explainer.explain(patient, where={"gcs_min": 2}))

# %% [markdown]
# ## Why not simply ...?
#
# `check` takes a wish and says what speaks against it.

# %%
first = next(iter(answer.actions))
print(explainer.check(patient, dict(first.changes)))

# %% [markdown]
# ## How firm is it?
#
# The share of small deviations, one resolution in each changed feature, that still arrive.

# %%
firm = explainer.robustness(answer, n=500)
low, high = firm.interval
print(
    f"{firm.success:.0%} of small deviations still arrive (95 % interval {low:.0%} to {high:.0%})"
)
