from bank import E, trial

TRIAL = trial(
    id="L4",
    kind="L score tables (CSV)",
    source=["github.com/ansible-collections/community.general issue #544 (key not found, yet it is in the list shown)"],
    fault="A needed column is not there: a bare KeyError: 'score'.",
    right="Error that names the missing column AND lists the columns found.",
)
EXPECT = [
    E(
        "interaction",
        "raises",
        args=dict(
            rows=[{"family": "a", "logp": 1.0, "sim": 0.2}, {"family": "b", "logp": 2.0, "sim": 0.3}],
            score="score",
            family="family",
            x="logp",
        ),
        says=["score", "family", "logp", "sim"],
    )
]
