"""Preparation: pure functions from a matrix of activations to the state that a form compares.

Everything a metric does to one representation alone happens here, once a layer: scaling, centring, kernels,
distances, ranks, neighbour lists. States are frozen; a relabelling never changes them.
"""
