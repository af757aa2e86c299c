// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Compression of a long public vector into three public inputs (protocol §5).
/// @notice Given D and x_0 .. x_{k-1}: `z = keccak256(D ‖ x_0 ‖ .. ‖ x_{k-1}) mod r` over plain 32-byte words
/// and `y = x_0 + z (x_1 + z (x_2 + ..))`. The circuit proves `D = digest(x)` and the same y. Because D
/// fixes the prover's vector before z exists, a proof for another vector passes with probability ≤ k/r.
library PublicInputs {
    /// @dev Order of BN254's scalar field.
    uint256 internal constant R = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001;

    /// @notice D or an element of x is not below r. An alias would pass the same proof as another vector.
    error FieldElementOutOfRange();

    /// @param words D, then x_0 .. x_{k-1}; k at least 1.
    /// @return z The evaluation point, below r.
    /// @return y The evaluation, below r.
    function compress(uint256[] memory words) internal pure returns (uint256 z, uint256 y) {
        bool inRange;
        // Plain loads inside an array that Solidity allocated. `add` cannot wrap where it matters: with both
        // terms below r the sum is below 2r, and a term out of range makes the whole call revert below.
        assembly ("memory-safe") {
            let r := R
            let first := add(words, 0x20)
            let length := mul(mload(words), 0x20)
            z := mod(keccak256(first, length), r)
            // Two elements at a time, from the last one down to x_0.
            let position := add(first, sub(length, 0x20))
            inRange := lt(mload(first), r)
            for { let end := add(first, 0x20) } gt(position, end) { position := sub(position, 0x40) } {
                let x := mload(position)
                let w := mload(sub(position, 0x20))
                inRange := and(and(lt(w, r), lt(x, r)), inRange)
                y := add(mulmod(z, add(mulmod(z, y, r), x), r), w)
            }
            if gt(position, first) {
                let x := mload(position)
                inRange := and(lt(x, r), inRange)
                y := add(mulmod(z, y, r), x)
            }
            y := mod(y, r)
        }
        if (!inRange) revert FieldElementOutOfRange();
    }
}
