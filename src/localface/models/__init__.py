"""A score from anything that predicts: fitted estimators, pipelines, callables, model files."""
