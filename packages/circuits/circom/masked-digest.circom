// SPDX-License-Identifier: MIT
pragma circom 2.2.0;

include "secp256k1-hints.circom";
include "secp256k1-zero.circom";

// 2^(32 exponent) modulo n, exponent >= 8, as four limbs of 64 bits
function powerModN(exponent) {
    var power[4] = secp256k1OrderComplement();
    for (var i = 8; i < exponent; i++) {
        for (var j = 0; j < 4; j++) {
            power[j] = power[j] * (1 << 32);
        }
        power = reduceLimbs(power, secp256k1Order(), secp256k1OrderComplement());
    }
    return power;
}

// Theorem: masked + scalar * mask = digest modulo n, the order of secp256k1.
//
// INPUT   digest                  integer in 0 .. r - 1
//         digestLow               its low 128 bits
//         maskedLo, maskedHi      halves of `masked`, integers below 2^128
//         scalar[8]               limbs of 32 bits, integers below 2^32
//         mask[n]                 limbs of 33 bits in radix 2^32: integers below 2^32 + 2^25; n <= 8
//
// The argument, in the integers, with X = 2^32:
//   e_j, j < 7 + n: coefficients of the product scalar(X) mask(X), compared at as many points as there are coefficients. Each
//   is a sum of at most min(j + 1, 7 + n - j, n) products below 2^32 (2^32 + 2^25), far below r.
//   V = sum over j < 8 of e_j X^j + sum over j >= 8 of e_j N_j + masked - digest, with N_j = X^j mod n. It remains to show
//   that V = q n for an integer q.
//   1. q := V / n in the field; the range check shows that it stands for an integer with 0 <= q < 2^a. So V - q n = 0 modulo r.
//   2. S = sum over j < 4 of e_j X^j + sum over j >= 8 of e_j (N_j mod 2^128) + maskedLo - digestLow - q (n mod 2^128). It is
//      V - q n modulo 2^128. carry := S / 2^128 in the field; the range check shows -2^(b-1) <= carry < 2^(b-1). All of this is
//      below 2^210 (asserted), so S = 2^128 carry in the integers, and V - q n = 0 modulo 2^128.
//   3. |V - q n| < 2^128 r (asserted), so V - q n = 0.
// V > -r > -n, so an honest q is not negative. The widths a and b follow from the bounds, and every honest value passes.
template MaskedDigest(n) {
    signal input digest;
    signal input digestLow;
    signal input maskedLo;
    signal input maskedHi;
    signal input scalar[8];
    signal input mask[n];

    // 1. The product.
    var count = n + 7;
    signal product[count];
    var coefficients[count];
    for (var j = 0; j < count; j++) {
        coefficients[j] = 0;
    }
    for (var i = 0; i < 8; i++) {
        for (var j = 0; j < n; j++) {
            coefficients[i + j] = coefficients[i + j] + scalar[i] * mask[j];
        }
    }
    for (var j = 0; j < count; j++) {
        product[j] <-- coefficients[j];
    }
    for (var s = 0; s < count && s < 14; s++) {
        var point = evaluationPoint(s);
        var left = 0;
        var right = 0;
        var value = 0;
        for (var i = 7; i >= 0; i--) {
            left = left * point + scalar[i];
        }
        for (var j = n - 1; j >= 0; j--) {
            right = right * point + mask[j];
        }
        for (var j = count - 1; j >= 0; j--) {
            value = value * point + product[j];
        }
        left * right === value;
    }
    if (count == 15) {
        scalar[7] * mask[7] === product[14];
    }

    // 2. V, S and their bounds. One in boundOfQ for masked, one for the digest, two for sums that are rounded down.
    var order[4] = secp256k1Order();
    var boundOfQ = 4;
    var boundOfS = (1 << 129);
    var total = maskedLo + (1 << 128) * maskedHi - digest;
    var lowPart = maskedLo - digestLow;
    for (var j = 0; j < count; j++) {
        var products = j + 1;
        if (products > n) {
            products = n;
        }
        if (products > count - j) {
            products = count - j;
        }
        var bound = products * (1 << 32) * ((1 << 32) + (1 << 25));
        if (j < 8) {
            total = total + product[j] * (1 << (32 * j));
            boundOfQ = boundOfQ + (bound >> (256 - 32 * j)) + 1;
            if (j < 4) {
                lowPart = lowPart + product[j] * (1 << (32 * j));
                boundOfS = boundOfS + bound * (1 << (32 * j));
            }
        } else {
            var power[4] = powerModN(j);
            var low = power[0] + (1 << 64) * power[1];
            total = total + product[j] * (low + (1 << 128) * power[2] + (1 << 192) * power[3]);
            lowPart = lowPart + product[j] * low;
            boundOfQ = boundOfQ + bound;
            boundOfS = boundOfS + bound * (1 << 128);
        }
    }
    var widthOfQ = countBits(boundOfQ);
    boundOfS = boundOfS + (1 << (widthOfQ + 128));
    var widthOfCarry = countBits(boundOfS >> 128) + 1;
    assert(boundOfS < (1 << 209));
    assert(widthOfQ < 80);
    var orderLow = order[0] + (1 << 64) * order[1];
    signal q <== total * (1 / (orderLow + (1 << 128) * order[2] + (1 << 192) * order[3]));
    component qRange = InRange(widthOfQ, 0);
    qRange.value <== q;

    signal carry <== (lowPart - q * orderLow) * (1 / (1 << 128));
    component carryRange = InRange(widthOfCarry, 1 << (widthOfCarry - 1));
    carryRange.value <== carry;
}
