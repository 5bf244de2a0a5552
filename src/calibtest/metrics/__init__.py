"""Metrics of representation alignment: one file, one metric.

A metric is a frozen dataclass whose fields are its hyper-parameters. It carries its textbook definition
(``define``), its claims (``claims``) and a decomposition (``prepare``, ``form``) that makes its null distribution
cheap: every layer is prepared once, and a relabelling acts on prepared states only. The registry walks this folder,
so adding a metric is adding a file.
"""
