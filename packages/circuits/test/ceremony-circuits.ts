/** Circuits for ceremonies; for tests only. */

/** A product, a coefficient, a difference: twelve rows. */
export const small = `
  template Small() {
    signal input a; signal input b; signal input d; signal output y;
    signal t; signal s; signal u;
    t <== a*b; s <== (t + 7*a)*(b - d); u <== 3*t*d; y <== s*s + u;
  }
  component main {public [b]} = Small();`;

/** Same counts, another constraint. */
export const other = small.replace('7*a', '8*a');

/** A chain of this many rows, whose long rows repeat coefficients, their negatives and ones, as hash functions do. */
export function createChain(rows: number): string {
  return `
  template Chain(n) {
    signal input x; signal input y; signal output z;
    signal s[n + 1];
    s[0] <== x;
    for (var i = 0; i < n; i++) {
      s[i + 1] <== (s[i] + 12345678901234567890123 * s[i \\ 2] - y) * (s[i \\ 3] - 12345678901234567890123 * y + i);
    }
    z <== s[n] + 0;
  }
  component main {public [y]} = Chain(${rows});`;
}
