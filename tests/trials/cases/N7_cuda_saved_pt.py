from bank import E, trial

TRIAL = trial(
    id="N7",
    kind="N files, safety, memory",
    auto=False,
    needs=["torch"],
    source=["github.com/uzh-rpg/rpg_e2vid issue #15", "github.com/hkchengrex/Cutie issue #37"],
    fault="Activations saved from a GPU are opened on a laptop: 'Attempting to deserialize object on a CUDA device'.",
    right=(
        "Always opened with map_location='cpu': a file whose tensors say that they live on a GPU opens on a machine "
        "without one, with the same values."
    ),
)
EXPECT = [E("script", "script")]
