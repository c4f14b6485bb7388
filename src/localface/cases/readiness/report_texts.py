"""The longer texts of the report."""

ASKED = (
    "The forest calls someone ready from a score of 0.5. Whoever it calls ready wrongly, a false "
    "positive, is asked what would make it say not ready. Everyone else is asked for a way to a "
    "score of 0.75, the paper's mark of high certainty; those who have it are there already. Age, "
    "sex, body mass index and the length of stay are the patient's own, and stay as they are "
    "(the paper lets age vary by 25 years and the stay by 11.7 days); no state on a way is more "
    "unusual than those of the rarest 5 % of patients (whose own is rarer takes an entry step "
    "first, which is marked)."
)
RELAXED = (
    "As asked: with these constraints and this floor. Relaxed: where there is no such way, the "
    "floor is lowered, or a constraint widened, by as little as opens one, and the answer says by "
    "how much. The paper reports that a way was always found; its published code lowers the floor "
    "without saying so."
)
CAVEATS = (
    "Decision support, not advice: nothing here says what to do for a patient.",
    (
        "Correlational: a way shows which other patients the forest would score differently, not "
        "what would happen if someone were made to resemble them. What nobody can change (age, "
        "sex, the length of stay) is the same in every state of an answer."
    ),
    "The label is what happened after a decision to discharge, so it carries that decision in it.",
    (
        "A floor says how common a state is among the training rows. Relaxed means that it was "
        "lowered, or that a constraint was widened, by as little as opens a way; such answers are "
        "marked, and deserve less trust."
    ),
    (
        "Every state on a path takes its values from training rows: an answer reveals something of "
        "other people, which is why the share of rows seen is reported."
    ),
)
