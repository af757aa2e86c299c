// SPDX-License-Identifier: MIT
// Sums of points of secp256k1 over BN254's scalar field. `HiddenSigner` puts these templates together.
//
// Numbers modulo p = 2^256 - 2^32 - 977 are polynomials in X = 2^32 with integer coefficients that may be negative, larger than
// X, and stand for a multiple of p too much: only their value at X modulo p has a meaning. Coefficients are field elements,
// read as the integer next to zero. Each stays below 2^130 in absolute value (bounds below), so sums and products of
// coefficients mean the same in the field and in the integers. X^8 = X + 977 modulo p folds high coefficients into low ones.
//
// A product of two polynomials of degree 7 costs 15 rows: the prover supplies the 15 coefficients of the result, and both sides
// are compared at 15 points. Two polynomials of degree 14 over a field that agree at 15 points are equal.
pragma circom 2.2.0;

// Point `s` of the evaluation of polynomials: 0, 1, -1, 2, -2 ... 6, -6, 7. The 15th point is infinity, where the value is the
// leading coefficient.
function evaluationPoint(s) {
    return s % 2 == 1 ? (s + 1) \ 2 : 0 - s \ 2;
}

// Largest absolute value of coefficient i of x_k, where x_0 has coefficients in 0 .. 2^32 - 1 and
// x_{k+1} = lambda_k^2 - x_k - t_k (template NextX):
//   lambda_k  coefficients in -2^31 .. 2^31 - 1, so coefficient j of its square is a sum of min(j, 14 - j) + 1 products of at
//             most 2^62; folded, coefficient i is c_i + 977 c_{8+i} + c_{7+i} (the last for i > 0)
//   t_k       coefficients in 0 .. 2^64 - 1 at even i, 0 at odd i
function boundOfX(i, k) {
    var products = i + 1;
    if (i < 7) {
        products = products + 977 * (7 - i);
    }
    if (i > 0) {
        products = products + 8 - i;
    }
    var chord = i % 2 == 0 ? 1 << 64 : 0;
    return (1 << 32) + k * (products * (1 << 62) + chord);
}

// Largest absolute value of coefficient j of lambda * (t - x_k) (template Chord).
function boundOfChord(j, k) {
    var bound = 0;
    for (var i = 0; i < 8; i++) {
        if (j - i >= 0 && j - i < 8) {
            bound = bound + (1 << 31) * (boundOfX(i, k) + (i % 2 == 0 ? 1 << 64 : 0));
        }
    }
    return bound;
}

// Theorem: next = lambda^2 - x - t modulo p: x of the sum, if lambda is the slope of the chord through points with x and t.
//
// INPUT   lambda[8], x[8]   coefficients
//         t[4]              coefficients at X^0, X^2, X^4, X^6
// OUTPUT  next[8]           coefficients; no range check and no reduction: their size follows from the inputs' (boundOfX)
//
// 15 rows: lambda^2 = (next + x + t) + (sum of high_j X^j) * (X^8 - X - 977) as polynomials. The 15 unknown coefficients are
// determined by the square: high_j is its coefficient 8 + j.
template NextX() {
    signal input lambda[8];
    signal input x[8];
    signal input t[4];
    signal output next[8];
    signal high[7];

    var square[15];
    for (var j = 0; j < 15; j++) {
        square[j] = 0;
    }
    for (var i = 0; i < 8; i++) {
        for (var j = 0; j < 8; j++) {
            square[i + j] = square[i + j] + lambda[i] * lambda[j];
        }
    }
    for (var j = 0; j < 7; j++) {
        high[j] <-- square[8 + j];
    }
    for (var i = 0; i < 8; i++) {
        var folded = square[i] - x[i];
        if (i < 7) {
            folded = folded + 977 * square[8 + i];
        }
        if (i > 0) {
            folded = folded + square[7 + i];
        }
        if (i % 2 == 0) {
            folded = folded - t[i \ 2];
        }
        next[i] <-- folded;
    }

    for (var s = 0; s < 14; s++) {
        var point = evaluationPoint(s);
        var power = point * point * point * point * point * point * point * point;
        var root = 0;
        var value = 0;
        for (var i = 7; i >= 0; i--) {
            root = root * point + lambda[i];
            value = value * point + next[i] + x[i] + (i % 2 == 0 ? t[i \ 2] : 0);
        }
        var quotient = 0;
        for (var j = 6; j >= 0; j--) {
            quotient = quotient * point + high[j];
        }
        root * root === value + (power - point - 977) * quotient;
    }
    lambda[7] * lambda[7] === high[6];
}

// Theorem: product = lambda * (t - x) as polynomials: the height of the point with t above the one with x, if lambda is the
// slope of the chord through them.
//
// INPUT   lambda[8], x[8]   coefficients
//         t[4]              coefficients at X^0, X^2, X^4, X^6
// OUTPUT  product[15]       coefficients, not folded (boundOfChord)
template Chord() {
    signal input lambda[8];
    signal input t[4];
    signal input x[8];
    signal output product[15];

    var coefficients[15];
    for (var j = 0; j < 15; j++) {
        coefficients[j] = 0;
    }
    for (var i = 0; i < 8; i++) {
        for (var j = 0; j < 8; j++) {
            coefficients[i + j] = coefficients[i + j] + lambda[i] * ((j % 2 == 0 ? t[j \ 2] : 0) - x[j]);
        }
    }
    for (var j = 0; j < 15; j++) {
        product[j] <-- coefficients[j];
    }

    for (var s = 0; s < 14; s++) {
        var point = evaluationPoint(s);
        var left = 0;
        var right = 0;
        var value = 0;
        for (var i = 7; i >= 0; i--) {
            left = left * point + lambda[i];
            right = right * point - x[i] + (i % 2 == 0 ? t[i \ 2] : 0);
        }
        for (var j = 14; j >= 0; j--) {
            value = value * point + product[j];
        }
        left * right === value;
    }
    lambda[7] * (0 - x[7]) === product[14];
}
