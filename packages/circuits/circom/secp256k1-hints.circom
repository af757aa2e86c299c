// SPDX-License-Identifier: MIT
// Arithmetic on secp256k1 for the witness generator: it proposes values, which the constraints check. Only constants of
// MaskedDigest also come from here. Numbers have four limbs of 64 bits, least significant first.
pragma circom 2.2.0;

function mask64() {
    return 0xffffffffffffffff;
}

// p = 2^256 - 2^32 - 977, the order of the coordinates' field
function secp256k1Prime() {
    return [0xfffffffefffffc2f, mask64(), mask64(), mask64()];
}

// 2^256 - p
function secp256k1PrimeComplement() {
    return [0x1000003d1, 0, 0, 0];
}

// n, the order of the group
function secp256k1Order() {
    return [0xbfd25e8cd0364141, 0xbaaedce6af48a03b, 0xfffffffffffffffe, mask64()];
}

// 2^256 - n
function secp256k1OrderComplement() {
    return [0x402da1732fc9bebf, 0x4551231950b75fc4, 1, 0];
}

// sum of limbs[i] * 2^(64 i) modulo `modulus` = 2^256 - complement, as canonical limbs.
// The limbs are signed, of less than 200 bits, and their sum is in 0 .. 2^360.
function reduceLimbs(limbs, modulus, complement) {
    var result[4];
    var carry = 0;
    var mask = mask64();
    // Makes a negative limb positive.
    var lift = 1 << 200;
    var liftOfCarry = 1 << 136;
    for (var i = 0; i < 4; i++) {
        result[i] = limbs[i];
    }
    for (var pass = 0; pass < 3; pass++) {
        for (var i = 0; i < 4; i++) {
            result[i] = result[i] + carry * (pass > 0 ? complement[i] : 0);
        }
        carry = 0;
        for (var i = 0; i < 4; i++) {
            var limb = result[i] + carry + lift;
            result[i] = limb & mask;
            carry = (limb >> 64) - liftOfCarry;
        }
    }
    // Below 2^256 < 2 * modulus: subtract the modulus at most once, by adding its complement and dropping 2^256.
    var reduced[4];
    carry = 0;
    for (var i = 0; i < 4; i++) {
        var limb = result[i] + complement[i] + carry;
        reduced[i] = limb & mask;
        carry = limb >> 64;
    }
    if (carry == 1) {
        return reduced;
    }
    return result;
}

function multiplyModP(a, b) {
    var product[7];
    for (var i = 0; i < 7; i++) {
        product[i] = 0;
    }
    for (var i = 0; i < 4; i++) {
        for (var j = 0; j < 4; j++) {
            product[i + j] = product[i + j] + a[i] * b[j];
        }
    }
    var folded[4];
    var complement[4] = secp256k1PrimeComplement();
    for (var i = 0; i < 3; i++) {
        folded[i] = product[i] + complement[0] * product[i + 4];
    }
    folded[3] = product[3];
    return reduceLimbs(folded, secp256k1Prime(), complement);
}

function subtractModP(a, b) {
    var prime[4] = secp256k1Prime();
    var difference[4];
    for (var i = 0; i < 4; i++) {
        difference[i] = a[i] + prime[i] - b[i];
    }
    return reduceLimbs(difference, prime, secp256k1PrimeComplement());
}

// a^(2^times) * b
function squareAndMultiplyModP(a, times, b) {
    var result[4] = a;
    for (var i = 0; i < times; i++) {
        result = multiplyModP(result, result);
    }
    return multiplyModP(result, b);
}

// a^(p - 2), the inverse of a; 0 for 0. In binary p - 2 is 223 ones, 0, 22 ones, 0000101101. `onesK` is a^(2^K - 1).
function invertModP(a) {
    var ones2[4] = squareAndMultiplyModP(a, 1, a);
    var ones3[4] = squareAndMultiplyModP(ones2, 1, a);
    var ones6[4] = squareAndMultiplyModP(ones3, 3, ones3);
    var ones9[4] = squareAndMultiplyModP(ones6, 3, ones3);
    var ones11[4] = squareAndMultiplyModP(ones9, 2, ones2);
    var ones22[4] = squareAndMultiplyModP(ones11, 11, ones11);
    var ones44[4] = squareAndMultiplyModP(ones22, 22, ones22);
    var ones88[4] = squareAndMultiplyModP(ones44, 44, ones44);
    var ones176[4] = squareAndMultiplyModP(ones88, 88, ones88);
    var ones220[4] = squareAndMultiplyModP(ones176, 44, ones44);
    var ones223[4] = squareAndMultiplyModP(ones220, 3, ones3);
    var result[4] = squareAndMultiplyModP(ones223, 23, ones22);
    result = squareAndMultiplyModP(result, 5, a);
    result = squareAndMultiplyModP(result, 3, ones2);
    return squareAndMultiplyModP(result, 2, a);
}

// P + T for P = (x / z^2, y / z^3), as (x, y, z) of the sum, and the numerator of the chord's slope, whose denominator is the
// sum's z; last the factor by which z grows.
function addToJacobian(x, y, z, tx, ty) {
    var square[4] = multiplyModP(z, z);
    var run[4] = multiplyModP(tx, square);
    run = subtractModP(run, x);
    var rise[4] = multiplyModP(ty, square);
    rise = multiplyModP(rise, z);
    rise = subtractModP(rise, y);
    var runSquare[4] = multiplyModP(run, run);
    var runCube[4] = multiplyModP(runSquare, run);
    var base[4] = multiplyModP(x, runSquare);
    var sumX[4] = multiplyModP(rise, rise);
    sumX = subtractModP(sumX, runCube);
    sumX = subtractModP(sumX, base);
    sumX = subtractModP(sumX, base);
    var sumY[4] = subtractModP(base, sumX);
    sumY = multiplyModP(rise, sumY);
    var fall[4] = multiplyModP(y, runCube);
    sumY = subtractModP(sumY, fall);
    var sumZ[4] = multiplyModP(z, run);
    return [sumX, sumY, sumZ, rise, run];
}

// Eight digits u_i in 0 .. 2^32 - 1 with sum of (u_i - 2^31) * 2^(32 i) = a modulo p.
function balancedDigits(a) {
    var shifted[4];
    var digits[8];
    var offset = 0x8000000080000000;
    var carry = 0;
    for (var i = 0; i < 4; i++) {
        var limb = a[i] + offset + carry;
        shifted[i] = limb & mask64();
        carry = limb >> 64;
    }
    // Past 2^256: subtract p, that is, add its complement and drop 2^256.
    if (carry == 1) {
        shifted = reduceLimbs([shifted[0] + 0x1000003d1, shifted[1], shifted[2], shifted[3]], secp256k1Prime(), secp256k1PrimeComplement());
    }
    for (var i = 0; i < 8; i++) {
        digits[i] = (shifted[i \ 2] >> (32 * (i % 2))) & 0xffffffff;
    }
    return digits;
}

// digest - scalar * mask modulo n. The scalar has four limbs of 64 bits, the mask `count` limbs of 33 bits in radix 2^32.
function maskDigest(digest, scalar, mask, count) {
    var order[4] = secp256k1Order();
    var complement[4] = secp256k1OrderComplement();
    var product[4] = [0, 0, 0, 0];
    for (var i = count - 1; i >= 0; i--) {
        for (var j = 0; j < 4; j++) {
            product[j] = product[j] * (1 << 32) + scalar[j] * mask[i];
        }
        product = reduceLimbs(product, order, complement);
    }
    var difference[4];
    for (var j = 0; j < 4; j++) {
        difference[j] = digest[j] + order[j] - product[j];
    }
    return reduceLimbs(difference, order, complement);
}
