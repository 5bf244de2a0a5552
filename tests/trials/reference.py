"""Slow, plain reference formulas of the trials, in float64 with numpy and scipy alone."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy import stats
from scipy.spatial.distance import cdist


def f64(X):
    X = np.array(X, dtype=np.float64)  # copies: never touches the caller's array
    return X


def unit(X):
    """Centre, then divide by the largest absolute value (guards over- and underflow)."""
    X = f64(X)
    s0 = np.abs(X).max()
    if s0 > 0:
        X = X / s0
    X = X - X.mean(0)
    s = np.abs(X).max()
    return X / s if s > 0 else X


def cka(X, Y):
    X, Y = unit(X), unit(Y)
    if X.shape[1] <= X.shape[0] and Y.shape[1] <= Y.shape[0]:
        num = np.linalg.norm(X.T @ Y) ** 2
        den = np.linalg.norm(X.T @ X) * np.linalg.norm(Y.T @ Y)
    else:
        K, L = X @ X.T, Y @ Y.T
        num, den = (K * L).sum(), np.linalg.norm(K) * np.linalg.norm(L)
    return float(min(num / den, 1.0))


def ucenter(K):
    n = len(K)
    K = K.copy()
    np.fill_diagonal(K, 0.0)
    r = K.sum(1)
    A = K - r[:, None] / (n - 2) - r[None, :] / (n - 2) + K.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(A, 0.0)
    return A


def hsic_u(K, L):
    n = len(K)
    return float((ucenter(K) * ucenter(L)).sum() / (n * (n - 3)))


def cka_debiased(X, Y):
    X, Y = unit(X), unit(Y)
    K, L = X @ X.T, Y @ Y.T
    return hsic_u(K, L) / math.sqrt(hsic_u(K, K) * hsic_u(L, L))


def median_bandwidth(X):
    D = cdist(f64(X), f64(X))
    d = D[np.triu_indices(len(D), 1)]
    return float(np.median(d[d > 0]))


def rbf(X, sigma):
    D = cdist(f64(X), f64(X))
    return np.exp(-(D**2) / (2 * sigma**2))


def cka_kernel(K, L):
    n = len(K)
    H = np.eye(n) - 1 / n
    K, L = H @ K @ H, H @ L @ H
    return float((K * L).sum() / (np.linalg.norm(K) * np.linalg.norm(L)))


def cka_rbf(X, Y):
    return cka_kernel(rbf(X, median_bandwidth(X)), rbf(Y, median_bandwidth(Y)))


def dist(X, kind):
    X = f64(X)
    if kind == "cosine":
        U = X / np.linalg.norm(X, axis=1, keepdims=True)
        return np.clip(1 - U @ U.T, 0, None)
    if kind == "correlation":
        return dist(X - X.mean(1, keepdims=True), "cosine")
    return cdist(X, X)


def knn_mask(X, k, kind="cosine"):
    """Fractional membership: ties at the k-th distance share the remaining places equally,
    so the result does not depend on the order of the items.  Self is left out by index."""
    D = dist(X, kind)
    n = len(D)
    M = np.zeros((n, n))
    for i in range(n):
        d = D[i].copy()
        d[i] = np.inf
        kth = np.sort(d)[k - 1]
        tol = 1e-12 * max(1.0, abs(kth))
        sure = d < kth - tol
        tie = (np.abs(d - kth) <= tol) & ~sure
        tie[i] = sure[i] = False
        M[i, sure] = 1.0
        M[i, tie] = (k - sure.sum()) / tie.sum()
    return M


def mutual_knn(X, Y, k, kind="cosine"):
    A, B = knn_mask(X, k, kind), knn_mask(Y, k, kind)
    return float(np.minimum(A, B).sum() / (k * len(A)))


def rdm(X, kind="correlation"):
    D = dist(X, kind)
    return D[np.triu_indices(len(D), 1)]


def rsa(X, Y, kind="correlation", compare="spearman"):
    a, b = rdm(X, kind), rdm(Y, kind)
    f = stats.spearmanr if compare == "spearman" else stats.pearsonr
    return float(f(a, b)[0])


def basis(X, rtol=1e-6):
    """Orthonormal basis of the centred column space; columns that are constant are left out."""
    X = f64(X)
    keep = np.ptp(X, axis=0) > 0
    X = X[:, keep]
    X = X - X.mean(0)
    X = X / np.linalg.norm(X, axis=0)
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    return U[:, s > rtol * s[0]]


def cca_corrs(X, Y):
    s = np.linalg.svd(basis(X).T @ basis(Y), compute_uv=False)
    return np.clip(s, 0, 1)


def cca(X, Y):
    return float(cca_corrs(X, Y).mean())


def svd_keep(X, var):
    X = f64(X)
    X = X - X.mean(0)
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    c = np.cumsum(s**2) / (s**2).sum()
    m = int(np.searchsorted(c, var - 1e-12) + 1)
    return U[:, :m] * s[:m]


def svcca(X, Y, var=0.99):
    return cca(svd_keep(X, var), svd_keep(Y, var))


def pwcca(X, Y):
    """Weights from the FIRST argument."""
    Qx, Qy = basis(X), basis(Y)
    U, s, _ = np.linalg.svd(Qx.T @ Qy, full_matrices=False)
    H = Qx @ U
    Xc = f64(X) - f64(X).mean(0)
    w = np.abs(H.T @ Xc).sum(1)
    return float((np.clip(s, 0, 1) * w).sum() / w.sum())


def procrustes(X, Y):
    """Similarity in [0, 1]: nuclear norm of the cross product of unit-norm centred matrices.
    Different widths need no padding (padding with zeros does not change it)."""
    X, Y = unit(X), unit(Y)
    X, Y = X / np.linalg.norm(X), Y / np.linalg.norm(Y)
    return float(min(np.linalg.svd(X.T @ Y, compute_uv=False).sum(), 1.0))


def p_addone(obs, null, tail="greater"):
    null = np.asarray(null, float)
    if not np.isfinite(obs) or not np.isfinite(null).all():
        return float("nan")
    tol = 1e-9 * max(1.0, abs(obs))
    hits = (null >= obs - tol) if tail == "greater" else (null <= obs + tol)
    return float((hits.sum() + 1) / (len(null) + 1))


def exact_p(stat, X, Y):
    X, Y = np.asarray(X), np.asarray(Y)
    obs = stat(X, Y)
    c = t = 0
    for p in itertools.permutations(range(len(X))):
        t += 1
        c += stat(X, Y[list(p)]) >= obs - 1e-9 * max(1, abs(obs))
    return c / t


def sign_p(pos, neg):
    n = pos + neg
    return 1.0 if n == 0 else float(min(1.0, 2 * stats.binom.cdf(min(pos, neg), n, 0.5)))


def ridge_r2(X, Y, alpha, folds):
    """Mean over targets of pooled out-of-fold R^2; `folds` = list of test-index arrays."""
    X, Y = f64(X), f64(Y)
    P = np.empty_like(Y)
    B = np.empty_like(Y)
    for te in folds:
        tr = np.setdiff1d(np.arange(len(X)), te)
        mx, my = X[tr].mean(0), Y[tr].mean(0)
        A = X[tr] - mx
        W = np.linalg.solve(A.T @ A + alpha * np.eye(A.shape[1]), A.T @ (Y[tr] - my))
        P[te] = (X[te] - mx) @ W + my
        B[te] = my
    return float((1 - ((Y - P) ** 2).sum(0) / ((Y - B) ** 2).sum(0)).mean())
