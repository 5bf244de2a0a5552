"""Results, told: as text, as a table, as a JSON document and as a figure.

Nothing is computed here. ``words`` holds the sentences that every report shares, so that the text, the figure and the
command line say the same thing; ``draw`` alone imports matplotlib.
"""
