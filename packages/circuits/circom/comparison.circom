// SPDX-License-Identifier: MIT
pragma circom 2.2.0;

// Number of binary digits of a non-negative integer.
function countBits(value) {
    var bits = 0;
    while (value > 0) {
        value = value >> 1;
        bits++;
    }
    return bits;
}

// Theorem: value + offset is an integer below 2^width, that is, `value` is one of the integers -offset .. 2^width - offset - 1.
//
// INPUT   value   field element
//
// `width` rows: the digits but one as signals, and the last as what they leave, divided by 2^(width - 1). Width and offset keep the
// range shorter than r.
template InRange(width, offset) {
    assert(width >= 2 && width <= 252);
    signal input value;
    signal bits[width - 1];

    var shifted = value + offset;
    var rest = shifted;
    var weight = 1;
    for (var i = 0; i < width - 1; i++) {
        bits[i] <-- (shifted >> i) & 1;
        bits[i] * (bits[i] - 1) === 0;
        rest = rest - weight * bits[i];
        weight = weight * 2;
    }
    var last = rest * (1 / weight);
    last * (last - 1) === 0;
}

// Bit i of the constant high * 2^128 + low.
function bitOfHalves(high, low, i) {
    return i < 128 ? (low >> i) & 1 : (high >> (i - 128)) & 1;
}

// Runs of ones in the constant that have a zero below them: what AtMost compares.
function countRuns(width, high, low) {
    var runs = 0;
    for (var i = 1; i < width; i++) {
        if (bitOfHalves(high, low, i) == 1 && bitOfHalves(high, low, i - 1) == 0) {
            runs++;
        }
    }
    return runs;
}

// Theorem: the integer with the binary digits `bits` is at most c = high * 2^128 + low.
//
// INPUT   bits[width]   booleans (the caller's constraint), least significant first; bit width - 1 of c is 1
//
// From the top, c is a run of ones, a run of zeros, a run of ones, and so on. The integer exceeds c iff, at some zero of
// c, it has a one while all digits above agree with c. `differs` is 0 if all digits so far agree with c: each run of ones
// adds its zeros to the previous value of `differs`, and the sum is a number of at most `width` + 1 if the previous value
// is 0 or 1. With a sum of 0, differs = sum * inverse is 0 for every hint. With another sum the hint is free, and the
// prover chooses any `differs`; another value than 1 only demands more of the digits below. Two rows a pair of runs.
template AtMost(width, high, low) {
    signal input bits[width];

    var runs = countRuns(width, high, low);
    signal inverse[runs];
    signal differs[runs];

    assert(bitOfHalves(high, low, width - 1) == 1);
    var previous = 0;
    var run = 0;
    var zeros = 0;
    var ones = 0;
    for (var i = width - 1; i >= 0; i--) {
        if (bitOfHalves(high, low, i) == 1) {
            zeros = zeros + 1 - bits[i];
        } else {
            ones = ones + bits[i];
        }
        var isEnd = i == 0;
        if (!isEnd) {
            isEnd = bitOfHalves(high, low, i) == 0 && bitOfHalves(high, low, i - 1) == 1;
        }
        if (isEnd && run < runs) {
            inverse[run] <-- previous + zeros != 0 ? 1 / (previous + zeros) : 0;
            differs[run] <== (previous + zeros) * inverse[run];
            (1 - differs[run]) * ones === 0;
            previous = differs[run];
            zeros = 0;
            ones = 0;
            run++;
        }
    }
}
